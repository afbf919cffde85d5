"""A path that a person types is used or refused in one line, and what was typed stays where it can be mended."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from memory_core.memories import Memories
from memory_core.memory import Memory
from tests.pages.conftest import opened_at

PATHS = {"nobody": "~zzz/x.json", "long": "/" + "x" * 300, "NUL": "/tmp/\0x.json", "root": "/"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    with Memory.open(folder / "small.sqlite3") as memory:
        for day in range(1, 5):
            memory.say("My sister Mira lives in Porto.", at=f"2024-05-0{day}T10:00:00Z")
    return folder


def refused(app: AppTest, typed: str) -> None:
    assert not app.exception, app.exception
    said = [box.value.replace("\\", "") for box in [*app.error, *app.warning]]
    words = "Is a directory" if typed == "/" else "cannot be looked up"
    assert any(words in line for line in said), said
    assert all(len(line) < 250 and "\n" not in line for line in said)


@pytest.mark.parametrize("typed", PATHS.values(), ids=PATHS)
def test_questions_of_the_retrieval_page(memories: Memories, typed: str) -> None:
    app = opened_at("retrieval", "small", file=typed)
    refused(app, typed)
    assert app.text_input(key="retrieval-small-file").value == typed


@pytest.mark.parametrize("typed", PATHS.values(), ids=PATHS)
def test_probes_of_the_forgetting_page(memories: Memories, typed: str) -> None:
    app = opened_at("forgetting", "small", view="cost", policy="lru", cut="keep")
    app.segmented_control(key="set-probe").set_value("file").run()
    refused(app.text_input(key="probe-path").set_value(typed).run(), typed)
    assert app.text_input(key="probe-path").value == typed


@pytest.mark.parametrize("typed", PATHS.values(), ids=PATHS)
def test_the_transcript_of_a_replay(memories: Memories, typed: str) -> None:
    app = opened_at("chat", "small")
    app.session_state["talk-or-replay"] = "Replay"
    app.run().segmented_control(key="replay-source").set_value("path").run()
    refused(app.text_input(key="replay-path").set_value(typed).run(), typed)
    assert app.text_input(key="replay-path").value == typed


@pytest.mark.parametrize("typed", [path for path in PATHS.values() if path != "/"])
def test_folder_and_benchmark_of_the_results_page(memories: Memories, typed: str) -> None:
    app = opened_at("results", "small")
    for key in ("results-folder", "results-data"):
        refused(app.text_input(key=key).set_value(typed).run(), typed)
        assert app.text_input(key=key).value == typed
