"""Progress of a command on stderr, only when a person is looking at it."""

from __future__ import annotations

import sys
import time
from types import TracebackType


class Meter:
    """One line with count, share and estimate, rewritten at most ten times a second."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self._shown = sys.stderr.isatty()
        self._started = self._last = time.monotonic()

    def advance(self, message: str = "") -> None:
        """One more step."""
        self.at(self.done + 1, self.total, message)

    def at(self, done: int, total: int, message: str = "") -> None:
        """`done` of `total` steps."""
        self.done, self.total = done, total
        now = time.monotonic()
        if self._shown and (now - self._last > 0.1 or done == total):
            self._last = now
            left = (now - self._started) / max(done, 1) * max(total - done, 0)
            print(f"\r{self.what} {done}/{total}, {left:.0f} s left {message[:40]:40}", end="", file=sys.stderr)

    def __enter__(self) -> Meter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown and self.done:
            print(file=sys.stderr)
