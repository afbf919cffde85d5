"""A memory of any store as a new SQLite file."""

from __future__ import annotations

from pathlib import Path

from memory_core.store.contract import Store
from memory_core.store.rows import KEYS, RowChange, insert
from memory_core.store.sqlite import SqliteStore
from memory_core.store.sqlite_files import new_file

#: Columns by table, in the order of the tables; rows go over in the order they were stored.
COLUMNS = {
    "turn": "position id source_id session role speaker text at forgotten_by",
    "turn_vector": "turn vector",
    "extraction": "id turn at status reason report raw extractor model prompt_version seconds tokens_in tokens_out",
    "node": "id label title content attributes created turns_at_creation pinned forgotten_by",
    "node_vector": "node vector",
    "edge": "id source target relationship attributes forgotten_by",
    "access": "id node at turn kind",
    "provenance": "item turn start stop",
    "value_history": "id item field value turn at",
    "question": "id text at vector",
    "pair": "id a b kind reason similarity state",
    "change": "id number at kind made_by state summary rows",
    "pending_vector": "item embedder text vector",
    "meta": "key value",
}
#: Columns that give the order in which the rows of a table were stored.
ORDER = {**KEYS, "turn": ("position",), "node": ("rowid",), "edge": ("rowid",), "change": ("number",)}


def rows_of(store: Store, table: str) -> list[RowChange]:
    """Every row of a table as one to insert, in the order it was stored."""
    names = COLUMNS[table].split()
    rows = store.query(f"SELECT {', '.join(names)} FROM {table} ORDER BY {', '.join(ORDER[table])}")
    return [
        insert(table, **dict(zip(names, row, strict=True))) for row in rows if row[0] != "revision" or table != "meta"
    ]


def copy_as_file(store: Store, path: Path) -> None:
    """A file at `path` that holds what the store holds, at the same revision; whole or not at all. Raises
    MemoryFileError, also for a `path` that exists already."""
    with new_file(path, store.place) as partial:
        copy = SqliteStore(partial)
        try:
            copy.commit([row for table in COLUMNS for row in rows_of(store, table)], 0, count=False)
            copy.start_at(store.revision())
        finally:
            copy.close()
