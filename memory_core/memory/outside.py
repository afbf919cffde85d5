"""Models and servers are asked while the memory's lock is free: a slow one never makes another thread wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from memory_core.errors import ForgettingLabError
from memory_core.protocols import Embedder, Floats, Kind

Result = TypeVar("Result")
_Answers = dict[Hashable, tuple[Any, ForgettingLabError | None]]


class _Wanted(Exception):
    """What an act asked for is not known yet."""

    def __init__(self, key: Hashable, ask: Callable[[], object]) -> None:
        self.key, self.ask = key, ask


class Outside:
    """Runs acts under a lock; what they ask of the world outside is asked between two tries of the act.

    An act that is tried again sees the memory as it is then, and asks only for what is new.
    """

    def __init__(self, lock: threading.RLock) -> None:
        self.lock = lock
        self._own = threading.local()

    def run(self, act: Callable[[], Result]) -> Result:
        """What `act` gives when all it asks for is known; it must not have changed anything before it asks."""
        if getattr(self._own, "answers", None) is not None:
            return act()  # within another act, which holds the lock
        answers: _Answers = {}
        while True:
            try:
                with self.lock:
                    self._own.answers = answers
                    try:
                        return act()
                    finally:
                        self._own.answers = None
            except _Wanted as wanted:
                answers[wanted.key] = _answer(wanted.ask)

    def ask(self, key: Hashable, ask: Callable[[], Result]) -> Result:
        """What `ask` gives; `key` tells it from all else that may be asked. Raises what it raises."""
        answers: _Answers | None = getattr(self._own, "answers", None)
        if answers is None:
            return ask()
        if key not in answers:
            raise _Wanted(key, ask)
        answer, error = answers[key]
        if error is not None:
            raise error
        return cast(Result, answer)

    def once(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """What `make` gives now, kept for the further tries of this act."""
        answers: _Answers | None = getattr(self._own, "answers", None)
        if answers is None:
            return make()
        if key not in answers:
            answers[key] = make(), None
        return cast(Result, answers[key][0])

    def embed(self, embedder: Embedder, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Vectors of the texts, shape (n, dim). Raises what the embedder raises."""
        return self.ask((embedder.id, kind, *texts), lambda: embedder.embed(texts, kind))


def _answer(ask: Callable[[], object]) -> tuple[object, ForgettingLabError | None]:
    try:
        return ask(), None
    except ForgettingLabError as error:
        return None, error


@dataclass(frozen=True)
class EmbedderOutside:
    """An embedder asked through `Outside`."""

    embedder: Embedder
    outside: Outside

    @property
    def id(self) -> str:
        """Model and version."""
        return self.embedder.id

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self.embedder.dim

    @property
    def match_threshold(self) -> float:
        """De-duplication: cosine above it may be the same thing."""
        return self.embedder.match_threshold

    @property
    def floor(self) -> float:
        """Retrieval: cosine a root must reach."""
        return self.embedder.floor

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes."""
        return self.embedder.languages

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Shape (n, dim)."""
        return self.outside.embed(self.embedder, texts, kind)
