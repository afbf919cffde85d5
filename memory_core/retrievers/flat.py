"""The flat baseline (P1 4.2): the turns most similar to the question, and nothing else."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from memory_core.protocols import Line, RankedTurn, Readable, Retrieval
from memory_core.schema import Turn


@dataclass(frozen=True)
class FlatRetriever:
    """The `k` turns of greatest cosine with the question."""

    k: int = 5

    def retrieve(self, memory: Readable, question: str) -> Retrieval:
        """Turns best first, ties by age."""
        started = time.perf_counter()
        ids, vectors = memory.turn_vectors()
        scores = vectors @ memory.embed_query([question])[0] if ids else np.zeros(0)
        order = np.lexsort((np.arange(len(ids)), -scores))[: self.k]
        ranked = [RankedTurn(ids[row], float(scores[row]), "dense") for row in order]
        return of_turns("flat", memory, question, ranked, started)


def of_turns(name: str, memory: Readable, question: str, ranked: list[RankedTurn], started: float) -> Retrieval:
    """A retrieval whose context is the verbatim turns, in rank order."""
    turns = memory.turns([turn.id for turn in ranked])
    context = tuple(Line(turn_line(turn), turn.id, (turn.id,)) for turn in turns)
    ms = {"search": 1000 * (time.perf_counter() - started)}
    return Retrieval(name, question, turns=tuple(ranked), lines=context, ms=ms)


def turn_line(turn: Turn) -> str:
    """A turn as one line of context, dated."""
    return f"[{turn.at:%Y-%m-%d}] {turn.speaker or turn.role}: {turn.text}"
