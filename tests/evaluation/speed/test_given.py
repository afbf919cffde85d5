"""Every system is given the same, and it is like a memory: clustered, with nodes that come back in other words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memory_core.evaluation.speed.given import BROUGHT, Given, known_place, make, make_from
from memory_core.schema import LABELS


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    return made(tmp_path_factory.mktemp("given"))


def made(folder: Path, seed: int = 1) -> Given:
    return make(folder, nodes=900, dim=768, turns=4, searches=8, labels=LABELS, seed=seed)


def test_the_same_seed_gives_the_same_to_all(given: Given, tmp_path: Path) -> None:
    other = made(tmp_path)
    for name in ("vectors", "brought", "queries", "ends"):
        assert np.array_equal(getattr(given, name), getattr(other, name))
    assert [given.node(5), given.edge(7), given.text(3), given.question(2)] == [
        other.node(5), other.edge(7), other.text(3), other.question(2)
    ]  # fmt: skip
    (tmp_path / "third").mkdir()
    assert not np.array_equal(given.vectors, made(tmp_path / "third", seed=2).vectors)


def test_vectors_are_of_length_one_and_clustered(given: Given) -> None:
    for rows in (given.vectors, given.brought, given.queries):
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    cosines = given.vectors[:300] @ given.vectors.T
    np.fill_diagonal(cosines, 0)
    assert cosines.max(axis=1).mean() == pytest.approx(0.84, abs=0.03)
    assert np.median(cosines) == pytest.approx(0.47, abs=0.05)


def test_titles_are_unique_and_edges_join_different_nodes(given: Given) -> None:
    assert len({given.node(place)["title"] for place in range(given.nodes)}) == given.nodes
    assert len(given.ends) == round(1.72 * given.nodes)
    assert (given.ends[:, 0] != given.ends[:, 1]).all()
    assert given.ends.min() >= 0
    assert given.ends.max() < given.nodes
    assert np.bincount(given.ends.ravel()).max() > 30  # a hub


def test_half_of_what_a_turn_brings_is_stored_in_other_words(given: Given) -> None:
    for number in range(given.turns):
        nodes = given.turn(number)["nodes"]
        for place, node in enumerate(nodes):
            stored = known_place(given, number * BROUGHT + place)
            cosine = float(node["vector"] @ given.vectors[stored])
            if place < BROUGHT // 2:
                assert cosine > 0.98
                assert node["title"] == f"the {given.node(stored)['title']}"
            else:
                assert float((given.vectors @ node["vector"]).max()) < 0.92


def test_growth_takes_real_vectors_as_they_are_and_fills_up_with_copies_near_them(tmp_path: Path) -> None:
    base = np.eye(3, 16, dtype=np.float32)
    asked = np.eye(2, 16, dtype=np.float32)
    given = make_from(tmp_path, base, asked, nodes=40, turns=1, labels=LABELS, seed=1)
    assert np.array_equal(given.vectors[:3], base)
    assert np.array_equal(given.queries, asked)
    nearest = (given.vectors[3:] @ base.T).max(axis=1)
    assert nearest.min() > 0.7
    assert nearest.max() < 0.99
