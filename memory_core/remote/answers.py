"""What a server's bad answer means, in one line that names the server and the fix."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from memory_core.errors import ContextLengthError, ProviderError
from memory_core.remote.patience import PassingError
from memory_core.remote.secret import Secret

MAX_BYTES = 8_000_000  # of one answer as it comes over the wire; a reply may use 1 MB of it
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context|exceed_context|context (size|length|window)|prompt is too long",
    re.IGNORECASE,
)


def refusal(status: int, headers: Mapping[str, str], body: str, who: str, model: str, key: Secret) -> ProviderError:
    """The error for an HTTP answer that is none: a PassingError if trying again may help."""
    said = key.hide(one_line(body))
    if 300 <= status < 400:
        return ProviderError(
            f"{who} sends callers on to {headers.get('location', '?')[:120]}; use that as the address."
        )
    if "https server" in body.lower() or "https port" in body.lower():
        return ProviderError(f"{who} speaks https; write https:// in the address.")
    if status == 401:
        return ProviderError(f"{who} does not accept the key (401); set the right one.")
    if status in (402, 403) or "insufficient_quota" in body:
        return ProviderError(f"{who} does not let this key use {model} ({status}): rights or credit. It says: {said}")
    if _TOO_LONG.search(body):
        return ContextLengthError(f"The prompt is too long for {model} at {who}; shorten it. It says: {said}")
    if status in _PASSING:
        return PassingError(f"{who} is busy or failing ({status}). It says: {said}", _after(headers))
    if is_page(body):
        return ProviderError(f"{who} answered {status} with a web page ({said}); check the address.")
    return ProviderError(f"{who} refused the request for {model} ({status}). It says: {said}")


def _after(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds; a date counts from the answer's own Date, so that no clock here matters."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    if re.fullmatch(r"\d+(\.\d+)?", milliseconds := headers.get("retry-after-ms", "").strip()):
        return float(milliseconds) / 1000
    try:
        return max(0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("date", ""))).total_seconds())
    except (ValueError, TypeError):
        return None


def unreachable(error: BaseException, who: str, start: str) -> ProviderError:
    """The error for a server that was not reached, or that hung up; `start` says how to start or mend it."""
    causes = " ".join(str(cause) for cause in _causes(error))
    if "WRONG_VERSION_NUMBER" in causes or "record layer failure" in causes.lower():
        return ProviderError(f"{who} speaks http, not https; write http:// in the address.")
    if "CERTIFICATE" in causes:
        return ProviderError(f"{who} has a certificate this machine does not trust; check the address or the proxy.")
    names = {type(cause).__name__ for cause in _causes(error)}
    if names & {"ConnectError", "ConnectTimeout", "ConnectionError", "ConnectionRefusedError", "gaierror"}:
        where = f"Cannot reach {who}. {start}"
        return ProviderError(where) if re.search(r"//(localhost|127\.|\[::1\])", who) else PassingError(where)
    if any(name.endswith("Timeout") for name in names):
        return PassingError(f"{who} was silent for too long.")
    return PassingError(f"{who} hung up before its answer ended.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def address(url: str, name: str) -> str:
    """`url` if it can be called. Raises ProviderError that says what is missing."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ProviderError(f"The address of {name} is {url!r}; it must be http:// or https:// and a server.")
    return url.strip().rstrip("/")


def shown(url: str) -> str:
    """An address without user, password and query.

    >>> shown("http://me:secret@localhost:8080/v1?key=1")
    'http://localhost:8080/v1'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def model_name(model: str) -> str:
    """`model` without surrounding space. Raises ProviderError for a name no server can have."""
    name = model.strip()
    if not name or re.search(r"\s", name):
        raise ProviderError(f"{model!r} is no model name: a name has no spaces. Choose one from the server's list.")
    return name


def one_line(body: str, most: int = 160) -> str:
    """The start of an answer as one line: a page by its title, markup and control characters left out."""
    title = re.search(r"<title[^>]*>([^<]*)", body[:20_000], re.IGNORECASE)
    text = title[1] if title else re.sub(r"<[^>]{0,200}>", " ", body[:2_000])
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return (line[:most] + "...") if len(line) > most else line or "nothing"


def is_page(body: str) -> bool:
    """Whether an answer is a web page where JSON was asked for."""
    return body.lstrip()[:15].lower().startswith(("<!doctype", "<html", "<head", "<body", "<?xml"))


def cap_answer(response: Any) -> None:
    """An httpx response hook: no answer of more than MAX_BYTES is read, nor one that unpacks to more."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ProviderError("The server sent a compressed answer although none was asked for; look for a proxy.")
    response.stream = _capped()(response.stream)


@lru_cache
def _capped() -> type:
    import httpx
    import httpx2

    class Capped(
        httpx.SyncByteStream, httpx2.SyncByteStream
    ):  # the ollama client uses the one, the openai client the other
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            seen = 0
            for piece in self._stream:
                seen += len(piece)
                if seen > MAX_BYTES:
                    raise ProviderError(f"The answer has more than {MAX_BYTES // 1_000_000} MB; the rest was not read.")
                yield piece

        def close(self) -> None:
            self._stream.close()

    return Capped
