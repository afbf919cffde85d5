"""A signed-in session of one memory on a server: questions, snapshots, a new connection when one is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from memory_core.errors import MemoryFileError, ServerError
from memory_core.store.address import Address
from memory_core.store.faults import told
from memory_core.store.fts import Tokenizer
from memory_core.store.halves import register_halves
from memory_core.store.rows import Value
from memory_core.store.server import Connection, SignedIn, sign_in
from memory_core.store.statements import SEARCH, portable


class Session:
    """One connection guarded by a lock.

    When it is lost, whatever was asked of it ends in one clear line with nothing half done, and the next call connects
    anew; a question outside a snapshot is simply asked again.
    """

    def __init__(
        self, address: Address | str, *, create: bool = True, user: str = "local", read_only: bool = False
    ) -> None:
        """Raises MemoryFileError, InputError for an address that cannot be read."""
        self.address = address if isinstance(address, Address) else Address.given(address)
        self.user = user
        self.place = self.address.place
        self.lock = threading.RLock()
        self._only_read, self._closed = read_only, False
        self._tokenizer = Tokenizer()
        self._enter(create)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place!r}, user={self.user!r})"

    # -- the connection --------------------------------------------------------------------------------------------

    def _enter(self, create: bool) -> None:
        signed: SignedIn = sign_in(self.address, self.user, create=create)
        if signed.tenant is None:
            signed.db.close()
            raise MemoryFileError(f"There is no memory at {self.place}: check the address, or create it with `ingest`.")
        register_halves(signed.db)
        self._db, self.tenant, self.read_only = signed.db, signed.tenant, signed.read_only or self._only_read
        self._admin, self._channel = signed.admin, signed.channel

    def _live(self) -> Connection:
        if self._closed:
            raise MemoryFileError(f"{self.place} was closed: open it again.")
        if self._db.closed:
            before = self.tenant
            self._enter(create=False)
            if self.tenant != before:  # what is known of the old one says nothing of the new one
                self._db.close()
                self.tenant = before
                raise self._removed()
        return self._db

    def _removed(self) -> MemoryFileError:
        return MemoryFileError(f"The memory at {self.place} was removed meanwhile: choose another one.")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise ServerError(told(error, self.address)) from error

    @property
    def _idle(self) -> bool:
        return self._db.closed or self._db.info.transaction_status == TransactionStatus.IDLE

    def _begin(self, how: str = "") -> None:
        """Begin a transaction, on a new connection where the old one was lost unnoticed."""
        db = self._live()
        try:
            db.execute(f"BEGIN {how}")
        except psycopg.OperationalError:
            if not db.closed:
                raise
            self._live().execute(f"BEGIN {how}")

    def _roll_back(self) -> None:
        if not self._idle:
            with suppress(psycopg.OperationalError):  # lost: the server rolls back by itself
                self._db.execute("ROLLBACK")

    # -- reading ---------------------------------------------------------------------------------------------------

    def revision(self) -> int:
        """Number of commits so far, by any process."""
        return int(self._row("SELECT revision FROM memory WHERE tenant = ?")[0])

    def lists_newer(self, revision: int) -> bool:
        """Whether what changed since `revision` is found by the `revision` of its rows; not on a server that was set
        back to before it."""
        whole, now = self._row("SELECT whole, revision FROM memory WHERE tenant = ?")
        return bool(whole <= revision <= now)

    def _row(self, sql: str) -> tuple[Any, ...]:
        rows = self.query(sql, self.tenant)
        if not rows:
            raise self._removed()
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

    def batches(self, sql: str, *values: Value) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a SELECT, all at once: the server sends them so."""
        if rows := self.query(sql, *values):
            yield rows

    def texts(self, table: str, columns: Sequence[str]) -> list[list[Any]]:
        """Columns of text, the oldest row first."""
        rows = self.query(f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid")
        return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in columns]

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
                self._begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield
            finally:
                if outermost:
                    self._roll_back()

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """Hold the memory's row from now to the commit: who must first look at what others wrote would else lose to
        them again and again."""
        with self.lock, self._errors():
            outermost = self._idle
            if outermost:
                self._begin()
            try:
                if outermost:
                    self._db.execute("SELECT 1 FROM memory WHERE tenant = $1 FOR UPDATE", (self.tenant,))
                yield
            finally:
                if outermost:
                    self._roll_back()
