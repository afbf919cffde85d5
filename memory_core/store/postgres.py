"""A memory on a PostgreSQL server with pgvector: one transaction a commit, seen by its user alone."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from memory_core.errors import MemoryFileError, ServerError
from memory_core.store.address import Address
from memory_core.store.contract import StaleRevisionError
from memory_core.store.faults import LOST, told
from memory_core.store.fts import Tokenizer
from memory_core.store.halves import Half, register_halves
from memory_core.store.rows import KEYS, RowChange, Value
from memory_core.store.server import APP_ROLE, Connection, SignedIn, sign_in
from memory_core.store.statements import (
    ALL_TABLES,
    LENGTHS,
    SEARCH,
    SIZE,
    TAKE,
    WORDS,
    columns_of,
    deletion,
    grouped,
    insertion,
    portable,
    updating,
)

_REWRITE_LOCK_MS = 2000
_DOUBT_SECONDS = 10.0  # to learn what became of a commit whose answer was lost


class PostgresStore:
    """Rows in, rows out, as `SqliteStore`; what they mean is the graph's and the memory's business.

    One connection guarded by a lock. When it is lost, whatever was asked of it ends in one clear line with nothing half
    done, and the next call connects anew; a question outside a snapshot is simply asked again.
    """

    def __init__(self, address: Address | str, *, create: bool = True, user: str = "local") -> None:
        """Raises MemoryFileError, InputError for an address that cannot be read."""
        self.address = address if isinstance(address, Address) else Address.given(address)
        self.user = user
        self.place = self.address.place
        self.lock = threading.RLock()
        self._tokenizer = Tokenizer()
        self._enter(create)

    def __repr__(self) -> str:
        return f"PostgresStore({self.place!r}, user={self.user!r})"

    # -- the connection --------------------------------------------------------------------------------------------

    def _enter(self, create: bool) -> None:
        signed: SignedIn = sign_in(self.address, self.user, create=create)
        if signed.tenant is None:
            signed.db.close()
            raise MemoryFileError(f"There is no memory at {self.place}: check the address, or create it with `ingest`.")
        register_halves(signed.db)
        self._db, self.tenant, self.read_only = signed.db, signed.tenant, signed.read_only
        self._admin, self._channel = signed.admin, signed.channel

    def _live(self) -> Connection:
        if self._db.closed:
            self._enter(create=False)
        return self._db

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise ServerError(told(error, self.address)) from error

    @property
    def _idle(self) -> bool:
        return self._db.closed or self._db.info.transaction_status == TransactionStatus.IDLE

    # -- reading ---------------------------------------------------------------------------------------------------

    def revision(self) -> int:
        """Number of commits so far, by any process."""
        return int(self._row("SELECT revision FROM memory WHERE tenant = ?")[0])

    def lists_newer(self, revision: int) -> bool:
        """Whether what changed since `revision` is found by the `revision` of its rows."""
        return int(self._row("SELECT whole FROM memory WHERE tenant = ?")[0]) <= revision

    def _row(self, sql: str) -> tuple[Any, ...]:
        rows = self.query(sql, self.tenant)
        if not rows:
            raise MemoryFileError(f"The memory at {self.place} was removed meanwhile: choose another one.")
        return rows[0]

    def meta(self, key: str, default: str = "") -> str:
        """A value of the `meta` table."""
        rows = self.query("SELECT value FROM meta WHERE key = ?", key)
        return str(rows[0][0]) if rows else default

    def query(self, sql: str, *values: Value | list[Value]) -> list[tuple[Any, ...]]:
        """All rows of a SELECT. Raises MemoryFileError."""
        with self.lock, self._errors():
            alone = self._idle
            try:
                return self._fetch(sql, values)
            except psycopg.OperationalError:
                if not (alone and self._db.closed):
                    raise
            return self._fetch(sql, values)

    def _fetch(self, sql: str, values: Sequence[Value | list[Value]]) -> list[tuple[Any, ...]]:
        return self._live().execute(portable(sql), values, binary=True).fetchall()

    def query_in(self, sql: str, keys: Sequence[Value]) -> list[tuple[Any, ...]]:
        """Rows of a SELECT whose `IN ({})` becomes the list of `keys`."""
        return self.query(sql.replace("IN ({})", "= ANY(?)"), list(keys)) if keys else []

    def search(self, words: Sequence[str], limit: int) -> list[tuple[str, float]]:
        """(turn id, score) of the live turns, by BM25 as SQLite's full-text index counts it, best first."""
        phrases: list[Value] = [said[0] for said in self._tokenizer.words(words) if len(said) == 1]
        return [(str(turn), float(score)) for turn, score in self.query(SEARCH, phrases, limit)] if phrases else []

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All queries inside see the memory as of one moment, whatever another process commits meanwhile."""
        with self.lock, self._errors():
            outermost = self._idle
            if outermost:
                self._live().execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield
            finally:
                if outermost:
                    self._roll_back()

    def _roll_back(self) -> None:
        if not self._db.closed:
            with suppress(psycopg.OperationalError):  # lost: the server rolls back by itself
                self._db.execute("ROLLBACK")

    # -- writing ---------------------------------------------------------------------------------------------------

    def commit(self, changes: Sequence[RowChange], revision: int, *, count: bool = True, whole: bool = False) -> int:
        """Apply row changes in one transaction and return the new revision (with `count` off, the same one).

        Raises StaleRevisionError, MemoryFileError; nothing changed then. An answer that was lost with the connection is
        looked up, so that nothing is doubled.
        """
        if self.read_only:
            raise MemoryFileError(f"{self.place} is read-only (a replica, or set so): write to the primary.")
        with self.lock, self._errors():
            transaction = None
            try:
                transaction = self._write(changes, revision, revision + count, whole)
                self._db.execute("COMMIT")
            except psycopg.OperationalError as error:
                if transaction is None or not self._db.closed or not self._committed(transaction, error):
                    self._roll_back()
                    raise
            except BaseException:
                self._roll_back()
                raise
        return revision + count

    def _write(self, changes: Sequence[RowChange], revision: int, new: int, whole: bool) -> str:
        """All but the COMMIT; the number of the transaction."""
        self._live().execute("BEGIN")
        row = self._db.execute(TAKE, (self.tenant, revision, new, whole)).fetchone()
        if row is None:
            self._row("SELECT 1 FROM memory WHERE tenant = ?")
            raise StaleRevisionError
        for group in grouped(changes):
            self._apply(group, new)
        if new != revision:
            self._db.execute("SELECT pg_notify($1, $2)", (self._channel, str(new)))
        return str(row[0])

    def _committed(self, transaction: str, error: psycopg.OperationalError) -> bool:
        """What became of a commit whose answer was lost. Raises MemoryFileError when the server does not say."""
        deadline = time.monotonic() + _DOUBT_SECONDS
        state = "in progress"
        while state == "in progress" and time.monotonic() < deadline:
            try:
                found = self._live().execute("SELECT pg_xact_status($1::xid8)", (transaction,)).fetchone()
                state = str(found[0]) if found else state
            except (psycopg.Error, MemoryFileError):
                time.sleep(0.2)
            else:
                time.sleep(0.05 * (state == "in progress"))
        if state == "in progress":
            raise ServerError(f"The server at {self.address.server} {LOST}.") from error
        return state == "committed"

    def _apply(self, changes: list[RowChange], revision: int) -> None:
        table, after = changes[0].table, changes[0].after
        if table == "turn" and changes[0].before is not None:
            self._unindex([change.key[0] for change in changes])
        keys = columns_of(table, KEYS[table], [change.key for change in changes])
        values = columns_of(table, tuple(after or ()), [tuple((change.after or {}).values()) for change in changes])
        if after is None:
            self._run(deletion(table), revision, keys)
        elif changes[0].before is not None:
            self._run(updating(table, tuple(after)), revision, keys + values)
        elif table in ("node_vector", "turn_vector"):
            blobs: list[Any] = values[list(after).index("vector")]
            halves = [Half.of(blob) for blob in blobs]
            self._run(insertion(table, (*after, "half")), revision, [*values, halves])
        else:
            self._run(insertion(table, tuple(after)), revision, values)
        if table == "turn" and after is not None:
            self._index(keys[0])

    def _run(self, sql: str, revision: int, arrays: Sequence[Sequence[Any]]) -> None:
        self._db.execute(sql, (self.tenant, revision, *arrays))

    def _unindex(self, ids: list[Value]) -> None:
        for table in ("turn_word", "turn_length"):
            self._db.execute(
                f"DELETE FROM {table} WHERE position IN (SELECT position FROM turn WHERE id = ANY($1))", (ids,)
            )

    def _index(self, ids: Sequence[Value]) -> None:
        """Put the live ones of these turns into the index of words."""
        sql = "SELECT position, speaker, text FROM turn WHERE id = ANY($1) AND forgotten_by IS NULL"
        rows = self._db.execute(sql, (list(ids),)).fetchall()
        said = self._tokenizer.words([f"{speaker}: {text}" for _, speaker, text in rows])
        counts = [(word, row[0], times) for row, words in zip(rows, said, strict=True)
                  for word, times in Counter(words).items()]  # fmt: skip
        self._db.execute(LENGTHS, (self.tenant, [row[0] for row in rows], [len(words) for words in said]))
        self._db.execute(WORDS, (self.tenant, *([count[part] for count in counts] for part in range(3))))

    # -- others ----------------------------------------------------------------------------------------------------

    def wait_for_change(self, revision: int, seconds: float) -> bool:
        """Wait on a connection of its own until another commits, at most so long; whether the revision is another."""
        signed = sign_in(self.address, self.user, create=False)
        with self._errors(), signed.db as db:
            db.execute(f'LISTEN "{self._channel}"')
            if self.revision() != revision:
                return True
            for _ in db.notifies(timeout=seconds, stop_after=1):
                return True
        return self.revision() != revision

    def bytes_on_disk(self) -> int:
        """Bytes of the server's tables and indexes, which all its memories share."""
        return int(self.query(SIZE)[0][0])

    def rewrite(self) -> bool:
        """Rewrite the tables, so that what was deleted stands in none of their pages (VACUUM FULL).

        False for a user who does not own them (an administrator's `server` command does it then) and while others hold
        them. What the server's write-ahead log, its archive and its backups hold is the administrator's to expire.
        """
        if not self._admin:
            return False
        with self.lock, self._errors():
            self._live().execute("RESET ROLE")
            try:
                self._db.execute(f"SET lock_timeout = {_REWRITE_LOCK_MS}")
                for (table,) in self._db.execute(ALL_TABLES).fetchall():
                    self._db.execute(f"VACUUM (FULL, ANALYZE) {table}")
            except psycopg.errors.LockNotAvailable:
                return False
            finally:
                if not self._db.closed:
                    self._db.execute(f"SET ROLE {APP_ROLE}")
        return True

    def copy_to(self, path: Path) -> None:
        """A consistent copy as a SQLite file. Raises MemoryFileError."""
        from memory_core.store.copying import copy_as_file

        with self.snapshot():
            copy_as_file(self, path)

    def close(self) -> None:
        """Let go of the connection."""
        with self.lock:
            self._db.close()
