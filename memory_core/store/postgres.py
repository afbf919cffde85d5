"""A memory on a PostgreSQL server with pgvector: one transaction a commit, seen by its user alone."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg

from memory_core.errors import MemoryFileError, ServerError
from memory_core.store.contract import StaleRevisionError
from memory_core.store.faults import LOST
from memory_core.store.halves import Half
from memory_core.store.rows import KEYS, RowChange, Value
from memory_core.store.server import APP_ROLE, LOCK_MS, looked_back_on, sign_in
from memory_core.store.session import Session
from memory_core.store.statements import (
    ALL_TABLES,
    LENGTHS,
    SIZE,
    TAKE,
    WORDS,
    columns_of,
    deletion,
    grouped,
    insertion,
    updating,
)

_REWRITE_LOCK_MS = 2000
_LISTEN_SECONDS = 5.0  # then it looks by itself, and sees that it was closed
_DOUBT_SECONDS = 10.0  # to learn what became of a commit whose answer was lost


class PostgresStore(Session):
    """Rows in, rows out, as `SqliteStore`; what they mean is the graph's and the memory's business."""

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
        if self._idle:
            self._begin()
        row = self._db.execute(TAKE, (self.tenant, revision, new, whole)).fetchone()
        if row is None:
            self._row("SELECT 1 FROM memory WHERE tenant = ?")
            raise StaleRevisionError
        try:
            with self._db.pipeline():  # one round trip for all tables
                for group in grouped(changes):
                    self._apply(group, new)
                if new != revision:
                    self._db.execute("SELECT pg_notify($1, $2)", (self._channel, str(new)))
        except psycopg.Error:
            self._db.close()  # statements that the broken pipeline skipped would be taken for prepared
            raise
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
            self._index(changes)

    def _run(self, sql: str, revision: int, arrays: Sequence[Sequence[Any]]) -> None:
        self._db.execute(sql, (self.tenant, revision, *arrays))

    def _unindex(self, ids: list[Value]) -> None:
        for table in ("turn_word", "turn_length"):
            self._db.execute(
                f"DELETE FROM {table} WHERE position IN (SELECT position FROM turn WHERE id = ANY($1))", (ids,)
            )

    def _index(self, changes: Sequence[RowChange]) -> None:
        """Put those of the turns that are live now into the index of words."""
        live = [change for change in changes if (change.after or {}).get("forgotten_by") is None]
        if live and live[0].before is None:
            new = [change.after or {} for change in live]
            texts: list[tuple[Any, ...]] = [(row["position"], row["speaker"], row["text"]) for row in new]
        else:
            sql = "SELECT position, speaker, text FROM turn WHERE id = ANY($1) AND forgotten_by IS NULL"
            texts = self._db.execute(sql, ([change.key[0] for change in live],)).fetchall() if live else []
        said = self._tokenizer.words([f"{speaker}: {text}" for _, speaker, text in texts])
        counts = [(word, text[0], times) for text, words in zip(texts, said, strict=True)
                  for word, times in Counter(words).items()]  # fmt: skip
        if texts:
            self._db.execute(LENGTHS, (self.tenant, [text[0] for text in texts], [len(words) for words in said]))
        if counts:
            self._db.execute(WORDS, (self.tenant, *([count[part] for count in counts] for part in range(3))))

    # -- others ----------------------------------------------------------------------------------------------------

    def wait_for_change(self, revision: int, seconds: float) -> bool:
        """Wait on a connection of its own until another commits, at most so long; whether the revision is another."""
        deadline = time.monotonic() + seconds
        signed = sign_in(self.address, self.user, create=False)
        with self._errors(), signed.db as db:
            db.execute(f'LISTEN "{self._channel}"')
            while self.revision() == revision:
                if (left := deadline - time.monotonic()) <= 0:
                    return False
                for _ in db.notifies(timeout=min(left, _LISTEN_SECONDS), stop_after=1):
                    pass
        return True

    def bytes_on_disk(self) -> int:
        """Bytes of the server's tables and indexes, which all its memories share."""
        return int(self.query(SIZE)[0][0])

    def rewrite(self) -> bool:
        """Rewrite the tables, so that what was deleted stands in none of their pages (VACUUM FULL).

        False for a user who does not own the tables, where any memory has an HNSW index (to vacuum that, or to build
        it again, takes minutes), and while others hold a table or still look at rows as they were before: it stays
        due, and `server --rewrite` does it.
        What write-ahead logs, archives and backups hold is the administrator's to expire.
        """
        if not self._admin:
            return False
        with self.lock, self._errors():
            self._live().execute("RESET ROLE")
            try:
                self._db.execute(f"SET lock_timeout = {_REWRITE_LOCK_MS}")
                tables = self._db.execute(ALL_TABLES).fetchall()
                if any(searched for _, searched in tables) or looked_back_on(self._db):
                    return False
                for table, _ in tables:
                    self._db.execute(f"VACUUM (FULL, ANALYZE) {table}")
            except psycopg.errors.LockNotAvailable:
                return False
            finally:
                if not self._db.closed:
                    self._db.execute(f"SET lock_timeout = {LOCK_MS}")
                    self._db.execute(f"SET ROLE {APP_ROLE}")
        return True

    def copy_to(self, path: Path) -> None:
        """A consistent copy as a SQLite file. Raises MemoryFileError."""
        from memory_core.store.copying import copy_as_file

        with self.snapshot():
            copy_as_file(self, path)

    def close(self) -> None:
        """Let go of the connection, for good."""
        with self.lock:
            self._closed = True
            self._db.close()
