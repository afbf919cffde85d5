"""Looking at signs first finds what comparing all finds, follows every change, and is used only when all takes long."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.graph import Graph, nearest
from memory_core.graph.columns import Column
from memory_core.graph.nearest import Nearest
from memory_core.graph.sketch import Sketch
from memory_core.protocols import Floats
from tests.graph.test_graph import forget, graph_of, node
from tests.graph.test_scan import clustered, unit


def search_over(rows: Floats, mode: nearest.Search) -> Nearest:
    column = Column[np.float32](np.float32, (rows.shape[1],))
    column.extend(rows)
    made = Nearest(column, lambda: np.ones(len(column), np.bool_))
    made.mode = mode
    return made


def rows_of(found: list[list[tuple[int, float]]]) -> list[set[int]]:
    return [{row for row, _ in one} for one in found]


@pytest.mark.parametrize("lean", [0.0, 1.0])
def test_the_nearest_five_of_clustered_vectors_are_found(lean: float) -> None:
    """`lean` moves all to one side, as the vectors of many models are."""
    rows = unit(clustered(1, 60_000, 96, 0.4) + lean * clustered(2, 1, 96, 0.4))
    dice = np.random.default_rng(3)
    asked = unit(rows[dice.integers(0, len(rows), 60)] + 0.05 * dice.standard_normal((60, 96)))
    exact = rows_of(search_over(rows, "exact").find(asked, 5))
    quick = rows_of(search_over(rows, "approximate").find(asked, 5))
    recall = np.mean([len(one & other) / 5 for one, other in zip(exact, quick, strict=True)])
    assert recall >= 0.98


def test_cosines_and_ties_are_those_of_comparing_all() -> None:
    rows = np.tile(clustered(4, 300, 70, 0.5), (2, 1))
    exact, quick = (search_over(rows, mode).find(rows[:9], 6) for mode in ("exact", "approximate"))
    assert quick == exact


@given(seed=st.integers(0, 50), dim=st.sampled_from([1, 7, 64, 65, 130]), n=st.integers(1, 200))
@settings(max_examples=60, deadline=None)
def test_a_sketch_that_follows_says_what_a_new_one_says_of_the_same_centre(seed: int, dim: int, n: int) -> None:
    dice = np.random.default_rng(seed)
    rows = dice.standard_normal((n, dim)).astype(np.float32)
    sketch = Sketch(rows[: 1 + n // 2])
    whole = Sketch(rows[: 1 + n // 2])
    changed = rows.copy()
    changed[0] = -changed[0]
    sketch.follow(rows, ())
    sketch.follow(changed, {0})
    whole._count = 0
    whole.follow(changed, ())
    asked = dice.standard_normal(dim).astype(np.float32)
    assert sketch.differing(asked).tolist() == whole.differing(asked).tolist()
    signs = (changed > sketch._centre) != (asked > sketch._centre)
    assert sketch.differing(asked).tolist() == signs.sum(axis=1).tolist()


def test_forgotten_new_and_changed_nodes_are_followed() -> None:
    graph = graph_of(*node("a", vector=(0, 1)), *node("b"), *node("c"), *node("e", vector=None))
    graph.search.mode = "approximate"
    asked = np.float32([[1, 0]])
    assert graph.nearest(asked, 2) == [[(1, 1.0), (2, 1.0)]]
    graph.apply([forget("node", "b"), *node("d", vector=(0.5, 0))])
    assert graph.nearest(asked, 9) == [[(2, 1.0), (4, 0.5), (0, 0.0)]]
    graph.apply([row for row in node("a") if row.table == "node_vector"])
    assert graph.nearest(asked, 2) == [[(0, 1.0), (2, 1.0)]]
    assert Graph(2).nearest(asked, 5) == [[]]


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT_TO", 100)


@pytest.mark.usefixtures("small_limits")
def test_all_are_compared_until_that_takes_longer_than_one_would_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    many, few = (search_over(clustered(5, count, 8, 0.5), "auto") for count in (101, 100))
    asked = clustered(6, 1, 8, 0.5)
    assert not many.approximate, "nothing was measured yet"
    monkeypatch.setattr(nearest, "PATIENCE", 60.0)
    many.find(asked, 1)
    assert not many.approximate
    monkeypatch.setattr(nearest, "PATIENCE", 0.0)
    few.find(asked, 1)
    assert many.approximate
    assert not few.approximate, "a memory this small is never searched by signs"
    many.mode = "exact"
    assert not many.approximate


@pytest.mark.usefixtures("small_limits")
def test_many_questions_at_once_do_not_make_a_pass_look_quicker_than_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "time", SimpleNamespace(perf_counter=count(0, 2 * nearest.PATIENCE).__next__))
    many = search_over(clustered(5, 101, 8, 0.5), "auto")
    many.find(clustered(6, 5, 8, 0.5), 1)
    assert many.approximate
