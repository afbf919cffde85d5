"""A file chosen under *New* becomes a memory in the background: seen by who looks at it, stopped, told when over."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from memory_core.embedders.minilm import MiniLM
from memory_core.exporters import to_document
from memory_core.importers import in_background
from memory_core.jobs import Job
from memory_core.memories import Memories, OpenMemory
from memory_core.memory import Memory
from memory_core.protocols import Floats, Kind
from tests.pages.conftest import APP


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for name in ("first", "small"):
        with Memory.open(folder / f"{name}.sqlite3") as memory:
            memory.say("My sister Mira lives in Porto.", at="2024-05-01T10:00:00Z")
    return folder


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The embedder works only when it may."""
    may, embed = threading.Event(), MiniLM.embed

    def slow(self: MiniLM, texts: Sequence[str], kind: Kind = "document") -> Floats:
        if threading.current_thread().name.startswith("worker"):
            assert may.wait(30)
        return embed(self, texts, kind)

    monkeypatch.setattr(MiniLM, "embed", slow)
    yield may
    may.set()


def looked(name: str, **session: Any) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["memory"] = name
    for key, value in session.items():
        app.session_state[key] = value
    return app.run()


def ended(job: Job) -> None:
    for _ in range(3000):
        if job.finished:
            return
        time.sleep(0.01)
    raise AssertionError("it did not end")


def begun(memories: Memories, data: bytes) -> tuple[OpenMemory, Job]:
    opened = memories.create("new")
    return opened, in_background.start(opened.worker, opened.memory, "backup.JSON", data)


def exported(memories: Memories) -> bytes:
    return json.dumps(to_document(memories.open("small").memory)).encode()


def text(app: AppTest) -> str:
    assert not app.exception, app.exception
    shown = [*(one.proto.body for one in app.get("html")), *(one.value for one in app.warning),
                      *(one.value for one in app.error), *(one.value for one in app.toast)]  # fmt: skip
    return "\n".join(shown).replace("\\", "")


def test_a_memory_is_filled_while_others_are_looked_at(memories: Memories, waits: threading.Event) -> None:
    opened, job = begun(memories, exported(memories))
    app = looked("new", import_of="new")
    assert app.get("progress"), "how far it is"
    assert not app.chat_input, "nothing can be said that would stand in its way"
    assert looked("small").chat_input, "who looks at another memory is not held up"
    waits.set()
    ended(job)
    assert "new is imported: " in text(app.run())
    assert opened.memory.graph.titles == memories.open("small").memory.graph.titles
    assert "is imported" not in text(app.run()), "told once"


def test_a_stopped_import_leaves_no_memory(memories: Memories, waits: threading.Event) -> None:
    _, job = begun(memories, exported(memories))
    app = looked("new", import_of="new")
    app.button(key="cancel-Import").click().run()
    waits.set()
    ended(job)
    assert "nothing of it is stored" in text(app.run())
    assert memories.names() == ["first", "small"]


def test_a_file_that_cannot_be_imported_is_named_as_the_person_knows_it(memories: Memories) -> None:
    _, job = begun(memories, b'{"a":')
    ended(job)
    assert job.error.startswith("backup.json is damaged")
    assert "is damaged" in text(looked("new")), "who did not begin it sees why the memory is empty"
    assert "is damaged" in text(looked("new", import_of="new"))
    assert memories.names() == ["first", "small"], "for who began it the name is free again"


def created(app: AppTest, name: str, data: bytes) -> AppTest:
    next(one for one in app.sidebar.text_input if one.label == "Name").set_value(name)
    app.sidebar.file_uploader[0].set_value(("backup.json", data, "application/json"))
    return next(one for one in app.sidebar.button if one.label == "Create").click().run()


def test_a_second_click_on_create_goes_where_the_first_one_began(memories: Memories, waits: threading.Event) -> None:
    app = created(looked("small"), "new", exported(memories))
    assert app.session_state["memory_name"] == "new"
    app.session_state["memory_name"] = "small"  # the first click's run was ended by the second before it went there
    created(app, "new", exported(memories))
    assert "already" not in text(app)
    assert app.session_state["memory_name"] == "new"
    assert app.get("progress")


def test_a_run_ended_by_a_second_click_has_noted_what_it_began(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = list[str]()
    start = in_background.start

    def started(*given: Any) -> Job:
        noted.append(st.session_state["import_of"])
        return start(*given)

    monkeypatch.setattr(in_background, "start", started)
    created(looked("small"), "new", exported(memories))
    assert noted == ["new"]


def test_a_name_that_is_taken_is_refused(memories: Memories) -> None:
    app = created(looked("small"), "first", exported(memories))
    assert "is a memory first already" in text(app)
    assert app.session_state["memory_name"] == "small"


def test_a_failed_import_leads_back_to_what_was_looked_at(memories: Memories) -> None:
    app = created(looked("small"), "new", b'{"a":')
    if "new" in memories.names():
        job = in_background.latest(memories.open("new").worker)
        assert job is not None
        ended(job)
        app.run()
    assert "is damaged" in text(app)
    assert app.session_state["memory_name"] == "small"


def test_a_file_that_held_nothing_is_no_success(memories: Memories) -> None:
    with Memory.open(":memory:") as nothing:
        opened, job = begun(memories, json.dumps(to_document(nothing)).encode())
    ended(job)
    app = looked("new", import_of="new")
    assert any("held nothing" in one.value and "new is empty" in one.value for one in app.warning)
    assert not app.toast
    assert opened.memory.graph.turns == 0
