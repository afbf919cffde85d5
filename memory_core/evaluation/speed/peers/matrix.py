"""The plain matrix: vectors in RAM, numpy's product with each query, nothing else: what growth is held against."""

from __future__ import annotations

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

    def fill(self) -> None:
        """Half precision on disk, as ours stores it."""
        stored = np.lib.format.open_memmap(self.path, "w+", np.float16, self.given.vectors.shape)
        for start in range(0, self.given.nodes, _BLOCK):
            stored[start : start + _BLOCK] = self.given.vectors[start : start + _BLOCK]
        stored.flush()

    def open(self) -> None:
        """Read the file."""
        self.rows = np.load(self.path).astype(np.float32)

    def close(self) -> None:
        """Forget it."""
        self.rows = None

    def turn(self, number: int) -> None:
        """Six products, nothing stored."""
        for node in self.given.turn(number)["nodes"]:
            _ = int((self.rows @ np.array(node["vector"])).argmax())

    def search(self, number: int) -> None:
        """One product and its five greatest."""
        scores = self.rows @ np.array(self.given.queries[number])
        best = np.argpartition(scores, -5)[-5:]
        _ = best[np.argsort(-scores[best])]

    def probe(self) -> dict[str, list[list[int]]]:
        """The five nearest of every question among the vectors as given, in single precision."""
        asked = np.asarray(self.given.queries).T
        scores, rows = np.zeros((0, asked.shape[1]), np.float32), np.zeros((0, asked.shape[1]), np.int64)
        for start in range(0, self.given.nodes, _BLOCK):
            found = np.asarray(self.given.vectors[start : start + _BLOCK]) @ asked
            places = np.broadcast_to(np.arange(start, start + len(found))[:, None], found.shape)
            scores, rows = np.concatenate([scores, found]), np.concatenate([rows, places])
            best = np.argsort(-scores, axis=0, kind="stable")[:5]
            scores, rows = np.take_along_axis(scores, best, 0), np.take_along_axis(rows, best, 0)
        return {"nearest": rows.T.tolist()}

    def sizes(self) -> dict[str, int]:
        """The file."""
        return {"graph": self.path.stat().st_size, "whole": self.path.stat().st_size}
