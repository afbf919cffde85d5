"""One bit a number of each vector: which rows may be near a query, found in a fraction of a pass."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from memory_core.protocols import Floats

_STEP = 16_384  # rows at a time, so that what is counted stays in the cache
_FAR = np.uint16(65_535)


class Sketch:
    """Signs of vectors less their mean, 64 to a word, word by word: shape (words, rows).

    The angle between two vectors is about as large as the share of signs that differ (Charikar, 2002). Real and made-up
    vectors lie to one side of the origin, so that the mean is taken off first.
    """

    def __init__(self, rows: Floats) -> None:
        self._centre = rows[:: max(1, len(rows) // 20_000)].mean(axis=0) if len(rows) else np.float32(0)
        self._words = np.zeros((-(-rows.shape[1] // 64), 0), np.uint64)
        self._count = 0
        self.follow(rows, ())

    def follow(self, rows: Floats, changed: Collection[int]) -> None:
        """Take in the rows that were added, and those that changed."""
        if len(rows) > self._words.shape[1]:
            grown = np.zeros((len(self._words), len(rows) + len(rows) // 8), np.uint64)
            grown[:, : self._count] = self._words[:, : self._count]
            self._words = grown
        for start in range(self._count, len(rows), _STEP):
            stop = min(start + _STEP, len(rows))
            self._words[:, start:stop] = self._signs(rows[start:stop])
        known = [row for row in changed if row < self._count]
        if known:
            self._words[:, known] = self._signs(rows[known])
        self._count = len(rows)

    def _signs(self, rows: Floats) -> NDArray[np.uint64]:
        bits = np.packbits(rows > self._centre, axis=1)
        words = np.zeros((len(rows), 8 * len(self._words)), np.uint8)
        words[:, : bits.shape[1]] = bits
        return words.view(np.uint64).T

    def differing(self, vector: Floats) -> NDArray[np.uint16]:
        """How many signs of each row are not those of the vector (dim,)."""
        signs = self._signs(vector[None])
        found = np.zeros(self._count, np.uint16)
        for start in range(0, self._count, _STEP):
            part = found[start : start + _STEP]
            for words, own in zip(self._words, signs, strict=True):
                part += np.bitwise_count(words[start : start + len(part)] ^ own)
        return found

    def near(self, vector: Floats, count: int, hidden: NDArray[np.int64]) -> NDArray[np.int64]:
        """At least `count` rows (fewer when there are fewer) whose signs differ least, none of the `hidden` ones."""
        found = self.differing(vector)
        found[hidden] = _FAR
        if count < len(found):
            return np.flatnonzero(found <= min(np.partition(found, count)[count], _FAR - 1))
        return np.flatnonzero(found < _FAR)
