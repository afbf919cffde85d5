"""A graph filled from stored rows, a column at a time: opening a large memory takes no longer than reading it."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memory_core.graph.columns import Column
from memory_core.graph.scan import tails

if TYPE_CHECKING:
    from memory_core.graph.graph import Graph


@contextmanager
def no_collecting() -> Iterator[None]:
    """No garbage collection meanwhile: looking again and again at the rows just read takes a third of a load."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def load_nodes(graph: Graph, rows: Sequence[tuple[Any, ...]], codes: Mapping[str, int]) -> None:
    """Fill the columns of an empty graph from (id, label, title, content, attributes, created, turns_at_creation,
    pinned, forgotten_by, accesses, last access, its turn, vector)."""
    if not rows:
        return
    ids, labels, titles, contents, attributes, *numbers, vectors = zip(*rows, strict=True)
    created, turns, pinned, forgotten_by, accesses, last_access, access_turns = numbers
    graph.ids, graph.titles, graph.contents = list(ids), list(titles), list(contents)
    graph.attributes, graph.forgotten_by = list(attributes), list(forgotten_by)
    graph.row_of = {node: row for row, node in enumerate(ids)}
    graph.incident.load(len(ids), np.zeros((0, 2), np.int64))
    graph.label.extend(np.array([codes[label] for label in labels]))
    graph.live.extend(np.array([by is None for by in forgotten_by]))
    graph.last_access.extend(np.array(last_access, np.float64))  # None becomes NaN
    pairs: list[tuple[Column[Any], Sequence[Any]]] = [
        (graph.created, created), (graph.turns_at_creation, turns), (graph.pinned, pinned), (graph.accesses, accesses),
        (graph.turns_at_access, access_turns),
    ]  # fmt: skip
    for column, values in pairs:
        column.extend(np.array(values))
    graph.degree.extend(np.zeros(len(ids), np.int64))
    have = np.array([vector is not None for vector in vectors])
    graph.has_vector.extend(have)
    graph.vectors.extend(_matrix(vectors, have, graph.dim))
    graph.tails.extend(tails(graph.vectors.values))


def _matrix(blobs: Sequence[bytes | None], have: NDArray[np.bool_], dim: int) -> NDArray[np.float32]:
    joined, count = b"".join(blob for blob in blobs if blob is not None), int(have.sum())
    found = np.frombuffer(joined, np.float16 if len(joined) == 2 * dim * count else np.float32).reshape(count, dim)
    if count == len(blobs):
        return found.astype(np.float32)
    matrix = np.zeros((len(blobs), dim), np.float32)
    matrix[have] = found
    return matrix


def load_edges(graph: Graph, rows: Sequence[tuple[Any, ...]]) -> None:
    """Fill the edge columns from (id, source, target, relationship, attributes, forgotten_by)."""
    if not rows:
        return
    ids, sources, targets, relationships, attributes, forgotten_by = zip(*rows, strict=True)
    graph.edge_ids, graph.relationships = list(ids), list(relationships)
    graph.edge_attributes, graph.edge_forgotten_by = list(attributes), list(forgotten_by)
    graph.edge_row = {edge: row for row, edge in enumerate(ids)}
    live = np.array([by is None for by in forgotten_by])
    ends = np.array([[graph.row_of[node] for node in end] for end in (sources, targets)]).T
    graph.ends.extend(ends)
    graph.edge_live.extend(live)
    loop = ends[:, 0] == ends[:, 1]
    for end, counted in ((ends[:, 0], live), (ends[:, 1], live & ~loop)):
        graph.degree.values[:] += np.bincount(end[counted], minlength=len(graph.ids))
    graph.incident.load(len(graph.ids), ends)
