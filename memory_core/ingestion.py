"""Remembering whole conversations: in order, each turn once, extraction running ahead in other processes."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field

from memory_core.errors import InputError, KnownTurnError
from memory_core.extraction import timed
from memory_core.extractors.llm import LLMExtractor
from memory_core.memory import Memory, TurnReport
from memory_core.prices import cost, told
from memory_core.protocols import Extractor
from memory_core.schema import FAILED_STATUSES, Extraction, Turn

_WORTH_PROCESSES = 80  # turns: below it, starting processes takes longer than they save
_AHEAD = 16  # turns that each process extracts ahead of the one being stored
_ASKED_AHEAD = 2  # the same for each call to a server: what is extracted and not stored when a person stops is lost
PARALLEL = 2  # turns extracted at once


@dataclass
class Ingested:
    """What became of a conversation: counts as `python -m memory_core ingest --json` prints them."""

    turns: int = 0
    nodes: int = 0
    edges: int = 0
    merged: int = 0
    rejected: int = 0  # turns whose extraction failed; they are stored and can be retried
    skipped: int = 0  # turns that were in the memory already
    dropped: int = 0  # items of extractions that validation left out
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float | None = None  # of priced models; None when none was asked
    seconds: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def count(self, report: TurnReport) -> None:
        """Add one turn's report."""
        self.turns += 1
        self.nodes += len(report.added)
        self.merged += len(report.merged)
        self.edges += sum(edge.new for edge in report.edges)
        self.dropped += len(report.extraction.drops)
        self.rejected += report.extraction.status in FAILED_STATUSES
        self.statuses[report.extraction.status] += 1
        self.tokens_in += report.extraction.tokens_in
        self.tokens_out += report.extraction.tokens_out
        if report.extraction.tokens_in:
            price = cost(report.extraction.model, report.extraction.tokens_in, report.extraction.tokens_out)
            self.dollars = self.dollars if price is None else (self.dollars or 0.0) + price

    @property
    def spent(self) -> str:
        """Tokens and dollars so far, "" when no model was asked."""
        return told(self.tokens_in, self.tokens_out, self.dollars) if self.tokens_in else ""


def ingest(
    memory: Memory,
    turns: Sequence[Turn],
    *,
    advance: Callable[[str], None] = lambda message: None,
    each: Callable[[TurnReport], None] = lambda report: None,
    workers: int = 1,
    extractor: Extractor | None = None,
) -> Ingested:
    """Remember turns in order; those stored already (same session and source id) are skipped, so a stopped ingestion
    resumes by being asked again.

    `advance` is called after each turn and may raise to stop; `workers` > 1 extracts ahead (in processes for the
    embedded extractor, in threads for one that waits for a server) and stores in order all the same: that many calls
    are under way at most. `extractor` defaults to the memory's own.
    """
    result = Ingested()
    started = time.perf_counter()
    known = memory.stored_sources(turns)
    fresh = [turn for turn in turns if not turn.source_id or (turn.session, turn.source_id) not in known]
    result.skipped = len(turns) - len(fresh)
    for turn, extraction in _extracted(extractor or memory.extractor, fresh, workers):
        try:
            report = memory.remember(turn, extraction)
        except KnownTurnError:
            result.skipped += 1
        except InputError as error:
            result.problems.append(f"{turn.session} {turn.source_id}: {error}".strip())
        else:
            result.count(report)
            each(report)
        advance(f"{result.spent} {turn.session} {turn.source_id}".strip())
    result.seconds = time.perf_counter() - started
    return result


def retry_failed(
    memory: Memory,
    *,
    advance: Callable[[str], None] = lambda message: None,
    each: Callable[[TurnReport], None] = lambda report: None,
    workers: int = 1,
    extractor: Extractor | None = None,
) -> Ingested:
    """Read again every turn whose last extraction failed, in order; counts and parameters as of `ingest`."""
    result = Ingested()
    started = time.perf_counter()
    turns = memory.turns(memory.failed_turns())
    for turn, extraction in _extracted(extractor or memory.extractor, turns, workers):
        report = memory.store_retry(turn.id, extraction)
        result.count(report)
        each(report)
        advance(f"{result.spent} {turn.session} {turn.source_id}".strip())
    result.seconds = time.perf_counter() - started
    return result


def estimate(extractor: Extractor, turns: Sequence[Turn]) -> str:
    """What reading the turns may take of a chat model, on the high side, in words; "" for the embedded extractor."""
    if not isinstance(extractor, LLMExtractor) or not turns:
        return ""
    tokens = extractor.estimate(turns)
    return told(*tokens, cost(extractor.llm.id, *tokens))


def _extracted(extractor: Extractor, turns: Sequence[Turn], workers: int) -> Iterator[tuple[Turn, Extraction]]:
    inside = _runs_inside(extractor)
    if workers < 2 or (inside and len(turns) < _WORTH_PROCESSES):
        yield from ((turn, timed(extractor, turn)) for turn in turns)
        return
    with _executor(extractor, workers) as executor:
        waiting: deque[tuple[Turn, Future[Extraction]]] = deque()
        try:
            for turn in turns:
                waiting.append((turn, executor.submit(timed, extractor, turn)))
                if len(waiting) >= (_AHEAD if inside else _ASKED_AHEAD) * workers:
                    ready, future = waiting.popleft()
                    yield ready, future.result()
            yield from ((turn, future.result()) for turn, future in waiting)
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


def _runs_inside(extractor: Extractor) -> bool:
    return type(extractor).__module__.startswith("memory_core.extractors.embedded")


def _executor(extractor: Extractor, workers: int) -> Executor:
    if _runs_inside(extractor):
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(workers, context, initializer=os.nice, initargs=(5,))
    return ThreadPoolExecutor(workers, "extraction")
