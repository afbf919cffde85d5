"""A place that holds memories by name. Names are checked against an allow-list before they lead anywhere."""

from __future__ import annotations

import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Hashable
from pathlib import Path

from memory_core.errors import InputError
from memory_core.exporters import export
from memory_core.memories import opened as known
from memory_core.memories.opened import OpenMemory
from memory_core.memory import Memory
from memory_core.parts import default_embedder
from memory_core.protocols import Embedder

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def checked(name: str) -> str:
    """The name. Raises InputError for one that is not 1 to 64 letters, digits, - or _ (case SEC-07).

    >>> checked("ok_user-1")
    'ok_user-1'
    """
    if not NAME.fullmatch(name):
        raise InputError(f"{name[:80]!r} cannot name a memory: use 1 to 64 letters (a to z), digits, - and _.")
    return name


class Memories(ABC):
    """The memories of one place: a folder, or what one user has on a server.

    Every method raises InputError for a bad or unknown name, MemoryFileError for what cannot be used; what exists is
    never overwritten.
    """

    @property
    @abstractmethod
    def place(self) -> str:
        """Where they are, for a person; never with a password."""

    @abstractmethod
    def names(self) -> list[str]:
        """Names of the memories there, sorted."""

    @abstractmethod
    def exists(self, name: str) -> bool:
        """Whether there is a memory of that name."""

    @abstractmethod
    def copy_in(self, memory: Memory, new: str) -> None:
        """Add a copy of any memory, complete even while somebody writes it."""

    @abstractmethod
    def key(self, name: str) -> str:
        """What tells the memory of that name from every other, of any place and user."""

    @abstractmethod
    def _memory(self, name: str, *, create: bool, embedder: Embedder | None) -> Memory: ...

    @abstractmethod
    def _move(self, name: str, new: str) -> None: ...

    @abstractmethod
    def _remove(self, name: str) -> None: ...

    def create(self, name: str, embedder: Embedder | None = None) -> OpenMemory:
        """A new, empty memory, made with `embedder`; a remote one stays with who brought it, as `open` says."""
        self._check_free(name)
        memory = self._memory(name, create=True, embedder=embedder)
        memory.retrying(lambda: memory.commit([]))
        remote = hasattr(embedder, "known_dim")
        own = embedder if embedder and remote and embedder != default_embedder(embedder.id) else None
        return known.opened_once(name, self.key(name), own, lambda: memory, self._identity(name))

    def open(self, name: str, own: Embedder | None = None) -> OpenMemory:
        """The memory, opened once a process, with the address and key of the environment where its embedder needs them.

        `own` is the memory's embedder with the key of one browser: who gives it gets an object of their own, which
        nobody without that key ever holds (case CNC-05).
        """
        self._check_known(name)
        opened = known.opened_once(
            name, self.key(name), own, lambda: self._memory(name, create=False, embedder=own), self._identity(name)
        )
        stored = opened.memory.store.meta("embedder")
        if stored and stored != opened.memory.embedder.id:  # re-embedded meanwhile, here or by another process
            opened.memory.adopt(default_embedder(stored, int(opened.memory.store.meta("dim"))))
        return opened

    def is_open(self, name: str) -> bool:
        """Whether this process has the memory open, so that `open` takes no time."""
        return known.is_open(self.key(name))

    def _identity(self, name: str) -> Hashable:
        """What changes when another memory takes this one's place without our doing."""
        return None

    def duplicate(self, name: str, new: str) -> None:
        """A copy under another name, complete even while somebody writes."""
        self._check_free(new)
        self.copy_in(self.open(name).memory, new)

    def rename(self, name: str, new: str) -> None:
        """Move a memory that nothing works on to another name."""
        self._let_go(name)
        self._check_free(new)
        self._move(name, new)

    def delete(self, name: str) -> None:
        """Remove a memory that nothing works on, for good."""
        self._let_go(name)
        self._remove(name)

    def close(self) -> None:
        """Let go of every memory of this place; jobs are stopped, what they committed stays."""
        for key in known.open_keys():
            if self._holds(key):
                known.forget(key)

    @abstractmethod
    def _holds(self, key: str) -> bool: ...

    def _check_known(self, name: str) -> None:
        if not self.exists(checked(name)):
            known.forget(self.key(name))
            raise InputError(f"There is no memory {name} in {self.place}: choose one of the list, or create it.")

    def _check_free(self, name: str) -> None:
        if self._taken(checked(name)):
            raise InputError(f"There is a memory {name} already: choose another name.")

    def _taken(self, name: str) -> bool:
        return self.exists(name)

    def _let_go(self, name: str) -> None:
        self._check_known(name)
        if not known.forget(self.key(name), busy=False):
            raise InputError(f"{name} is being written: stop the replay first.")


def exported(memory: Memory, ending: str) -> bytes:
    """The memory as the bytes of an export file; `ending` is json, graphml, csv or html. Raises InputError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"memory.{ending}")
        export(memory, path)
        return path.read_bytes()
