"""What the chat page promises, without a browser: it opens on anything, remembers, answers, edits and takes back."""

from __future__ import annotations

import os
import re
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from time import sleep

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import demo
from memory_core.memories import FolderMemories, Memories
from memory_core.memory import Memory
from tests.pages.conftest import APP, html
from tests.pages.large import make_large

AT = datetime(2024, 5, 1, 10, tzinfo=UTC)
SAID = (
    "My sister Mira lives in Porto.",
    "I work at Harbor Bakery and I love rye bread.",
    "My dog Rollo is six years old.",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of an empty, a small and a large memory, copied by the tests that change them."""
    folder = tmp_path_factory.mktemp("made")
    with Memory.open(folder / "empty.sqlite3") as memory:
        memory.retrying(lambda: memory.commit([]))
    with Memory.open(folder / "small.sqlite3") as memory:
        for text in SAID:
            memory.say(text, at=AT)
    make_large(folder / "large.sqlite3")
    return folder


def opened(memory: str = "", node: str = "") -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    if memory:
        app.query_params["memory"] = memory
    if node:
        app.query_params["node"] = node
    return app.run()


def node_named(memories: Memories, memory: str, title: str, label: str) -> str:
    graph = memories.open(memory).memory.graph
    return graph.ids[graph.find_title(label, title)[0]]


def test_opens_on_an_empty_a_small_and_a_large_memory(memories: Memories) -> None:
    assert "This memory is empty" in opened("empty").markdown[0].value
    assert "My sister Mira lives in Porto." in html(opened("small"))
    large = opened("large")
    assert "<b>2,000</b> nodes" in html(large)
    assert any("Showing 400 of 2,000 nodes" in caption.value for caption in large.caption)


@pytest.mark.both_places
def test_a_turn_is_remembered_and_shows_what_became_of_it(memories: Memories) -> None:
    app = opened("small")
    nodes = memories.open("small").memory.graph.node_count
    app.chat_input[0].set_value("My cousin Ilse plays the cello.").run()
    shown = html(app)
    memory = memories.open("small").memory
    assert memory.graph.node_count > nodes
    assert f"<b>{memory.graph.node_count}</b> nodes" in shown
    assert "<b>4</b> turns" in shown
    assert "Ilse</span><em>added</em>" in shown


@pytest.mark.both_places
def test_an_answer_cites_its_turn_by_date_and_says_what_it_marked(memories: Memories) -> None:
    app = opened("small")
    app.chat_input[0].set_value("Where does my sister Mira live?").run()
    shown = html(app)
    assert "<summary>1 May 2024, User</summary>" in shown
    assert "My sister Mira lives in Porto.</blockquote>" in shown
    assert "Marked as visited: " in shown
    mira = memories.open("small").memory.graph.node(node_named(memories, "small", "Mira", "Person"))
    assert mira.accesses >= 1


def test_what_was_never_said_is_not_in_memory_and_marks_nothing(memories: Memories) -> None:
    app = opened("small")
    app.chat_input[0].set_value("What is the boiling point of tungsten?").run()
    assert "Not in memory." in html(app)
    assert "Marked as visited" not in html(app)


def test_a_question_never_answers_itself(memories: Memories) -> None:
    app = opened("small")
    for _ in range(2):
        app.chat_input[0].set_value("Which instrument does Mira play?").run()
    turns = memories.open("small").memory.latest_turns(9)
    assert [turn.role for turn in turns] == ["user"] * 5, "an answer is never stored as a turn"
    assert "Which instrument" not in "".join(re.findall(r"<blockquote.*?</blockquote>", html(app), re.DOTALL))


@pytest.mark.both_places
def test_another_browser_finds_the_conversation_as_it_was(memories: Memories) -> None:
    first = opened("small")
    first.chat_input[0].set_value("Where does my sister Mira live?").run()
    again = html(opened("small"))
    assert "Where does my sister Mira live?" in again
    assert "Answer</b> from the memory" in again
    assert "<b>4</b> turns" in again


@pytest.mark.both_places
def test_an_edit_shows_and_can_be_taken_back(memories: Memories) -> None:
    node = node_named(memories, "small", "Mira", "Person")
    app = opened("small", node)
    app.button(key=f"edit-{node}").click().run()
    app.text_input(key=f"title-{node}").set_value("Mira Solano").run()
    app.button(key=f"save-{node}").click().run()
    assert "Mira Solano</span></h3>" in html(app)
    app.button(key="undo").click().run()
    assert "Mira</span></h3>" in html(app)


@pytest.mark.both_places
def test_delete_asks_first_and_undo_brings_everything_back(memories: Memories) -> None:
    memory = memories.open("small").memory
    nodes, edges = memory.graph.node_count, memory.graph.edge_count
    node = node_named(memories, "small", "Mira", "Person")
    app = opened("small", node)
    app.button(key=f"delete-{node}").click().run()
    assert memory.graph.node_count == nodes, "nothing is deleted before the answer"
    app.button(key=f"really-{node}").click().run()
    assert (memory.graph.node_count, memory.graph.edge_count) < (nodes, edges)
    app.button(key="undo").click().run()
    assert (memory.graph.node_count, memory.graph.edge_count) == (nodes, edges)
    assert not app.exception


def test_two_nodes_of_one_title_are_two(memories: Memories) -> None:
    memory = memories.open("small").memory
    memory.say("Paris Hollis is my teacher. I flew to Paris.", at=AT)
    person = node_named(memories, "small", "Mira", "Person")
    memory.edit(person, title="Porto", at=AT)
    place = node_named(memories, "small", "Porto", "Location")
    app = opened("small", place)
    app.button(key=f"delete-{place}").click().run()
    app.button(key=f"really-{place}").click().run()
    assert not app.exception
    assert memory.graph.is_live(person)
    assert not memory.graph.is_live(place)


def test_the_inspector_marks_the_words_a_node_was_read_from(memories: Memories) -> None:
    shown = html(opened("small", node_named(memories, "small", "Porto", "Location")))
    assert "lives in <mark>Porto</mark>." in shown
    assert "importance" in shown
    assert "frequency" in shown


@pytest.mark.both_places
def test_pinning_and_moving_along_an_edge(memories: Memories) -> None:
    node = node_named(memories, "small", "Porto", "Location")
    app = opened("small", node)
    app.button(key=f"pin-{node}").click().run()
    assert memories.open("small").memory.graph.node(node).pinned
    along = next(button for button in app.button if (button.key or "").startswith("go-"))
    along.click().run()
    assert "Mira</span></h3>" in html(app)


@pytest.mark.parametrize(
    ("text", "says"), [("\x00\x01\x02" * 9, "binary"), ("a" * 400_001, "split it"), ("   ", "empty")]
)
def test_a_turn_that_cannot_be_stored_gives_one_message_and_is_kept(memories: Memories, text: str, says: str) -> None:
    app = opened("small")
    app.chat_input[0].set_value(text).run()
    assert not app.exception
    assert says in app.error[0].value
    assert memories.open("small").memory.graph.turns == 3


def test_a_turn_of_200_kb_is_stored_and_shown_cut(memories: Memories) -> None:
    app = opened("small")
    app.chat_input[0].set_value("I bought a kite. " + "la la la. " * 20_000).run()
    assert "199,017 more characters" in html(app)
    app.button(key="whole-t4").click().run()
    assert "more characters" not in html(app)


def test_markup_is_shown_as_text(memories: Memories) -> None:
    app = opened("small")
    app.chat_input[0].set_value("My friend <img src=x onerror=alert(1)> Ada likes <b>chess</b>.").run()
    assert "<img src=x" not in html(app)
    assert "&lt;img src=x onerror=alert(1)&gt;" in html(app)


@pytest.mark.both_places
def test_a_failed_extraction_can_be_read_again(memories: Memories) -> None:
    from tests.fakes import SpelledExtractor

    memory = memories.open("small").memory
    turn = memory.retrying(lambda: memory.say("My uncle Otto sails.", at=AT)).turn
    good, memory.extractor = memory.extractor, SpelledExtractor(fails=True)
    turn = memory.say("My aunt Greta paints.", at=AT).turn
    memory.extractor = good
    app = opened("small")
    assert '<b class="bad">failed</b> the server is down' in html(app)
    app.button(key=f"retry-{turn}").click().run()
    assert "Greta</span><em>added</em>" in html(app)


def not_a_memory(path: Path) -> None:
    path.write_text("hello")


def newer(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 999")


def other_embedder(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = 'somebody-elses-model' WHERE key = 'embedder'")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [(not_a_memory, "memory"), (newer, "newer version"), (other_embedder, "embedder")],
)
def test_a_file_that_cannot_be_opened_is_named_and_others_can_be_chosen(memories: Memories, spoil, says) -> None:  # type: ignore[no-untyped-def]
    spoil(memories.path("small"))
    app = opened("small")
    assert not app.exception
    assert says in app.error[0].value.replace("\\", "")
    app.selectbox[0].set_value("empty").run()
    assert not app.error
    assert "This memory is empty" in app.markdown[0].value


def test_a_read_only_memory_can_be_looked_at_and_keeps_what_was_typed(memories: Memories) -> None:
    path = memories.path("small")
    path.chmod(0o444)
    app = opened("small")
    assert "My sister Mira lives in Porto." in html(app)
    app.chat_input[0].set_value("My cousin Ilse plays the cello.").run()
    assert "read-only" in app.error[0].value.replace("\\", "")


@pytest.mark.both_places
def test_a_link_to_a_memory_that_is_gone_says_so(memories: Memories) -> None:
    app = opened("../../etc/passwd")
    assert "There is no memory" in app.warning[0].value
    assert not app.exception


@pytest.mark.both_places
def test_create_duplicate_rename_and_delete(memories: Memories) -> None:
    others = memories.names()
    app = opened("small")
    app.text_input(key="new-name-small").set_value("copy").run()
    app.button(key="duplicate").click().run()
    assert memories.names() == ["copy", *others]
    app.text_input(key="new-name-copy").set_value("../escape").run()
    app.button(key="rename").click().run()
    assert "cannot name a memory" in app.error[0].value.replace("\\", "")
    app.text_input(key="new-name-copy").set_value("other").run()
    app.button(key="rename").click().run()
    assert memories.names() == sorted(["other", *others])
    app.checkbox(key="sure-other").check().run()
    app.button(key="delete-memory").click().run()
    assert memories.names() == others
    assert not app.exception


def test_the_first_start_makes_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGETTING_LAB_MEMORIES", str(tmp_path / "new"))
    short = tmp_path / "demo.jsonl"
    short.write_text("".join(demo.FILE.read_text("utf-8").splitlines(keepends=True)[:6]), "utf-8")
    monkeypatch.setattr(demo, "FILE", short)
    app = opened()
    assert not app.exception
    memories = FolderMemories(tmp_path / "new")
    replay = memories.open("demo").replay
    assert replay is not None
    while not replay.job.finished:
        sleep(0.01)
    assert (replay.job.state, replay.counts.turns) == ("done", 6)
    assert "Mara Quill" in html(app.run())
    memories.close()


def test_a_key_stays_with_the_browser_it_was_typed_in(memories: Memories) -> None:
    ana, ben = opened("small"), opened("small")
    for app in (ana, ben):
        app.selectbox(key="provider-reader").set_value("openai").run()
    ana.text_input(key="key-reader-openai").set_value("sk-test-AAA").run()
    ben.run()
    assert ben.text_input(key="key-reader-openai").value == ""
    assert "sk-test-AAA" not in html(ana) + html(ben)
    assert "sk-test-AAA" not in repr(vars(memories.open("small").memory.reader))


def test_nothing_of_the_app_is_written_outside_its_folder(memories: Memories) -> None:
    assert os.environ["FORGETTING_LAB_MEMORIES"] == str(memories.folder)
    assert {path.suffix for path in memories.folder.iterdir()} <= {".sqlite3", ".sqlite3-wal", ".sqlite3-shm"}
