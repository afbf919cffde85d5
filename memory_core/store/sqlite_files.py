"""The file of a SQLite memory: made whole, opened, and its faults as one line each."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory_core.errors import MemoryFileError

SCHEMA_VERSION = 1
APPLICATION_ID = 0x464C4142  # "FLAB"
_TABLES = Path(__file__).with_name("tables.sql")
_BUSY_MS = 5000


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    beside = os.access(path.parent, os.W_OK) and path.parent.stat().st_mode & 0o222
    logged = Path(f"{path}-wal").exists()  # an immutable file is read without its log
    mode = "rw" if not read_only else "ro" if beside or logged else "ro&immutable=1"
    address = f"{path.resolve().as_uri()}?mode={mode}"
    try:
        db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_MS / 1000)
        db.execute("PRAGMA schema_version").fetchone()
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA secure_delete = ON")
        db.execute("PRAGMA cache_size = -16384")  # KB; what falls out is still in the system's own cache
    except sqlite3.Error as error:
        raise MemoryFileError(f"{path}: {explain(str(error))}") from error
    return db


def create_file(path: Path) -> None:
    """An empty memory that appears whole: built beside its place, then linked there unless another process was faster
    (whose memory, perhaps written already, stays)."""
    partial = _beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(partial, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous = OFF")  # nobody knows the file yet; it is synced whole below
            db.execute("PRAGMA page_size = 8192")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            db.executescript(f"BEGIN; {_TABLES.read_text('utf-8')} COMMIT;")
            db.execute("INSERT INTO meta VALUES ('revision', '0')")
        finally:
            db.close()
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        if not path.exists():  # the log of a memory that was deleted would be read into the new one
            _remove(Path(f"{path}-wal"))
        with suppress(FileExistsError):
            appear(partial, path)
    except (OSError, sqlite3.Error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or explain(str(error))
        raise MemoryFileError(f"Cannot create a memory at {path}: {reason}") from error
    finally:
        _remove(partial)


@contextmanager
def new_file(path: Path, source: object) -> Iterator[Path]:
    """Where to write a copy of `source` that gets the name `path` when it is whole, or leaves nothing. Raises
    MemoryFileError, also for a `path` that exists already."""
    partial = _beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        appear(partial, path)
    except OSError as error:
        raise MemoryFileError(f"Cannot copy {source} to {path}: {error.strerror or error}.") from error
    finally:
        for ending in ("", "-wal", "-shm"):
            _remove(Path(f"{partial}{ending}"))


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}.partial")


def appear(partial: Path, path: Path) -> None:
    """Give a finished file its name. Raises FileExistsError when another process was faster, OSError."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError(errno.EEXIST, "there is a file already", str(path)) from None
        os.replace(partial, path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def explain(error: str) -> str:
    """SQLite's words, with what to do about them."""
    fixes = {
        "locked": "another program holds it locked; close that program or try again",
        "busy": "another program holds it locked; close that program or try again",
        "full": "the disk is full; free some space and try again (the memory is as it was before)",
        "disk I/O": "the disk is full, over its quota or failing; mend that and try again (the memory is as before)",
        "not a database": "this is not a memory file; choose another path (the file was not touched)",
        "malformed": "the file is damaged; restore a copy, or export what still opens with `export`",
        "readonly": "the file is read-only; make it writable, or duplicate the memory and work on the copy",
        "unable to open": "the file cannot be opened; check the path and its permissions",
    }
    return next((f"{fix} ({error})" for word, fix in fixes.items() if word in error), error)
