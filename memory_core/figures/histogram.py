"""The bins of a histogram of scores that a threshold cuts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def bin_edges(scores: NDArray[np.float64], threshold: float | None, bins: int = 50) -> NDArray[np.float64]:
    """About `bins` equal bins over the scores, one edge exactly on the threshold, so that no bar straddles the cut.

    >>> bin_edges(np.array([0.0, 1.0]), 0.1, bins=10).round(2).tolist()
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    """
    marks = scores if threshold is None else np.append(scores, threshold)
    low, high = (float(marks.min()), float(marks.max())) if marks.size else (0.0, 1.0)
    width = max(high - low, 1e-3) / bins
    origin = low if threshold is None else threshold
    before = int(np.ceil((origin - low) / width))
    after = max(int(np.ceil((high - origin) / width - 1e-9)), 1)
    edges = origin + width * np.arange(-before, after + 1, dtype=np.float64)
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
    return edges
