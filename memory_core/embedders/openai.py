"""Embeddings from OpenAI, or from any server that speaks its API."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from memory_core.errors import ProviderError
from memory_core.protocols import Floats, Kind
from memory_core.remote import (
    OPENAI_URL,
    Patience,
    Secret,
    address,
    dimension,
    embedded_rows,
    is_page,
    model_name,
    one_line,
    openai_client,
    openai_name,
    patiently,
    refusal,
    unreachable,
)

_NO_KEY = Secret()
_PATIENCE = Patience(timeout=60.0)
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_BATCH = 128
_LONGEST = 8_000  # characters; the models read 8,191 tokens, and a token is at least a character


@dataclass(frozen=True)
class OpenAIEmbedder:
    """text-embedding-3-small by default. Thresholds are ours and belong to that model; another needs its own.

    `provider` is openai or compatible, and stands in the id: a memory made with a server of one's own is never opened
    with OpenAI, which would be sent its words.
    """

    model: str = "text-embedding-3-small"
    base_url: str = OPENAI_URL
    api_key: Secret = _NO_KEY
    match_threshold: float = 0.80
    floor: float = 0.30
    languages: tuple[str, ...] = ("*",)
    patience: Patience = _PATIENCE
    cancel: threading.Event | None = field(default=None, repr=False, compare=False)
    known_dim: int = field(default=0, repr=False, compare=False)  # of a memory: it opens without asking the server
    provider: str = "openai"
    _learned: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", model_name(self.model))
        object.__setattr__(self, "base_url", address(self.base_url, "the OpenAI-compatible server"))

    @property
    def id(self) -> str:
        return f"{self.provider}/{self.model}"

    @property
    def dim(self) -> int:
        """The model's known dimension; of another model the server is asked once. Raises ProviderError."""
        if self.model in _DIMENSIONS:
            return _DIMENSIONS[self.model]
        return self.known_dim or dimension(self._vectors, self._learned)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Unit vectors, shape (n, dim); an empty text is never sent and gives a zero row.

        Raises ProviderError; EmbeddingError when some texts came back without a vector (it holds the other rows).
        """
        return embedded_rows([text[:_LONGEST] for text in texts], self.dim, _BATCH, self._vectors, self._who)

    @property
    def _who(self) -> str:
        return openai_name(self.base_url)

    def _vectors(self, texts: Sequence[str]) -> list[Any]:
        ask = partial(self._ask, list(texts))
        return patiently(ask, self.patience, self._who, texts[0], self.cancel)

    def _ask(self, texts: list[str]) -> list[Any]:
        import httpx2
        import openai

        create = openai_client(self.base_url, self.api_key, self.patience.timeout).embeddings.with_raw_response.create
        try:
            text = create(model=self.model, input=texts, encoding_format="float").http_response.text
        except openai.APIStatusError as error:
            body, headers = error.response.text, error.response.headers
            raise refusal(error.status_code, headers, body, self._who, self.model, self.api_key) from error
        except (openai.APIConnectionError, httpx2.TransportError) as error:
            if isinstance(error.__cause__, ProviderError):
                raise error.__cause__ from error
            raise unreachable(error, self._who, "Check the address and that the server runs.") from error
        return _in_order(text, self._who)


def _in_order(text: str, who: str) -> list[Any]:
    """The vectors in the order of the texts: a server may answer in another, each with its `index`."""
    try:
        data = json.loads(text)["data"]
        return [row["embedding"] for row in sorted(data, key=_index)]
    except (ValueError, TypeError, KeyError, RecursionError):
        kind = "a web page" if is_page(text) else "something that holds no embeddings"
        raise ProviderError(f"{who} answered with {kind}: {one_line(text, 60)}") from None


def _index(row: Mapping[str, Any]) -> int:
    return int(row.get("index", 0))
