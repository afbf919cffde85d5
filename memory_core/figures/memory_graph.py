"""The part of a memory that a live picture draws: what just changed, what is looked at, then the best connected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_core.figures.network import CAP, GraphEdge, GraphNode, State
from memory_core.graph import Graph
from memory_core.memory import Memory, TurnReport
from memory_core.schema import LABELS, normalise_title


@dataclass(frozen=True)
class Picture:
    """At most `cap` nodes of a memory of `total`, and every live edge between them."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    total: int


def memory_picture(
    memory: Memory, reports: Sequence[TurnReport] = (), looked_at: Iterable[str] = (), cap: int = CAP
) -> Picture:
    """What to draw of a memory. `reports` (oldest first) say which nodes are new or merged; `looked_at` are ids that
    are drawn with their neighbours; ids that are not live are passed over."""
    with memory.lock:
        _ = memory.revision
        graph = memory.graph
        states = _states(graph, reports)
        rows = _chosen(graph, states, [item for item in looked_at if graph.is_live(item)], cap)
        return Picture(
            tuple(_node(graph, row, states.get(graph.ids[row], ("stood", ""))) for row in rows.tolist()),
            tuple(_edges(graph, rows)),
            graph.node_count,
        )


def find_nodes(memory: Memory, words: str, limit: int = 8) -> list[tuple[str, str, str]]:
    """(id, label, title) of live nodes whose title holds the words: equal first, then beginnings, then by degree."""
    wanted = normalise_title(words)
    if not wanted:
        return []
    graph = memory.graph
    titles = ((row, normalise_title(graph.titles[row])) for row in graph.live_rows().tolist())
    hits = [(row, title) for row, title in titles if wanted in title]
    degree = graph.degree.values
    hits.sort(key=lambda hit: (hit[1] != wanted, not hit[1].startswith(wanted), -int(degree[hit[0]]), hit[0]))
    return [(graph.ids[row], LABELS[graph.label.values[row]], graph.titles[row]) for row, _ in hits[:limit]]


def _states(graph: Graph, reports: Sequence[TurnReport]) -> Mapping[str, tuple[State, str]]:
    states: dict[str, tuple[State, str]] = {}
    for report in reports:
        for placed in report.nodes:
            if graph.is_live(placed.id):
                states[placed.id] = ("new" if placed.how == "new" else "merged", report.turn)
    return states


def _chosen(graph: Graph, changed: Iterable[str], looked_at: Sequence[str], cap: int) -> NDArray[np.int64]:
    live = graph.live_rows()
    if len(live) <= cap:
        return live
    focus = [graph.row_of[item] for item in looked_at if item in graph.row_of]
    near = [other for row in focus for _, other in graph.neighbours(row)]
    first = [*focus, *(graph.row_of[item] for item in reversed(list(changed))), *near]
    wanted = [*first, *_connected(graph, live, cap).tolist()]
    return np.array(sorted(list(dict.fromkeys(wanted))[:cap]), np.int64)


def _connected(graph: Graph, live: NDArray[np.int64], cap: int) -> NDArray[np.int64]:
    """`cap` rows that hang together: the hubs, then in three rounds those with most edges into what is chosen.

    The highest degrees alone would be hubs without their neighbours, a picture of dots.
    """
    ends = graph.ends.values[graph.live_edges()]
    chosen = np.zeros(len(graph.ids), bool)
    for size in (cap // 8, cap // 4, cap // 2, cap):
        into = np.bincount(ends[:, 0], chosen[ends[:, 1]], len(chosen)) + np.bincount(
            ends[:, 1], chosen[ends[:, 0]], len(chosen)
        )
        order = np.lexsort((live, -graph.degree.values[live], -into[live], ~chosen[live]))
        chosen[live[order[:size]]] = True
    return live[order[:cap]]


def _node(graph: Graph, row: int, state: tuple[State, str]) -> GraphNode:
    return GraphNode(
        id=graph.ids[row],
        label=LABELS[graph.label.values[row]],
        title=graph.titles[row],
        content=graph.contents[row],
        degree=int(graph.degree.values[row]),
        state=state[0],
        stamp=state[1],
    )


def _edges(graph: Graph, rows: NDArray[np.int64]) -> Iterable[GraphEdge]:
    inside = np.zeros(len(graph.ids), bool)
    inside[rows] = True
    ends = graph.ends.values
    drawn = np.flatnonzero(graph.edge_live.values & inside[ends].all(axis=1)) if len(ends) else np.zeros(0, np.int64)
    for row in drawn.tolist():
        source, target = ends[row].tolist()
        ended = " (ended)" if '"until"' in graph.edge_attributes[row] else ""
        yield GraphEdge(graph.edge_ids[row], graph.ids[source], graph.ids[target], graph.relationships[row] + ended)
