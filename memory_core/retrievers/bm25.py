"""BM25 over the turns (SQLite FTS5, Porter stemming): the lexical control."""

from __future__ import annotations

import time
from dataclasses import dataclass

from memory_core.context import turn_lines
from memory_core.protocols import Readable, Retrieval
from memory_core.schema import content_words


@dataclass(frozen=True)
class BM25Retriever:
    """The `k` turns of greatest BM25 score for the question's content words."""

    k: int = 5

    def retrieve(self, memory: Readable, question: str) -> Retrieval:
        """Turns best first, ties by age."""
        started = time.perf_counter()
        ranked = tuple(memory.search_turns(" ".join(content_words(question)) or question, self.k))
        lines = turn_lines(memory.turns([turn.id for turn in ranked]))
        ms = {"search": 1000 * (time.perf_counter() - started)}
        return Retrieval("bm25", question, turns=ranked, lines=lines, ms=ms)
