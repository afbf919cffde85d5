"""Every test that says so runs over both stores: a file, and a real PostgreSQL in its place."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from memory_core.memory import memory as module
from memory_core.store.address import Address
from memory_core.store.contract import Store
from memory_core.store.opening import open_store

SERVER = "FORGETTING_LAB_TEST_SERVER"  # its address, for this process and those it starts
_NUMBERS = count()

#: For a test that looks at the bytes or rights of a file.
FILES_ONLY = pytest.mark.parametrize("kind", ["sqlite"], indirect=True)


def place(path: Path | str | None) -> Path | str | None:
    """The path itself, or the memory on the server that stands for it while a test runs there."""
    server = os.environ.get(SERVER)
    if server is None or path is None or isinstance(path, Address) or str(path).startswith("postgres"):
        return path
    name = f"alone-{os.getpid()}-{next(_NUMBERS)}" if str(path) == ":memory:" else str(Path(path).resolve())
    return f"{server}?memory=m{hashlib.sha256(name.encode()).hexdigest()[:24]}"


@contextmanager
def memories_on(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every memory that is opened meanwhile is one of the server's; those left open are closed at the end."""
    opened: list[Store] = []

    def instead(where: Any, **given: Any) -> Store:
        opened.append(open_store(place(where), **given))
        return opened[-1]

    monkeypatch.setenv(SERVER, server)
    monkeypatch.setattr(module, "open_store", instead)
    try:
        yield
    finally:
        for store in opened:
            store.close()
