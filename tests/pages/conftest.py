"""The whole app without a browser: opened on copies of the memories that a module has `made`, and read as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from memory_core.memories import FolderMemories, Memories, chosen_place
from memory_core.memory import Memory

APP = Path(__file__).with_name("whole_app.py")
PAGES = Path(__file__).parents[2] / "pages"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What is marked `both_places` runs on memories in a folder, and again on a PostgreSQL server."""
    if metafunc.definition.get_closest_marker("both_places"):
        metafunc.parametrize("memories", ["folder", "server"], indirect=True)


@pytest.fixture
def memories(request: pytest.FixtureRequest, made: Path) -> Iterator[Memories]:
    """A place of its own with the memories, which the app looks at; a server has all but the large one."""
    yield from request.getfixturevalue(f"in_{getattr(request, 'param', 'folder')}")(made)


@pytest.fixture
def in_server(on_server: str) -> Callable[[Path], Iterator[Memories]]:
    def place(made: Path) -> Iterator[Memories]:
        server = chosen_place()
        for file in made.glob("*.sqlite3"):
            if file.stem != "large":
                with Memory.open(file) as memory:
                    server.copy_in(memory, file.stem)
        yield server
        server.close()

    return place


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Iterator[Memories]]:
    return lambda made: _folder(made, tmp_path, monkeypatch)


def _folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memories]:
    for file in made.glob("*.sqlite3"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setenv("FORGETTING_LAB_MEMORIES", str(tmp_path))
    folder = FolderMemories(tmp_path)
    yield folder
    folder.close()


def opened_at(page: str, memory: str, **address: str) -> AppTest:
    """A page of a memory, reached from the first page; `set_hops` stands for `set.hops`."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["memory"] = memory
    app.run()
    for name, value in address.items():
        app.query_params[name.replace("set_", "set.")] = value
    return app.switch_page(str(PAGES / f"{page}.py")).run()


def html(app: AppTest) -> str:
    """All HTML the page shows; an exception in it fails the test."""
    assert not app.exception, app.exception
    return "\n".join(element.proto.body for element in app.get("html"))
