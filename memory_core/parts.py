"""The parts of a memory by name. A part is found by its file: `embedders/use.py` is the embedder `use`."""

from __future__ import annotations

from memory_core.embedders.minilm import MiniLM
from memory_core.embedders.use import MultilingualUSE
from memory_core.errors import InputError
from memory_core.extractors.embedded import Embedded
from memory_core.protocols import Embedder, Extractor, Reader, Retriever
from memory_core.readers.embedded import EmbeddedReader
from memory_core.retrievers.bm25 import BM25Retriever
from memory_core.retrievers.flat import FlatRetriever
from memory_core.retrievers.graph import GraphRetriever
from memory_core.settings import Settings

EMBEDDERS: tuple[Embedder, ...] = (MiniLM(), MultilingualUSE())


def default_embedder(stored: str = "") -> Embedder:
    """The embedder a memory was made with, when it is an embedded one; the default for a new memory."""
    return next((embedder for embedder in EMBEDDERS if embedder.id == stored), EMBEDDERS[0])


def default_extractor() -> Extractor:
    """The extractor that needs no key and no server."""
    return Embedded()


def default_reader(embedder: Embedder) -> Reader:
    """The reader that needs no key and no server."""
    return EmbeddedReader(embedder)


def retriever(name: str, settings: Settings, k: int = 5) -> Retriever:
    """A retriever by name. Raises InputError for an unknown one."""
    match name:
        case "graph":
            return GraphRetriever.of(settings)
        case "flat":
            return FlatRetriever(k)
        case "bm25":
            return BM25Retriever(k)
    raise InputError(f"There is no retriever {name}: choose graph, flat or bm25.")
