"""What the graph knows of the question: nodes found by a walk, their edges dated, and the turns they were read from."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from memory_core.context import edge_line, node_line
from memory_core.graph import Graph
from memory_core.protocols import Doubles, Floats, Line, Readable, Root, Visit
from memory_core.retrievers.hybrid.choosing import best
from memory_core.schema import Edge
from memory_core.walk import edges_among

_SHOWN = 25  # candidates kept in the trace
_TURNS = 3  # newest turns named beside a fact
_ROOTS = 10  # nodes the walk starts from


@dataclass(frozen=True)
class Facts:
    """`turns` (turns,): how much of the walk arrives at each turn, 1 at most."""

    candidates: tuple[Root, ...]
    roots: tuple[Root, ...]
    visits: tuple[Visit, ...]
    edges: tuple[Edge, ...]
    turns: Doubles


def find_facts(memory: Readable, vector: Floats, floor: float, nodes: int) -> Facts:
    """Nodes whose cosine reaches the floor, at most ten, a personalised PageRank from them, the best `nodes` of it."""
    graph = memory.graph
    near = graph.nearest(vector[None], _SHOWN)[0] if len(graph.ids) else []
    candidates = tuple(Root(graph.ids[row], graph.titles[row], score) for row, score in near)
    roots = [(row, score) for row, score in near if score >= floor][:_ROOTS]
    walks = memory.walks()
    if not roots:
        return Facts(candidates, (), (), (), np.zeros(walks.said.shape[0]))
    seeds = np.zeros(len(graph.ids))
    seeds[[row for row, _ in roots]] = [score**2 for _, score in roots]
    found = walks.pagerank(seeds)
    turns = np.asarray(walks.said @ found)
    turns *= roots[0][1] / max(float(turns.max(initial=0.0)), 1e-12)
    ids = [graph.ids[row] for row in best(found, nodes).tolist() if found[row] > 0]
    edges = edges_among(graph, ids)
    return Facts(candidates, candidates[: len(roots)], rings(graph, ids, edges, roots), tuple(edges), turns)


def rings(
    graph: Graph, ids: Sequence[str], edges: Sequence[Edge], roots: Sequence[tuple[int, float]]
) -> tuple[Visit, ...]:
    """The nodes as visits, in order: how many edges among them away from a root, and by which edge."""
    beside: dict[str, list[tuple[str, str]]] = {node: [] for node in ids}
    for edge in edges:
        beside[edge.source].append((edge.target, edge.id))
        beside[edge.target].append((edge.source, edge.id))
    hops = {graph.ids[row]: (0, "") for row, _ in roots}
    waiting = deque(node for node in hops if node in beside)
    while waiting:
        node = waiting.popleft()
        for other, edge_id in beside[node]:
            if other not in hops:
                hops[other] = (hops[node][0] + 1, edge_id)
                waiting.append(other)
    return tuple(Visit(node, *hops.get(node, (2, ""))) for node in ids)


def fact_lines(memory: Readable, facts: Facts) -> list[Line]:
    """Each node and edge as a line with the date of its newest turn, newest first; what no longer holds comes last.

    A line names the newest three turns it rests on: some nodes were read from thousands.
    """
    columns, walks, graph = memory.turn_columns(), memory.walks(), memory.graph
    cited = memory.cited_turns([edge.id for edge in facts.edges])
    said = {visit.id: walks.turns_of(graph.row_of[visit.id])[-_TURNS:].tolist() for visit in facts.visits}
    said |= {edge: [columns.place[turn] for turn in turns[-_TURNS:]] for edge, turns in cited.items()}
    texts = {visit.id: node_line(graph.node(visit.id)) for visit in facts.visits}
    texts |= {edge.id: edge_line(graph, edge) for edge in facts.edges}
    ended = {edge.id for edge in facts.edges if "until" in edge.attributes}
    lines: dict[str, tuple[float, Line]] = {}
    for item, text in texts.items():
        at = float(columns.at.values[said[item]].max()) if said[item] else -np.inf
        dated = f"[{datetime.fromtimestamp(at, UTC):%Y-%m-%d}] {text}" if said[item] else text
        turns = tuple(columns.ids[place] for place in said[item])
        lines.setdefault(dated, (at, Line(dated, item, turns, item in ended)))
    return [line for _, line in sorted(lines.values(), key=lambda pair: (pair[1].superseded, -pair[0]))]
