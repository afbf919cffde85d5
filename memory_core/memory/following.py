"""What other processes committed since, as row changes that a graph follows: a large memory is not loaded again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memory_core.graph import Graph
from memory_core.graph.loading import EDGE_COLUMNS, NODE_COLUMNS
from memory_core.store.contract import Store
from memory_core.store.rows import RowChange

_TURN = ("id", "position", "at", "forgotten_by")
_FIXED = frozenset({"id", "created", "turns_at_creation", "source", "target"})  # written once


def newer(store: Store, graph: Graph, revision: int) -> list[RowChange]:
    """Changes that lead a graph at `revision` to what the store holds, nodes ahead of what hangs on them."""
    turns = list(_rows(store, "turn", _TURN, "position", revision))
    nodes = list(_rows(store, "node", NODE_COLUMNS, "rowid", revision))
    edges = list(_rows(store, "edge", EDGE_COLUMNS, "rowid", revision))
    return [
        *(_changed("turn", row, int(row["position"]) < graph.turns, ("forgotten_by",)) for row in turns),
        *(_changed("node", row, row["id"] in graph.row_of, NODE_COLUMNS) for row in nodes),
        *(RowChange("node_vector", (row["node"],), None, row)
          for row in _rows(store, "node_vector", ("node", "vector"), "node", revision)),
        *(_changed("edge", row, row["id"] in graph.edge_row, EDGE_COLUMNS) for row in edges),
        *(RowChange("access", (row["id"],), None, row)
          for row in _rows(store, "access", ("id", "node", "at", "turn"), "id", revision)),
    ]  # fmt: skip


def _changed(table: str, row: Mapping[str, Any], known: bool, columns: tuple[str, ...]) -> RowChange:
    if not known:
        return RowChange(table, (row["id"],), None, row)
    return RowChange(table, (row["id"],), {}, {name: row[name] for name in columns if name not in _FIXED})


def _rows(store: Store, table: str, names: tuple[str, ...], order: str, revision: int) -> Iterator[dict[str, Any]]:
    sql = f"SELECT {', '.join(names)} FROM {table} WHERE revision > ? ORDER BY {order}"
    for row in store.query(sql, revision):
        yield dict(zip(names, row, strict=True))
