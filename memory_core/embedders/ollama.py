"""Embeddings from an Ollama server; nomic-embed-text is the paper's (P1 3.4)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from memory_core.errors import ProviderError
from memory_core.protocols import Floats, Kind
from memory_core.remote import (
    OLLAMA_URL,
    Patience,
    address,
    dimension,
    embedded_rows,
    model_name,
    ollama_client,
    ollama_refusal,
    patiently,
    shown,
    unreachable,
)

_PATIENCE = Patience(timeout=180.0)  # the first call also loads the model
_DIMENSIONS = {"nomic-embed-text": 768}
_BATCH = 32
#: nomic-embed-text was trained with these and compares badly without them.
_PREFIXES: dict[Kind, str] = {"document": "search_document: ", "query": "search_query: "}


@dataclass(frozen=True)
class OllamaEmbedder:
    """P1's embedder with P1's thresholds: .92 to match (3.4), .75 as floor (3.5). Another model needs its own."""

    model: str = "nomic-embed-text"
    host: str = OLLAMA_URL
    match_threshold: float = 0.92
    floor: float = 0.75
    languages: tuple[str, ...] = ("en",)
    patience: Patience = _PATIENCE
    cancel: threading.Event | None = field(default=None, repr=False, compare=False)
    known_dim: int = field(default=0, repr=False, compare=False)  # of a memory: it opens without asking the server
    _learned: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", model_name(self.model))
        object.__setattr__(self, "host", address(self.host, "the Ollama server"))

    @property
    def id(self) -> str:
        return f"ollama/{self.model}"

    @property
    def dim(self) -> int:
        """The model's known dimension; of another model the server is asked once. Raises ProviderError."""
        if self._family in _DIMENSIONS:
            return _DIMENSIONS[self._family]
        return self.known_dim or dimension(self._vectors, self._learned)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Unit vectors, shape (n, dim); an empty text is never sent and gives a zero row.

        Raises ProviderError; EmbeddingError when some texts came back without a vector (it holds the other rows).
        """
        prefix = _PREFIXES[kind] if self._family == "nomic-embed-text" else ""
        prefixed = [prefix + text if text.strip() else "" for text in texts]
        return embedded_rows(prefixed, self.dim, _BATCH, self._vectors, self._who)

    @property
    def _family(self) -> str:
        return self.model.partition(":")[0]

    @property
    def _who(self) -> str:
        return f"Ollama at {shown(self.host)}"

    def _vectors(self, texts: Sequence[str]) -> list[Any]:
        return patiently(partial(self._ask, list(texts)), self.patience, self._who, texts[0], self.cancel)

    def _ask(self, texts: list[str]) -> list[Any]:
        import httpx
        import ollama

        try:
            return list(ollama_client(self.host, self.patience.timeout).embed(self.model, texts).embeddings)
        except ollama.ResponseError as error:
            raise ollama_refusal(error, self._who, self.model) from error
        except (ConnectionError, httpx.TransportError) as error:
            raise unreachable(error, self._who, "Start it with: ollama serve") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise ProviderError(
                f"{self._who} answered with something that is not Ollama's API; check the address."
            ) from error
