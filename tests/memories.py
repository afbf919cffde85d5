"""Memories of the fakes, for tests that do not ask how safely the disk holds them."""

from __future__ import annotations

from pathlib import Path

from memory_core.memory import Memory
from memory_core.protocols import Embedder, Extractor
from memory_core.store.sqlite import SqliteStore
from tests.fakes import LetterEmbedder, SpelledExtractor
from tests.stores import place

LETTERS = LetterEmbedder()
SPELLED = SpelledExtractor()


def fake_memory(
    path: Path | str = ":memory:", *, embedder: Embedder = LETTERS, extractor: Extractor = SPELLED
) -> Memory:
    """A memory that reads what turns spell out and, to be quick, does not wait for the disk."""
    memory = Memory.open(place(path), embedder=embedder, extractor=extractor)
    if isinstance(memory.store, SqliteStore):
        memory.store.query("PRAGMA synchronous = OFF")
    return memory
