"""The memories that one user has on a server, by name: listed, renamed, removed. Nobody else's are seen or touched."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from typing import Any

import psycopg

from memory_core.errors import MemoryFileError
from memory_core.store.address import Address
from memory_core.store.server import Connection, check, connect, faults, sign_in

_NONE = ""  # signing in enters a memory by name; nobody's has this one


class Listing:
    """A signed-in connection, made anew when it was lost. Any thread may use it."""

    def __init__(self, address: Address, user: str) -> None:
        """Makes the extension and the tables where there are none. Raises MemoryFileError."""
        self.address = replace(address, memory=_NONE)
        self.user = user
        self.lock = threading.RLock()
        with faults(address), connect(address) as db:
            check(db, address, create=True)
        self._db = self._signed_in()

    def _signed_in(self) -> Connection:
        return sign_in(self.address, self.user, create=False).db

    def names(self) -> list[str]:
        """Every name, half-made copies among them."""
        return [str(row[0]) for row in self._ask("SELECT name FROM memory ORDER BY name")]

    def holds(self, name: str) -> bool:
        """Whether there is a memory of that name."""
        return self.number(name) is not None

    def number(self, name: str) -> int | None:
        """What tells the memory of that name from one that had or will have it; None where there is none."""
        rows = self._ask("SELECT tenant FROM memory WHERE name = $1", name)
        return int(rows[0][0]) if rows else None

    def rename(self, name: str, new: str) -> None:
        """Give a memory another name. Raises MemoryFileError when that is taken, or the memory is gone."""
        try:
            rows = self._ask("UPDATE memory SET name = $2 WHERE name = $1 RETURNING 1", name, new)
        except MemoryFileError as error:
            if isinstance(error.__cause__, psycopg.errors.UniqueViolation):
                raise MemoryFileError(f"There is a memory {new} already: choose another name.") from error
            raise
        if not rows:
            raise MemoryFileError(f"There is no memory {name} on {self.address.server}.")

    def start_at(self, name: str, revision: int) -> None:
        """Begin its count of commits anew: a copy stands where what it was made from stood."""
        self._ask(_START, name, revision)

    def remove(self, name: str) -> None:
        """Remove a memory with all that it holds, in one transaction, if there is one. Raises MemoryFileError."""
        with self.lock, faults(self.address):
            with self._live().transaction():
                row = self._db.execute("SELECT forgetting_lab.enter($1, false)", (name,)).fetchone()
                tenant = row[0] if row else None
                if tenant is None:
                    return
                self._db.execute("SELECT 1 FROM memory WHERE tenant = $1 FOR UPDATE", (tenant,))
                for (table,) in self._db.execute(_TABLES).fetchall():
                    self._db.execute(f"DELETE FROM {table} WHERE tenant = $1", (tenant,))
                self._db.execute("DELETE FROM memory WHERE tenant = $1", (tenant,))
            with suppress(psycopg.errors.LockNotAvailable):  # others are at the table: an index of nothing harms nobody
                self._db.execute("SELECT forgetting_lab.drop_index()")

    def _ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self.lock, faults(self.address):
            return self._live().execute(sql, values).fetchall()

    def _live(self) -> Connection:
        """The connection, made anew where it was lost: looked at first, so that nothing is written twice."""
        try:
            self._db.execute("SELECT 1")
        except psycopg.OperationalError:
            if not self._db.closed:
                raise
            self._db = self._signed_in()
        return self._db

    def close(self) -> None:
        """Let go of the connection."""
        with self.lock:
            self._db.close()


#: Rows of a copy bear the commits it was made by; until the count has passed those, whoever is behind loads all.
_START = "UPDATE memory SET revision = $2, whole = greatest(revision, $2) WHERE name = $1 RETURNING 1"
_TABLES = """
    SELECT attrelid::regclass::text FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'forgetting_lab'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    AND attname = 'tenant' AND relname <> 'memory'"""
