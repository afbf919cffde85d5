"""Watching a transcript being remembered: a job that can be paused, stepped, slowed, stopped and taken up again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memory_core.ingestion import Ingested, ingest, retry_failed
from memory_core.jobs import Job, Worker
from memory_core.memory import Memory, TurnReport
from memory_core.protocols import Extractor
from memory_core.retrieval import turn_vectors
from memory_core.schema import Turn

#: Seconds waited after each turn, by what the person chooses.
SPEEDS: dict[str, float] = {"1 turn/s": 1.0, "5 turns/s": 0.2, "full speed": 0.0}
_INDEXED = 64  # turns after which their vectors are made, so that the first question need not wait for all of them


@dataclass
class Replay:
    """A transcript on its way into a memory. `counts` grows with every turn; the job tells state and estimate."""

    name: str
    job: Job
    counts: Ingested = field(default_factory=Ingested)
    skipped: int = 0  # turns that stood in the memory before


def missing(memory: Memory, turns: Sequence[Turn]) -> list[Turn]:
    """The turns of a transcript that the memory does not hold yet, in order."""
    known = memory.stored_sources(turns)
    return [turn for turn in turns if not turn.source_id or (turn.session, turn.source_id) not in known]


def start(
    worker: Worker,
    memory: Memory,
    name: str,
    turns: Sequence[Turn],
    *,
    extractor: Extractor | None = None,
    each: Callable[[TurnReport], None] = lambda report: None,
    delay: float = 0.0,
    paused: bool = False,
    parallel: int = 1,
    stop: threading.Event | None = None,
) -> Replay:
    """Remember a transcript in the background; turns that are stored already are skipped, so stopping loses nothing and
    starting again goes on. `each` gets every report; `paused` starts with the first step still to be asked for.
    `parallel` turns are extracted at once; `stop` is the event that the extractor's model looks at."""
    fresh = missing(memory, turns)

    def work(job: Job) -> Ingested:
        result = ingest(memory, fresh, advance=job.advance, each=count, extractor=extractor, workers=parallel)
        index()
        replay.counts.problems += result.problems
        return result

    def count(report: TurnReport) -> None:
        replay.counts.count(report)
        each(report)
        if replay.counts.turns % _INDEXED == 0:
            index()

    def index() -> None:
        if turn_vectors.missing(memory) <= _INDEXED + turn_vectors.FEW:  # a large backlog is a job of its own
            memory.turn_vectors()

    job = Job(f"Replay of {name}", work, len(fresh), delay, stop=stop or threading.Event())
    replay = Replay(name, job, skipped=len(turns) - len(fresh))
    if paused:
        replay.job.pause()
    worker.submit(replay.job)
    return replay


def start_retrying(
    worker: Worker,
    memory: Memory,
    *,
    extractor: Extractor | None = None,
    each: Callable[[TurnReport], None] = lambda report: None,
    parallel: int = 1,
    stop: threading.Event | None = None,
) -> Replay:
    """Read again in the background every turn whose last extraction failed; parameters as of `start`."""

    def work(job: Job) -> Ingested:
        return retry_failed(memory, advance=job.advance, each=count, extractor=extractor, workers=parallel)

    def count(report: TurnReport) -> None:
        replay.counts.count(report)
        each(report)

    failed = len(memory.failed_turns())
    replay = Replay("failed turns", Job("Reading failed turns again", work, failed, stop=stop or threading.Event()))
    worker.submit(replay.job)
    return replay
