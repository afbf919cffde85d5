"""A folder of memories: one SQLite file each."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

from memory_core.errors import MemoryFileError
from memory_core.memories.place import NAME, Memories, checked
from memory_core.memory import Memory
from memory_core.protocols import Embedder

ENDING = ".sqlite3"
_BESIDE = ("", "-wal", "-shm")  # SQLite's files of one database


@dataclass(frozen=True)
class FolderMemories(Memories):
    """The memories of a folder, for everybody who can read it."""

    folder: Path

    @classmethod
    def default(cls, user: str = "") -> FolderMemories:
        """The folder $FORGETTING_LAB_MEMORIES, else `data/memories`; of a signed-in user, one of their own in it."""
        folder = Path(os.environ.get("FORGETTING_LAB_MEMORIES") or "data/memories")
        return cls(folder / f"user-{hashlib.sha256(user.encode()).hexdigest()[:32]}" if user else folder)

    @property
    def place(self) -> str:
        """The folder."""
        return str(self.folder)

    def names(self) -> list[str]:
        """Names of the memories there, sorted; files of other names are not ours and not listed."""
        if not self.folder.is_dir():
            return []
        found = (path.stem for path in self.folder.glob(f"*{ENDING}") if path.is_file() and not path.is_symlink())
        return sorted((name for name in found if NAME.fullmatch(name)), key=str.casefold)

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name, which is no link out of the folder."""
        path = self.path(name)
        return path.is_file() and not path.is_symlink()

    def path(self, name: str) -> Path:
        """Where the memory of that name lives, whether it exists or not."""
        return self.folder.resolve() / f"{checked(name)}{ENDING}"

    def copy_in(self, memory: Memory, new: str) -> None:
        """Add a copy of any memory, complete even while somebody writes it."""
        memory.store.copy_to(self.path(new))

    def key(self, name: str) -> str:
        """The file."""
        return str(self.path(name))

    def _identity(self, name: str) -> Hashable:
        try:
            file = self.path(name).stat()
        except OSError:  # gone this very moment: opening it says so
            return None
        return file.st_dev, file.st_ino

    def _memory(self, name: str, *, create: bool, embedder: Embedder | None) -> Memory:
        return Memory.open(self.path(name), create=create, embedder=embedder)

    def _taken(self, name: str) -> bool:
        return self.path(name).exists() or self.path(name).is_symlink()

    def _move(self, name: str, new: str) -> None:
        _moved(self.path(name), self.path(new))

    def _remove(self, name: str) -> None:
        path = self.path(name)
        try:
            for ending in _BESIDE:
                Path(f"{path}{ending}").unlink(missing_ok=True)
        except OSError as error:
            raise MemoryFileError(f"{path} cannot be removed: {error.strerror or error}.") from error

    def _holds(self, key: str) -> bool:
        return Path(key).parent == self.folder.resolve()


def _moved(path: Path, target: Path) -> None:
    try:
        for ending in reversed(_BESIDE):  # the log first: a database without its log would miss what stands in it
            if Path(f"{path}{ending}").exists():
                os.replace(f"{path}{ending}", f"{target}{ending}")
    except OSError as error:
        raise MemoryFileError(f"{path} cannot be renamed: {error.strerror or error}.") from error
