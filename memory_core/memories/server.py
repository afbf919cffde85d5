"""The memories that one user has on a PostgreSQL server."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, replace

from memory_core.memories.place import NAME, Memories, checked
from memory_core.memory import Memory
from memory_core.protocols import Embedder
from memory_core.store.address import Address
from memory_core.store.listing import Listing
from memory_core.store.postgres import PostgresStore
from memory_core.store.transfer import finish, transfer

_listings: dict[str, Listing] = {}
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
        """Of the whole address with its password: who gives another one shares nothing with this user."""
        return f"{self._digest} {checked(name)}"

    def at(self, name: str) -> Address:
        """The address of the memory of that name."""
        return replace(self.address, memory=checked(name))

    def copy_in(self, memory: Memory, new: str) -> None:
        """Add a copy of any memory, complete even while somebody writes it."""
        half = half_made(checked(new))
        self._listing().remove(half)
        target = PostgresStore(replace(self.address, memory=half), create=True, user=self.user)
        try:
            with memory.store.snapshot():
                transfer(memory.store, target, memory.store.place, lambda rows: None)
                revision = memory.store.revision()
            finish(target)
        finally:
            target.close()
        self._listing().start_at(half, revision)
        self._listing().rename(half, new)

    def close(self) -> None:
        """Let go of every memory of this place, and of the connection that lists them."""
        super().close()
        with _lock:
            if listing := _listings.pop(self._digest, None):
                listing.close()

    def _memory(self, name: str, *, create: bool, embedder: Embedder | None) -> Memory:
        return Memory.open(self.at(name), create=create, embedder=embedder, user=self.user)

    def _move(self, name: str, new: str) -> None:
        self._listing().rename(name, new)

    def _remove(self, name: str) -> None:
        self._listing().remove(name)

    def _holds(self, key: str) -> bool:
        return key.partition(" ")[0] == self._digest

    @property
    def _digest(self) -> str:
        said = repr((sorted(self.address.parameters().items()), self.user))
        return hashlib.sha256(said.encode()).hexdigest()

    def _listing(self) -> Listing:
        with _lock:
            if self._digest not in _listings:
                _listings[self._digest] = Listing(self.address, self.user)
            return _listings[self._digest]


def half_made(name: str) -> str:
    """The name of a copy that is being made: no person can give it.

    >>> half_made("trip")
    'trip (half made)'
    """
    return f"{name} (half made)"
