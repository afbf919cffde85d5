"""One question under one condition: retrieve, read, judge, and the row that says all of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from memory_core.context import token_estimate, turn_lines
from memory_core.errors import InputError, ProviderError
from memory_core.evaluation import metrics, official
from memory_core.evaluation.datasets import LOCOMO_CATEGORIES, Question, for_retrieval
from memory_core.evaluation.judge import Judge
from memory_core.memory import Memory
from memory_core.parts import retriever
from memory_core.protocols import Answer, Line, Reader, Retrieval, Retriever
from memory_core.readers.embedded import EmbeddedReader
from memory_core.readers.llm import LLMReader
from memory_core.retrievers.hybrid import HybridRetriever
from memory_core.schema import Turn

CONDITIONS = ("graph", "flat", "bm25", "hybrid", "none", "full")
#: What an answer that was not found counts as; LoCoMo's own rule reads it as "not mentioned".
NOT_FOUND = "Not mentioned."
K = 5
_DEPTH = 10  # places of the ranking that evidence metrics look at
_KEPT = 20_000  # characters of a context kept in a row
Row = dict[str, object]


@dataclass(frozen=True)
class Asked:
    """A question with what was retrieved for it: all that reading and judging need, without the memory.

    `ranking` are source ids of turns, best first; None where the condition ranks nothing. `newest` is the newest
    evidence turn and when it was said: 0 with the first turn of the memory, 1 with the last.
    """

    question: Question
    condition: str
    format: str
    found: Retrieval
    turns: tuple[Turn, ...]
    ranking: tuple[str, ...] | None
    user_turns: frozenset[str]
    newest: tuple[str, float] | None
    memory: dict[str, int]
    seconds: float


def check_condition(name: str, memory: Memory) -> None:
    """Raises InputError for a condition or retriever there is none of."""
    if name not in CONDITIONS:
        raise InputError(f"There is no condition {name}: choose {', '.join(CONDITIONS)}.")
    if name not in ("none", "full"):
        retriever(name, memory.settings, K)


@dataclass(frozen=True)
class Room:
    """A memory ready to be asked: its live turns by source id, when they were said, and what it weighs."""

    memory: Memory
    turns: dict[str, Turn]
    size: dict[str, int]

    @classmethod
    def of(cls, memory: Memory) -> Room:
        """Read once a memory."""
        turns = {turn.source_id: turn for turn in memory.turns(list(memory.source_turns().values()))}
        size = {"nodes": memory.graph.node_count, "edges": memory.graph.edge_count, "turns": len(turns),
                "bytes_live": memory.bytes_live()["total"]}  # fmt: skip
        return cls(memory, turns, size)

    def ask(self, question: Question, condition: str, format: str) -> Asked:
        """Retrieve. Raises ProviderError when the entities of the question cannot be had."""
        begun = time.perf_counter()
        found, ranked = self._found(question, condition)
        turns = tuple(self.memory.turns([turn.id for turn in found.turns]))
        if condition == "full":
            turns = self._newest_first
        ranking = None
        if ranked is not None:
            ranking = tuple(turn.source_id for turn in self.memory.turns([turn.id for turn in ranked.turns]))
        return Asked(
            question, condition, format, found, turns, ranking, self._user_turns, self._newest(question),
            self.size, time.perf_counter() - begun,
        )  # fmt: skip

    def _found(self, question: Question, condition: str) -> tuple[Retrieval, Retrieval | None]:
        """What the reader gets, and the longer ranking that evidence metrics look at."""
        text = question.text
        if condition == "none":
            return Retrieval("none", text, lines=(Line("", ""),)), None
        if condition == "full":
            return Retrieval("full", text, lines=turn_lines(self._newest_first)), None
        given, longer = (self._retriever(condition, k, question.asked_at) for k in (K, _DEPTH))
        found = self.memory.retrieve(text, given)
        return found, found if given == longer else self.memory.retrieve(text, longer)

    def _retriever(self, condition: str, k: int, asked_at: datetime | None) -> Retriever:
        """The condition's retriever; relative dates count back from when the question is asked."""
        part = retriever(condition, self.memory.settings, k)
        return replace(part, asked_at=asked_at) if isinstance(part, HybridRetriever) else part

    @cached_property
    def _newest_first(self) -> tuple[Turn, ...]:
        return tuple(sorted(self.turns.values(), key=lambda turn: (turn.at, turn.position), reverse=True))

    @cached_property
    def _user_turns(self) -> frozenset[str]:
        return frozenset(name for name, turn in self.turns.items() if turn.role == "user")

    @cached_property
    def _span(self) -> tuple[float, float]:
        times = [turn.at.timestamp() for turn in self.turns.values()]
        return min(times), max(times)

    def _newest(self, question: Question) -> tuple[str, float] | None:
        said = [self.turns[name] for name in question.evidence if name in self.turns]
        if not said:
            return None
        turn, (first, last) = max(said, key=lambda turn: (turn.at, turn.position)), self._span
        return turn.source_id, 0.0 if last == first else (turn.at.timestamp() - first) / (last - first)


