"""A memory's store by where it lives: a file, or a server."""

from __future__ import annotations

import os
from pathlib import Path

from memory_core.errors import MemoryFileError
from memory_core.store.address import Address, is_address
from memory_core.store.contract import Store
from memory_core.store.sqlite import SqliteStore

USER = "FORGETTING_LAB_USER"


def open_store(where: str | Path | Address, *, create: bool = True, user: str | None = None) -> Store:
    """The store at a path, or at `postgresql://…?memory=NAME` as `user` (default $FORGETTING_LAB_USER, else "local").

    Raises MemoryFileError, InputError for an address that cannot be read.
    """
    if not isinstance(where, Address) and not is_address(where):
        return SqliteStore(where, create=create)
    try:
        from memory_core.store.postgres import PostgresStore
    except ImportError as error:
        raise MemoryFileError("A memory on a server needs more packages: pip install -r requirements-server.txt "
                              f"({error}).") from error  # fmt: skip
    address = where if isinstance(where, Address) else Address.given(str(where))
    return PostgresStore(address, create=create, user=user or os.environ.get(USER) or "local")
