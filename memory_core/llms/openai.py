"""OpenAI, and every server that speaks its chat API (llama.cpp, vLLM, LM Studio, OpenRouter, ...), by address."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from memory_core.errors import ContextLengthError, ProviderError
from memory_core.protocols import Reply
from memory_core.remote import (
    OPENAI_URL,
    Patience,
    Secret,
    address,
    interruptible_stream,
    is_page,
    model_name,
    one_line,
    openai_client,
    openai_name,
    patiently,
    refusal,
    shown,
    unreachable,
    without_thoughts,
)

_NO_KEY = Secret()
_PATIENCE = Patience(timeout=60.0)
_FINISH: dict[str, Literal["stop", "length", "refused", "error"]] = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refused",
    "error": "error",
}
#: Keywords OpenAI's strict schemas do not take; servers with grammars need them, or small models never stop.
_UNBOUNDED = frozenset({"maxLength", "minLength", "maxItems", "minItems"})
#: What a server may not know, how its answer names it, and what is asked for instead; learned once per instance.
_GAPS = (
    ("json_schema", ("json_schema", "response_format", "grammar", "schema")),
    ("json_object", ("json_object", "response_format")),
    ("max_tokens", ("max_completion_tokens",)),
    ("temperature", ("temperature",)),
    ("stream_options", ("stream_options",)),
)


@dataclass(frozen=True)
class OpenAI:
    """A chat model behind `base_url`. Asks for a JSON schema; where that is refused for JSON; where that is, for text.

    Every failure is one ProviderError line that names the server and the fix; it never holds the key. A set `cancel`
    ends the call with Cancelled within a tenth of a second (the server may still finish its reply, at most max_tokens).
    """

    model: str = "gpt-4o-mini"
    base_url: str = OPENAI_URL
    api_key: Secret = _NO_KEY
    context_window: int = 128_000
    patience: Patience = _PATIENCE
    cancel: threading.Event | None = field(default=None, repr=False, compare=False)
    _gaps: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", model_name(self.model))
        object.__setattr__(self, "base_url", address(self.base_url, "the OpenAI-compatible server"))

    @property
    def id(self) -> str:
        return f"openai/{self.model}" if self.base_url == OPENAI_URL else f"{shown(self.base_url)}/{self.model}"

    def reply(
        self, system: str, user: str, *, schema: Mapping[str, object] | None = None, max_tokens: int = 1024
    ) -> Reply:
        """Raises ProviderError (ContextLengthError when the prompt does not fit), Cancelled."""
        begun = time.perf_counter()
        ask = partial(self._ask, system, user, schema, max_tokens)
        reply = patiently(ask, self.patience, self._who, user, self.cancel)
        return replace(reply, seconds=time.perf_counter() - begun)

    def stream(self, system: str, user: str, *, max_tokens: int = 1024) -> Generator[str, None, Reply]:
        """The answer in pieces, reasoning left out. Raises as `reply` does; also when it stops before its end."""
        begun = time.perf_counter()
        pieces = partial(self._pieces, system, user, max_tokens)
        reply = yield from without_thoughts(interruptible_stream(pieces, self.patience, self._who, self.cancel))
        return replace(reply, seconds=time.perf_counter() - begun)

    def models(self) -> list[str]:
        """The names the server offers, sorted. Raises ProviderError."""
        answer = _parsed(patiently(self._list, self.patience, self._who, "models", self.cancel), self._who)
        offered = answer.get("data")
        if not isinstance(offered, list):
            raise ProviderError(f"{self._who} does not list its models; type the name of one.")
        return sorted({str(item["id"]) for item in offered if isinstance(item, dict) and item.get("id")})

    @property
    def _who(self) -> str:
        return openai_name(self.base_url)

    def _ask(self, system: str, user: str, schema: Mapping[str, object] | None, max_tokens: int) -> Reply:
        create = self._client().chat.completions.with_raw_response.create
        body = self._body(system, user, schema, max_tokens, streamed=False)
        text = self._with_what_it_knows(body, lambda known: create(**known).http_response.text)
        return _read(text, self._who, self.model, self.api_key)

    def _list(self) -> str:
        listed = self._client().models.with_raw_response.list
        text: str = self._told(lambda: listed().http_response.text)
        return text

    def _pieces(self, system: str, user: str, max_tokens: int) -> Generator[str, None, Reply]:
        create = self._client().chat.completions.create
        body = self._body(system, user, None, max_tokens, streamed=True)
        stream = self._with_what_it_knows(body, lambda known: create(**known))
        kind = stream.response.headers.get("content-type", "")
        if "event-stream" not in kind:
            raise ProviderError(
                f"{self._who} answered with {kind.split(';')[0] or 'something'} where a stream was asked."
            )
        said, finish, usage = "", None, None
        with stream:
            chunks = iter(stream)
            while (chunk := self._told(lambda: next(chunks, None))) is not None:
                usage = chunk.usage or usage
                for choice in chunk.choices or []:
                    finish = choice.finish_reason or finish
                    if choice.delta is not None and choice.delta.content:
                        said += choice.delta.content
                        yield choice.delta.content
        if finish is None:
            raise ProviderError(f"{self._who} stopped before the answer ended; ask again.")
        tokens = [_count(getattr(usage, "__dict__", usage), name) for name in ("prompt_tokens", "completion_tokens")]
        return Reply(said, _FINISH.get(str(finish).lower(), "stop"), tokens[0], tokens[1], model=self.model)

    def _body(
        self, system: str, user: str, schema: Mapping[str, object] | None, max_tokens: int, streamed: bool
    ) -> dict[str, Any]:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body: dict[str, Any] = {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": max_tokens}
        if streamed:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if schema is not None:
            asked = _unbounded(schema) if self.base_url == OPENAI_URL else schema
            form = {"name": "reply", "strict": True, "schema": asked}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    def _with_what_it_knows(self, body: dict[str, Any], send: Any) -> Any:
        """`send(body)`, again without each thing the server says it does not know."""
        while True:
            known = _adapted(body, self._gaps)
            try:
                return self._told(partial(send, known))
            except _UnknownError as error:
                self._gaps.add(error.gap)

    def _told(self, call: Any) -> Any:
        """`call()`, its failures told in one line."""
        import httpx2
        import openai

        try:
            return call()
        except openai.APIStatusError as error:
            raise self._refused(error) from error
        except (openai.APIConnectionError, httpx2.TransportError) as error:
            own = next(
                (cause for cause in (error.__cause__, error.__context__) if isinstance(cause, ProviderError)), None
            )
            raise own or unreachable(error, self._who, "Check the address and that the server runs.") from error
        except openai.OpenAIError as error:
            raise ProviderError(f"{self._who}: {self.api_key.hide(one_line(str(error)))}") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise ProviderError(f"{self._who} answered with something that is not the chat API's JSON.") from error

    def _refused(self, error: Any) -> ProviderError:
        body = str(error.response.text)
        told = refusal(error.status_code, error.response.headers, body, self._who, self.model, self.api_key)
        if error.status_code in (400, 422, 500, 501) and not isinstance(told, ContextLengthError):
            sent = json.loads(error.request.content or b"{}")
            gap = _gap(body.lower(), sent)
            return _UnknownError(gap) if gap else told
        if error.status_code == 404 and not is_page(body):
            return ProviderError(
                f"{self._who} has no model {self.model}, or its address lacks /v1; choose a model from its list."
            )
        return told

    def _client(self) -> Any:
        return openai_client(self.base_url, self.api_key, self.patience.timeout)


class _UnknownError(ProviderError):
    """The server does not know `gap`; the call is worth repeating without it."""

    def __init__(self, gap: str) -> None:
        super().__init__(f"the server does not know {gap}")
        self.gap = gap


def _adapted(body: Mapping[str, Any], gaps: set[str]) -> dict[str, Any]:
    known = {name: value for name, value in body.items() if name not in gaps or name == "max_tokens"}
    if "max_tokens" in gaps:
        known["max_completion_tokens"] = known.pop("max_tokens")
    if "json_schema" in gaps and "response_format" in known:
        known["response_format"] = {"type": "json_object"}
    if "json_object" in gaps:
        known.pop("response_format", None)
    return known


def _gap(said: str, sent: Mapping[str, Any]) -> str | None:
    """The first thing in the request that the answer complains of."""
    form = (sent.get("response_format") or {}).get("type")
    for name, words in _GAPS:
        if (name in sent or name == form) and any(word in said for word in words):
            return name
    return None


def _unbounded(schema: object) -> Any:
    if isinstance(schema, Mapping):
        return {key: _unbounded(value) for key, value in schema.items() if key not in _UNBOUNDED}
    return [_unbounded(item) for item in schema] if isinstance(schema, list) else schema


def _parsed(text: str, who: str) -> dict[str, Any]:
    if is_page(text):
        raise ProviderError(
            f"{who} answered with a web page ({one_line(text)}): check the address, or a proxy between."
        )
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise ProviderError(f"{who} answered with something that is not JSON: {one_line(text, 60)}") from None
    if not isinstance(answer, dict):
        raise ProviderError(f"{who} answered with JSON of another kind; is it an OpenAI-compatible server?")
    return answer


def _read(text: str, who: str, model: str, key: Secret) -> Reply:
    answer = _parsed(text, who)
    if answer.get("error"):
        raise _told_inside(answer["error"], who, model, key)
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise ProviderError(f"{who} answered without a choice; try again, or another model.")
    message, finish = choice["message"], _FINISH.get(str(choice.get("finish_reason")).lower(), "stop")
    content = _content(message.get("content"))
    if message.get("refusal") and not content:
        content, finish = str(message["refusal"]), "refused"
    tokens = [_count(answer.get("usage"), name) for name in ("prompt_tokens", "completion_tokens")]
    named = answer.get("model")
    return Reply(content, finish, tokens[0], tokens[1], 0.0, named if isinstance(named, str) and named else model)


def _told_inside(error: object, who: str, model: str, key: Secret) -> ProviderError:
    """An error that came with status 200, as gateways send it; its own code decides whether it may pass."""
    code = error.get("code") if isinstance(error, dict) else None
    body = json.dumps(error, ensure_ascii=False)
    return refusal(code if isinstance(code, int) and code >= 400 else 400, {}, body, who, model, key)


def _content(given: object) -> str:
    """Text, also where it comes as a list of parts; "" where there is none."""
    if isinstance(given, list):
        return "".join(str(part.get("text", "")) for part in given if isinstance(part, dict))
    return given if isinstance(given, str) else ""


def _count(usage: object, name: str) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and value > 0 else 0
