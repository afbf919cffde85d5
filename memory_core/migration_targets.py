"""Where a migrated memory appears: made beside its place under a name nobody can give, then named at once."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memory_core.errors import MemoryFileError
from memory_core.store.address import Address, is_address
from memory_core.store.contract import Store
from memory_core.store.opening import USER, open_listing, open_store
from memory_core.store.sqlite import SqliteStore
from memory_core.store.sqlite_files import appear
from memory_core.store.transfer import half_made

if TYPE_CHECKING:
    from memory_core.store.listing import Listing


class Target(Protocol):
    """A place for one memory."""

    @property
    def place(self) -> str:
        """In words, without passwords."""

    def there(self) -> Store | None:
        """The memory that stands there, None where there is none."""

    def half(self) -> Store:
        """The half-made copy, begun when missing."""

    def discard(self) -> None:
        """Remove the half-made copy."""

    def appear(self, revision: int) -> None:
        """Put the copy in its place, at the revision of what it was made from."""


def identity(where: str | Path, user: str | None) -> str:
    """Tells one memory from another, without passwords."""
    if is_address(where):
        return f"{Address.given(str(where)).place} {_user(user)}"
    return str(Path(where).resolve())


def target_at(where: str | Path, user: str | None) -> Target:
    """The place that `where` names. Raises InputError, MemoryFileError."""
    if is_address(where):
        return ServerTarget(Address.given(str(where)), _user(user))
    return FileTarget(Path(where))


def _user(user: str | None) -> str:
    return user or os.environ.get(USER) or "local"


@dataclass(frozen=True)
class FileTarget:
    """A SQLite file."""

    path: Path

    @property
    def place(self) -> str:
        """The path."""
        return str(self.path)

    @property
    def _half(self) -> Path:
        return self.path.with_name(f".{self.path.name}.half-made")

    def there(self) -> Store | None:
        """The memory that stands there. Raises MemoryFileError for a file that is none."""
        return SqliteStore(self.path, create=False) if self.path.exists() else None

    def half(self) -> Store:
        """The half-made copy, begun when missing."""
        return SqliteStore(self._half)

    def discard(self) -> None:
        """Remove the half-made copy."""
        _remove(self._half)

    def appear(self, revision: int) -> None:
        """Give the copy its name; an empty memory there makes room. Raises MemoryFileError."""
        with closing(SqliteStore(self._half, create=False)) as copy:
            copy.start_at(revision)
        try:
            _remove(self.path)
            appear(self._half, self.path)
            _remove(self._half)
        except OSError as error:
            raise MemoryFileError(f"{self.path} cannot be written: {error.strerror or error}.") from error


@dataclass(frozen=True)
class ServerTarget:
    """A memory of one user on a server."""

    address: Address
    user: str

    @property
    def place(self) -> str:
        """The address without its password."""
        return self.address.place

    @property
    def _half(self) -> Address:
        return replace(self.address, memory=half_made(self.address.memory))

    def there(self) -> Store | None:
        """The memory that stands there."""
        with self._listing() as listing:
            known = listing.holds(self.address.memory)
        return open_store(self.address, create=False, user=self.user) if known else None

    def half(self) -> Store:
        """The half-made copy, begun when missing."""
        return open_store(self._half, create=True, user=self.user)

    def discard(self) -> None:
        """Remove the half-made copy."""
        with self._listing() as listing:
            listing.remove(self._half.memory)

    def appear(self, revision: int) -> None:
        """Give the copy its name; an empty memory there makes room. Raises MemoryFileError."""
        with self._listing() as listing:
            listing.start_at(self._half.memory, revision)
            listing.remove(self.address.memory)
            listing.rename(self._half.memory, self.address.memory)

    def _listing(self) -> closing[Listing]:
        return closing(open_listing(self.address, self.user))


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
