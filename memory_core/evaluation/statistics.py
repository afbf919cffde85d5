"""Means with their uncertainty, as P1 A.7 reports them: SEM, percentile bootstrap, Wilson, paired bootstrap.

Every function is deterministic for its seed. Undefined figures (n = 0, the SEM of one value) are NaN, never 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from memory_core.protocols import Doubles

RESAMPLES = 10_000
LEVEL = 0.95
SEED = 42
#: Values drawn at once: 10,000 resamples of 500 questions go through in a few pieces of 16 MB.
_CHUNK = 2_000_000
#: Draws kept for the next metric of as many questions (10 MB for 10,000 resamples of 1,000 questions).
_KEPT_DRAWS = 10_000_000


@dataclass(frozen=True)
class Estimate:
    """A mean over n questions, its standard error, and the bootstrap interval [low, high]; NaN where undefined."""

    n: int
    mean: float
    sem: float
    low: float
    high: float


@dataclass(frozen=True)
class PairedDifference:
    """The mean of a minus b over the n ids both have, its interval, and the two-sided p that it is 0.

    `only_a` and `only_b` are the ids left out because the other side lacks them.
    """

    n: int
    diff: float
    low: float
    high: float
    p: float
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()

    @property
    def significant(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


def estimate(values: Sequence[float], *, seed: int = SEED, resamples: int = RESAMPLES) -> Estimate:
    """Mean, standard error and percentile interval of one value a question. Raises ValueError for NaN or infinity.

    >>> found = estimate([0.0, 1.0, 1.0, 0.0])
    >>> found.n, found.mean, round(found.sem, 4), found.low, found.high
    (4, 0.5, 0.2887, 0.0, 1.0)
    """
    return estimates({"": values}, seed=seed, resamples=resamples)[""]


def estimates(
    columns: Mapping[str, Sequence[float]], *, seed: int = SEED, resamples: int = RESAMPLES
) -> dict[str, Estimate]:
    """`estimate` of each column by name; those of one length share their draws, so that many cost hardly more than one.

    >>> estimates({"f1": [0.0, 1.0], "none": []})["f1"] == estimate([0.0, 1.0])
    True
    """
    found = {name: Estimate(0, np.nan, np.nan, np.nan, np.nan) for name in columns}
    for n in {len(values) for values in columns.values()} - {0}:
        names = [name for name, values in columns.items() if len(values) == n]
        table = np.column_stack([_finite(columns[name]) for name in names])
        means = _resampled_means(table, seed, resamples)
        for name, values, drawn in zip(names, table.T, means.T, strict=True):
            sem = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
            found[name] = Estimate(n, float(values.mean()), sem, *_interval(drawn))
    return found


def wilson(k: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval of k successes in n trials, within [0, 1]; (NaN, NaN) when n is 0.

    Raises ValueError when k is not between 0 and n.

    >>> [round(limit, 4) for limit in wilson(227, 500)]
    [0.4109, 0.4978]
    """
    if not 0 <= k <= n:
        raise ValueError(f"{k} successes in {n} trials are impossible.")
    if n == 0:
        return np.nan, np.nan
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share, spread = k / n, z * z / n
    middle = share + spread / 2
    half = z * float(np.sqrt(share * (1 - share) / n + spread / (4 * n)))
    # at k = 0 and k = n the limits are 0 and 1 exactly; rounding leaves 1e-18 there (case MET-07)
    low = 0.0 if k == 0 else (middle - half) / (1 + spread)
    high = 1.0 if k == n else (middle + half) / (1 + spread)
    return max(0.0, low), min(1.0, high)


def paired_difference(
    a: Mapping[str, float], b: Mapping[str, float], *, seed: int = SEED, resamples: int = RESAMPLES
) -> PairedDifference:
    """a minus b by question id: the bootstrap draws pairs. p is twice the smaller share of resamples on one side of 0.

    p is never below 2 / (resamples + 1), the finest that so many resamples can tell.

    >>> paired_difference({"q1": 1.0, "q2": 1.0, "q3": 0.0}, {"q1": 0.0, "q2": 0.5}).only_a
    ('q3',)
    """
    shared = sorted(a.keys() & b.keys())
    only_a, only_b = tuple(sorted(a.keys() - b.keys())), tuple(sorted(b.keys() - a.keys()))
    column = _finite([a[id] for id in shared]) - _finite([b[id] for id in shared])
    if not shared:
        return PairedDifference(0, np.nan, np.nan, np.nan, np.nan, only_a, only_b)
    means = _resampled_means(column, seed, resamples)
    tail = min(int((means <= 0).sum()), int((means >= 0).sum()))
    p = min(1.0, 2 * (tail + 1) / (resamples + 1))
    return PairedDifference(len(shared), float(column.mean()), *_interval(means), p, only_a, only_b)


def ratio_interval(
    hits: Sequence[float], trials: Sequence[float], *, seed: int = SEED, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Percentile interval of sum(hits) / sum(trials) when whole items (turns) are drawn; (NaN, NaN) without trials."""
    counts = np.column_stack([_finite(hits), _finite(trials)])
    if counts[:, 1].sum() == 0:
        return np.nan, np.nan
    sums = _resampled_means(counts, seed, resamples)
    kept = sums[sums[:, 1] > 0]
    return _interval(kept[:, 0] / kept[:, 1])


def _finite(values: Sequence[float]) -> Doubles:
    column = np.asarray(values, dtype=np.float64)
    if not np.isfinite(column).all():
        place = int(np.flatnonzero(~np.isfinite(column))[0])
        raise ValueError(f"value {place} of {len(column)} is {column[place]}; leave such questions out and count them.")
    return column


def _resampled_means(rows: Doubles, seed: int, resamples: int) -> Doubles:
    """The mean of each resample of the rows, shape (resamples,) or (resamples, columns)."""
    return np.concatenate([times @ rows / len(rows) for times in _draws(len(rows), seed, resamples)])


def _draws(n: int, seed: int, resamples: int) -> Iterator[Doubles]:
    """How many times each of n rows is drawn, a row a resample, in pieces of shape (some, n)."""
    drawn = _kept_draws if n * resamples <= _KEPT_DRAWS else _drawn
    for times in drawn(n, seed, resamples):
        yield times.astype(np.float64)


@lru_cache(maxsize=24)
def _kept_draws(n: int, seed: int, resamples: int) -> list[NDArray[np.uint8]]:
    return list(_drawn(n, seed, resamples))


def _drawn(n: int, seed: int, resamples: int) -> Iterator[NDArray[np.uint8]]:
    random, step = np.random.default_rng(seed), max(1, _CHUNK // n)
    for done in range(0, resamples, step):
        size = min(step, resamples - done)
        places = random.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        yield np.bincount(places.ravel(), minlength=size * n).reshape(size, n).astype(np.uint8)


def _interval(means: Doubles) -> tuple[float, float]:
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
