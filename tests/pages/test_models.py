"""What the sidebar's models promise: one choice a browser, keys that stay, embedders that change, failures mended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest
from streamlit.testing.v1 import AppTest

from memory_core.importers.transcripts import read_transcript
from memory_core.memories import FolderMemories, Memories, OpenMemory
from memory_core.memory import Memory
from memory_core.parts import default_embedder
from tests.fakes import SpelledExtractor
from tests.pages.test_chat import AT, html, opened
from tests.servers.hostile import Answer, Hostile, chat
from tests.servers.ollama import EMBEDDING_MODEL, Translator

KEY = "sk-page-0123456789abcdef"
GRAPH = json.dumps(
    {
        "nodes": [
            {"id": "n1", "label": "Person", "title": "Mira", "content": "A sister.", "attributes": []},
            {"id": "n2", "label": "City", "title": "Porto", "content": "A city.", "attributes": []},
        ],
        "edges": [],
    }
)


@pytest.fixture
def memories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memories]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FORGETTING_LAB_MEMORIES", str(tmp_path))
    with Memory.open(tmp_path / "small.sqlite3", extractor=SpelledExtractor()) as memory:
        memory.say("Person:Mira -lives_in-> Location:Porto", at=AT)
    folder = FolderMemories(tmp_path)
    yield folder
    folder.close()


def choose(app: AppTest, part: str, provider: str, **fields: str) -> AppTest:
    app.selectbox(key=f"provider-{part}").set_value(provider).run()
    for field, value in fields.items():
        app.text_input(key=f"{field}-{part}-{provider}").set_value(value).run()
    return app


def replaying(app: AppTest) -> AppTest:
    """The tab that plays a transcript."""
    app.session_state["talk-or-replay"] = "Replay"
    return app.run()


def settled(app: AppTest, of: OpenMemory) -> AppTest:
    while of.busy:
        sleep(0.02)
    return app.run()


def said(app: AppTest, text: str) -> AppTest:
    app.chat_input[0].set_value(text).run()
    for _ in range(50):
        if "saying-small" not in app.session_state:
            return app
        sleep(0.1)
        app.run()
    raise AssertionError("the exchange never ended")


def test_each_part_is_chosen_apart_and_the_choice_is_told_without_keys(memories: Memories) -> None:
    app = choose(opened("small"), "extractor", "ollama", model="qwen2.5:7b")
    choose(app, "reader", "openai", key=KEY)
    choose(app, "judge", "compatible", model="phi", url="http://localhost:8080/v1")
    lines = app.code[0].value
    assert "FORGETTING_LAB_EXTRACTOR=ollama:qwen2.5:7b" in lines
    assert "FORGETTING_LAB_READER=openai" in lines
    assert "FORGETTING_LAB_EMBEDDER=embedded" in lines
    assert "FORGETTING_LAB_JUDGE=compatible:phi" in lines
    assert "OPENAI_BASE_URL=http://localhost:8080/v1" in lines
    assert KEY not in lines + html(app)


def test_the_list_of_models_comes_from_the_server_and_another_name_may_be_typed(
    memories: Memories, hostile: Hostile
) -> None:
    app = choose(opened("small"), "reader", "compatible", model="mine", url=f"{hostile.url}/v1")
    hostile.says('{"data": [{"id": "b"}, {"id": "a"}]}')
    app.button(key="list-reader").click().run()
    listed = app.selectbox(key="pick-reader-compatible")
    assert (listed.options, listed.value) == (["a", "b"], "mine")
    listed.set_value("b").run()
    assert app.session_state["models"]["reader"].model == "b"


@pytest.mark.parametrize(
    ("provider", "fields", "says"),
    [
        ("openai", {"model": "gpt 4o", "key": KEY}, "is no model name"),
        ("openai", {}, "set OPENAI_API_KEY"),
        ("compatible", {"model": "m", "url": "localhost:8080"}, "must be http:// or https://"),
        ("compatible", {"model": "m"}, "needs an address"),
        ("ollama", {"url": "http://127.0.0.1:9"}, "ollama serve"),
    ],
)
def test_the_test_button_says_in_one_line_what_is_wrong(
    memories: Memories, provider: str, fields: dict[str, str], says: str
) -> None:
    app = choose(opened("small"), "reader", provider, **fields)
    app.button(key="test-reader").click().run()
    assert not app.exception
    line = app.error[0].value.replace("\\", "")
    assert says in line
    assert "\n" not in line


def test_a_wrong_variable_is_one_line_and_the_page_lives(memories: Memories, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGETTING_LAB_JUDGE", "gemini")
    app = opened("small")
    assert not app.exception
    assert "There is no judge 'gemini'" in app.error[0].value.replace("\\", "")
    assert "Mira" in html(app)


def test_the_key_of_the_environment_goes_to_no_address_that_is_typed(
    memories: Memories, hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    hostile.says(chat("Yes."))
    app = choose(opened("small"), "reader", "compatible", model="m", url=f"{hostile.url}/v1")
    app.button(key="test-reader").click().run()
    assert [headers.get("authorization", "") for headers in hostile.seen_headers] == ["Bearer none"]
    assert KEY not in html(app)


def test_two_tabs_ask_their_own_server_with_their_own_key(memories: Memories, hostile: Hostile) -> None:
    hostile.says(chat("Yes."))
    tabs = {name: opened("small") for name in ("ana", "ben")}
    for name, app in tabs.items():
        choose(app, "reader", "compatible", model=name, url=f"{hostile.url}/v1", key=f"key-of-{name}")
    for app in (*tabs.values(), *tabs.values()):
        app.button(key="test-reader").click().run()
    sent = [(a["model"], h["authorization"]) for a, h in zip(hostile.asked, hostile.seen_headers, strict=True)]
    assert sent == 2 * [("ana", "Bearer key-of-ana"), ("ben", "Bearer key-of-ben")]


def test_what_the_model_returned_was_repaired_and_dropped_stands_with_the_turn(
    memories: Memories, hostile: Hostile
) -> None:
    raw = f"```json\n{GRAPH}\n```"
    hostile.says(chat(raw, usage={"prompt_tokens": 1000, "completion_tokens": 200}))
    app = choose(opened("small"), "extractor", "openai", url=f"{hostile.url}/v1", key=KEY)
    shown = html(said(app, "My sister Mira lives in Porto."))
    assert "What m returned" in shown
    assert "```json" in shown
    assert "dropped node" in shown
    assert "repaired: " in shown
    assert "1,000 tokens in, 200 out" in shown
    assert KEY not in shown


def test_a_server_that_is_down_keeps_the_turn_and_all_that_failed_are_read_again(
    memories: Memories, hostile: Hostile
) -> None:
    hostile.says(Answer('{"error": {"message": "no"}}', 401))
    app = choose(opened("small"), "extractor", "compatible", model="m", url=f"{hostile.url}/v1")
    for text in ("My sister Mira lives in Porto.", "My dog is Rollo."):
        said(app, text)
    memory = memories.open("small").memory
    assert memory.failed_turns() == ["t2", "t3"]
    assert any("2 turns could not be read" in caption.value for caption in app.caption)
    hostile.says(chat(GRAPH))
    app.button(key="retry-all").click().run()
    shown = html(settled(app, memories.open("small")))
    assert memory.failed_turns() == []
    assert "attempt 2" in shown
    assert not any("could not be read" in caption.value for caption in app.caption)


@pytest.fixture
def short_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Twelve turns of the demo in its place; their source ids."""
    from pages._ui import replay_panel

    lines = replay_panel.FILE.read_text("utf-8").splitlines(keepends=True)[:12]
    (tmp_path / "demo.jsonl").write_text("".join(lines), "utf-8")
    monkeypatch.setattr(replay_panel, "FILE", tmp_path / "demo.jsonl")
    return [turn.source_id for turn in read_transcript(tmp_path / "demo.jsonl").conversations[0].turns]


