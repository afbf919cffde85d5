"""What the extraction page promises, without a browser: every turn under the glass, retries seen before they are kept,
pairs settled, merges taken back; and text of any kind shown letter by letter."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import sleep

import pytest
from streamlit.testing.v1 import AppTest

from memory_core.evaluation.gold_sets import GoldSets
from memory_core.exporters import to_document
from memory_core.importers.memories import import_memory
from memory_core.memories import Memories
from memory_core.memory import Memory
from memory_core.schema import Extraction, FoundNode, Turn
from memory_core.validation import read_reply
from tests.pages.conftest import PAGES, html, opened_at
from tests.pages.large import make_large

opened = partial(opened_at, "extraction")
AT = datetime(2024, 5, 1, 10, tzinfo=UTC)
EVIL = "<script>window.x=1</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty, a small and a large memory; one of hostile text; one whose turns failed."""
    folder = tmp_path_factory.mktemp("made")
    with Memory.open(folder / "empty.sqlite3") as memory:
        memory.retrying(lambda: memory.commit([]))
    with Memory.open(folder / "small.sqlite3") as memory:
        memory.say("My sister Mira lives in Porto. Whatever.", at=AT)
        memory.say("I work at Harbor Bakery and I love rye bread.", at=AT)
        memory.say("ok", at=AT)
    with Memory.open(folder / "evil.sqlite3") as memory:
        nodes = (FoundNode("Person", EVIL, EVIL, {EVIL: EVIL}, (0, 8)), FoundNode("Person", EVIL + "!", EVIL))
        made = Extraction("repaired", nodes, raw=EVIL, reason=EVIL, model=EVIL)
        memory.remember(Turn("user", EVIL, AT, EVIL, EVIL, EVIL), made)
        bad = read_reply('{"nodes": [{"id": "n1", "label": "City", "title": "Ghent", "content": ""}], "edges": []}')
        memory.remember(Turn("user", "Ghent.", AT, "User"), bad)
    with Memory.open(folder / "failed.sqlite3") as memory:
        for text in ("My sister Mira lives in Porto.", "My dog Rollo is six years old."):
            memory.remember(Turn("user", text, AT, "User"), Extraction("failed", reason="the server is down"))
    make_large(folder / "large.sqlite3", 600)
    return folder


def told(app: AppTest) -> str:
    return " ".join(box.value.replace("\\", "") for box in [*app.info, *app.warning, *app.error, *app.caption])


def test_a_turn_stands_under_the_glass_with_all_that_became_of_it(memories: Memories) -> None:
    shown = html(opened("small", turn="t1"))
    assert 'title="Person Mira: added">Mira</mark>' in shown
    assert "Said, and nothing read from it" in shown
    assert "Whatever." in shown
    assert "of its words stored" in shown


def test_any_status_is_counted_and_chosen(memories: Memories) -> None:
    app = opened("small")
    pills = app.get("button_group")[1]
    assert [option.content for option in pills.proto.options] == ["ok 2", "empty 1"]
    frame = app.dataframe[0].value
    assert list(frame["status"]) == ["ok", "ok", "empty"]


@pytest.mark.parametrize("view", ["turns", "overview", "court", "compare", "gold", "prompts", "difference"])
def test_every_view_opens_on_every_memory(memories: Memories, view: str) -> None:
    for memory in ("empty", "small", "large", "evil", "failed"):
        app = opened(memory, view=view)
        shown = html(app)
        assert "<script>window" not in shown
        assert "onerror=alert(1)>" not in shown
        assert not app.error


def test_a_memory_without_replies_says_so(memories: Memories) -> None:
    assert "came from a file without its extraction" in told(opened("large", turn="t5"))
    assert "without their extractions" in told(opened("large", view="overview"))


@pytest.mark.both_places
def test_a_failed_turn_is_read_again_seen_and_kept(memories: Memories) -> None:
    memory = memories.open("failed").memory
    app = opened("failed", turn="t1")
    app.button(key="again-failed").click().run()
    wait(memories, "failed")
    app.run()
    shown = html(app)
    assert "failed → ok" in shown
    assert '<li class="come">Mira (Person)</li>' in shown
    assert memory.graph.node_count == 0, "nothing is stored before it is kept"
    app.button(key="again-keep").click().run()
    assert memory.statuses() == {"ok": 2}
    assert memory.graph.find_title("Person", "Mira")


