"""Memories of a benchmark, ingested once and kept: `bench coverage`, `retrieval`, `forget` and `run` share them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_core.errors import InputError
from memory_core.evaluation.datasets import Benchmark
from memory_core.importers.transcripts import Conversation
from memory_core.ingestion import ingest
from memory_core.memory import Memory
from memory_core.parts import default_embedder, default_extractor
from memory_core.protocols import Embedder, Extractor
from memory_core.store.sqlite_files import SCHEMA_VERSION


def cache_folder() -> Path:
    """Where ingested memories are kept: $FORGETTING_LAB_CACHE, else `data/cache`."""
    return Path(os.environ.get("FORGETTING_LAB_CACHE") or "data/cache")


@dataclass(frozen=True)
class Ingested:
    """The memories of one benchmark, made with one extractor and one embedder.

    Iterating builds what is missing, goes on where a stopped build left off, and gives (conversation id, memory) in the
    benchmark's order; each memory is closed when the next is asked for. Later runs share the files: whoever changes a
    memory works on a duplicate (`memory.store.copy_to`). Two processes building one file see each other's turns.
    """

    benchmark: Benchmark
    extractor: Extractor
    embedder: Embedder
    folder: Path
    workers: int
    advance: Callable[[str], None]

    def __iter__(self) -> Iterator[tuple[str, Memory]]:
        self.build()
        for conversation in self.benchmark.conversations:
            with self._open(self.path(conversation)) as memory:
                yield conversation.id, memory

    def path(self, conversation: Conversation) -> Path:
        """The file of a conversation; its name holds the hash of all that made it, so nothing stale is opened."""
        made = (self.benchmark.split_hash, conversation.id, str(len(conversation.turns)), self.extractor.id,
                self.embedder.id, str(SCHEMA_VERSION))  # fmt: skip
        digest = hashlib.sha256("\n".join(made).encode()).hexdigest()[:16]
        return self.folder / _plain(self.benchmark.name) / f"{_plain(conversation.id)}-{digest}.sqlite3"

    def missing(self) -> list[Conversation]:
        """Conversations not ingested yet, or not to the end."""
        return [said for said in self.benchmark.conversations if not self.path(said).exists()]

    def build(self) -> int:
        """Ingest what is missing; returns how many turns were remembered. `advance` may raise to stop."""
        remembered = 0
        for said in self.missing():
            partial = self.path(said).with_suffix(".partial")
            with self._open(partial, create=True) as memory:
                result = ingest(memory, said.turns, advance=self.advance, workers=self.workers)
                memory.turn_vectors()
            if result.problems:
                raise InputError(f"{self.benchmark.name}: turn {result.problems[0]}")
            os.replace(partial, self.path(said))
            remembered += result.turns
        return remembered

    def _open(self, path: Path, create: bool = False) -> Memory:
        return Memory.open(path, create=create, embedder=self.embedder, extractor=self.extractor)


def open_benchmark(
    benchmark: Benchmark,
    *,
    extractor: Extractor | None = None,
    embedder: Embedder | None = None,
    folder: Path | None = None,
    workers: int | None = None,
    advance: Callable[[str], None] = lambda message: None,
) -> Ingested:
    """The memories of `load_benchmark(path, pooled=…)`, made with the default parts unless others are given."""
    return Ingested(
        benchmark,
        extractor or default_extractor(),
        embedder or default_embedder(),
        folder or cache_folder(),
        workers or min(4, os.cpu_count() or 1),
        advance,
    )


def _plain(name: str) -> str:
    return re.sub(r"[^\w-]+", "-", name)[:40]
