"""Which edges each node has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_Ints = NDArray[np.int64]


class Adjacency:
    """Edge rows of each node and the nodes at their other ends, live or not, in the order they were stored.

    What was loaded stands in arrays; a node becomes two lists when it is first looked at or gets another edge.
    """

    def __init__(self) -> None:
        self._count = 0
        self._ends: _Ints = np.zeros((0, 2), np.int64)
        self._sorted: tuple[_Ints, _Ints, _Ints] | None = None
        self._lists: dict[int, tuple[list[int], list[int]]] = {}
        self.loops: dict[int, list[int]] = {}  # edges from a node to itself

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: int) -> list[int]:
        return self.of(row)[0]

    def __iter__(self) -> Iterator[list[int]]:
        return (self[row] for row in range(self._count))

    def of(self, row: int) -> tuple[list[int], list[int]]:
        """Edge rows of a node and the rows of their other ends (its own for a loop)."""
        known = self._lists.get(row)
        if known is None:
            starts, edges, others = self._loaded()
            start, stop = starts[row : row + 2].tolist() if row + 1 < len(starts) else (0, 0)
            known = self._lists.setdefault(row, (edges[start:stop].tolist(), others[start:stop].tolist()))
        return known

    def add_node(self) -> None:
        """One more node, without edges."""
        self._count += 1

    def add_edge(self, edge: int, source: int, target: int) -> None:
        """One more edge; a loop is one edge of its node."""
        if source == target:
            self.loops.setdefault(source, []).append(edge)
        for row, other in dict.fromkeys(((source, target), (target, source))):
            edges, others = self.of(row)
            edges.append(edge)
            others.append(other)

    def load(self, nodes: int, ends: NDArray[np.int64]) -> None:
        """Take the place of all: `nodes` nodes and the edges with these `ends` (edges, 2), in order."""
        self._count, self._ends, self._lists, self._sorted = nodes, ends, {}, None
        self.loops = {}
        for edge in np.flatnonzero(ends[:, 0] == ends[:, 1]).tolist():
            self.loops.setdefault(int(ends[edge, 0]), []).append(edge)

    def _loaded(self) -> tuple[_Ints, _Ints, _Ints]:
        """Of the loaded edges: where each node begins, edge rows, their other ends; made when first asked for."""
        if self._sorted is None:
            ends, last = self._ends, int(self._ends.max(initial=-1))
            edges = np.repeat(np.arange(len(ends)), 2)
            rows, others = ends.ravel(), ends[:, ::-1].ravel()
            once = np.ones(len(rows), np.bool_)
            once[1::2] = rows[1::2] != others[1::2]
            order = np.flatnonzero(once)[np.argsort(rows[once], kind="stable")]
            starts = np.searchsorted(rows[order], np.arange(last + 2))
            self._sorted = starts, edges[order], others[order]
        return self._sorted