def reader_for(condition: str, reader: Reader) -> Reader:
    """The reader as the condition needs it: without memory it is asked so; full context gives it all its room."""
    if isinstance(reader, LLMReader):
        if condition == "none":
            return replace(reader, prompt_version="no-memory-v1")
        return replace(reader, budget=reader.llm.context_window) if condition == "full" else reader
    if isinstance(reader, EmbeddedReader) and condition == "full":
        return replace(reader, most=1_000_000)
    return reader


def answered(asked: Asked, reader: Reader, judge: Judge | None) -> Row:
    """The row of a question: answered and judged, or errored with the reason. Raises Cancelled."""
    begun, row = time.perf_counter(), _about(asked)
    try:
        answer = reader_for(asked.condition, reader).answer(asked.question.text, asked.found, asked.turns)
        row |= _scored(asked, answer)
        if judge is not None:
            row |= _judged(asked.question, str(row["predicted"]), judge)
    except ProviderError as error:
        row |= {"error": str(error)}
    row["time_seconds"] = round(asked.seconds + time.perf_counter() - begun, 4)
    return row


def errored(question: Question, error: ProviderError) -> Row:
    """The row of a question nothing could be retrieved for."""
    return {"question_id": question.id, "question_type": question.type, "question": question.text,
            "error": str(error), "time_seconds": 0.0}  # fmt: skip


def _about(asked: Asked) -> Row:
    question, found = asked.question, asked.found
    context = "" if asked.condition == "full" else found.context
    return {
        "question_id": question.id,
        "question_type": question.type,
        "question": question.text,
        "ground_truth": question.answer,
        "conversation": question.conversation,
        "evidence": list(question.evidence),
        "evidence_time": asked.newest and round(asked.newest[1], 6),
        "turns": [turn.source_id for turn in asked.turns] if asked.condition != "full" else [],
        "context": context[:_KEPT],
        "context_tokens": token_estimate(found.context),
        "memory": asked.memory,
        **_evidence(asked),
    }


def _evidence(asked: Asked) -> Row:
    question, ranking = asked.question, asked.ranking
    if ranking is None or not for_retrieval([question]):
        return {}
    evidence = question.evidence
    row: Row = {
        "recall_any@5": metrics.recall_any(ranking, evidence, 5),
        "recall_all@5": metrics.recall_all(ranking, evidence, 5),
        "fraction@5": metrics.fraction(ranking, evidence, 5),
        "fraction@10": metrics.fraction(ranking, evidence, 10),
        "ndcg@10": metrics.ndcg(ranking, evidence, 10),
        "provenance_precision": metrics.provenance_precision([turn.source_id for turn in asked.turns], evidence),
    }
    if asked.format == "locomo":
        row |= {f"locomo_recall@{k}": official.locomo_recall(ranking[:k], evidence) for k in (5, 10)}
    if asked.format == "longmemeval":
        row |= official.longmemeval_retrieval(ranking, evidence, asked.user_turns)
    return row


def _scored(asked: Asked, answer: Answer) -> Row:
    question, predicted = asked.question, answer.text or NOT_FOUND
    names = {turn.id: turn.source_id for turn in asked.turns}
    cites = [names[turn] for turn in answer.turns if turn in names]
    row: Row = {"predicted": predicted, "abstained": answer.text is None, "cites": cites}
    if answer.reply is not None:
        row |= {"tokens_in": answer.reply.tokens_in, "tokens_out": answer.reply.tokens_out}
    if question.answer:
        scores = metrics.token_scores(predicted, question.answer)
        row |= {"f1": scores.f1, "precision": scores.precision, "recall": scores.recall}
    if asked.format == "locomo":
        row["locomo_f1"] = official.locomo_f1(predicted, question.answer, question.type)
    if question.type == "knowledge-update":
        row["stale"] = stale(question.evidence, asked.newest and asked.newest[0], cites)
    return row


def stale(evidence: Sequence[str], newest: str | None, cites: Sequence[str]) -> bool | None:
    """Whether an answer to a knowledge update rests on an older evidence turn and not on the newest.

    None when it cites no evidence turn, or there was no update: then nothing can be said.

    >>> both = ["s1:0", "s9:2"]
    >>> stale(both, "s9:2", ["s1:0"]), stale(both, "s9:2", both), stale(both, "s9:2", [])
    (True, False, None)
    """
    if len(evidence) < 2 or not set(cites).intersection(evidence):
        return None
    return newest not in cites


def _judged(question: Question, predicted: str, judge: Judge) -> Row:
    abstention = question.abstention or question.type == LOCOMO_CATEGORIES[5]
    expected = question.answer or "The conversation does not say."
    verdict = judge.grade(question.text, expected, predicted, question.type, abstention)
    return {"judge_correct": None if verdict.correct is None else int(verdict.correct),
            "judge_reply": verdict.reply.text[:200]}  # fmt: skip
