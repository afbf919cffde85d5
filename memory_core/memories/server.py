"""The memories that one user has on a PostgreSQL server."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Hashable
from contextlib import closing, suppress
from dataclasses import dataclass, replace

from memory_core.errors import MemoryFileError
from memory_core.memories.place import NAME, Memories, checked
from memory_core.memory import Memory
from memory_core.protocols import Embedder
from memory_core.store.address import Address
from memory_core.store.listing import Listing
from memory_core.store.postgres import PostgresStore
from memory_core.store.transfer import finish, half_made, transfer

_listings: dict[str, Listing] = {}
_connecting: dict[str, threading.Lock] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class ServerMemories(Memories):
    """What `user` has in the database of `address`; what others have there does not exist for them."""

    address: Address
    user: str

    @property
    def place(self) -> str:
        """The address, without its password and the name of a memory."""
        return self.address.place.partition("?")[0]

    def names(self) -> list[str]:
        """Names of the user's memories, sorted; half-made copies are none."""
        return sorted((name for name in self._listing().names() if NAME.fullmatch(name)), key=str.casefold)

    def exists(self, name: str) -> bool:
        """Whether the user has a memory of that name."""
        return self._listing().holds(checked(name))

    def key(self, name: str) -> str:
        """Of the whole address with its password and key: who gives others shares nothing with this user."""
        return f"{self._digest} {checked(name)}"

    def at(self, name: str) -> Address:
        """The address of the memory of that name."""
        return replace(self.address, memory=checked(name))

    def copy_in(self, memory: Memory, new: str) -> None:
        """Add a copy of any memory, complete even while somebody writes it; nothing is left of one that fails."""
        half = half_made(checked(new))
        self._listing().remove(half)
        try:
            self._copy(memory, half)
            self._listing().rename(half, new)
        except BaseException:
            with suppress(MemoryFileError):  # what went wrong is told; the next try begins by removing
                self._listing().remove(half)
            raise

    def _copy(self, memory: Memory, half: str) -> None:
        with closing(PostgresStore(replace(self.address, memory=half), user=self.user)) as target:
            with memory.store.snapshot():
                transfer(memory.store, target, memory.store.place, lambda rows: None)
                revision = memory.store.revision()
            finish(target)
        self._listing().start_at(half, revision)

    def close(self) -> None:
        """Let go of every memory of this place, and of the connection that lists them."""
        super().close()
        with _lock:
            listing = _listings.pop(self._digest, None)
        if listing:
            listing.close()

    def _memory(self, name: str, *, create: bool, embedder: Embedder | None) -> Memory:
        return Memory.open(self.at(name), create=create, embedder=embedder, user=self.user)

    def _identity(self, name: str) -> Hashable:
        return self._listing().number(name)

    def _move(self, name: str, new: str) -> None:
        self._listing().rename(name, new)

    def _remove(self, name: str) -> None:
        self._listing().remove(name)

    def _holds(self, key: str) -> bool:
        return key.partition(" ")[0] == self._digest

    @property
    def _digest(self) -> str:
        said = repr((sorted(self.address.parameters().items()), self.address.key, self.user))
        return hashlib.sha256(said.encode()).hexdigest()

    def _listing(self) -> Listing:
        """Only those who want this one wait while it connects."""
        digest = self._digest
        with _lock:
            mine = _connecting.setdefault(digest, threading.Lock())
        with mine:
            with _lock:
                there = _listings.get(digest)
            if there is None:
                there = Listing(self.address, self.user)
                with _lock:
                    _listings[digest] = there
            return there
