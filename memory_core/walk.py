"""Walks over the live graph, and the ranking of turns that follows from the nodes reached."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from memory_core.graph import Graph
from memory_core.protocols import Doubles, RankedTurn, Root, Visit
from memory_core.schema import Edge

_TURNS_A_NODE = 3  # design, section 4: at most three turns of a node enter the ranking


def breadth_first(graph: Graph, roots: Sequence[str], hops: int, cap: int) -> tuple[list[Visit], list[str]]:
    """From the roots, all of a hop before any of the next, at most `cap` nodes (P1 3.5).

    Returns the visits in order, and the nodes that the cap left out of the hop it fell in.
    """
    visits = [Visit(root, 0) for root in dict.fromkeys(roots)][:cap]
    seen = {graph.row_of[visit.id] for visit in visits}
    frontier = [graph.row_of[visit.id] for visit in visits]
    capped: list[str] = []
    for hop in range(1, hops + 1):
        reached: list[int] = []
        for row in frontier:
            for edge, other in graph.neighbours(row):
                if other in seen:
                    continue
                seen.add(other)
                if len(visits) < cap:
                    visits.append(Visit(graph.ids[other], hop, graph.edge_ids[edge]))
                    reached.append(other)
                else:
                    capped.append(graph.ids[other])
        frontier = reached
    return visits, capped


def edges_among(graph: Graph, ids: Sequence[str]) -> list[Edge]:
    """Every live edge whose two ends are among the nodes, once, oldest first."""
    rows = {graph.row_of[node] for node in ids}
    inside = {edge for row in rows for edge, other in graph.neighbours(row) if other in rows}
    return [graph.edge(graph.edge_ids[edge]) for edge in sorted(inside)]


def rank_turns(nodes: Sequence[str], cited: dict[str, list[str]], roots: Sequence[Root]) -> list[RankedTurn]:
    """Turns in the rank order of the nodes read from them: of each node its newest three (design, section 4)."""
    score = {root.id: root.score for root in roots}
    ranked: dict[str, RankedTurn] = {}
    for place, node in enumerate(nodes):
        for turn in reversed(cited.get(node, [])[-_TURNS_A_NODE:]):
            ranked.setdefault(turn, RankedTurn(turn, score.get(node, 1.0 / (2 + place)), "graph"))
    return list(ranked.values())


def transitions(graph: Graph) -> csr_array:
    """Column-stochastic matrix over node rows: entry (to, from) is the chance of the step along a live edge.

    Edges are walked both ways; several edges between two nodes weigh as many.
    """
    live = graph.edge_live.values
    if len(live):
        live = live & graph.live.values[graph.ends.values].all(axis=1)
    ends = graph.ends.values[live]
    start, stop = np.concatenate([ends, ends[:, ::-1]]).T
    degree = np.bincount(start, minlength=len(graph.ids))
    return csr_array((1.0 / degree[start], (stop, start)), shape=(len(graph.ids), len(graph.ids)))


def pagerank(steps: csr_array, seeds: Doubles, restart: float = 0.5, rounds: int = 8) -> Doubles:
    """Personalised PageRank: where a walk from `seeds` (n,) is found that starts anew with chance `restart` each step.

    Power iteration for a fixed number of `rounds`; what is cut off weighs less than (1 - restart) ** rounds. From a
    node without edges the walk goes nowhere: it keeps the share of its restart. Zero seeds give zeros.

    >>> steps = csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> pagerank(steps, np.array([1.0, 0.0]), rounds=60).round(4).tolist()  # 1 / 1.5 and .5 / 1.5
    [0.6667, 0.3333]
    """
    total = float(seeds.sum())
    if total <= 0:
        return np.zeros(len(seeds))
    start = seeds / total
    found = start
    for _ in range(rounds):
        found = restart * start + (1 - restart) * (steps @ found)
    return np.asarray(found)
