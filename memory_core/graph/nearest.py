"""The nodes nearest to a query: by comparing all of them, or above a size by looking at their signs first."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memory_core.graph.columns import Column
from memory_core.graph.scan import dots, top
from memory_core.graph.sketch import Sketch
from memory_core.protocols import Floats

Search = Literal["auto", "exact", "approximate"]
EXACT_TO = 100_000  # nodes up to which `auto` compares all of them, however long that takes
PATIENCE = 0.025  # seconds a comparison of all may take
_LEAST, _ONE_IN = 1000, 200  # rows compared in full for a query: recall@5 .995 at 1,000,000 (.983 with 1,000 rows)


class Nearest:
    """Searches over `vectors`; rows that `seen()` leaves out are never found.

    `auto` compares all up to `EXACT_TO` rows, and beyond as long as that takes no more than `PATIENCE` here.
    """

    def __init__(self, vectors: Column[np.float32], seen: Callable[[], NDArray[np.bool_]]) -> None:
        self.mode: Search = "auto"
        self._vectors, self._seen = vectors, seen
        self._sketch: Sketch | None = None
        self._changed: set[int] = set()
        self._pace = 0.0  # seconds a row of the quickest comparison of all so far

    @property
    def approximate(self) -> bool:
        """Whether the next search looks at signs first."""
        if self.mode != "auto":
            return self.mode == "approximate"
        count = len(self._vectors)
        return count > EXACT_TO and self._pace * count > PATIENCE

    def changed(self, row: int) -> None:
        """The vector of the row is another one now."""
        if self._sketch is not None:
            self._changed.add(row)

    def find(self, vectors: Floats, k: int) -> list[list[tuple[int, float]]]:
        """For each query (q, dim) the `k` rows of greatest cosine, best first, ties by age: [(row, cosine)]."""
        if not len(self._vectors) or k < 1:
            return [[] for _ in vectors]
        hidden = np.flatnonzero(~self._seen())
        if not self.approximate:
            return [_best(scores, np.arange(len(scores)), hidden, k) for scores in self._all(vectors)]
        sketch, rows = self._followed(), self._vectors.values
        found = []
        for vector in np.asarray(vectors, np.float32):
            near = sketch.near(vector, max(_LEAST, len(rows) // _ONE_IN, 20 * k), hidden)
            found.append(_best(dots(rows[near], vector[None])[0], near, np.zeros(0, np.int64), k))
        return found

    def _all(self, vectors: Floats) -> Floats:
        began = time.perf_counter()
        scores = dots(self._vectors.values, vectors)
        pace = (time.perf_counter() - began) / len(self._vectors)  # whatever the queries: one pass reads all rows
        self._pace = min(self._pace or pace, pace)
        return scores

    def _followed(self) -> Sketch:
        if self._sketch is None:
            self._sketch = Sketch(self._vectors.values)
        self._sketch.follow(self._vectors.values, self._changed)
        self._changed.clear()
        return self._sketch


def _best(scores: Floats, rows: NDArray[np.int64], hidden: NDArray[np.int64], k: int) -> list[tuple[int, float]]:
    scores[hidden] = -np.inf
    return [(int(rows[place]), float(scores[place])) for place in top(scores, k) if scores[place] > -np.inf]
