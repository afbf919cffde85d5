"""Graph recall@5 under many prunes: the ranking the graph retriever would give, from what was prepared once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from memory_core.evaluation.datasets import Question
from memory_core.forgetting import Forgetting
from memory_core.protocols import Doubles

K = 5
_TURNS_A_NODE = 3  # as in the retriever: at most three turns of a node enter the ranking
_AHEAD = 64  # candidates looked at first; nearly always enough to find the roots among them
Mask = NDArray[np.bool_]


@dataclass
class Recall:
    """Per question its candidates best first (graph rows above the floor) and its evidence; per node its newest turns.

    Equal to `GraphRetriever` on the pruned memory (a test holds it), without embedding or searching again.
    """

    roots: int
    hops: int
    cap: int
    candidates: list[NDArray[np.int64]]
    evidence: list[frozenset[str]]
    turns: list[tuple[str, ...]]  # by node row: source ids, newest first
    others: list[list[tuple[int, int]]]  # by node row: (edge row, other node row) in stored order
    _known: dict[tuple[int, tuple[int, ...]], tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, memory: Forgetting, questions: Sequence[Question], advance: Callable[[str], None]) -> Recall:
        """Embed every question once and rank all live nodes for it."""
        from memory_core.retrievers.graph import GraphRetriever

        graph, part = memory.graph, GraphRetriever.of(memory.settings)
        floor = memory.embedder.floor if part.floor is None else part.floor
        candidates = []
        for question in questions:
            advance("questions")
            names = memory.entities(question.text)
            best = graph.cosines(memory.embedder.embed(names, "query")).max(axis=0) if names else np.zeros(0)
            near = np.flatnonzero(best >= floor)
            candidates.append(near[np.lexsort((near, -best[near]))])
        others = [
            [(edge, int(graph.ends.values[edge].sum()) - row) for edge in edges if graph.edge_live.values[edge]]
            for row, edges in enumerate(graph.incident)
        ]
        evidence = [frozenset(question.evidence) for question in questions]
        return cls(part.roots, part.hops, part.cap, candidates, evidence, _newest(memory), others)

    def without(self, sources: Collection[str]) -> Recall:
        """The same when these turns (source ids) have left the memory."""
        left = [tuple(turn for turn in of if turn not in sources)[:_TURNS_A_NODE] for of in self.turns]
        return replace(self, turns=left, _known={})

    def fractions(self, live: Mask) -> Doubles:
        """Graph recall@5 of every question when only `live` (graph rows,) is left."""
        return np.array([self._fraction(place, live) for place in range(len(self.candidates))])

    def _fraction(self, place: int, live: Mask) -> float:
        wanted = self.evidence[place]
        return sum(turn in wanted for turn in self.ranking(place, live)) / len(wanted)

    def ranking(self, place: int, live: Mask) -> tuple[str, ...]:
        """The first five turns (source ids) for the question at `place`."""
        near = self.candidates[place]
        ahead = near[:_AHEAD]
        roots = ahead[live[ahead]][: self.roots]
        if len(roots) < self.roots and len(near) > _AHEAD:
            roots = near[live[near]][: self.roots]
        rows = roots.tolist()
        key = (place, tuple(rows))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._turns_of(rows)
        return known if len(known) >= K else self._walked(rows, live)

    def _turns_of(self, rows: Sequence[int]) -> tuple[str, ...]:
        ranked: dict[str, None] = {}
        for row in rows:
            for turn in self.turns[row][:_TURNS_A_NODE]:
                ranked.setdefault(turn)
            if len(ranked) >= K:
                break
        return tuple(ranked)[:K]

    def _walked(self, roots: Sequence[int], live: Mask) -> tuple[str, ...]:
        """Breadth-first from the roots until five turns are found or the walk ends, as the retriever walks."""
        visits, seen, frontier = list(roots), set(roots), list(roots)
        for _ in range(self.hops):
            reached: list[int] = []
            for row in frontier:
                for _, other in self.others[row]:
                    if other not in seen and live[other]:
                        seen.add(other)
                        if len(visits) < self.cap:
                            visits.append(other)
                            reached.append(other)
                if len(visits) >= self.cap:
                    break
            frontier = reached
        return self._turns_of(visits)


def _newest(memory: Forgetting) -> list[tuple[str, ...]]:
    rows = memory.store.query(
        "SELECT item, source_id FROM provenance JOIN turn ON turn.id = provenance.turn WHERE forgotten_by IS NULL "
        "ORDER BY position DESC"
    )
    turns: list[list[str]] = [[] for _ in memory.graph.ids]
    mute = set(memory.speaker_rows().tolist())
    for item, source in rows:
        row = memory.graph.row_of.get(item)
        if row is not None and row not in mute:
            turns[row].append(source)
    return [tuple(of) for of in turns]
