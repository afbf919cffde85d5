"""`bench retrieval`: how much of the evidence each retriever brings, per type, and how far apart they are."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from memory_core.context import token_estimate
from memory_core.errors import InputError
from memory_core.evaluation.datasets import Benchmark, Question, for_retrieval
from memory_core.evaluation.metrics import fraction, ndcg, recall_all, recall_any
from memory_core.evaluation.statistics import estimate, paired_difference
from memory_core.memory import Memory
from memory_core.parts import RETRIEVERS
from memory_core.parts import retriever as retriever_named
from memory_core.protocols import Retrieval, Retriever
from memory_core.retrieval.remembering import Remembering
from memory_core.retrievers.hybrid import HybridRetriever

MEASURES = ("fraction@5", "fraction@10", "recall_any@5", "recall_all@5", "ndcg@10")
_PAIRED = ("fraction@5", "fraction@10", "recall_any@5", "recall_all@5")
_DEPTH = 10
Row = Mapping[str, float]


def check(names: Sequence[str]) -> Sequence[str]:
    """The names, each a known retriever. Raises InputError."""
    unknown = [name for name in names if name not in RETRIEVERS]
    if unknown or not names:
        raise InputError(f"There is no retriever {', '.join(unknown)}: choose among {', '.join(RETRIEVERS)}.")
    return names


def report(
    benchmark: Benchmark,
    memories: Iterable[tuple[str, Memory]],
    retrievers: Sequence[str] = RETRIEVERS,
    *,
    variants: Mapping[str, Retriever] | None = None,
    limit: int | None = None,
    advance: Callable[[str], None] = lambda message: None,
) -> dict[str, object]:
    """Figures of each retriever over the questions with evidence; `variants` are measured beside the named ones.

    Raises InputError when there is no such question.
    """
    asked = for_retrieval(benchmark.questions)[:limit]
    if not asked:
        raise InputError("No question to ask: give a file whose questions name their evidence, and a --limit above 0.")
    found: dict[str, dict[str, Row]] = {name: {} for name in (*retrievers, *(variants or {}))}
    for conversation, memory in memories:
        questions = [question for question in asked if question.conversation == conversation]
        memory.embedder = Remembering(memory.embedder, most=sys.maxsize)  # times leave embedding aside
        parts: dict[str, Retriever] = {name: retriever_named(name, memory.settings, _DEPTH) for name in retrievers}
        for question in questions:
            for name, part in {**parts, **(variants or {})}.items():
                found[name][question.id] = _row(memory, question, part)
            advance(f"{conversation}: {question.text[:60]}")
    types = {question.id: question.type for question in asked}
    return {
        "n": len(asked),
        "retrievers": {name: _figures(rows, types) for name, rows in found.items()},
        "paired": {f"{a}-{b}": _paired(found[a], found[b]) for a, b in combinations(reversed(found), 2)},
        "knowledge_update": {name: _updates(rows) for name, rows in found.items()},
        "dropped_evidence": benchmark.dropped_evidence,
    }


def _row(memory: Memory, question: Question, part: Retriever) -> Row:
    """One question, one retriever: the evidence metrics, context tokens and milliseconds."""
    if isinstance(part, HybridRetriever):
        part = replace(part, asked_at=question.asked_at)
    memory.retrieve(question.text, part)  # the second time the embedding of the question is remembered, so not timed
    started = time.perf_counter()
    retrieval = memory.retrieve(question.text, part)
    ms = 1000 * (time.perf_counter() - started)
    ranking = _source_ids(memory, retrieval)
    wanted = question.evidence
    return {
        "fraction@5": fraction(ranking, wanted, 5),
        "fraction@10": fraction(ranking, wanted, 10),
        "recall_any@5": recall_any(ranking, wanted, 5),
        "recall_all@5": recall_all(ranking, wanted, 5),
        "ndcg@10": ndcg(ranking, wanted, 10),
        "context_tokens": float(token_estimate(retrieval.context)),
        "ms": ms,
        **_newest(memory, question, ranking),
    }


def _source_ids(memory: Memory, retrieval: Retrieval) -> list[str]:
    return [turn.source_id for turn in memory.turns([turn.id for turn in retrieval.turns])]


def _newest(memory: Memory, question: Question, ranking: Sequence[str]) -> Row:
    """Of a knowledge update: whether the newest evidence ranks above all older, and whether only older was brought."""
    if question.type != "knowledge-update" or len(question.evidence) < 2:
        return {}
    turns = memory.turns([memory.source_turns()[name] for name in question.evidence])
    newest = max(turns, key=lambda turn: (turn.at, turn.position))
    if sum(turn.at == newest.at and turn.session == newest.session for turn in turns) == len(turns):
        return {}
    place = {name: rank for rank, name in enumerate(ranking)}
    old = [place.get(turn.source_id, len(place)) for turn in turns if turn is not newest]
    new = place.get(newest.source_id, len(place))
    return {"newest_first": float(new < min(old)), "stale_only": float(new == len(place) and min(old) < len(place))}


def _figures(rows: Mapping[str, Row], types: Mapping[str, str]) -> dict[str, object]:
    groups: dict[str, list[Row]] = {}
    for question, row in rows.items():
        groups.setdefault(types[question], []).append(row)
    times = [row["ms"] for row in rows.values()]
    return {
        **_means(list(rows.values())),
        "context_tokens": _mean(row["context_tokens"] for row in rows.values()),
        "p50_ms": float(np.percentile(times, 50)) if times else None,
        "p95_ms": float(np.percentile(times, 95)) if times else None,
        "types": {name: {"n": len(group), **_means(group)} for name, group in sorted(groups.items())},
    }


def _means(rows: Sequence[Row]) -> dict[str, object]:
    means: dict[str, object] = {}
    for measure in MEASURES:
        if rows:
            found = estimate([row[measure] for row in rows])
            means[measure] = {"mean": found.mean, "ci": [found.low, found.high]}
    return means


def _paired(a: Mapping[str, Row], b: Mapping[str, Row]) -> dict[str, object]:
    differences: dict[str, object] = {}
    for measure in _PAIRED:
        found = paired_difference(*({id: row[measure] for id, row in rows.items()} for rows in (a, b)))
        differences[measure] = {"diff": found.diff, "ci": [found.low, found.high], "p": found.p}
    return differences


def _updates(rows: Mapping[str, Row]) -> dict[str, object]:
    """Over the knowledge updates with evidence of more than one time."""
    updates = [row for row in rows.values() if "newest_first" in row]
    return {
        "n": len(updates),
        "newest_first": _mean(row["newest_first"] for row in updates),
        "stale_only": _mean(row["stale_only"] for row in updates),
    }


def _mean(values: object) -> float | None:
    column = np.fromiter(values, np.float64)  # type: ignore[call-overload]
    return float(column.mean()) if len(column) else None
