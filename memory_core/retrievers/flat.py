"""The flat baseline (P1 4.2): the turns most similar to the question, and nothing else."""

from __future__ import annotations

import time
from dataclasses import dataclass

from memory_core.context import turn_lines
from memory_core.graph.scan import dots, top
from memory_core.protocols import RankedTurn, Readable, Retrieval


@dataclass(frozen=True)
class FlatRetriever:
    """The `k` turns of greatest cosine with the question."""

    k: int = 5

    def retrieve(self, memory: Readable, question: str) -> Retrieval:
        """Turns best first, ties by age."""
        ids, vectors = memory.turn_vectors()
        asked = memory.embed_query([question])[0]
        started = time.perf_counter()
        scores = dots(vectors, asked[None])[0]
        ranked = tuple(RankedTurn(ids[row], float(scores[row]), "dense") for row in top(scores, self.k))
        lines = turn_lines(memory.turns([turn.id for turn in ranked]))
        ms = {"search": 1000 * (time.perf_counter() - started)}
        return Retrieval("flat", question, turns=ranked, lines=lines, ms=ms)
