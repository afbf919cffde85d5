"""Chat models of an Ollama server, by its own client."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from memory_core.errors import ContextLengthError, ProviderError
from memory_core.protocols import Reply
from memory_core.remote import (
    OLLAMA_URL,
    Patience,
    address,
    interruptible_stream,
    is_page,
    model_name,
    ollama_client,
    ollama_refusal,
    one_line,
    patiently,
    shown,
    unreachable,
    without_thoughts,
)
from memory_core.tokens import tokens_at_least, tokens_at_most

_PATIENCE = Patience(timeout=180.0)  # the first call also loads the model
_SMALLEST_CONTEXT = 2048
_TEMPLATE_TOKENS = 64  # what the chat template adds around the two messages


@dataclass(frozen=True)
class Ollama:
    """A chat model that `ollama pull` fetched. A prompt is never cut in silence.

    Ollama keeps as much of a prompt as `num_ctx` holds and says nothing of the rest; so every call asks for a power of
    two that holds prompt and reply (only ever growing: another size loads the model anew), a prompt beyond the model's
    own context is refused here, and one of which the server read clearly less than it must hold is an error.
    """

    model: str = "llama3.1"
    host: str = OLLAMA_URL
    context_window: int = 8192
    patience: Patience = _PATIENCE
    cancel: threading.Event | None = field(default=None, repr=False, compare=False)
    _learned: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", model_name(self.model))
        object.__setattr__(self, "host", address(self.host, "the Ollama server"))

    @property
    def id(self) -> str:
        return f"ollama/{self.model}"

    def reply(
        self, system: str, user: str, *, schema: Mapping[str, object] | None = None, max_tokens: int = 1024
    ) -> Reply:
        """Raises ProviderError (ContextLengthError when the prompt does not fit, or was cut), Cancelled."""
        begun = time.perf_counter()
        request = self._request(system, user, max_tokens) | ({"format": dict(schema)} if schema is not None else {})
        ask = partial(self._told, lambda: self._client().chat(**request))
        answer = patiently(ask, self.patience, self._who, user, self.cancel)
        reply = self._read(answer, time.perf_counter() - begun)
        self._check_whole(system + user, reply.tokens_in)
        return reply

    def stream(self, system: str, user: str, *, max_tokens: int = 1024) -> Generator[str, None, Reply]:
        """The answer in pieces, reasoning left out. Raises as `reply` does; also when it stops before its end."""
        begun = time.perf_counter()
        pieces = partial(self._pieces, system, user, max_tokens)
        reply = yield from without_thoughts(interruptible_stream(pieces, self.patience, self._who, self.cancel))
        return replace(reply, seconds=time.perf_counter() - begun)

    def models(self) -> list[str]:
        """The names of the models pulled, sorted. Raises ProviderError."""
        ask = partial(self._told, lambda: self._client().list())
        listed = patiently(ask, self.patience, self._who, "models", self.cancel)
        return sorted(str(item.model) for item in listed.models if item.model)

    @property
    def _who(self) -> str:
        return f"Ollama at {shown(self.host)}"

    def _request(self, system: str, user: str, max_tokens: int) -> dict[str, Any]:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        context = self._context(tokens_at_most(system + user) + _TEMPLATE_TOKENS, max_tokens)
        options = {"temperature": 0, "seed": 0, "num_predict": max_tokens, "num_ctx": context}
        request: dict[str, Any] = {"model": self.model, "messages": messages, "options": options}
        # Reasoning is switched off where the model has a switch; other models refuse to be asked.
        return request | ({"think": False} if self._facts["think"] else {})

    def _context(self, prompt: int, reply: int) -> int:
        limit: int = min(self.context_window, self._facts["context"])
        if prompt + reply > limit:
            raise ContextLengthError(
                f"The prompt takes about {prompt} tokens and the reply {reply}, but {self.model} has a context of "
                f"{limit}; shorten the turn or choose a model with a larger context."
            )
        size: int = max(_SMALLEST_CONTEXT, self._learned.get("num_ctx", 0))
        while size < prompt + reply:
            size *= 2
        self._learned["num_ctx"] = min(size, limit)
        return min(size, limit)

    @property
    def _facts(self) -> dict[str, Any]:
        """What the server says of the model: whether it thinks, and how long its context can be."""
        if "think" not in self._learned:
            ask = partial(self._told, lambda: self._client().show(self.model))
            told = patiently(ask, self.patience, self._who, "show", self.cancel)
            sizes = [value for key, value in (told.modelinfo or {}).items() if key.endswith(".context_length")]
            self._learned["context"] = next((size for size in sizes if isinstance(size, int) and size > 0), 2**20)
            self._learned["think"] = "thinking" in (told.capabilities or [])
        return self._learned

    def _pieces(self, system: str, user: str, max_tokens: int) -> Generator[str, None, Reply]:
        request = self._request(system, user, max_tokens)
        chunks = self._told(lambda: iter(self._client().chat(**request, stream=True)))
        last, said = None, ""
        while (chunk := self._told(lambda: next(chunks, None))) is not None:
            last = chunk
            if chunk.message.content:
                said += chunk.message.content
                yield chunk.message.content
        if last is None or not last.done:
            raise ProviderError(f"{self._who} stopped before the answer ended; ask again.")
        self._check_whole(system + user, last.prompt_eval_count or 0)
        return self._read(last, 0.0, said)

    def _read(self, answer: Any, seconds: float, said: str = "") -> Reply:
        tokens = (max(answer.prompt_eval_count or 0, 0), max(answer.eval_count or 0, 0))
        text = said or answer.message.content or ""
        return Reply(
            text, "length" if answer.done_reason == "length" else "stop", *tokens, seconds, answer.model or self.model
        )

    def _check_whole(self, prompt: str, read: int) -> None:
        least = tokens_at_least(prompt)
        if 0 < read < 0.8 * least:
            raise ContextLengthError(
                f"context truncated: {self._who} read {read} of at least {least} tokens for {self.model}; "
                "shorten the turn, or raise OLLAMA_CONTEXT_LENGTH of the server."
            )

    def _told(self, call: Any) -> Any:
        """`call()`, its failures told in one line."""
        import httpx
        import ollama

        try:
            return call()
        except ollama.ResponseError as error:
            raise ollama_refusal(error, self._who, self.model) from error
        except (ConnectionError, httpx.TransportError) as error:
            raise unreachable(error, self._who, "Start it with: ollama serve") from error
        except (ValueError, TypeError, AttributeError) as error:
            said = str(getattr(error, "doc", ""))
            page = f" ({one_line(said)})" if is_page(said) else ""
            raise ProviderError(
                f"{self._who} answered with {'a web page' if page else 'something'}{page} that is not Ollama's API: "
                "check the address; another kind of server needs the provider `compatible`."
            ) from error

    def _client(self) -> Any:
        return ollama_client(self.host, self.patience.timeout)
