"""What every store offers: rows in, rows out, by any number of threads and processes at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from memory_core.store.rows import RowChange, Value


class StaleRevisionError(Exception):
    """Another process committed since the caller last looked; reload and try again."""


class Store(Protocol):
    """Where a memory lives. SQL is SQLite's, `?` for values; what a text cannot say alike everywhere is a method.

    Rows without ORDER BY come in any order; text is ordered by its UTF-8 bytes. Every fault of the database is a
    MemoryFileError of one line that names the place and the fix, never a password.
    """

    @property
    def place(self) -> str:
        """Where it is, as it may be shown: a path, or an address without its password."""

    @property
    def read_only(self) -> bool:
        """Whether it can only be asked."""

    def revision(self) -> int:
        """Number of commits so far, by any process."""

    def meta(self, key: str, default: str = "") -> str:
        """A value of the `meta` table."""

    def query(self, sql: str, *values: Value) -> list[tuple[Any, ...]]:
        """All rows of a SELECT. Raises MemoryFileError."""

    def batches(self, sql: str, *values: Value) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a SELECT, some hundreds at a time; ask within `snapshot`. Raises MemoryFileError."""

    def texts(self, table: str, columns: Sequence[str]) -> list[list[Any]]:
        """Each of some columns that hold text or NULL as a list, the oldest row first. Raises MemoryFileError."""

    def query_in(self, sql: str, keys: Sequence[Value]) -> list[tuple[Any, ...]]:
        """Rows of a SELECT whose `({})` after IN becomes the list of `keys`, however many they are."""

    def search(self, words: Sequence[str], limit: int) -> list[tuple[str, float]]:
        """(turn id, score) of the live turns that hold any of the words, by BM25 over Porter stems, best first, ties by
        age; scores are positive. Equal memories give equal scores in every store."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All queries inside see the memory as of one moment, whatever another process commits meanwhile."""

    def in_turn(self) -> AbstractContextManager[None]:
        """Go one after the other with those who also ask for it: for whoever was overtaken, so that nobody starves."""

    def commit(self, changes: Sequence[RowChange], revision: int, *, count: bool = True, whole: bool = False) -> int:
        """Apply row changes in one transaction and return the new revision (with `count` off, the same one).

        `whole` says that rows went or moved, so that whoever is behind must load all. Raises StaleRevisionError when
        the memory is no longer at `revision`, MemoryFileError when it cannot be written; in both cases nothing changed.
        """

    def lists_newer(self, revision: int) -> bool:
        """Whether every change since `revision` is found as rows of turn, node, node_vector, edge and access with a
        greater `revision`; if not, only loading all shows what is new."""

    def wait_for_change(self, revision: int, seconds: float) -> bool:
        """Wait until the memory is no longer at `revision`, at most so long; whether it is."""

    def bytes_on_disk(self) -> int:
        """Bytes the memory takes where it lives: a file with its log, or the tables of a server, which all its memories
        share."""

    def rewrite(self) -> bool:
        """Give freed space back and overwrite what was deleted; False when it cannot be done now."""

    def copy_to(self, path: Path) -> None:
        """A consistent copy as a SQLite file, made while others may write; appears whole or not at all. Raises
        MemoryFileError, also for a `path` that exists already."""

    def close(self) -> None:
        """Let go of it."""
