"""BM25 over the turns (SQLite FTS5, Porter stemming): the lexical control."""

from __future__ import annotations

import time
from dataclasses import dataclass

from memory_core.protocols import Readable, Retrieval
from memory_core.retrievers.flat import of_turns
from memory_core.schema import content_words


@dataclass(frozen=True)
class BM25Retriever:
    """The `k` turns of greatest BM25 score for the question's content words."""

    k: int = 5

    def retrieve(self, memory: Readable, question: str) -> Retrieval:
        """Turns best first, ties by age."""
        started = time.perf_counter()
        words = " ".join(content_words(question)) or question
        return of_turns("bm25", memory, question, memory.search_turns(words, self.k), started)