def test_one_turn_read_again_is_kept_and_taken_back(memories: Memories) -> None:
    memory = memories.open("small").memory
    before = to_document(memory)
    app = opened("small", turn="t2")
    app.selectbox(key="extraction-small-again").set_value("embedded, at most 4 nodes a turn").run()
    app.button(key="again-one").click().run()
    wait(memories, "small")
    app.run()
    app.button(key="again-keep").click().run()
    assert len(memory.attempts("t2")) == 2
    app.button(key="undo-extraction").click().run()
    assert to_document(memory) == before


@pytest.mark.both_places
def test_a_pair_is_judged_merged_and_undone(memories: Memories) -> None:
    memory = memories.open("evil").memory
    before = to_document(memory)
    app = opened("evil", view="court")
    app.button(key="verdict-same").click().run()
    assert [pair["state"] for pair in memory.pairs()] == ["same"]
    app.get("button_group")[1].set_value("same").run()
    app.button(key="merge-them").click().run()
    assert memory.graph.node_count == 1
    app.button(key="undo-extraction").click().run()
    assert to_document(memory) == before


def wait(memories: Memories, name: str) -> None:
    while memories.open(name).busy:
        sleep(0.05)


def test_extractors_are_compared_in_the_background_and_scored_against_gold(memories: Memories) -> None:
    app = opened("small", view="compare")
    app.button(key="compare").click().run()
    wait(memories, "small")
    app.run()
    sums = app.dataframe[0].value
    assert list(sums["extractor"]) == ["embedded", "embedded, at most 4 nodes a turn"]
    assert sums["empty"].tolist() == [1, 1]
    app.selectbox(key="extraction-small-source").set_value("gold").run()
    app.number_input(key="extraction-small-most").set_value(4).run()
    app.button(key="compare").click().run()
    wait(memories, "small")
    app.run()
    scores = next(frame.value for frame in app.dataframe if "nodes recall" in frame.value)
    assert scores["nodes recall"][0].endswith("]")


def test_a_reading_is_corrected_and_saved_as_gold(
    memories: Memories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGETTING_LAB_GOLD", str(tmp_path / "gold"))
    app = opened("small", view="gold", turn="t1")
    next(button for button in app.button if button.label == "Save as gold").click().run()
    assert not app.exception
    (gold,) = GoldSets.default().read("mine")
    assert gold.turn.text == "My sister Mira lives in Porto. Whatever."
    assert "Mira" in [node.title for node in gold.nodes]


def test_a_prompt_is_kept_as_a_new_version(memories: Memories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGETTING_LAB_PROMPTS", str(tmp_path / "prompts"))
    app = opened("small", view="prompts")
    area = app.text_area(key="extraction-small-system-extraction-v1")
    area.set_value(area.value + "\nBe brief.").run()
    app.button(key="prompt-keep").click().run()
    assert (tmp_path / "prompts" / "extraction-v2.txt").read_text("utf-8").count("Be brief.") == 1


@pytest.mark.both_places
def test_two_memories_differ_by_what_only_one_holds(memories: Memories) -> None:
    app = opened("small", view="difference")
    app.selectbox(key="extraction-small-other").set_value("empty").run()
    shown = html(app)
    assert '<li class="come">Mira (Person)</li>' in shown
    assert "3 added, 0 gone" in shown


def test_a_memory_of_others_says_what_it_lacks_on_every_page(memories: Memories, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    rows = [{"id": "x1", "memory": EVIL, "created_at": "2024-07-01T12:00:00Z", "categories": [EVIL]}]
    file.write_text(json.dumps({"results": rows}), "utf-8")
    import_memory(memories.create("theirs").memory, file)
    app = opened("theirs", view="overview")
    shown = html(app)
    assert "from Mem0: no turns, no access log" in shown
    assert "<script>window" not in shown
    assert list(app.dataframe[0].value["became"]) == ["Concept"]
    for page in ("chat", "retrieval", "forgetting"):
        app.switch_page(str(PAGES / f"{page}.py")).run()
        assert "from Mem0: no turns, no access log" in html(app)
