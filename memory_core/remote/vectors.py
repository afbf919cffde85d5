"""Vectors as servers send them, made into rows that can be compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from memory_core.errors import EmbedderMismatchError, EmbeddingError
from memory_core.protocols import Floats


def embedded_rows(
    texts: Sequence[str], dim: int, batch: int, ask: Callable[[Sequence[str]], list[Any]], who: str
) -> Floats:
    """Unit vectors, shape (n, dim), of what `ask` gives for at most `batch` texts at a time.

    An empty text is not sent and gives a zero row. Where a server gives too few vectors, or one that is none, each text
    is asked for alone; what still fails is an EmbeddingError for these texts only. Raises EmbedderMismatchError when a
    vector has another dimension.
    """
    rows = np.zeros((len(texts), dim), np.float32)
    filled = [place for place, text in enumerate(texts) if text.strip()]
    failed: dict[int, str] = {}
    for start in range(0, len(filled), batch):
        places = filled[start : start + batch]
        vectors = ask([texts[place] for place in places])
        if len(vectors) != len(places) or any(_unit(vector, dim, who) is None for vector in vectors):
            vectors = [next(iter(ask([texts[place]])), None) for place in places]
        for place, vector in zip(places, vectors, strict=True):
            row = _unit(vector, dim, who)
            if row is None:
                failed[place] = f"no vector for {texts[place][:60]!r}"
            else:
                rows[place] = row
    if failed:
        some = "; ".join(list(failed.values())[:3])
        raise EmbeddingError(f"{who} gave {some} ({len(failed)} of {len(texts)} texts); try these again.", rows, failed)
    return rows


def dimension(ask: Callable[[Sequence[str]], list[Any]], learned: dict[str, int]) -> int:
    """The length of the vectors `ask` gives; asked once, then kept in `learned`. Raises what `ask` raises."""
    if "dim" not in learned:
        learned["dim"] = len(ask(["dimension"])[0])
    return learned["dim"]


def _unit(vector: object, dim: int, who: str) -> Floats | None:
    """The vector at length 1; None for what has no direction."""
    try:
        row = np.asarray(vector, np.float64).ravel()
    except (TypeError, ValueError):
        return None
    if not row.size or not np.isfinite(row).all() or not row.any():
        return None
    if row.size != dim:
        raise EmbedderMismatchError(
            f"{who} gave vectors of dimension {row.size} where {dim} was expected: another model answers by this name."
        )
    return np.asarray(row / np.linalg.norm(row), np.float32)