def test_a_replay_says_what_it_may_take_before_and_what_it_took(
    memories: Memories, hostile: Hostile, short_demo: list[str]
) -> None:
    hostile.says(chat('{"nodes": [], "edges": []}', usage={"prompt_tokens": 500, "completion_tokens": 10}))
    app = replaying(choose(opened("small"), "extractor", "openai", url=f"{hostile.url}/v1", key=KEY))
    expected = next(caption.value for caption in app.caption if "12 calls, at most" in caption.value)
    assert "tokens in" in expected
    assert "$0." in expected.replace("\\", "")
    app.number_input(key="parallel").set_value(8).run()
    app.button(key="play").click().run()
    settled(app, memories.open("small"))
    replay = memories.open("small").replay
    assert replay is not None
    assert (replay.counts.tokens_in, replay.counts.tokens_out) == (6000, 120)
    assert any("6,000 tokens in, 120 out" in caption.value.replace("\\", "") for caption in app.caption)
    stored = memories.open("small").memory.latest_turns(12)
    assert [turn.source_id for turn in stored] == short_demo, "stored in order"


def test_stop_leaves_a_call_in_its_middle_and_go_on_takes_up_from_there(memories: Memories, hostile: Hostile) -> None:
    hostile.says(Answer(chat('{"nodes": [], "edges": []}'), pause=20))
    app = replaying(choose(opened("small"), "extractor", "compatible", model="m", url=f"{hostile.url}/v1"))
    app.button(key="play").click().run()
    of = memories.open("small")
    while not hostile.asked:
        sleep(0.02)
    app.run().button(key="stop").click().run()
    for _ in range(100):
        if not of.busy:
            break
        sleep(0.02)
    assert not of.busy, "the call is left within two seconds, not after twenty"
    assert of.replay is not None
    assert of.replay.job.state == "cancelled"
    assert of.memory.stats()["turns"] == 1
    assert app.run().button(key="play")


def test_a_memory_gets_another_embedder_in_the_background_and_opens_with_it_again(
    memories: Memories, ollama: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = choose(opened("small"), "embedder", "ollama", model=EMBEDDING_MODEL, url=ollama.url)
    assert any("2 nodes to embed with ollama" in caption.value for caption in app.caption)
    app.button(key="reembed").click().run()
    settled(app, memories.open("small"))
    assert f"ollama/{EMBEDDING_MODEL}" in html(app)
    shared = memories.open("small").memory
    assert shared.graph.vectors.values.shape == (2, 768)
    assert shared.embedder == default_embedder(f"ollama/{EMBEDDING_MODEL}"), "others have the environment's address"
    shown = html(said(app, "Where does Mira live?"))
    assert "could not" not in shown, "this browser reaches it at the address it typed"
    memories.close()
    monkeypatch.setenv("OLLAMA_HOST", ollama.url)
    assert memories.open("small").memory.retrieve("Mira").candidates


def test_a_memory_whose_server_is_down_can_be_looked_at_and_loses_no_turn(
    memories: Memories, ollama: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", ollama.url)
    with Memory.open(memories.path("far"), embedder=default_embedder(f"ollama/{EMBEDDING_MODEL}")) as memory:
        memory.say("My sister Mira lives in Porto.", at=AT)
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    app = opened("far")
    assert "My sister Mira lives in Porto." in html(app)
    app.chat_input[0].set_value("My dog is Rollo.").run()
    assert '<b class="bad">failed</b> Cannot reach Ollama at http://127.0.0.1:9' in html(app)
    assert memories.open("far").memory.graph.turns == 2
