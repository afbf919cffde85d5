"""What a plan leaves behind: nodes without edges, pieces the graph falls into, the mix of labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from memory_core.forgetting.cuts import Mask
from memory_core.forgetting.plan import ForgettingPlan
from memory_core.memory.scoring import Scoring
from memory_core.schema import LABELS


@dataclass(frozen=True)
class Consequences:
    """`isolated`: nodes that stay and lose their last edge. A component is a piece of at least two nodes. `labels` give
    (before, after)."""

    isolated: tuple[str, ...]
    components_before: int
    components_after: int
    labels: Mapping[str, tuple[int, int]]


def consequences(memory: Scoring, plan: ForgettingPlan) -> Consequences:
    """What the memory would look like after the plan; changes nothing. The plan must be of this revision."""
    graph, rows = memory.graph, memory.graph.live_rows()
    stays = np.zeros(len(graph.ids), np.bool_)
    stays[rows] = ~plan.fate
    ends = graph.ends.values[graph.live_edges()]
    left = ends[stays[ends].all(axis=1)]
    degree = np.bincount(left.ravel(), minlength=len(graph.ids))
    isolated = np.flatnonzero(stays & (degree == 0) & (graph.degree.values > 0))
    before, after = (
        np.bincount(graph.label.values[of], minlength=len(LABELS)).tolist() for of in (graph.live.values, stays)
    )
    return Consequences(
        tuple(graph.ids[row] for row in isolated.tolist()),
        _components(ends, graph.live.values),
        _components(left, stays),
        {label: (one, other) for label, one, other in zip(LABELS, before, after, strict=True)},
    )


def _components(ends: np.ndarray[tuple[int, ...], np.dtype[np.int64]], live: Mask) -> int:
    n = len(live)
    _, piece = connected_components(coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n)), False)
    return int((np.bincount(piece[live], minlength=1) > 1).sum())
