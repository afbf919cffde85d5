"""Walks over the live graph, and the ranking of turns that follows from the nodes reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from memory_core.graph import Graph
from memory_core.protocols import Doubles, RankedTurn, Root, Visit
from memory_core.schema import Edge

_TURNS_A_NODE = 3  # design, section 4: at most three turns of a node enter the ranking
Name = TypeVar("Name", int, str)
CAPPED = 100  # nodes named that the cap left out

#: Given nodes in order, the live (edge, other node) of each, in the order the edges were stored.
Neighbours = Callable[[Sequence[str]], Iterable[tuple[str, str]]]


def breadth_first(graph: Graph, roots: Sequence[str], hops: int, cap: int) -> tuple[list[Visit], list[str]]:
    """`walk_from` over the graph in RAM."""

    rows = [graph.row_of[root] for root in roots]
    steps, capped = _walk(rows, hops, cap, lambda frontier: graph.beside(*frontier))
    visits = [Visit(graph.ids[row], hop, "" if by is None else graph.edge_ids[by]) for row, hop, by in steps]
    return visits, [graph.ids[row] for row in capped]


def walk_from(roots: Sequence[str], hops: int, cap: int, neighbours: Neighbours) -> tuple[list[Visit], list[str]]:
    """From the roots, all of a hop before any of the next, at most `cap` nodes (P1 3.5).

    Returns the visits in order, and the nodes that the cap left out of the hop it fell in: the first `CAPPED` of them,
    so that a node with thousands of neighbours costs no more than others.
    """
    steps, capped = _walk(roots, hops, cap, neighbours)
    return [Visit(node, hop, by or "") for node, hop, by in steps], capped


def _walk(
    roots: Sequence[Name], hops: int, cap: int, neighbours: Callable[[Sequence[Name]], Iterable[tuple[Name, Name]]]
) -> tuple[list[tuple[Name, int, Name | None]], list[Name]]:
    """Of each node its hop and the edge it was reached by, and what the cap left out."""
    frontier, capped = list(dict.fromkeys(roots))[:cap], list[Name]()
    steps: list[tuple[Name, int, Name | None]] = []
    steps += ((root, 0, None) for root in frontier)
    seen = set(frontier)
    for hop in range(1, hops + 1):
        reached: list[Name] = []
        for edge, other in neighbours(frontier):
            if other in seen:
                continue
            seen.add(other)
            if len(steps) < cap:
                steps.append((other, hop, edge))
                reached.append(other)
            elif len(capped) < CAPPED:
                capped.append(other)
            else:
                return steps, capped
        frontier = reached
    return steps, capped


def edges_among(graph: Graph, ids: Sequence[str]) -> list[Edge]:
    """Every live edge whose two ends are among the nodes, once, oldest first."""
    rows = sorted({graph.row_of[node] for node in ids}, key=lambda row: len(graph.incident[row]))
    joining = [
        edge for row in rows for edge in graph.incident.loops.get(row, ()) if graph.edge_forgotten_by[edge] is None
    ]
    for place, row in enumerate(rows[:-1]):  # each edge from its end of fewer edges: a hub's are never gone through
        busier = set(rows[place + 1 :])
        joining += [edge for edge, other in graph.beside(row) if other in busier]
    return [graph.edge(graph.edge_ids[edge]) for edge in sorted(joining)]


def rank_turns(nodes: Sequence[str], cited: dict[str, list[str]], roots: Sequence[Root]) -> list[RankedTurn]:
    """Turns in the rank order of the nodes read from them: of each node its newest three (design, section 4)."""
    score = {root.id: root.score for root in roots}
    ranked: dict[str, RankedTurn] = {}
    for place, node in enumerate(nodes):
        for turn in reversed(cited.get(node, [])[-_TURNS_A_NODE:]):
            ranked.setdefault(turn, RankedTurn(turn, score.get(node, 1.0 / (2 + place)), "graph"))
    return list(ranked.values())


@dataclass(frozen=True)
class Walks:
    """A walk over the live graph as matrices: `steps` (node, node) and `said` (turn, node), both from column to row.

    A step goes along a live edge, either way, every edge equally likely. A node hands itself to the turns it was read
    from, 1 / sqrt(turns) to each: a node that half the turns mention says little about any of them.
    """

    steps: csr_array
    said: csc_array

    @classmethod
    def over(cls, graph: Graph, cited: Iterable[tuple[int, int]], turns: int) -> Walks:
        """`cited` are (place of the turn, row of a node read from it); forgotten nodes and edges are left out."""
        live = graph.edge_live.values & graph.live.values[graph.ends.values].all(axis=1)
        ends = graph.ends.values[live]
        start, stop = np.concatenate([ends, ends[:, ::-1]]).T
        degree = np.bincount(start, minlength=len(graph.ids))
        steps = csr_array((1.0 / degree[start], (stop, start)), shape=(len(graph.ids), len(graph.ids)))
        places, rows = np.array(sorted(set(cited)), np.int64).reshape(-1, 2).T
        places, rows = places[graph.live.values[rows]], rows[graph.live.values[rows]]
        times = np.bincount(rows, minlength=len(graph.ids))
        return cls(steps, csc_array((times[rows] ** -0.5, (places, rows)), shape=(turns, len(graph.ids))))

    def turns_of(self, row: int) -> NDArray[np.int64]:
        """Places of the turns that a node, or an edge of it, was read from, oldest first."""
        start, stop = self.said.indptr[row : row + 2]
        return np.asarray(self.said.indices[start:stop], np.int64)

    def pagerank(self, seeds: Doubles, restart: float = 0.5, rounds: int = 8) -> Doubles:
        """Personalised PageRank: where a walk from `seeds` is found that starts anew with chance `restart` each step.

        Shape (nodes,). Power iteration for a fixed number of `rounds`: what is cut off weighs less than
        (1 - restart) ** rounds. From a node without edges the walk goes nowhere: it keeps the share of its restart.
        """
        start = seeds / max(float(seeds.sum()), 1e-12)
        found = start
        for _ in range(rounds):
            found = restart * start + (1 - restart) * (self.steps @ found)
        return np.asarray(found)


def nodes_of(graph: Graph, item: str) -> tuple[int, ...]:
    """The row of a node, or those of the two ends of an edge; none for an unknown id."""
    if item in graph.row_of:
        return (graph.row_of[item],)
    return tuple(graph.ends.values[graph.edge_row[item]].tolist()) if item in graph.edge_row else ()
