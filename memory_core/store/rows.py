"""One way to say what changes in a memory: a row of a table as it was and as it becomes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Value = str | int | float | bytes | None
Row = Mapping[str, Value]

#: Tables and the columns that name one row; the store, the graph in RAM and undo all speak of rows by these.
KEYS: Mapping[str, tuple[str, ...]] = {
    "turn": ("id",),
    "turn_vector": ("turn",),
    "extraction": ("id",),
    "node": ("id",),
    "edge": ("id",),
    "node_vector": ("node",),
    "pending_vector": ("item",),
    "access": ("id",),
    "provenance": ("item", "turn"),
    "value_history": ("id",),
    "question": ("id",),
    "pair": ("id",),
    "change": ("id",),
    "meta": ("key",),
}
#: Tables of which a new row takes the place of the old one; elsewhere a key given twice is a fault, never a loss.
REPLACED = frozenset({"meta", "node_vector", "turn_vector", "pending_vector", "provenance"})


@dataclass(frozen=True)
class RowChange:
    """`before` None: the row is new; `after` None: it goes; else only the columns that change stand in both."""

    table: str
    key: tuple[Value, ...]
    before: Row | None
    after: Row | None

    @property
    def where(self) -> dict[str, Value]:
        """Key columns with their values."""
        return dict(zip(KEYS[self.table], self.key, strict=True))


def insert(table: str, **row: Value) -> RowChange:
    """A new row; its key is read from the row."""
    return RowChange(table, tuple(row[column] for column in KEYS[table]), None, row)


def update(table: str, key: Value, before: Row, after: Row) -> RowChange:
    """A change of some columns of the row with the single-column key `key`."""
    return RowChange(table, (key,), before, after)


def pack(changes: Iterable[RowChange]) -> bytes:
    """Row changes as compressed JSON (vectors never stand in it: they follow from descriptors).

    >>> changes = [insert("node", id="n1", title="Mira")]
    >>> unpack(pack(changes)) == changes
    True
    """
    rows = [[change.table, list(change.key), change.before, change.after] for change in changes]
    return zlib.compress(json.dumps(rows, ensure_ascii=False).encode(), 6)


def unpack(blob: bytes) -> list[RowChange]:
    """The inverse of `pack`."""
    rows = json.loads(zlib.decompress(blob))
    return [RowChange(table, tuple(key), before, after) for table, key, before, after in rows]
