"""Three ways to choose from scores what is forgotten; the same for every policy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memory_core.errors import InputError
from memory_core.protocols import Doubles

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Cut:
    """How much is forgotten: below a score, all but so many nodes, or down to so many live bytes.

    `all` takes every candidate: a selection by hand without a cut.
    """

    kind: Literal["threshold", "keep", "bytes", "all"]
    value: float = 0.0

    @classmethod
    def of(cls, threshold: float | None, keep: int | None, bytes: int | None, selected: bool) -> Cut:
        """The cut a caller gave. Raises InputError unless it is one, or none with a selection by hand."""
        given = [(kind, value) for kind, value in (("threshold", threshold), ("keep", keep), ("bytes", bytes))
                 if value is not None]  # fmt: skip
        if not given and selected:
            return cls("all")
        if len(given) != 1:
            raise InputError("Give one of threshold, keep and bytes (a selection by hand needs none).")
        kind, value = given[0]
        if not math.isfinite(value) or value < 0:
            raise InputError(f"The cut {kind} is {value}; it must be a number of at least 0.")
        return cls(kind, float(value))  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.kind if self.kind == "all" else f"{self.kind}={self.value:g}"


@dataclass(frozen=True)
class Chosen:
    """`forgotten` (n,) and, for a cut by bytes, the gap to the linear relaxation: the share of its summed score that
    the whole-node choice does not reach."""

    forgotten: Mask
    gap: float | None = None


def worst_first(score: Doubles, created: Doubles) -> NDArray[np.int64]:
    """Places from the first to go to the last: lowest score, on ties the oldest, then the highest place.

    >>> worst_first(np.array([0.5, 0.1, 0.5]), np.array([2.0, 0.0, 1.0])).tolist()
    [1, 2, 0]
    """
    return np.asarray(np.lexsort((-np.arange(len(score)), created, score)))


def choose(cut: Cut, score: Doubles, created: Doubles, candidates: Mask, sizes: Doubles, fixed: float) -> Chosen:
    """Which candidates go. `sizes` are bytes of each node, `fixed` the live bytes that no choice frees.

    `keep` and `bytes` count what stays in the whole memory, so what is protected takes its place in them.
    """
    if cut.kind == "all":
        return Chosen(candidates.copy())
    if cut.kind == "threshold":
        return Chosen(candidates & (score < cut.value))
    if cut.kind == "keep":
        order = worst_first(score, created)
        order = order[candidates[order]]
        forgotten = np.zeros(len(score), np.bool_)
        forgotten[order[: max(len(score) - int(cut.value), 0)]] = True
        return Chosen(forgotten)
    return _fill(cut.value - fixed - float(sizes[~candidates].sum()), score, created, candidates, sizes)


def _fill(room: float, score: Doubles, created: Doubles, candidates: Mask, sizes: Doubles) -> Chosen:
    """The knapsack by density: best score a byte first, each that still fits; and how far the relaxation is above."""
    places = worst_first(score / sizes, created)[::-1]
    places = places[candidates[places]]
    ends = np.cumsum(sizes[places])
    whole = int(np.searchsorted(ends, room, side="right"))
    kept = places[:whole].tolist()
    relaxed = float(score[kept].sum())
    left = room - (float(ends[whole - 1]) if whole else 0.0)
    if whole < len(places) and room > 0:
        relaxed += float(score[places[whole]]) * left / float(sizes[places[whole]])
    for place in places[whole:].tolist():
        if sizes[place] <= left:
            kept.append(place)
            left -= float(sizes[place])
    forgotten = candidates.copy()
    forgotten[kept] = False
    reached = float(score[kept].sum())
    return Chosen(forgotten, 1.0 - reached / relaxed if relaxed > 0 else 0.0)
