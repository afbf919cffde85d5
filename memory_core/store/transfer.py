"""Every row of one store into an empty one, a chunk a commit: stopped anywhere, it goes on from there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from memory_core.errors import MemoryFileError
from memory_core.store.contract import StaleRevisionError, Store
from memory_core.store.copying import COLUMNS, ORDER
from memory_core.store.rows import RowChange, Value, insert

MARK = "migration"  # the key of `meta` under which a half-made copy keeps what it was made from and how far it is
#: Of `meta`: the count of commits, the mark, and that the place is to be rewritten, which a copy never needs.
_OWN = ("revision", MARK, "rewrite")
_CHUNK = 1000
Row = tuple[Any, ...]


def transfer(source: Store, target: Store, origin: str, advance: Callable[[int], object]) -> bool:
    """Copy what `target` lacks of `source`; whether it had some of it already. `origin` tells this copy from others.

    `advance` is told the number of rows after each commit. Raises MemoryFileError, also when `target` holds another
    copy's rows or somebody else writes it.
    """
    marked = target.meta(MARK)
    at: dict[str, Any] = json.loads(marked) if marked else {"origin": origin, "table": next(iter(COLUMNS)), "after": []}
    if at["origin"] != origin:
        raise MemoryFileError(f"{target.place} is a half-made copy of something else.")
    tables = list(COLUMNS)
    for table in tables[tables.index(at["table"]) :]:
        after = at["after"] if table == at["table"] else []
        for rows, last in _chunks(source, table, after):
            mark = json.dumps({"origin": origin, "table": table, "after": last})
            try:
                target.commit([*rows, insert("meta", key=MARK, value=mark)], target.revision())
            except StaleRevisionError as error:
                raise MemoryFileError(f"{target.place} is written by another copy: let one of them end.") from error
            advance(len(rows))
    return bool(marked)


def finish(target: Store) -> None:
    """Take the mark of a half-made copy away."""
    mark = {"key": MARK, "value": target.meta(MARK)}
    target.commit([RowChange("meta", (MARK,), mark, None)], target.revision())


def _chunks(store: Store, table: str, after: list[Value]) -> Iterator[tuple[list[RowChange], list[Value]]]:
    names = COLUMNS[table].split()
    for rows in _pages(store, table, after):
        kept = [insert(table, **dict(zip(names, row, strict=False))) for row in rows if not _own(table, row)]
        yield kept, list(rows[-1][len(names) :])


def _own(table: str, row: Row) -> bool:
    """Rows that belong to a store rather than to the memory."""
    return table == "meta" and row[0] in _OWN


def _pages(store: Store, table: str, after: list[Value]) -> Iterator[list[Row]]:
    """Rows of a table in the order they were stored, each with what orders it behind its columns."""
    order = ", ".join(ORDER[table])
    marks = ", ".join("?" * len(ORDER[table]))
    while True:
        where = f"WHERE ({order}) > ({marks})" if after else ""
        names = COLUMNS[table].replace(" ", ", ")
        rows = store.query(f"SELECT {names}, {order} FROM {table} {where} ORDER BY {order} LIMIT {_CHUNK}", *after)
        if not rows:
            return
        yield rows
        after = list(rows[-1][len(COLUMNS[table].split()) :])


def counts(store: Store) -> dict[str, int]:
    """Rows by table, without those that belong to the place."""
    own = ", ".join(f"'{key}'" for key in _OWN)
    where = {"meta": f" WHERE key NOT IN ({own})"}
    return {table: int(store.query(f"SELECT count(*) FROM {table}{where.get(table, '')}")[0][0]) for table in COLUMNS}


def digest(store: Store, advance: Callable[[int], object]) -> str:
    """SHA-256 over every row of the memory, table by table in the order of storing: equal memories, equal digests."""
    seen = hashlib.sha256()
    for table in COLUMNS:
        for rows in _pages(store, table, []):
            for row in rows:
                if not _own(table, row):
                    seen.update(repr((table, row[: len(COLUMNS[table].split())])).encode("utf-8", "surrogatepass"))
            advance(len(rows))
    return seen.hexdigest()


def half_made(name: str) -> str:
    """The name of a copy that is being made: no person can give it.

    >>> half_made("trip")
    'trip (half made)'
    """
    return f"{name} (half made)"
