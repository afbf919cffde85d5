"""From scores to the few turns that are returned: several sessions when several are asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_core.protocols import Doubles

_POOL = 60  # turns looked at when sessions are spread


def best(scores: Doubles, count: int) -> NDArray[np.int64]:
    """Places of the greatest finite scores, best first, ties by place.

    >>> best(np.array([1.0, 3.0, 3.0, -np.inf]), 3).tolist()
    [1, 2, 0]
    """
    count = min(count, len(scores))
    if not count:
        return np.zeros(0, np.int64)
    least = np.partition(scores, -count)[-count]
    among = np.flatnonzero((scores >= least) & np.isfinite(scores))
    return among[np.lexsort((among, -scores[among]))][:count]


def spread(scores: Doubles, sessions: NDArray[np.int32], penalty: float, count: int) -> list[int]:
    """Places of the best turns when each turn costs the others of its session `penalty`.

    >>> spread(np.array([0.9, 0.8, 0.7]), np.array([1, 1, 2], np.int32), 0.15, 3)
    [0, 2, 1]
    """
    pool = best(scores, max(_POOL, count) if penalty else count)
    if not penalty:
        return [int(place) for place in pool]
    left, chosen = scores[pool].copy(), []
    for _ in range(min(count, len(pool))):
        take = int(np.argmax(left))
        chosen.append(int(pool[take]))
        left[sessions[pool] == sessions[pool[take]]] -= penalty
        left[take] = -np.inf
    return chosen
