"""A graph filled from stored rows, a column at a time: opening a large memory takes no longer than reading it."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memory_core.errors import MemoryFileError
from memory_core.graph.columns import Column
from memory_core.graph.scan import tails

if TYPE_CHECKING:
    from memory_core.graph.graph import Graph

NODE_COLUMNS = tuple("id label title content attributes created turns_at_creation pinned forgotten_by".split())
EDGE_COLUMNS = tuple("id source target relationship attributes forgotten_by".split())
NODES = f"SELECT {', '.join(NODE_COLUMNS)} FROM node ORDER BY rowid"
ACCESSES = """
    SELECT of, times, last, (SELECT max(turn) FROM access WHERE node = of AND at = last)
    FROM (SELECT node AS of, count(*) AS times, max(at) AS last FROM access GROUP BY node) AS met"""
_STEP = 256  # vectors looked at again while the core's own cache holds them


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
    """Fill the columns of an empty graph from rows of `NODE_COLUMNS`, none of them accessed."""
    if not rows:
        return
    ids, labels, titles, contents, attributes, created, turns, pinned, forgotten_by = zip(*rows, strict=True)
    graph.ids, graph.titles, graph.contents = list(ids), list(titles), list(contents)
    graph.attributes, graph.forgotten_by = list(attributes), list(forgotten_by)
    graph.row_of = dict(zip(ids, range(len(ids)), strict=True))
    graph.incident.load(len(ids), np.zeros((0, 2), np.int64))
    graph.label.extend(np.fromiter(map(codes.__getitem__, labels), np.int8, len(ids)))
    graph.live.extend(_live(forgotten_by))
    graph.last_access.room(len(ids))[:] = np.nan
    pairs: list[tuple[Column[Any], Sequence[Any]]] = [
        (graph.created, created), (graph.turns_at_creation, turns), (graph.pinned, pinned),
    ]  # fmt: skip
    for column, values in pairs:
        column.extend(np.fromiter(values, np.float64, len(ids)))
    graph.turns_at_access.extend(graph.turns_at_creation.values)
    for counts in (graph.accesses, graph.degree, graph.node_bytes):
        counts.room(len(ids))


def load_accesses(graph: Graph, rows: Iterable[tuple[Any, ...]]) -> None:
    """Mark the loaded nodes that were accessed from (id, times, time of the last, its turn)."""
    known = [(graph.row_of[node], *told) for node, *told in rows if node in graph.row_of]
    places, times, last, turns = np.array(known, np.float64).reshape(-1, 4).T
    at = places.astype(np.int64)
    graph.accesses.values[at], graph.last_access.values[at], graph.turns_at_access.values[at] = times, last, turns


def _live(forgotten_by: Sequence[str | None]) -> NDArray[np.bool_]:
    return np.fromiter((by is None for by in forgotten_by), np.bool_, len(forgotten_by))


def load_vectors(graph: Graph, batches: Iterable[Sequence[tuple[str, bytes]]]) -> None:
    """Fill the vectors of the loaded nodes from (node, vector) in any order.

    Raises MemoryFileError for a vector of another dimension.
    """
    matrix, lengths = graph.vectors.room(len(graph.ids)), graph.tails.room(len(graph.ids))
    has = graph.has_vector.room(len(graph.ids))
    for batch in batches:
        nodes, blobs = zip(*batch, strict=True)
        found = _numbers(nodes, blobs, graph.dim)
        rows = np.fromiter(map(graph.row_of.__getitem__, nodes), np.int64, len(nodes))
        has[rows] = True
        for start in range(0, len(rows), _STEP):
            few = _contiguous(rows[start : start + _STEP])
            matrix[few] = found[start : start + _STEP]
            lengths[few] = tails(matrix[few])


def _numbers(nodes: Sequence[str], blobs: Sequence[bytes], dim: int) -> NDArray[Any]:
    sizes = set(map(len, blobs))
    if len(sizes) > 1 or not sizes <= {2 * dim, 4 * dim}:
        node, blob = next(pair for pair in zip(nodes, blobs, strict=True) if len(pair[1]) != 2 * dim)
        raise MemoryFileError(
            f"The vector of node {node} has {len(blob)} bytes, not the {2 * dim} of {dim} dimensions: restore a copy "
            "of the memory, or re-embed it."
        )
    return np.frombuffer(b"".join(blobs), np.float16 if sizes == {2 * dim} else np.float32).reshape(-1, dim)


def _contiguous(rows: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    first = int(rows[0])
    return slice(first, first + len(rows)) if (np.diff(rows) == 1).all() else rows


def load_edges(graph: Graph, columns: Sequence[list[Any]]) -> None:
    """Fill the edge columns from those of `EDGE_COLUMNS`; the lists become the graph's own.

    Raises MemoryFileError for an edge of a node that is not there.
    """
    ids, sources, targets, graph.relationships, graph.edge_attributes, forgotten_by = columns
    graph.edge_ids, graph.edge_forgotten_by = ids, forgotten_by
    graph.edge_row = dict(zip(ids, range(len(ids)), strict=True))
    live, ends = _live(forgotten_by), graph.ends.room(len(ids))
    for side, nodes in enumerate((sources, targets)):
        try:
            ends[:, side] = np.fromiter(map(graph.row_of.__getitem__, nodes), np.int64, len(ids))
        except KeyError as error:
            raise MemoryFileError(f"An edge names node {error}, which is not there: restore a copy.") from error
    graph.edge_live.extend(live)
    graph.edge_bytes.room(len(ids))
    loop = ends[:, 0] == ends[:, 1]
    for end, counted in ((ends[:, 0], live), (ends[:, 1], live & ~loop)):
        graph.degree.values[:] += np.bincount(end[counted], minlength=len(graph.ids))
    graph.incident.load(len(graph.ids), ends.copy())
