"""The plain matrix: vectors in RAM, numpy's product with each query, nothing else: what growth is held against.

The product is BLAS's or that of one thread, whichever is faster here: on a busy machine BLAS waits for its threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from memory_core.evaluation.speed.given import Given

_BLOCK = 20_000


class Session:
    """One array in one file."""

    def __init__(self, given: Given, work: Path) -> None:
        self.given, self.path = given, work / "matrix.npy"
        self.rows: Any = None
        self.product: Callable[[Any, Any], Any] = np.matmul

    def fill(self) -> None:
        """Half precision on disk, as ours stores it."""
        stored = np.lib.format.open_memmap(self.path, "w+", np.float16, self.given.vectors.shape)
        for start in range(0, self.given.nodes, _BLOCK):
            stored[start : start + _BLOCK] = self.given.vectors[start : start + _BLOCK]
        stored.flush()

    def open(self) -> None:
        """Read the file."""
        self.rows = np.load(self.path).astype(np.float32)

    def probe(self) -> dict[str, list[list[int]]]:
        """Choose the faster product, and find the five nearest of every question among the vectors as given."""
        self.product = min((np.matmul, np.vecdot), key=self._seconds)
        return {"nearest": self._nearest()}

    def _seconds(self, product: Callable[[Any, Any], Any]) -> float:
        taken = []
        for query in np.array(self.given.queries[:5]):
            started = time.perf_counter()
            product(self.rows, query)
            taken.append(time.perf_counter() - started)
        return sorted(taken)[len(taken) // 2]

    def close(self) -> None:
        """Forget it."""
        self.rows = None

    def turn(self, number: int) -> None:
        """Six products, nothing stored."""
        for node in self.given.turn(number)["nodes"]:
            _ = int(self.product(self.rows, np.array(node["vector"])).argmax())

    def search(self, number: int) -> None:
        """One product and its five greatest."""
        scores = self.product(self.rows, np.array(self.given.queries[number]))
        best = np.argpartition(scores, -5)[-5:]
        _ = best[np.argsort(-scores[best])]

    def _nearest(self) -> list[list[int]]:
        asked = np.asarray(self.given.queries).T
        scores, rows = np.zeros((0, asked.shape[1]), np.float32), np.zeros((0, asked.shape[1]), np.int64)
        for start in range(0, self.given.nodes, _BLOCK):
            found = np.asarray(self.given.vectors[start : start + _BLOCK]) @ asked
            places = np.broadcast_to(np.arange(start, start + len(found))[:, None], found.shape)
            scores, rows = np.concatenate([scores, found]), np.concatenate([rows, places])
            best = np.argsort(-scores, axis=0, kind="stable")[:5]
            scores, rows = np.take_along_axis(scores, best, 0), np.take_along_axis(rows, best, 0)
        nearest: list[list[int]] = rows.T.tolist()
        return nearest

    def sizes(self) -> dict[str, int]:
        """The file."""
        return {"graph": self.path.stat().st_size, "whole": self.path.stat().st_size}
