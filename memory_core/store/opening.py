"""A memory's store by where it lives: a file, or a server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memory_core.errors import MemoryFileError
from memory_core.store.address import Address, is_address
from memory_core.store.contract import Store
from memory_core.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from memory_core.store.listing import Listing

USER = "FORGETTING_LAB_USER"


def open_store(
    where: str | Path | Address, *, create: bool = True, user: str | None = None, read_only: bool = False
) -> Store:
    """The store at a path, or at `postgresql://…?memory=NAME` as `user` (default $FORGETTING_LAB_USER, else "local").

    With `read_only` set nothing of it changes. Raises MemoryFileError, InputError for an address that cannot be read.
    """
    if not isinstance(where, Address) and not is_address(where):
        return SqliteStore(where, create=create, read_only=read_only)
    with server_packages():
        from memory_core.store.postgres import PostgresStore
    address = where if isinstance(where, Address) else Address.given(str(where))
    return PostgresStore(address, create=create, user=user or os.environ.get(USER) or "local", read_only=read_only)


def open_listing(address: Address, user: str) -> Listing:
    """What `user` has on a server, by name. Raises MemoryFileError."""
    with server_packages():
        from memory_core.store.listing import Listing
    return Listing(address, user)


@contextmanager
def server_packages() -> Iterator[None]:
    """What talks to a server is imported when one is asked for. Raises MemoryFileError when it is not installed."""
    try:
        yield
    except ImportError as error:
        raise MemoryFileError(
            f"A memory on a server needs more packages: pip install -r requirements-server.txt ({error})."
        ) from error
