"""What a retention policy is given and what it gives: columns of the live nodes, and a score for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core.errors import InputError

Doubles = NDArray[np.float64]
_DAY = 86400.0


@dataclass(frozen=True)
class Said:
    """What the live memory keeps of what was said, as elements: one content word of one turn.

    `rows` and `elements`, (p,): the node at that place keeps that element, in its title or a value of an attribute.
    `edge_ends`, (m, 2): places of the ends of each live edge; `edge_rows` and `edge_elements`, (q,): that edge keeps
    that element in its relationship. `turns`, (e,): position of the turn of each element; `counts`, (e,): in how many
    turns its word was said; `turn_count`: turns that say anything.
    """

    rows: NDArray[np.int64]
    elements: NDArray[np.int64]
    edge_ends: NDArray[np.int64]
    edge_rows: NDArray[np.int64]
    edge_elements: NDArray[np.int64]
    turns: NDArray[np.int64]
    counts: NDArray[np.int64]
    turn_count: int


def nothing_said() -> Said:
    """No elements at all."""
    none = np.zeros(0, np.int64)
    return Said(none, none, np.zeros((0, 2), np.int64), none, none, none, none, 0)


@dataclass(frozen=True)
class ScoringView:
    """The live nodes as columns, all of length n, in id-row order; times are seconds since the epoch, UTC."""

    ids: tuple[str, ...]
    labels: NDArray[np.int8]  # place in schema.LABELS
    created: Doubles
    last_access: Doubles  # creation when never accessed
    accesses: NDArray[np.int64]
    degree: NDArray[np.int64]  # live edges
    turns_at_creation: NDArray[np.int64]
    turns_at_access: NDArray[np.int64]
    turn: int  # turns stored so far
    similarity: Doubles  # largest cosine to the last 10 questions, 0 without questions (P2's S)
    poignancy: Doubles  # attribute `poignancy`, NaN when absent
    access_rows: NDArray[np.int64]  # (m,) place of the node of each access, creation not counted
    access_times: Doubles  # (m,)
    said: Callable[[], Said] = nothing_said  # made when first asked for, because few policies read it

    @classmethod
    def of_one(cls, *, days: float, accesses: int, degree: int, turns: int) -> ScoringView:
        """One node created and last accessed `days` and `turns` before the epoch."""
        return cls.of(days=[days], accesses=[accesses], degree=[degree], turns=turns)

    @classmethod
    def of(
        cls, *, days: Sequence[float], accesses: Sequence[int] = (), degree: Sequence[int] = (), turns: int = 0,
        accessed: Sequence[tuple[int, float]] = (), said: Callable[[], Said] = nothing_said,
    ) -> ScoringView:  # fmt: skip
        """Nodes `days` and `turns` old, with single accesses (place, days before the epoch): for hand values."""
        n = len(days)
        then, zeros = -_DAY * np.asarray(days, np.float64), np.zeros(n, np.int64)
        counts = [np.asarray(given, np.int64) if len(given) else zeros for given in (accesses, degree)]
        rows = np.array([row for row, _ in accessed], np.int64)
        times = np.array([-_DAY * day for _, day in accessed], np.float64)
        return cls(
            tuple(f"n{place + 1}" for place in range(n)), np.zeros(n, np.int8), then, then, counts[0], counts[1], zeros,
            zeros, turns, np.zeros(n), np.full(n, np.nan), rows, times, said,
        )  # fmt: skip

    def days_since(self, times: Doubles, at: datetime) -> Doubles:
        """Age in days at `at`, never below 0: a time in the future is now (clocks run backwards, case FOR-01)."""
        days = np.asarray(at.timestamp() - times, np.float64)
        np.maximum(days, 0.0, out=days)
        return np.divide(days, _DAY, out=days)


def halved(ages: NDArray[Any], half_life: float) -> Doubles:
    """2^(-age / half-life) for each age, (n,) in [0, 1]; ages and half-life in one unit (days, turns; P1 3.6).

    >>> halved(np.array([0.0, 90.0]), 90.0).tolist()
    [1.0, 0.5]
    """
    left = np.asarray(ages / -half_life, np.float64)
    return np.exp2(left, out=left)


@dataclass(frozen=True)
class Scores:
    """`score` (n,) finite, in [0, 1], high = keep; `parts` name each weighted term (n,), whose sum is the score."""

    score: Doubles
    parts: Mapping[str, Doubles]
    ranks: bool = False  # True: normalised ranks, because the source has no scale

    @classmethod
    def weighted(cls, terms: Mapping[str, tuple[float, Doubles]]) -> Scores:
        """The sum of (weight, term) with the weights divided by their sum. Raises InputError when they are all zero."""
        total = sum(weight for weight, _ in terms.values())
        if not total > 0 or any(weight < 0 for weight, _ in terms.values()):
            raise InputError("All weights are zero or one is negative: give at least one term a positive weight.")
        parts = {name: np.asarray(weight / total * term, np.float64) for name, (weight, term) in terms.items()}
        first, *others = parts.values()
        score = first.copy()
        for part in others:
            score += part
        return cls(score.clip(0.0, 1.0, out=score), parts)

    @classmethod
    def ranked(cls, name: str, values: NDArray[Any]) -> Scores:
        """Normalised ranks (rank - 1/2) / n, lowest value first; equal values share the mean of their ranks.

        >>> Scores.ranked("size", np.array([5, 1, 5])).score.round(4).tolist()
        [0.6667, 0.1667, 0.6667]
        """
        _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        score = np.asarray((np.cumsum(counts) - counts / 2)[places] / max(len(values), 1), np.float64)
        return cls(score, {name: score}, ranks=True)
