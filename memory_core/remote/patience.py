"""Patience with a server that stumbles, and an end to one that does not answer."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

from memory_core.errors import Cancelled, ProviderError

T = TypeVar("T")
_IMPORTING = threading.Lock()
_POLL = 0.05  # seconds between two looks at `cancel`


class PassingError(ProviderError):
    """A failure that may pass by itself; `after` is how many seconds the server asked to wait."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


@dataclass(frozen=True)
class Patience:
    """How long to try: `attempts` of at most `timeout` seconds each, all within `seconds`, with waits that double.

    Jitter comes from `seed` and the text asked about, so that one run repeats and parallel calls do not march in step.
    """

    attempts: int = 4
    timeout: float = 120.0
    seconds: float = 300.0
    first_wait: float = 0.5
    longest_wait: float = 30.0
    seed: int = 0
    sleep: Callable[[float], None] | None = None

    def waits(self, about: str) -> Iterator[float]:
        """Seconds before each further attempt: between half and all of .5, 1, 2, ..."""
        random = Random(f"{self.seed}:{about}")
        for attempt in range(self.attempts - 1):
            yield min(self.longest_wait, self.first_wait * 2**attempt) * (0.5 + random.random() / 2)


def patiently(ask: Callable[[], T], patience: Patience, who: str, about: str, cancel: threading.Event | None) -> T:
    """`ask()`, again while it raises PassingError. Raises ProviderError in the end, Cancelled once `cancel` is set."""
    deadline = time.monotonic() + patience.seconds
    waits = patience.waits(about)
    for attempt in range(1, patience.attempts + 1):
        try:
            left = max(deadline - time.monotonic(), _POLL)
            return interruptibly(ask, min(patience.timeout, left), who, cancel)
        except PassingError as error:
            pause = max(next(waits, 0.0), error.after or 0.0)
            if attempt == patience.attempts or time.monotonic() + pause > deadline:
                raise ProviderError(_given_up(error, attempt, pause)) from error
            _sleep(pause, patience, cancel)
    raise ProviderError(f"{who} was not asked: `attempts` is {patience.attempts}, it must be at least 1.")


def _given_up(error: PassingError, attempt: int, pause: float) -> str:
    if error.after and pause > 60:
        return f"{error} It asks to wait {error.after:.0f} s: try again then."
    return f"{error} Given up after {attempt} attempt{'s' * (attempt > 1)}; retry the turn later."


def _sleep(seconds: float, patience: Patience, cancel: threading.Event | None) -> None:
    if patience.sleep is not None:
        patience.sleep(seconds)
    elif cancel is None:
        time.sleep(seconds)
    else:
        cancel.wait(seconds)
    _stop_if(cancel)


def _stop_if(cancel: threading.Event | None) -> None:
    if cancel is not None and cancel.is_set():
        raise Cancelled("Stopped; what was committed before stays.")


def _import_transport() -> None:
    """Both HTTP clients, whole, before any call: the openai client looks into an httpx that another thread has only
    begun to import, and fails."""
    with _IMPORTING:
        import httpx  # noqa: F401
        import httpx2  # noqa: F401


def interruptibly(ask: Callable[[], T], seconds: float, who: str, cancel: threading.Event | None) -> T:
    """`ask()` in a thread that is left behind after `seconds` (PassingError) or when `cancel` is set (Cancelled).

    A socket's own time-out starts anew with each byte; a server that drips one a minute would hold a turn for hours.
    """
    _stop_if(cancel)
    _import_transport()
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, which raises it
            future.set_exception(error)

    threading.Thread(target=work, daemon=True, name="model call").start()
    deadline = time.monotonic() + seconds
    while not wait([future], timeout=_POLL if cancel is not None else seconds).done:
        _stop_if(cancel)
        if time.monotonic() >= deadline:
            raise PassingError(f"{who} did not answer within {round(seconds, 1):g} s.")
    return future.result()


@dataclass(frozen=True)
class _Ended(Generic[T]):
    value: T


def interruptible_stream(
    pieces: Callable[[], Generator[str, None, T]], patience: Patience, who: str, cancel: threading.Event | None
) -> Generator[str, None, T]:
    """What `pieces()` yields and returns, read in a thread, so that a silent server can be left. Raises as
    `interruptibly` does."""
    _stop_if(cancel)
    _import_transport()
    arrived: queue.Queue[str | BaseException | _Ended[T]] = queue.Queue()
    left = threading.Event()

    def work() -> None:
        try:
            source = pieces()
            while not left.is_set():
                arrived.put(next(source))
        except StopIteration as end:
            arrived.put(_Ended(end.value))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, which raises it
            arrived.put(error)

    threading.Thread(target=work, daemon=True, name="model stream").start()
    deadline = time.monotonic() + patience.seconds
    try:
        while True:
            piece = _next(arrived, min(deadline, time.monotonic() + patience.timeout), who, cancel)
            if isinstance(piece, _Ended):
                return piece.value
            yield piece
    finally:
        left.set()


def _next(
    arrived: queue.Queue[str | BaseException | _Ended[T]], deadline: float, who: str, cancel: threading.Event | None
) -> str | _Ended[T]:
    while True:
        _stop_if(cancel)
        try:
            piece = arrived.get(timeout=_POLL)
        except queue.Empty:
            if time.monotonic() >= deadline:
                raise ProviderError(f"{who} stopped sending; ask again.") from None
            continue
        if isinstance(piece, BaseException):
            raise piece
        return piece


def without_thoughts(pieces: Generator[str, None, T]) -> Generator[str, None, T]:
    """A stream without the `<think>...</think>` it may begin with; it returns what `pieces` returns.

    >>> "".join(without_thoughts(piece for piece in ["<thi", "nk>hm</th", "ink>Por", "to"]))
    'Porto'
    """
    held = ""
    while True:
        try:
            held += next(pieces)
        except StopIteration as end:
            if held and not held.lstrip().startswith("<think>"):
                yield held
            value: T = end.value
            return value
        start = held.lstrip()
        if "<think>".startswith(start) or (start.startswith("<think>") and "</think>" not in start):
            continue
        yield start.partition("</think>")[2].lstrip() if start.startswith("<think>") else held
        return (yield from pieces)
