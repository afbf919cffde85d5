"""Situations of other people's trackers that concern the pages: two nodes of one title, a refresh, an empty graph."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from memory_core.memories import FolderMemories, Memories
from memory_core.memory import Memory
from memory_core.schema import Extraction, FoundNode, Turn
from tests.memories import fake_memory

APP = Path(__file__).with_name("whole_app.py")
AT = datetime(2024, 5, 1, 10, tzinfo=UTC)


@pytest.fixture
def memories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memories]:
    """A folder with one memory that holds a person and a town, both called Paris."""
    with Memory.open(tmp_path / "towns.sqlite3") as memory:
        both = Extraction("ok", (FoundNode("Person", "Paris", "A friend."), FoundNode("Location", "Paris", "A town.")))
        memory.remember(Turn("user", "Paris went to Paris.", AT, "User"), both)
        for text in ("She liked it.", "It rained."):
            memory.remember(Turn("user", text, AT, "User"), Extraction("empty"))
    monkeypatch.setenv("FORGETTING_LAB_MEMORIES", str(tmp_path))
    folder = FolderMemories(tmp_path)
    yield folder
    folder.close()


def opened(node: str = "") -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["memory"] = "towns"
    if node:
        app.query_params["node"] = node
    return app.run()


def test_ui_07_two_nodes_of_one_title_have_widgets_of_their_own(memories: Memories) -> None:
    graph = memories.open("towns").memory.graph
    (person,), (town,) = (
        [graph.ids[row] for row in graph.find_title(label, "Paris")] for label in ("Person", "Location")
    )
    app = opened(town)
    assert not app.exception
    app.button(key=f"delete-{town}").click().run()
    app.button(key=f"really-{town}").click().run()
    assert not graph.is_live(town)
    assert graph.is_live(person)
    assert not opened(person).exception


def test_ui_13_a_refresh_finds_the_graph_and_the_conversation(memories: Memories) -> None:
    first = "".join(element.proto.body for element in opened().get("html"))
    memories.close()  # another process, which knows only what the file holds
    again = "".join(element.proto.body for element in opened().get("html"))
    for shown in (first, again):
        assert "<b>3</b> turns" in shown
        assert "<b>2</b> nodes" in shown
        assert all(text in shown for text in ("Paris went to Paris.", "She liked it.", "It rained."))


def test_ret_01_a_question_to_an_empty_graph_finds_nothing_and_says_so() -> None:
    with fake_memory() as memory:
        asked = memory.ask("Where does my sister live?")
        assert asked.retrieval.roots == ()
        assert asked.retrieval.nodes == ()
        assert asked.retrieval.context == ""
        assert asked.answer.text is None
        assert asked.answer.reason
