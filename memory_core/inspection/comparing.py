"""Extractors on the same turns: what each finds, how far they agree, what only one brings, at what price; and against
gold, with intervals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from memory_core.demo import FILE
from memory_core.errors import InputError
from memory_core.evaluation.conversations import holds
from memory_core.evaluation.datasets import load_benchmark
from memory_core.evaluation.gold import Counts, GoldTurn, extraction_figures, score_extraction
from memory_core.evaluation.statistics import ratio_interval
from memory_core.extraction import checked, timed
from memory_core.inspection.readings import compare_readings
from memory_core.jobs import Job, Worker
from memory_core.memory import Memory
from memory_core.prices import cost
from memory_core.protocols import Extractor
from memory_core.schema import FAILED_STATUSES, Extraction, Turn

NAME = "Comparing extractors"


@dataclass
class Compared:
    """The readings so far: `rows` holds for each turn what each of `names` read from it, in that order.

    `gold` is by turn id, empty without a gold set.
    """

    names: tuple[str, ...]
    rows: list[tuple[Turn, tuple[Extraction, ...]]] = field(default_factory=list)
    gold: Mapping[str, GoldTurn] = field(default_factory=dict)


@dataclass(frozen=True)
class Sum:
    """One extractor over all turns. `coverage` is the share of evidence turns it read something from besides the
    speaker, None without evidence; `dollars` None for a model without a known price; seconds are of the middle turn."""

    name: str
    nodes: int
    edges: int
    empty: int
    failed: int
    drops: int
    seconds: float
    tokens_in: int
    tokens_out: int
    dollars: float | None
    coverage: float | None


@dataclass(frozen=True)
class Agreement:
    """Two extractors over all turns: items both found over items any found, with its interval over turns."""

    a: str
    b: str
    share: float | None
    low: float
    high: float
    both: int
    only_a: int
    only_b: int
    relabelled: int


def start(worker: Worker, turns: Sequence[Turn], extractors: Mapping[str, Extractor],
          gold: Sequence[GoldTurn] = ()) -> Job:  # fmt: skip
    """Let every extractor read every turn, in the background; `job.result` is the Compared so far; nothing is stored.

    With `gold`, its turns are read instead. Raises InputError when there is nothing to read or nobody to read it.
    """
    said = [one.turn for one in gold] or list(turns)
    if not said or not extractors:
        raise InputError("Choose at least one turn and one extractor.")
    compared = Compared(tuple(extractors), gold={one.id: one for one in gold})

    def work(job: Job) -> Compared:
        job.result = compared
        for turn in said:
            read = []
            for extractor in extractors.values():
                read.append(checked(timed(extractor, turn), turn))
                job.advance(turn.source_id)
            compared.rows.append((turn, tuple(read)))
        return compared

    return worker.submit(Job(NAME, work, len(said) * len(extractors)))


def latest(worker: Worker) -> Job | None:
    """The comparison that was started last on this memory."""
    return worker.latest(NAME)


def evidence_of(memory: Memory) -> frozenset[str]:
    """Source ids of the turns that hold the answers to the demo's questions, those this memory holds."""
    if not FILE.exists():
        return frozenset()
    known = memory.once("evidence", lambda: [one for one in load_benchmark(FILE).questions if holds(memory, one)])
    return frozenset(turn for question in known for turn in question.evidence)


def sums(compared: Compared, evidence: Collection[str] = ()) -> list[Sum]:
    """A line for each extractor; `evidence` are the source ids of turns that hold answers."""
    return [_sum(name, [(turn, read[at]) for turn, read in compared.rows], set(evidence))
            for at, name in enumerate(compared.names)] if compared.rows else []  # fmt: skip


def _sum(name: str, rows: Sequence[tuple[Turn, Extraction]], evidence: set[str]) -> Sum:
    asked = [found for turn, found in rows if turn.source_id in evidence]
    covered = sum(len(found.nodes) > 1 or bool(found.edges) for found in asked)
    read = [found for _, found in rows]
    tokens_in, tokens_out = sum(one.tokens_in for one in read), sum(one.tokens_out for one in read)
    return Sum(
        name, sum(len(one.nodes) for one in read), sum(len(one.edges) for one in read),
        sum(one.status == "empty" for one in read), sum(one.status in FAILED_STATUSES for one in read),
        sum(len(one.drops) for one in read), median(one.seconds for one in read), tokens_in, tokens_out,
        cost(read[0].model, tokens_in, tokens_out) if read[0].model else 0.0,
        covered / len(asked) if asked else None,
    )  # fmt: skip


def agreements(compared: Compared, *, resamples: int = 2000) -> list[Agreement]:
    """A line for each two extractors; turns that either failed on are left out."""
    names = compared.names
    return [
        _agreement(compared, a, b, resamples) for a in range(len(names)) for b in range(a + 1, len(names))
    ] if compared.rows else []  # fmt: skip


def _agreement(compared: Compared, a: int, b: int, resamples: int) -> Agreement:
    usable = [read for _, read in compared.rows if not {read[a].status, read[b].status} & FAILED_STATUSES]
    found = [compare_readings(read[a], read[b]) for read in usable]
    both, only_a, only_b = ([len(getattr(one, part)) for one in found] for part in ("both", "only_a", "only_b"))
    whole = [sum(parts) for parts in zip(both, only_a, only_b, strict=True)]
    low, high = ratio_interval(both, whole, resamples=resamples) if sum(whole) else (float("nan"), float("nan"))
    share = sum(both) / sum(whole) if sum(whole) else None
    return Agreement(compared.names[a], compared.names[b], share, low, high, sum(both), sum(only_a), sum(only_b),
                     sum(len(one.relabelled) for one in found))  # fmt: skip


def scores(compared: Compared) -> dict[str, dict[str, Any]]:
    """Extractor -> its figures against gold, as `bench extraction` prints them; empty without gold."""
    if not compared.gold or not compared.rows:
        return {}
    return {name: extraction_figures(_counts(compared, at)) for at, name in enumerate(compared.names)}


def _counts(compared: Compared, at: int) -> list[Counts]:
    return [score_extraction(compared.gold[turn.source_id], read[at]) for turn, read in compared.rows]


def misses(compared: Compared, turn: Turn) -> dict[str, Counts]:
    """Extractor -> what it missed and added on one turn of gold."""
    gold = compared.gold.get(turn.source_id)
    read = next((read for known, read in compared.rows if known.source_id == turn.source_id), ())
    return {name: score_extraction(gold, one) for name, one in zip(compared.names, read, strict=False)} if gold else {}
