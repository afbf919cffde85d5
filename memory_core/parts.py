"""The parts of a memory by name. A part is found by its file: `embedders/use.py` is the embedder `use`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from memory_core.embedders.absent import Absent
from memory_core.embedders.minilm import MiniLM
from memory_core.embedders.use import MultilingualUSE
from memory_core.errors import InputError, ProviderError
from memory_core.protocols import Embedder, Extractor, Reader, Retriever
from memory_core.providers import ProviderSettings, make_embedder, make_extractor, make_reader
from memory_core.retrievers.bm25 import BM25Retriever
from memory_core.retrievers.flat import FlatRetriever
from memory_core.retrievers.graph import GraphRetriever
from memory_core.retrievers.hybrid import HybridRetriever
from memory_core.settings import Settings

RETRIEVERS = ("graph", "flat", "bm25", "hybrid")
TURNS = 5  # P1 4.2
_REMOTE = ("openai", "compatible", "ollama")
EMBEDDERS: tuple[Embedder, ...] = (MiniLM(), MultilingualUSE())


def default_embedder(stored: str = "", dim: int = 0) -> Embedder:
    """The embedder of id `stored` that a memory was made with, its address and key from the environment; without one,
    or for an id that is nobody's here, the embedder $FORGETTING_LAB_EMBEDDER names.

    No server is asked. Raises InputError and ProviderError for a choice that cannot be made.
    """
    known = next((embedder for embedder in EMBEDDERS if embedder.id == stored), None)
    provider, _, model = stored.partition("/")
    if known or provider not in _REMOTE or not model:
        return known or make_embedder(ProviderSettings.from_env("embedder"))
    try:
        return make_embedder(ProviderSettings.named("embedder", f"{provider}:{model}"), dim)
    except ProviderError as error:
        return Absent(stored, dim, str(error))


def default_extractor() -> Extractor:
    """The extractor $FORGETTING_LAB_EXTRACTOR names, else the embedded one, which needs no key and no server."""
    return make_extractor(ProviderSettings.from_env("extractor"))


def default_reader(embedder: Embedder) -> Reader:
    """The reader $FORGETTING_LAB_READER names, else the embedded one, which needs no key and no server."""
    return make_reader(ProviderSettings.from_env("reader"), embedder)


def retriever(name: str, settings: Settings, k: int | None = None) -> Retriever:
    """A retriever by name with the parameters saved in the settings. `k` turns when given, else as saved, else 5.

    Raises InputError for an unknown one.
    """
    own = settings.retrieve_parameters.get(name, {})
    most = k or int(own.get("k", TURNS))
    match name:
        case "graph":
            return GraphRetriever.of(settings)
        case "flat":
            return FlatRetriever(most)
        case "bm25":
            return BM25Retriever(most)
        case "hybrid":
            known = {one.name for one in fields(HybridRetriever)}
            saved: dict[str, Any] = {key: value for key, value in own.items() if key in known}
            return HybridRetriever(**{**saved, "k": most})
    raise InputError(f"There is no retriever {name}: choose {', '.join(RETRIEVERS[:-1])} or {RETRIEVERS[-1]}.")
