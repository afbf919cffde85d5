"""What a plan leaves behind: nodes without edges, components in pieces, the mix of labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from memory_core.forgetting import ForgettingPlan
from memory_core.graph import Graph
from memory_core.schema import LABELS

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Effects:
    """`isolated`: nodes that stay and lose every edge; `broken`: components of which more than one piece is left;
    `before` and `gone` (9,): live nodes of each label, and those of them that go."""

    isolated: int
    broken: int
    components: int
    pieces: int
    before: Counts
    gone: Counts


@dataclass(frozen=True)
class Shape:
    """The live graph as places 0 to n - 1: ends of each edge (m, 2), component of each node (n,), labels (n,)."""

    ends: Counts
    component: Counts
    labels: NDArray[np.int8]

    @classmethod
    def of(cls, graph: Graph) -> Shape:
        """Of the live part of a graph; made once a revision."""
        rows = graph.live_rows()
        place = np.full(len(graph.ids), -1, np.int64)
        place[rows] = np.arange(len(rows))
        ends = place[graph.ends.values[graph.live_edges()]]
        return cls(ends, _components(ends, len(rows)), graph.label.values[rows])


def _components(ends: Counts, n: int) -> Counts:
    links = coo_array((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1], np.int64)


def effects(shape: Shape, fate: NDArray[np.bool_]) -> Effects:
    """Of a plan whose `fate` (n,) is True for what goes."""
    n, stays = len(fate), ~fate
    left = shape.ends[stays[shape.ends].all(axis=1)]
    degree, now = (np.bincount(ends.ravel(), minlength=n) for ends in (shape.ends, left))
    after = _components(left, n)
    pairs = np.unique(np.column_stack([shape.component, after])[stays], axis=0)
    in_pieces = np.bincount(pairs[:, 0]) if len(pairs) else np.zeros(0, np.int64)
    before, gone = (np.bincount(labels, minlength=len(LABELS)) for labels in (shape.labels, shape.labels[fate]))
    return Effects(
        isolated=int((stays & (degree > 0) & (now == 0)).sum()),
        broken=int((in_pieces > 1).sum()),
        components=int(shape.component.max(initial=-1)) + 1,
        pieces=len(pairs),
        before=before,
        gone=gone,
    )


def words(plan: ForgettingPlan) -> str:
    """What commit asks, in words.

    Live bytes fall at once, the file only when a pass is purged: never the one for the other.
    """
    parts = [f"forget {int(plan.fate.sum()):,} of {_many(plan.nodes_before, 'node')}",
             f"and {_many(len(plan.edges), 'edge')}"]  # fmt: skip
    if plan.turns:
        parts.append(f"with {len(plan.turns):,} of {_many(plan.turns_before, 'turn')}")
    return f"{' '.join(parts)}; {size(plan.bytes_live_freed)} leave the live memory; the disk shrinks after purge"


def _many(count: int, one: str) -> str:
    return f"{count:,} {one if count == 1 else one + 's'}"


def size(count: float) -> str:
    """Bytes with a unit, to three digits.

    >>> size(540465), size(12), size(9683000)
    ('540 kB', '12 B', '9.68 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:.3g} {unit}" if count < 999.5 else f"{count:.0f} {unit}"
