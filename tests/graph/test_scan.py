"""Searches over all vectors: quick ways give exactly what the plain way gives."""

from __future__ import annotations

import threading
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.graph import scan
from memory_core.graph.scan import above, dots, tails, top
from memory_core.protocols import Floats


def unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def clustered(seed: int, n: int, dim: int, spread: float) -> Floats:
    dice = np.random.default_rng(seed)
    centres = dice.standard_normal((max(1, n // 20), dim))
    return unit(centres[dice.integers(0, len(centres), n)] + spread * dice.standard_normal((n, dim)))


@given(
    seed=st.integers(0, 99), n=st.integers(1, 400), dim=st.integers(1, 40), queries=st.integers(0, 9),
    threshold=st.sampled_from([-0.5, 0.0, 0.3, 0.6, 0.8, 0.92, 1.0]), spread=st.sampled_from([0.1, 0.5, 2.0]),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_above_finds_exactly_what_every_dot_product_says(
    seed: int, n: int, dim: int, queries: int, threshold: float, spread: float
) -> None:
    rows = clustered(seed, n, dim, spread)
    rows[:: 1 + seed % 7] = 0  # rows without a vector
    vectors = unit(rows[:queries] + 0.1 + 0.1 * np.random.default_rng(seed).standard_normal((min(queries, n), dim)))
    wanted = [np.flatnonzero(scores > threshold) for scores in dots(rows, vectors)]
    found = above(rows, tails(rows), vectors, threshold)
    assert [places.tolist() for places, _ in found] == [places.tolist() for places in wanted]
    for (places, cosines), scores in zip(found, dots(rows, vectors), strict=True):
        assert cosines.tolist() == scores[places].tolist(), "not the same to the last bit"


def test_a_cosine_just_above_the_threshold_is_found_and_one_just_below_is_not() -> None:
    rows = clustered(1, 5000, 96, 0.3)
    exact = dots(rows, rows[:1])[0]
    for cosine in np.sort(exact)[[-2, -5, -20]]:
        below = np.nextafter(cosine, np.float32(-1), dtype=np.float32)
        assert (above(rows, tails(rows), rows[:1], float(cosine))[0][0] == np.flatnonzero(exact > cosine)).all()
        assert (above(rows, tails(rows), rows[:1], float(below))[0][0] == np.flatnonzero(exact >= cosine)).all()


def test_a_high_threshold_looks_at_three_eighths_of_the_numbers_and_at_few_whole_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """De-duplication of six nodes takes less than half of the multiplications of six passes."""
    rows = clustered(2, 20_000, 768, 0.3)
    looked: list[int] = []
    reaching = scan._reaching
    monkeypatch.setattr(scan, "_reaching", lambda *given: looked.append(len(given[1])) or reaching(*given))
    above(rows, tails(rows), rows[:6], 0.8)
    assert scan.leading(768) == 288
    assert sum(looked) < 0.02 * 6 * len(rows)


@given(
    scores=st.lists(st.sampled_from([-2.0, 0.0, 0.25, 0.5, 1.0]), max_size=60), times=st.integers(1, 40),
    k=st.integers(0, 30),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_the_greatest_are_those_of_a_full_sort_and_the_first_wins_a_tie(
    scores: list[float], times: int, k: int
) -> None:
    given = np.float32(scores * times)
    assert top(given, k).tolist() == np.lexsort((np.arange(len(given)), -given))[:k].tolist()


def test_the_greatest_of_many_distinct_scores() -> None:
    scores = np.random.default_rng(3).permutation(30_000).astype(np.float32)
    assert top(scores, 25).tolist() == np.argsort(-scores)[:25].tolist()


def test_all_threads_together_give_what_one_gives() -> None:
    rows, vectors = clustered(4, 9000, 384, 0.5), clustered(5, 3, 384, 0.5)
    wanted = np.stack([np.vecdot(rows, vector) for vector in vectors])
    assert len(rows) * 384 * 3 > scan._ALONE
    assert (dots(rows, vectors) == wanted).all()


def test_a_thread_that_lost_its_core_is_not_waited_for() -> None:
    rows, never, calls = clustered(6, 9000, 384, 0.5), threading.Event(), count()
    main = threading.current_thread()

    def work(part: Floats) -> Floats:
        next(calls)
        if threading.current_thread() is not main:
            never.wait(30)
        return np.vecdot(part[:, None], rows[:1]).T

    found = scan._shared(rows, 1, work)
    assert (found == dots(rows, rows[:1])).all()
    never.set()
    assert next(calls) <= 2 * len(range(0, len(rows), scan._STEP))
