"""Memories on a real server: each its own, seen by the graph in RAM and by the server's own search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from memory_core.in_database import InDatabase
from memory_core.memory import Memory
from memory_core.protocols import Embedder
from memory_core.readers.embedded import EmbeddedReader
from memory_core.store.postgres import PostgresStore
from tests.fakes import LetterEmbedder, SpelledExtractor

Pair = tuple[Memory, InDatabase]
Make = Callable[..., Pair]
_NUMBER = count(1)
LETTERS = LetterEmbedder(match_threshold=2.0)  # no cosine reaches it: only equal titles are merged


@pytest.fixture
def both(postgres: str) -> Iterator[Make]:
    """Makes one memory and looks at it twice: held in RAM, and left in the database."""
    made: list[Pair] = []

    def make(embedder: Embedder = LETTERS, exact: bool = True) -> Pair:
        address = f"{postgres}?memory=there{next(_NUMBER)}"
        ram = Memory(PostgresStore(address), embedder, SpelledExtractor(), EmbeddedReader(embedder))
        store = PostgresStore(address, create=False)
        made.append((ram, InDatabase(store, embedder, SpelledExtractor(), EmbeddedReader(embedder), exact=exact)))
        return made[-1]

    yield make
    for ram, there in made:
        ram.close()
        there.close()
