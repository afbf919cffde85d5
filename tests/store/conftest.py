"""What tests of stores share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from memory_core.store import server
from memory_core.store.address import Address


@pytest.fixture
def database(postgres: str, request: pytest.FixtureRequest) -> Iterator[Address]:
    """A database of this test's own on the shared server."""
    name = re.sub(r"\W", "_", request.node.name)[-50:].lower()
    address = Address.parse(postgres)
    with server.connect(address) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
    yield replace(address, database=name)
    with server.connect(address) as admin:
        admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
