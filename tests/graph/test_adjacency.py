"""Edges of a node: the same whether they were loaded or added, and never all gone through for a node of thousands."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.graph import Graph
from memory_core.graph.adjacency import Adjacency
from memory_core.walk import CAPPED, breadth_first, edges_among
from tests.graph.test_graph import edge, forget, graph_of, node

ENDS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=30)


@given(ends=ENDS, loaded=st.integers(0, 30))
def test_loaded_and_added_edges_are_told_in_one_order(ends: list[tuple[int, int]], loaded: int) -> None:
    adjacency = Adjacency()
    adjacency.load(5, np.zeros((0, 2), np.int64))
    adjacency.load(9, np.array(ends[:loaded], np.int64).reshape(-1, 2))
    for number, (source, target) in list(enumerate(ends))[loaded:]:
        adjacency.add_edge(number, source, target)
    adjacency.add_node()
    wanted = [[number for number, pair in enumerate(ends) if row in pair] for row in range(10)]
    assert list(adjacency) == wanted
    assert [adjacency.of(row)[1] for row in range(10)] == [
        [sum(ends[e]) - row for e in wanted[row]] for row in range(10)
    ]
    assert adjacency.loops == {row: es for row in range(9) if (es := [e for e in wanted[row] if ends[e] == (row, row)])}


@given(ends=ENDS, gone=st.sets(st.integers(0, 29)), among=st.lists(st.integers(0, 8), max_size=9))
def test_edges_among_are_all_live_edges_with_both_ends_inside(
    ends: list[tuple[int, int]], gone: set[int], among: list[int]
) -> None:
    rows = [row for name in range(9) for row in node(f"n{name}")]
    rows += [edge(f"e{number}", f"n{a}", f"n{b}") for number, (a, b) in enumerate(ends)]
    graph = graph_of(*rows, *(forget("edge", f"e{number}") for number in sorted(gone) if number < len(ends)))
    wanted = [f"e{number}" for number, pair in enumerate(ends) if number not in gone and set(pair) <= set(among)]
    assert [found.id for found in edges_among(graph, [f"n{name}" for name in among])] == wanted


def star(points: int) -> Graph:
    """A hub, two nodes that know it and each other, and `points` more nodes that know only the hub."""
    names = ["hub", "a", "b", *(f"p{number}" for number in range(points))]
    rows = [row for name in names for row in node(name, vector=None)]
    spokes = [edge(f"s{name}", name, "hub") for name in names[1:]]
    return graph_of(*rows, *spokes, edge("ab", "a", "b"))


def test_a_hub_of_thousands_costs_no_more_than_the_nodes_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, looked = star(20_000), [0]
    plain = Graph.beside

    def counted(self: Graph, *rows: int) -> Iterator[tuple[int, int]]:
        for pair in plain(self, *rows):
            looked[0] += 1
            yield pair

    monkeypatch.setattr(Graph, "beside", counted)
    visits, capped = breadth_first(graph, ["a"], 2, 15)
    assert [visit.id for visit in visits[:3]] == ["a", "hub", "b"]
    assert (len(visits), len(capped)) == (15, CAPPED)
    assert CAPPED < looked[0] < CAPPED + 30
    looked[0] = 0
    assert [found.id for found in edges_among(graph, ["hub", "a", "b"])] == ["sa", "sb", "ab"]
    assert looked[0] <= 4
