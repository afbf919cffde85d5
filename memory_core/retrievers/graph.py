"""P1 3.5: entities of the question, descriptors, cosine over all live nodes, roots, breadth-first walk, context."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.graph import Graph
from memory_core.protocols import Line, RankedTurn, Readable, Retrieval, Root, Visit
from memory_core.schema import Edge, Node
from memory_core.settings import Settings

_TURNS_A_NODE = 3  # design, section 4: at most three turns of a node enter the ranking
_SHOWN = 25  # candidates kept in the trace


@dataclass(frozen=True)
class GraphRetriever:
    """The 5 roots nearest to the question's entities above the embedder's floor, then 2 hops, at most 15 nodes."""

    roots: int = 5
    hops: int = 2
    cap: int = 15
    floor: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> GraphRetriever:
        """The retriever with a memory's saved parameters."""
        return cls(settings.roots, settings.hops, settings.cap, settings.floor)

    def retrieve(self, memory: Readable, question: str) -> Retrieval:
        """Roots, walk, context and the ranking of turns that follows from provenance."""
        started = time.perf_counter()
        entities = memory.entities(question)
        floor = memory.embedder.floor if self.floor is None else self.floor
        candidates = self._candidates(memory, entities)
        found = time.perf_counter()
        roots = tuple(root for root in candidates if root.score >= floor)[: self.roots]
        visits, capped = walk(memory.graph, [root.id for root in roots], self.hops, self.cap)
        edges = edges_among(memory.graph, [visit.id for visit in visits])
        walked = time.perf_counter()
        cited = memory.cited_turns([visit.id for visit in visits] + [edge.id for edge in edges])
        return Retrieval(
            retriever="graph",
            question=question,
            entities=tuple(entities),
            candidates=candidates[:_SHOWN],
            floor=floor,
            roots=roots,
            nodes=tuple(visits),
            edges=tuple(edge.id for edge in edges),
            capped=tuple(capped),
            turns=tuple(rank_turns([visit.id for visit in visits], cited, roots)),
            lines=tuple(lines(memory.graph, visits, edges, cited)),
            ms={
                "candidates": 1000 * (found - started),
                "walk": 1000 * (walked - found),
                "context": 1000 * (time.perf_counter() - walked),
            },
        )

    def _candidates(self, memory: Readable, entities: Sequence[str]) -> tuple[Root, ...]:
        """Best cosine of each node over the entities, best first."""
        if not entities or not memory.graph.node_count:
            return ()
        nearest = memory.graph.nearest(memory.embed_query(list(entities)), max(_SHOWN, self.roots))
        best: dict[int, tuple[float, str]] = {}
        for entity, rows in zip(entities, nearest, strict=True):
            for row, score in rows:
                if score > best.get(row, (-2.0, ""))[0]:
                    best[row] = (score, entity)
        order = sorted(best, key=lambda row: (-best[row][0], row))
        graph = memory.graph
        return tuple(Root(graph.ids[row], graph.titles[row], best[row][0], best[row][1]) for row in order)


def walk(graph: Graph, roots: Sequence[str], hops: int, cap: int) -> tuple[list[Visit], list[str]]:
    """Breadth-first from the roots: all of a hop before any of the next, at most `cap` nodes.

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


def lines(graph: Graph, visits: Sequence[Visit], edges: Sequence[Edge], cited: dict[str, list[str]]) -> list[Line]:
    """The context: nodes in the order of the walk, then edges, newest first among what contradicts."""
    nodes = [graph.node(visit.id) for visit in visits]
    written = [Line(node_line(node), node.id, tuple(cited.get(node.id, ()))) for node in nodes]
    seen: set[str] = set()
    for edge in sorted(edges, key=lambda edge: "until" in edge.attributes):
        text = edge_line(graph, edge)
        if text not in seen:
            seen.add(text)
            written.append(Line(text, edge.id, tuple(cited.get(edge.id, ())), "until" in edge.attributes))
    return written


def node_line(node: Node) -> str:
    """A node as one line of context."""
    attributes = "; ".join(f"{key}: {value}" for key, value in node.attributes.items())
    return f"{node.label} | {node.title} | {node.content}" + (f" [{attributes}]" if attributes else "")


def edge_line(graph: Graph, edge: Edge) -> str:
    """An edge as one line of context; one that no longer holds says since when."""
    own = {key: value for key, value in edge.attributes.items() if key not in ("until", "superseded_by")}
    attributes = "; ".join(f"{key}: {value}" for key, value in own.items())
    ended = f" (until {edge.attributes['until']}, no longer current)" if "until" in edge.attributes else ""
    source, target = (graph.titles[graph.row_of[end]] for end in (edge.source, edge.target))
    return f"{source} -- {edge.relationship} --> {target}" + (f" [{attributes}]" if attributes else "") + ended
