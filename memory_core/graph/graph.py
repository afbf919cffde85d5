"""The memory in RAM: columns, vectors, adjacency and the title index. The only code that changes them is `apply`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core.graph.adjacency import Adjacency
from memory_core.graph.columns import Column
from memory_core.graph.loading import EDGE_COLUMNS, NODE_COLUMNS, load_accesses, load_edges, load_nodes, load_vectors
from memory_core.graph.nearest import Nearest
from memory_core.graph.scan import Near, above, dots, tails
from memory_core.graph.titles import Titles
from memory_core.graph.turn_columns import TurnColumns
from memory_core.protocols import Floats
from memory_core.schema import LABELS, Edge, Node
from memory_core.store.rows import Row, RowChange, Value

_LABEL_CODE = {label: code for code, label in enumerate(LABELS)}
NO_VECTOR = -2.0  # below every cosine


class Graph:
    """Nodes and edges as rows; a row keeps its number for the life of the object, forgotten rows are masked.

    `ids[row]` is the id of a node, `row_of[id]` the way back; `live` marks what is not forgotten. No search, index or
    count sees a row that is not live.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self.titles: list[str] = []
        self.contents: list[str] = []
        self.attributes: list[str] = []  # JSON, parsed when asked for
        self.forgotten_by: list[str | None] = []
        self.label = Column[np.int8](np.int8)
        self.created = Column[np.float64](np.float64)
        self.last_access = Column[np.float64](np.float64)  # NaN: never
        self.accesses = Column[np.int64](np.int64)
        self.turns_at_creation = Column[np.int64](np.int64)
        self.turns_at_access = Column[np.int64](np.int64)
        self.degree = Column[np.int64](np.int64)
        self.live = Column[np.bool_](np.bool_)
        self.pinned = Column[np.bool_](np.bool_)
        self.vectors = Column[np.float32](np.float32, (dim,))
        self.tails = Column[np.float32](np.float32)  # what `above` needs of each vector
        self.has_vector = Column[np.bool_](np.bool_)
        self.node_bytes = Column[np.int64](np.int64)  # of its texts; 0: not counted since they changed
        self.search = Nearest(self.vectors, self._seen)
        self.edge_ids: list[str] = []
        self.edge_row: dict[str, int] = {}
        self.relationships: list[str] = []
        self.edge_attributes: list[str] = []
        self.edge_forgotten_by: list[str | None] = []
        self.ends = Column[np.int64](np.int64, (2,))
        self.edge_live = Column[np.bool_](np.bool_)
        self.edge_bytes = Column[np.int64](np.int64)  # as `node_bytes`
        self.incident = Adjacency()  # edge rows of a node, live or not
        self._titles = Titles()
        self.turns = 0
        self.turns_moved = 0  # how often a stored turn was forgotten, or came back
        self.clock: float | None = None  # the latest time of a turn
        self.turn_columns: TurnColumns | None = None  # made when first asked for

    @property
    def node_count(self) -> int:
        """Live nodes."""
        return int(self.live.values.sum())

    @property
    def edge_count(self) -> int:
        """Live edges."""
        return int(self.edge_live.values.sum())

    def live_rows(self) -> NDArray[np.int64]:
        """Rows of the live nodes, ascending."""
        return np.flatnonzero(self.live.values)

    def live_edges(self) -> NDArray[np.int64]:
        """Rows of the live edges, ascending."""
        return np.flatnonzero(self.edge_live.values)

    def is_live(self, item: str) -> bool:
        """Whether a node or edge id is known and not forgotten."""
        if item in self.row_of:
            return bool(self.live.values[self.row_of[item]])
        return item in self.edge_row and bool(self.edge_live.values[self.edge_row[item]])

    def node(self, node_id: str) -> Node:
        """The node as a value. Raises KeyError for an unknown id."""
        row = self.row_of[node_id]
        accessed = float(self.last_access.values[row])
        return Node(
            id=node_id,
            label=LABELS[self.label.values[row]],
            title=self.titles[row],
            content=self.contents[row],
            attributes=json.loads(self.attributes[row]),
            created_at=datetime.fromtimestamp(float(self.created.values[row]), UTC),
            turns_at_creation=int(self.turns_at_creation.values[row]),
            pinned=bool(self.pinned.values[row]),
            forgotten_by=self.forgotten_by[row],
            accesses=int(self.accesses.values[row]),
            last_access=None if np.isnan(accessed) else datetime.fromtimestamp(accessed, UTC),
            degree=int(self.degree.values[row]),
        )

    def edge(self, edge_id: str) -> Edge:
        """The edge as a value. Raises KeyError for an unknown id."""
        row = self.edge_row[edge_id]
        source, target = self.ends.values[row].tolist()
        told = self.relationships[row], json.loads(self.edge_attributes[row]), self.edge_forgotten_by[row]
        return Edge(edge_id, self.ids[source], self.ids[target], *told)

    def neighbours(self, row: int) -> list[tuple[int, int]]:
        """Live (edge row, other node row) of a node, in the order the edges were stored."""
        return list(self.beside(row))

    def beside(self, *rows: int) -> Iterator[tuple[int, int]]:
        """`neighbours` of nodes, one by one: of a node with thousands of edges only those asked for are looked at."""
        edges_of, alive, holds = self.incident.of, self.forgotten_by, self.edge_forgotten_by
        for row in rows:
            for edge, other in zip(*edges_of(row), strict=True):
                if holds[edge] is None and alive[other] is None:
                    yield edge, other

    def find_title(self, label: str, title: str) -> list[int]:
        """Live rows of that label whose normalised title is the same, oldest first (P1 3.4)."""
        return [row for row in self._titles.find(_LABEL_CODE[label], title) if self.live.values[row]]

    def outgoing(self, row: int, relationship: str) -> list[int]:
        """Live edge rows of that relationship whose source is the node, oldest first."""
        said, live = self.relationships, self.edge_forgotten_by
        edges = (edge for edge in self.incident[row] if said[edge] == relationship and live[edge] is None)
        return [edge for edge in edges if self.ends.values[edge, 0] == row]

    def between(self, source: int, target: int) -> list[int]:
        """Live edge rows from one node to the other, oldest first."""
        fewer, other = sorted((source, target), key=lambda row: len(self.incident[row]))
        joining = (edge for edge, end in zip(*self.incident.of(fewer), strict=True) if end == other)
        live = (edge for edge in joining if self.edge_forgotten_by[edge] is None)
        return [edge for edge in live if self.ends.values[edge].tolist() == [source, target]]

    def cosines(self, vectors: Floats) -> Floats:
        """Cosine of each query with every node: shape (queries, rows); rows not live or without a vector get -2."""
        scores = dots(self.vectors.values, vectors)
        scores[:, np.flatnonzero(~self._seen())] = NO_VECTOR
        return scores

    def _seen(self) -> NDArray[np.bool_]:
        return np.asarray(self.live.values & self.has_vector.values)

    def nearest(self, vectors: Floats, k: int) -> list[list[tuple[int, float]]]:
        """For each query the k live nodes of greatest cosine, best first, ties by age: [(row, cosine)]."""
        return self.search.find(vectors, k)

    def above(self, vectors: Floats, threshold: float) -> list[Near]:
        """For each query the live rows of a cosine above the threshold, and these cosines: what `cosines` would say."""
        seen = self._seen()
        found = above(self.vectors.values, self.tails.values, vectors, threshold)
        return [(rows[seen[rows]], cosines[seen[rows]]) for rows, cosines in found]

    def apply(self, changes: Iterable[RowChange]) -> None:
        """Follow row changes that the store has committed: new rows and changed columns.

        Rows that vanish or move (undo of a merge, purge) are rare: their caller loads the graph afresh.
        """
        for change in changes:
            if change.after is not None:
                self._follow(change.table, change.key[0], change.before is None, change.after)

    def _follow(self, table: str, key: Value, new: bool, after: Row) -> None:
        match table:
            case "node" if new:
                self._add_node(*(after[column] for column in NODE_COLUMNS))
            case "node":
                self._change_node(self.row_of[str(key)], after)
            case "edge" if new:
                self._add_edge(*(after[column] for column in EDGE_COLUMNS))
            case "edge":
                self._change_edge(self.edge_row[str(key)], after)
            case "node_vector":
                self._set_vector(self.row_of[str(key)], after["vector"])
            case "access":
                self._add_access(self.row_of[str(after["node"])], float(after["at"] or 0), int(after["turn"] or 0))
            case "turn" if new:
                self.turns = max(self.turns, int(after["position"] or 0) + 1)
                at = float(after["at"] or 0)
                self.clock = at if self.clock is None else max(self.clock, at)
            case "turn":  # forgotten or back
                self.turn_columns = None
                self.turns_moved += 1

    def load(
        self,
        nodes: Sequence[tuple[Any, ...]],
        edges: Sequence[list[Any]],
        accesses: Iterable[tuple[Any, ...]] = (),
        vectors: Iterable[Sequence[tuple[str, bytes]]] = (),
    ) -> None:
        """Fill an empty graph from what is stored; `load_nodes` and its like name the columns."""
        load_nodes(self, nodes, _LABEL_CODE)
        load_accesses(self, accesses)
        load_vectors(self, vectors)
        load_edges(self, edges)
        self._titles.load(list(zip(self.label.values.tolist(), self.titles, strict=True)))

    def _add_node(self, *values: Any) -> None:
        node_id, label, title, content, attributes, created, turns, pinned, forgotten_by = values
        row = self.row_of[node_id] = len(self.ids)
        self.ids.append(node_id)
        self.titles.append(title)
        self.contents.append(content)
        self.attributes.append(attributes)
        self.forgotten_by.append(forgotten_by)
        self.incident.add_node()
        self.label.append(_LABEL_CODE[label])
        self.created.append(created)
        self.last_access.append(np.nan)
        self.turns_at_creation.append(turns)
        self.turns_at_access.append(turns)
        self.pinned.append(bool(pinned))
        for empty in (self.accesses, self.degree, self.vectors, self.tails, self.has_vector, self.node_bytes):
            empty.append(0)
        self.live.append(forgotten_by is None)  # last: who looks meanwhile finds all of a node or none of it
        self._titles.add(row, _LABEL_CODE[label], title)

    def _change_node(self, row: int, after: Row) -> None:
        self.node_bytes.values[row] = 0
        if "title" in after or "label" in after:
            label = str(after.get("label", LABELS[self.label.values[row]]))
            self._retitle(row, label, str(after.get("title", self.titles[row])))
        if "content" in after:
            self.contents[row] = str(after["content"])
        if "attributes" in after:
            self.attributes[row] = str(after["attributes"])
        if "pinned" in after:
            self.pinned.values[row] = bool(after["pinned"])
        if "forgotten_by" in after:
            by = after["forgotten_by"]
            self.forgotten_by[row] = None if by is None else str(by)
            self.live.values[row] = by is None

    def _retitle(self, row: int, label: str, title: str) -> None:
        self._titles.remove(row, int(self.label.values[row]), self.titles[row])
        self.label.values[row] = _LABEL_CODE[label]
        self.titles[row] = title
        self._titles.add(row, _LABEL_CODE[label], title)

    def _set_vector(self, row: int, blob: Any) -> None:
        self.vectors.values[row] = np.frombuffer(blob, np.float16 if len(blob) == 2 * self.dim else np.float32)
        self.tails.values[row] = tails(self.vectors.values[row : row + 1])[0]
        self.has_vector.values[row] = True
        self.search.changed(row)

    def _add_edge(self, *values: Any) -> None:
        edge_id, source, target, relationship, attributes, forgotten_by = values
        row = self.edge_row[edge_id] = len(self.edge_ids)
        ends = (self.row_of[source], self.row_of[target])
        self.edge_ids.append(edge_id)
        self.relationships.append(relationship)
        self.edge_attributes.append(attributes)
        self.edge_forgotten_by.append(forgotten_by)
        self.ends.append(ends)
        self.edge_live.append(False)
        self.edge_bytes.append(0)
        self.incident.add_edge(row, *ends)
        self._set_edge_live(row, forgotten_by is None)

    def _change_edge(self, row: int, after: Row) -> None:
        self.edge_bytes.values[row] = 0
        if "attributes" in after:
            self.edge_attributes[row] = str(after["attributes"])
        if "forgotten_by" in after:
            by = after["forgotten_by"]
            self.edge_forgotten_by[row] = None if by is None else str(by)
            self._set_edge_live(row, by is None)

    def _set_edge_live(self, row: int, live: bool) -> None:
        if bool(self.edge_live.values[row]) != live:
            self.edge_live.values[row] = live
            for end in set(self.ends.values[row].tolist()):
                self.degree.values[end] += 1 if live else -1

    def _add_access(self, row: int, at: float, turn: int) -> None:
        self.accesses.values[row] += 1
        last = self.last_access.values[row]
        if at == last:
            self.turns_at_access.values[row] = max(turn, self.turns_at_access.values[row])
        elif not at < last:
            self.last_access.values[row] = at
            self.turns_at_access.values[row] = turn
