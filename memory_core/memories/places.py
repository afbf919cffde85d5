"""Which memories somebody has: those of a folder, or their own on a server."""

from __future__ import annotations

import os

from memory_core.memories.folder import FolderMemories
from memory_core.memories.place import Memories
from memory_core.store.address import Address, is_address
from memory_core.store.opening import server_packages

LOCAL = "local"


def chosen_place(user: str = "") -> Memories:
    """The place that $FORGETTING_LAB_MEMORIES names, else the server of $FORGETTING_LAB_MEMORY, else `data/memories`.

    `user` is who signed in; without one it is $FORGETTING_LAB_USER, else "local", and a folder is everybody's. Raises
    InputError for an address that cannot be read, MemoryFileError without the packages that talk to a server.
    """
    for name in ("FORGETTING_LAB_MEMORIES", "FORGETTING_LAB_MEMORY"):
        if is_address(text := os.environ.get(name, "")):
            return on_server(Address.given(text), user)
        if text and name == "FORGETTING_LAB_MEMORIES":
            break
    return FolderMemories.default(user)


def first_name() -> str:
    """The memory that $FORGETTING_LAB_MEMORY names on a server; "" for none."""
    text = os.environ.get("FORGETTING_LAB_MEMORY", "")
    return Address.parse(text).memory if is_address(text) else ""


def on_server(address: Address, user: str = "") -> Memories:
    """What `user` has in the database of `address`. Nothing is asked of the server yet. Raises MemoryFileError."""
    with server_packages():
        from memory_core.memories.server import ServerMemories
    return ServerMemories(address, user or os.environ.get("FORGETTING_LAB_USER") or LOCAL)
