"""Questions to a memory: find, answer, and, only when told to, mark what was visited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory_core.forgetting.forgetting import Forgetting
from memory_core.memory.checks import check_question, moment_given
from memory_core.protocols import Answer, Extractor, Floats, Reader, Retrieval, Retriever
from memory_core.store.rows import insert


@dataclass(frozen=True)
class Asked:
    """A question with every step of its retrieval, the reader's answer and the nodes that were marked as visited."""

    question: str
    retrieval: Retrieval
    answer: Answer
    touched: tuple[str, ...] = ()


class Asking(Forgetting):
    """What a memory is asked."""

    extractor: Extractor
    reader: Reader

    def retrieve(self, question: str, retriever: Retriever | None = None) -> Retrieval:
        """Every step of finding what the question needs; changes nothing."""
        from memory_core.retrievers.graph import GraphRetriever

        def find() -> Retrieval:
            with self.one_moment():
                return (retriever or GraphRetriever.of(self.settings)).retrieve(self, check_question(question))

        return self.outside.run(find)

    def ask(self, question: str, retriever: Retriever | None = None, *, touch_at: datetime | None = None) -> Asked:
        """Retrieve and answer. With `touch_at` the question is stored and the visited nodes are marked as accessed
        then; without it nothing changes."""
        question = check_question(question)
        retrieval = self.retrieve(question, retriever)
        turns = self.turns([turn.id for turn in retrieval.turns])
        answer = self.reader.answer(question, retrieval, turns)
        touched = self.touch(retrieval, touch_at) if touch_at else ()
        return Asked(question, retrieval, answer, touched)

    def touch(self, retrieval: Retrieval, at: datetime) -> tuple[str, ...]:
        """Mark the nodes an answer visited and keep the question (P2's S looks at the last ten)."""

        def write() -> tuple[str, ...]:
            vector = self.embed_query([retrieval.question])[0]
            nodes = [visit.id for visit in retrieval.nodes if self.graph.is_live(visit.id)]
            turn, moment = self.graph.turns, moment_given(at).timestamp()
            changes = [
                insert("access", id=self.counters.take("access"), node=node, at=moment, turn=turn, kind="answer")
                for node in nodes
            ]
            asked = self.counters.take("question")
            blob = vector.astype(np.float32).tobytes()
            self.commit([*changes, insert("question", id=asked, text=retrieval.question, at=moment, vector=blob)])
            return tuple(nodes)

        return self.retrying(write)

    def titles(self, ids: Sequence[str]) -> dict[str, str]:
        """Titles of nodes by id. Raises KeyError for an unknown one."""
        return {node: self.graph.titles[self.graph.row_of[node]] for node in ids}

    def entities(self, question: str) -> list[str]:
        """The entities of a question, by the extractor (P1 3.5)."""
        return self.outside.ask(("entities", self.extractor.id, question), lambda: self.extractor.entities(question))

    def embed_query(self, texts: Sequence[str]) -> Floats:
        """Vectors of question texts, shape (n, dim)."""
        return self.outside.embed(self.embedder, texts, "query")
