"""Exact searches over all vectors: every cosine, the greatest, and those above a threshold."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

from memory_core.protocols import Floats

Near = tuple[NDArray[np.int64], Floats]  # rows, ascending, and their cosines

_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_ALONE = 2_000_000  # multiplications below which a second thread costs more than it brings
_STEP = 2048  # rows a thread takes at a time
_UNTHREADED = 250_000  # multiplications of a product that OpenBLAS leaves to one thread
_LOOSE = 1e-4  # ten times what float32 can be off by in a product of unit vectors
_TOP_BLOCK = 128


def dots(rows: Floats, vectors: Floats) -> Floats:
    """Dot product of each vector (q, dim) with each row (n, dim), shape (q, n).

    Reads the rows once for all vectors. BLAS is asked for one product of two vectors at a time: its threads wait for
    each other, on a busy machine ten times as long as the work takes; ours share out what is left.
    """
    vectors = np.asarray(vectors, np.float32)
    return _shared(rows, len(vectors), lambda part: np.asarray(np.vecdot(part[:, None], vectors).T))


def leading(dim: int) -> int:
    """How many leading dimensions `above` looks at first: three in eight."""
    return max(1, 3 * dim // 8)


def tails(rows: Floats) -> Floats:
    """Length of each row (n, dim) behind its leading dimensions, shape (n,)."""
    behind = rows[:, leading(rows.shape[1]) :]
    return np.asarray(np.sqrt(np.vecdot(behind, behind)), np.float32)


def above(rows: Floats, lengths: Floats, vectors: Floats, threshold: float) -> list[Near]:
    """For each vector the rows whose dot product with it is greater than `threshold`, with exactly what `dots` gives.

    `lengths` are `tails(rows)`. By Cauchy and Schwarz the dimensions behind the leading ones add at most the product of
    their lengths: few rows can reach a high threshold, and only these are looked at whole.
    """
    vectors = np.asarray(vectors, np.float32)
    if not len(vectors) or not len(rows):
        return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in vectors]
    most = _leading_dots(rows, vectors)
    most += tails(vectors)[:, None] * lengths
    return [
        _reaching(rows, np.flatnonzero(reach > threshold - _LOOSE), vector, threshold)
        for reach, vector in zip(most, vectors, strict=True)
    ]


def _leading_dots(rows: Floats, vectors: Floats) -> Floats:
    """`dots` of the leading dimensions by small matrix products: faster, and off in the last digits."""
    head = leading(rows.shape[1])
    first = np.ascontiguousarray(vectors[:, :head])
    if len(first) < 2:
        return dots(rows[:, :head], first)
    block = max(1, min(_STEP, _UNTHREADED // first.size))

    def work(part: Floats) -> Floats:
        found = np.empty((len(first), len(part)), np.float32)
        whole = len(part) // block * block
        products = first @ part[:whole].reshape(-1, block, head).transpose(0, 2, 1)  # (blocks, vectors, rows a block)
        found[:, :whole] = products.transpose(1, 0, 2).reshape(len(first), whole)
        found[:, whole:] = first @ part[whole:].T
        return found

    return _shared(rows[:, :head], len(first), work)


def _reaching(rows: Floats, places: NDArray[np.int64], vector: Floats, threshold: float) -> Near:
    if 4 * len(places) > len(rows):  # a low threshold: nearly all may reach it
        scores = dots(rows, vector[None])[0]
        places = np.flatnonzero(scores > threshold)
        return places, scores[places]
    scores = np.vecdot(rows[places], vector)
    reached = scores > threshold
    return places[reached], scores[reached]


def top(scores: Floats, k: int) -> NDArray[np.int64]:
    """Places of the `k` greatest scores (n,), best first, ties by place; fewer when there are fewer.

    >>> top(np.float32([1, 3, 3, 2]), 3).tolist()
    [1, 2, 3]
    """
    count = min(k, len(scores))
    if count < 1:
        return np.zeros(0, np.int64)
    among = np.flatnonzero(scores >= _reached_by(scores, count))
    return among[np.lexsort((among, -scores[among]))][:count]


def _reached_by(scores: Floats, count: int) -> np.float32:
    """A score that at least `count` of them reach, and few more: the `count`-th of the greatest of each block."""
    blocks = len(scores) // _TOP_BLOCK
    if blocks < 2 * count:
        return np.float32(np.partition(scores, -count)[-count])
    greatest = scores[: blocks * _TOP_BLOCK].reshape(blocks, _TOP_BLOCK).max(axis=1)
    return np.float32(np.partition(greatest, -count)[-count])


def _shared(rows: Floats, vectors: int, work: Callable[[Floats], Floats]) -> Floats:
    """What `work` gives for all rows, shape (vectors, n); each step is done by whichever thread is free.

    No thread is waited for: a step that another one holds when all else is done is done again here, since that thread
    may have lost its core.
    """
    done: dict[int, Floats] = {}
    starts = range(0, len(rows), _STEP)
    left = iter(starts)

    def run() -> None:
        for start in left:
            done[start] = work(rows[start : start + _STEP])

    if vectors * rows.size > _ALONE:
        for _ in range(_CORES - 1):
            _pool().submit(run)
    run()
    parts = [done[start] if start in done else work(rows[start : start + _STEP]) for start in starts]
    return np.concatenate(parts, axis=1) if parts else np.zeros((vectors, 0), np.float32)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_CORES, "scan")
