"""P1 3.5: entities of the question, descriptors, cosine over all live nodes, roots, breadth-first walk, context."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_core.context import graph_lines
from memory_core.protocols import Readable, Retrieval, Root
from memory_core.settings import Settings
from memory_core.walk import breadth_first, edges_among, rank_turns

SHOWN = 25  # candidates kept in the trace


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
        approximate = memory.graph.search.approximate
        candidates = self._candidates(memory, entities)
        found = time.perf_counter()
        roots = tuple(root for root in candidates if root.score >= floor)[: self.roots]
        visits, capped = breadth_first(memory.graph, [root.id for root in roots], self.hops, self.cap)
        edges = edges_among(memory.graph, [visit.id for visit in visits])
        walked = time.perf_counter()
        cited = memory.cited_turns([visit.id for visit in visits] + [edge.id for edge in edges])
        mute = memory.speaker_nodes()  # read from nearly every turn, so the newest three say nothing about the question
        return Retrieval(
            retriever="graph",
            question=question,
            entities=tuple(entities),
            candidates=candidates[:SHOWN],
            floor=floor,
            approximate=approximate,
            roots=roots,
            nodes=tuple(visits),
            edges=tuple(edge.id for edge in edges),
            capped=tuple(capped),
            turns=tuple(rank_turns([visit.id for visit in visits if visit.id not in mute], cited, roots)),
            lines=graph_lines(memory.graph, visits, edges, cited),
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
        graph, k = memory.graph, max(SHOWN, self.roots)
        best = best_by_row(entities, graph.nearest(memory.embed_query(list(entities)), k))
        return tuple(Root(graph.ids[row], graph.titles[row], score, entity) for row, score, entity in best)


def best_by_row(
    entities: Sequence[str], nearest: Iterable[Iterable[tuple[int, float]]]
) -> list[tuple[int, float, str]]:
    """(row, its best cosine, the entity that gave it), best first, ties by age; `nearest` has (row, cosine) by entity.

    >>> best_by_row(["Mira", "Porto"], [[(4, 0.5), (2, 0.25)], [(2, 0.5)]])
    [(2, 0.5, 'Porto'), (4, 0.5, 'Mira')]
    """
    best: dict[int, tuple[float, str]] = {}
    for entity, rows in zip(entities, nearest, strict=True):
        for row, score in rows:
            if score > best.get(row, (-2.0, ""))[0]:
                best[row] = (score, entity)
    return [(row, *best[row]) for row in sorted(best, key=lambda row: (-best[row][0], row))]
