"""A memory in one SQLite file: WAL, synchronous=FULL, one transaction a commit, nothing lost when the process dies."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from itertools import groupby
from pathlib import Path
from typing import Any

from memory_core.errors import InputError, MemoryFileError
from memory_core.store.contract import StaleRevisionError
from memory_core.store.rows import KEYS, REPLACED, RowChange, Value
from memory_core.store.sqlite_files import APPLICATION_ID, SCHEMA_VERSION, connect, create_file, explain, new_file

_BATCH = 512  # rows read at a time: what one batch holds stays in the core's own cache


class SqliteStore:
    """Rows in, rows out; what they mean is the graph's and the memory's business.

    One connection guarded by a lock, so that any thread may read while a worker writes. `revision` counts commits by
    any process.
    """

    def __init__(self, path: Path | str, *, create: bool = True, read_only: bool = False) -> None:
        if str(path).startswith(("postgresql:/", "postgres:/")):
            raise InputError("A server's address stands where a file is needed.")  # not told: it may hold a password
        self._folder = tempfile.TemporaryDirectory() if str(path) == ":memory:" else None
        self.path = Path(self._folder.name, "memory.sqlite3") if self._folder else Path(path)
        self.lock = threading.RLock()
        self.waiting_since: float | None = None  # monotonic seconds, while another program holds the file
        if not self.path.exists():
            if not create:
                raise MemoryFileError(f"There is no memory at {self.path}: check the path, or create it with `ingest`.")
            create_file(self.path)
        self.read_only = read_only or not (self.path.stat().st_mode & 0o222 and os.access(self.path, os.W_OK))
        self._db = connect(self.path, self.read_only)
        try:
            with self._errors():
                self._check()
        except MemoryFileError:
            self._db.close()
            raise

    def _check(self) -> None:
        application = self._db.execute("PRAGMA application_id").fetchone()[0]
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION_ID:
            raise MemoryFileError(
                f"{self.path} is not a memory (empty or foreign): choose another path; it was not touched."
            )
        if version > SCHEMA_VERSION:
            raise MemoryFileError(
                f"{self.path} is from a newer version (schema {version}, this reads {SCHEMA_VERSION}): update the app."
            )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Every fault of the database as one line that names the file and the fix."""
        try:
            yield
        except sqlite3.Error as error:
            raise MemoryFileError(f"{self.path}: {explain(str(error))}") from error

    @property
    def place(self) -> str:
        """The path of the file."""
        return str(self.path)

    def revision(self) -> int:
        """Number of commits so far, by any process."""
        return int(self.meta("revision", "0"))

    def lists_newer(self, revision: int) -> bool:
        """No: a file's rows do not say which commit wrote them, and all of them are read in a moment."""
        return False

    def wait_for_change(self, revision: int, seconds: float) -> bool:
        """Look for another process's commit, ten times a second; whether there was one."""
        deadline = time.monotonic() + seconds
        while (now := self.revision()) == revision and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(0.1, left))
        return now != revision

    def search(self, words: Sequence[str], limit: int) -> list[tuple[str, float]]:
        """(turn id, score) of the live turns by BM25 over stemmed words, best first, ties by age."""
        rows = self.query(_SEARCH, " OR ".join(f'"{word}"' for word in words), limit) if words else []
        return [(str(turn), float(score)) for turn, score in rows]

    def meta(self, key: str, default: str = "") -> str:
        """A value of the `meta` table."""
        rows = self.query("SELECT value FROM meta WHERE key = ?", key)
        return str(rows[0][0]) if rows else default

    def query(self, sql: str, *values: Value) -> list[tuple[Any, ...]]:
        """All rows of a SELECT. Raises MemoryFileError."""
        with self.lock, self._errors():
            return self._db.execute(sql, values).fetchall()

    def batches(self, sql: str, *values: Value) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a SELECT, some hundreds at a time."""
        with self.lock, self._errors():
            cursor = self._db.execute(sql, values)
            while rows := cursor.fetchmany(_BATCH):
                yield rows

    def texts(self, table: str, columns: Sequence[str]) -> list[list[Any]]:
        """Columns of text, the oldest row first. Asked for as JSON: half the time that a value at a time takes."""
        wanted = ", ".join(f"json_group_array({column})" for column in columns)
        found = self.query(f"SELECT {wanted} FROM (SELECT * FROM {table} ORDER BY rowid)")
        return [json.loads(column) for column in found[0]]

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All queries inside see the memory as of one moment, whatever another process commits meanwhile."""
        with self.lock, self._errors():
            outermost = not self._db.in_transaction
            if outermost:
                self._db.execute("BEGIN")
            try:
                yield
            finally:
                if outermost and self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def query_in(self, sql: str, keys: Sequence[Value]) -> list[tuple[Any, ...]]:
        """Rows of a SELECT whose `{}` becomes the list of `keys`, asked in chunks so that any number fits."""
        rows: list[tuple[Any, ...]] = []
        for start in range(0, len(keys), 500):
            chunk = keys[start : start + 500]
            rows += self.query(sql.format(",".join("?" * len(chunk))), *chunk)
        return rows

    def in_turn(self) -> AbstractContextManager[None]:
        """Nothing to wait for: a commit takes so little that somebody overtaken gets through."""
        return nullcontext()

    def commit(self, changes: Sequence[RowChange], revision: int, *, count: bool = True, whole: bool = False) -> int:
        """Apply row changes in one transaction and return the new revision (with `count` off, the same one).

        Raises StaleRevisionError when the memory is no longer at `revision`, MemoryFileError when it cannot be written;
        in both cases nothing changed.
        """
        if self.read_only:
            raise MemoryFileError(f"{self.path} is read-only: make it writable, or work on a duplicate.")
        with self.lock, self._errors():
            self._begin()
            try:
                if self.revision() != revision:
                    raise StaleRevisionError
                for change_group in _grouped(changes):
                    self._apply(change_group)
                self._count(revision + count)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        return revision + count

    def _begin(self) -> None:
        self.waiting_since = time.monotonic()
        try:
            self._db.execute("BEGIN IMMEDIATE")
        finally:
            self.waiting_since = None

    def start_at(self, revision: int) -> None:
        """Begin the count of commits anew: a copy stands where what it was made from stood."""
        with self.lock, self._errors():
            self._count(revision)

    def _count(self, revision: int) -> None:
        self._db.execute("UPDATE meta SET value = ? WHERE key = 'revision'", (str(revision),))

    def _apply(self, changes: list[RowChange]) -> None:
        first = changes[0]
        if first.table == "turn" and first.before is not None:
            self._index_turns(changes, add=False)
        if first.after is None:
            self._delete(changes)
        elif first.before is None:
            self._insert(changes)
        else:
            self._update(changes)
        if first.table == "turn" and first.after is not None:
            self._index_turns(changes, add=True)

    def _insert(self, changes: list[RowChange]) -> None:
        table, columns = changes[0].table, tuple(changes[0].after or ())
        sql = f"INSERT INTO {table} ({','.join(columns)}) VALUES ({','.join('?' * len(columns))})"
        if table in REPLACED:  # in place: a row that went and came back would leave a hole that nothing fits into
            values = ",".join(f"{column} = excluded.{column}" for column in columns if column not in KEYS[table])
            sql += f" ON CONFLICT ({','.join(KEYS[table])}) DO UPDATE SET {values}"
        self._db.executemany(sql, [tuple((change.after or {}).values()) for change in changes])

    def _update(self, changes: list[RowChange]) -> None:
        columns = tuple(changes[0].after or ())
        where = " AND ".join(f"{key} = ?" for key in KEYS[changes[0].table])
        sql = f"UPDATE {changes[0].table} SET {','.join(f'{column} = ?' for column in columns)} WHERE {where}"
        self._db.executemany(sql, [(*(change.after or {}).values(), *change.key) for change in changes])

    def _delete(self, changes: list[RowChange]) -> None:
        where = " AND ".join(f"{key} = ?" for key in KEYS[changes[0].table])
        self._db.executemany(f"DELETE FROM {changes[0].table} WHERE {where}", [change.key for change in changes])

    def _index_turns(self, changes: list[RowChange], *, add: bool) -> None:
        """Keep the full-text index equal to the live turns: called before and after rows of `turn` change."""
        for key in dict.fromkeys(change.key for change in changes):
            rows = self._db.execute("SELECT position, speaker, text, forgotten_by FROM turn WHERE id = ?", key)
            for position, speaker, text, forgotten_by in rows.fetchall():
                if forgotten_by is not None:
                    continue
                entry = (position, f"{speaker}: {text}")
                if add:
                    self._db.execute("INSERT INTO turn_text (rowid, text) VALUES (?, ?)", entry)
                else:
                    self._db.execute("INSERT INTO turn_text (turn_text, rowid, text) VALUES ('delete', ?, ?)", entry)

    def bytes_on_disk(self) -> int:
        """Size of the file with its write-ahead log."""
        return sum(path.stat().st_size for path in (self.path, Path(f"{self.path}-wal")) if path.exists())

    def rewrite(self) -> bool:
        """Give freed pages back to the disk and overwrite what was deleted (VACUUM, then an empty log).

        False when another connection still reads the log, so that what was deleted may stand in it.
        """
        with self.lock, self._errors():
            self._db.execute("INSERT INTO turn_text (turn_text) VALUES ('optimize')")
            self._db.execute("VACUUM")
            busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return not busy

    def copy_to(self, path: Path) -> None:
        """A consistent copy, made while others may write; appears whole or not at all. Raises MemoryFileError, also for
        a `path` that exists already."""
        with new_file(path, self.path) as partial, self._errors(), closing(connect(self.path, self.read_only)) as own:
            own.execute("VACUUM INTO ?", (str(partial),))  # by a connection of its own: nobody waits for this one

    def close(self) -> None:
        """Close the file; the write-ahead log is folded in."""
        with self.lock:
            self._db.close()
            if self._folder:
                self._folder.cleanup()


_SEARCH = """
    SELECT turn.id, -bm25(turn_text) AS score FROM turn_text JOIN turn ON turn.position = turn_text.rowid
    WHERE turn_text MATCH ? ORDER BY score DESC, turn.position LIMIT ?"""


def _grouped(changes: Sequence[RowChange]) -> Iterator[list[RowChange]]:
    def shape(change: RowChange) -> tuple[str, bool, tuple[str, ...]]:
        return change.table, change.before is None, tuple(change.after) if change.after is not None else ()

    for _, group in groupby(changes, key=shape):
        yield list(group)
