"""A folder of memories by name, and the ones this process has open: one `Memory` and one worker a file.

Names are checked against an allow-list before they become a path, so that no name leads out of the folder.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from memory_core.errors import InputError, MemoryFileError
from memory_core.exporters import export
from memory_core.jobs import Job, Worker
from memory_core.memory import Memory, TurnReport
from memory_core.parts import default_embedder
from memory_core.protocols import Embedder
from memory_core.replay import Replay

ENDING = ".sqlite3"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BESIDE = ("", "-wal", "-shm")  # SQLite's files of one database
_RECENT = 40  # reports kept for the live picture


@dataclass
class OpenMemory:
    """One open memory of the process, shared by every page and browser; it holds nobody's key.

    `recent` are the newest reports, oldest first: what a live picture lights up. `replay` is the last one started,
    `reembedding` the last change of embedder.
    """

    path: Path
    memory: Memory
    worker: Worker
    recent: deque[TurnReport] = field(default_factory=lambda: deque(maxlen=_RECENT))
    replay: Replay | None = None
    reembedding: Job | None = None
    _numbers: tuple[int, dict[str, object]] = (-1, {})

    @property
    def name(self) -> str:
        """The memory's name in its folder."""
        return self.path.stem

    @property
    def busy(self) -> bool:
        """Whether a job is waiting, running or paused."""
        return self.worker.current is not None

    def numbers(self) -> dict[str, object]:
        """`Memory.stats()`, made once a revision."""
        revision = self.memory.revision
        if self._numbers[0] != revision:
            self._numbers = (revision, self.memory.stats())
        return self._numbers[1]

    def close(self) -> None:
        """End the worker, then let go of the file."""
        self.worker.close()
        self.memory.close()


#: By file, and by the embedder where a browser brought its own with its key; None is everybody's.
_open: dict[tuple[Path, Embedder | None], OpenMemory] = {}
_lock = threading.RLock()


def checked(name: str) -> str:
    """The name. Raises InputError for one that is not 1 to 64 letters, digits, - or _ (case SEC-07).

    >>> checked("ok_user-1")
    'ok_user-1'
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"{name[:80]!r} cannot name a memory: use 1 to 64 letters (a to z), digits, - and _.")
    return name


@dataclass(frozen=True)
class Memories:
    """The memories of a folder. Every method raises InputError for a bad or unknown name, MemoryFileError for a file
    that cannot be used; what exists is never overwritten."""

    folder: Path

    @classmethod
    def default(cls) -> Memories:
        """The folder $FORGETTING_LAB_MEMORIES, else `data/memories`."""
        return cls(Path(os.environ.get("FORGETTING_LAB_MEMORIES") or "data/memories"))

    def names(self) -> list[str]:
        """Names of the memories there, sorted; files of other names are not ours and not listed."""
        if not self.folder.is_dir():
            return []
        found = (path.stem for path in self.folder.glob(f"*{ENDING}") if path.is_file() and not path.is_symlink())
        return sorted((name for name in found if _NAME.fullmatch(name)), key=str.casefold)

    def path(self, name: str) -> Path:
        """Where the memory of that name lives, whether it exists or not."""
        return self.folder.resolve() / f"{checked(name)}{ENDING}"

    def create(self, name: str, embedder: Embedder | None = None) -> OpenMemory:
        """A new, empty memory, made with `embedder`; a remote one stays with who brought it, as `open` says."""
        path = self._free(name)
        memory = Memory.open(path, embedder=embedder)
        memory.retrying(lambda: memory.commit([]))
        remote = hasattr(embedder, "known_dim")
        own = embedder if embedder and remote and embedder != default_embedder(embedder.id) else None
        with _lock:
            return _open.setdefault((path, own), OpenMemory(path, memory, Worker(name)))

    def open(self, name: str, own: Embedder | None = None) -> OpenMemory:
        """The memory, opened once a process, with the address and key of the environment where its embedder needs them.

        `own` is the memory's embedder with the key of one browser: who gives it gets an object of their own, which
        nobody without that key ever holds (case CNC-05).
        """
        path = self._known(name)
        with _lock:
            if (path, own) not in _open:
                _open[path, own] = OpenMemory(path, Memory.open(path, create=False, embedder=own), Worker(name))
            opened = _open[path, own]
        stored = opened.memory.store.meta("embedder")
        if stored and stored != opened.memory.embedder.id:  # re-embedded meanwhile, here or by another process
            opened.memory.adopt(default_embedder(stored, int(opened.memory.store.meta("dim"))))
        return opened

    def duplicate(self, name: str, new: str) -> None:
        """A copy under another name, complete even while somebody writes."""
        path = self._free(new)
        self.open(name).memory.store.copy_to(path)

    def rename(self, name: str, new: str) -> None:
        """Move a memory that nothing works on to another name."""
        path, target = self._idle(name), self._free(new)
        _moved(path, target)

    def delete(self, name: str) -> None:
        """Remove a memory that nothing works on, for good."""
        path = self._idle(name)
        try:
            for ending in _BESIDE:
                Path(f"{path}{ending}").unlink(missing_ok=True)
        except OSError as error:
            raise MemoryFileError(f"{path} cannot be removed: {error.strerror or error}.") from error

    def close(self) -> None:
        """Let go of every memory of this folder; jobs are stopped, what they committed stays."""
        with _lock:
            for path in {path for path, _ in _open if path.parent == self.folder.resolve()}:
                self._forget(path)

    def _known(self, name: str) -> Path:
        path = self.path(name)
        if path.is_symlink() or not path.is_file():
            self._forget(path)
            raise InputError(f"There is no memory {name} in {self.folder}: choose one of the list, or create it.")
        return path

    def _free(self, name: str) -> Path:
        path = self.path(name)
        if path.exists() or path.is_symlink():
            raise InputError(f"There is a memory {name} already: choose another name.")
        return path

    def _idle(self, name: str) -> Path:
        path = self._known(name)
        with _lock:
            if any(opened.busy for (of, _), opened in _open.items() if of == path):
                raise InputError(f"{name} is being written: stop the replay first.")
            self._forget(path)
        return path

    def _forget(self, path: Path) -> None:
        with _lock:
            for key in [key for key in _open if key[0] == path]:
                _open.pop(key).close()


def _moved(path: Path, target: Path) -> None:
    try:
        for ending in reversed(_BESIDE):  # the log first: a database without its log would miss what stands in it
            if Path(f"{path}{ending}").exists():
                os.replace(f"{path}{ending}", f"{target}{ending}")
    except OSError as error:
        raise MemoryFileError(f"{path} cannot be renamed: {error.strerror or error}.") from error


def exported(memory: Memory, ending: str) -> bytes:
    """The memory as the bytes of an export file; `ending` is json, graphml, csv or html. Raises InputError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"memory.{ending}")
        export(memory, path)
        return path.read_bytes()
