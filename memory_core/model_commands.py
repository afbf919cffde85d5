"""The commands that ask models to read: `ingest`, `retry`, `reembed`. Interrupted, they leave a call in its middle."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from memory_core.errors import InputError, ProviderError
from memory_core.importers.transcripts import Conversation, pool, read_transcript
from memory_core.ingestion import Ingested, estimate, ingest, retry_failed
from memory_core.memory import Memory
from memory_core.memory.reembedding import reembed
from memory_core.prices import AS_OF
from memory_core.progress import Meter
from memory_core.protocols import Extractor
from memory_core.providers import ProviderSettings, make_embedder, make_extractor
from memory_core.reembed import open_to_reembed
from memory_core.replay import missing
from memory_core.schema import Turn

Result = dict[str, Any]
EMBEDDER_HELP = "embedded, use, openai, compatible or ollama, with :model if need be"


def ingest_command(options: argparse.Namespace) -> Result:
    """Remember a transcript. Raises InputError, FormatError, MemoryFileError, ProviderError."""
    conversation, problems = _conversation(options)
    with _stopping() as stop:
        extractor = _extractor(options, stop)
        with Memory.open(options.memory, extractor=extractor) as memory:
            turns = conversation.turns[: options.limit]
            _say_estimate(extractor, missing(memory, turns))
            with Meter("remembering", len(turns)) as meter:
                done = ingest(memory, turns, advance=meter.advance, workers=options.parallel)
            _say_failed(memory, done)
    return _counted(done, problems)


def retry_command(options: argparse.Namespace) -> Result:
    """Read again the turns whose extraction failed. Raises MemoryFileError, ProviderError."""
    with _stopping() as stop, Memory.open(options.memory, create=False) as memory:
        extractor = _extractor(options, stop)
        failed = memory.turns(memory.failed_turns())
        _say_estimate(extractor, failed)
        with Meter("reading again", len(failed)) as meter:
            done = retry_failed(memory, advance=meter.advance, workers=options.parallel, extractor=extractor)
        _say_failed(memory, done)
        return _counted(done, []) | {"still_failed": len(memory.failed_turns())}


def _extractor(options: argparse.Namespace, stop: threading.Event) -> Extractor:
    """The extractor chosen, whose model is left in the middle of a call once `stop` is set."""
    choice = options.extractor
    chosen = ProviderSettings.named("extractor", choice) if choice else ProviderSettings.from_env("extractor")
    if chosen.lacks_key:  # every turn would fail alike
        raise ProviderError("OpenAI needs a key: set OPENAI_API_KEY, or choose another provider.")
    return make_extractor(replace(chosen, cancel=stop))


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """An event that is set when the person interrupts the command."""
    stop = threading.Event()
    try:
        yield stop
    except KeyboardInterrupt:
        stop.set()
        raise


def _say_estimate(extractor: Extractor, turns: Sequence[Turn]) -> None:
    if expected := estimate(extractor, turns):
        print(f"{len(turns):,} turns, at most {expected} (prices of {AS_OF})", file=sys.stderr)


def _say_failed(memory: Memory, done: Ingested) -> None:
    if done.rejected:
        reason = memory.attempts(memory.failed_turns()[-1])[-1].reason
        print(f"kept but not read: {done.rejected:,} of {done.turns:,} turns; `retry` reads them", file=sys.stderr)
        print(f"the last one: {reason}", file=sys.stderr)


def _counted(done: Ingested, problems: Sequence[str]) -> Result:
    result = asdict(done) | {"statuses": dict(done.statuses), "problems": [*problems, *done.problems]}
    for problem in result["problems"]:
        print(f"left out: {problem}", file=sys.stderr)
    return result


def reembed_command(options: argparse.Namespace) -> Result:
    """Give the memory another embedder. Raises InputError, MemoryFileError, ProviderError."""
    with _stopping() as stop, open_to_reembed(options.memory) as memory:
        before = memory.embedder.id
        settings = replace(ProviderSettings.named("embedder", options.embedder), cancel=stop)
        embedder = make_embedder(settings)
        with Meter("embedding", memory.graph.node_count) as meter:
            made = reembed(memory, embedder, meter.at)
        return {"embedder": embedder.id, "before": before, "dim": embedder.dim, "made": made}


def _conversation(options: argparse.Namespace) -> tuple[Conversation, list[str]]:
    transcript = read_transcript(options.file, options.format)
    problems = list(transcript.problems)
    if options.pooled:
        return pool(transcript), problems
    ids = [conversation.id for conversation in transcript.conversations]
    if options.conversation is not None:
        chosen = [one for one in transcript.conversations if one.id == options.conversation]
        if not chosen:
            raise InputError(f"{options.file} has no conversation {options.conversation}; it has {', '.join(ids)}.")
        return chosen[0], problems
    if len(ids) > 1:
        raise InputError(
            f"{options.file} holds {len(ids)} conversations, which never mix by themselves: give --conversation ID "
            f"or --pooled. The ids: {', '.join(ids)}"
        )
    return transcript.conversations[0], problems
