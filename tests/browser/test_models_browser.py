"""Models in a real Chromium: chosen in the sidebar, tested, answers that stream and stop; words that stay words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from memory_core.memory import Memory
from memory_core.schema import Extraction, FoundEdge, FoundNode, Turn, utc
from tests.browser.conftest import open_page, running_app
from tests.browser.test_chat_browser import PATIENCE, count, say, until
from tests.servers.hostile import Answer, Hostile

AT = utc("2024-05-01T10:00:00Z")
KEY = "sk-browser-0123456789abcdef"
PWN = "x</script><script>window.__pwned=1</script><img src=x onerror='window.__pwned=2'>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memories")
    with Memory.open(folder / "small.sqlite3") as memory:
        memory.say("My sister Mira lives in Porto.", at=AT)
    node = FoundNode("Concept", PWN, f"<b>leak1</b> {PWN}", {"kind": PWN, "note": "<i>leak2</i>"}, (0, 10))
    other = FoundNode("Person", "<img src=x onerror='window.__pwned=3'>", PWN, {}, (0, 10))
    with Memory.open(folder / "hostile.sqlite3") as memory:
        turn = Turn("user", f"I said {PWN} to <u>leak4</u>. ![x](http://evil.example/a.png)", AT, PWN, PWN, PWN)
        found = Extraction("ok", (node, other), (FoundEdge(0, 1, "<s>leak3</s>"),), extractor="by hand", raw=PWN)
        memory.remember(turn, found)
        failed = Extraction("failed", reason=PWN, raw=PWN, model=PWN, extractor=PWN)
        memory.remember(Turn("assistant", PWN, AT, "Assistant", "s2", "t2"), failed)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with running_app(folder) as address:
        yield address


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with open_page(chromium) as (page, seen):
        yield page
        assert seen.errors == []
        assert not {host for host in seen.hosts if "evil" in host}


def visit(page: Page, address: str, path: str) -> None:
    page.goto(f"{address}/{path}")
    page.locator(".numbers").wait_for(timeout=2 * PATIENCE)


def choose(page: Page, part: str, provider: str, **fields: str) -> None:
    """Pick a provider of a part in the sidebar and fill in its fields."""
    page.locator(f".st-key-provider-{part} [role=combobox], .st-key-provider-{part} input").first.click()
    page.get_by_role("option", name=provider, exact=True).click()
    box = page.locator(f".st-key-details-{part}")
    box.wait_for(timeout=PATIENCE)
    for label, value in fields.items():
        field = box.get_by_label(label, exact=True)
        field.fill(value)
        field.press("Enter")
        page.wait_for_timeout(300)


def press(page: Page, key: str) -> None:
    """A button by its key; one with a tip stands twice in the page."""
    page.locator(f".st-key-{key} button").first.click()


def streamed(*words: str, usage: dict[str, int] | None) -> Answer:
    """A streamed chat completion as OpenAI sends it."""
    chunks: list[dict[str, object]] = [{"choices": [{"delta": {"content": word}}]} for word in words]
    chunks += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
    lines = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    return Answer(pieces=[*lines, b"data: [DONE]\n\n"], kind="text/event-stream")


def test_a_real_model_is_chosen_and_tested_its_words_stream_and_stop(page: Page, address: str, llama: str) -> None:
    visit(page, address, "?memory=small")
    choose(page, "reader", "OpenAI-compatible", Model="smollm2", Address=llama)
    press(page, "test-reader")
    page.get_by_text("OK: SmolLM2").first.wait_for(timeout=PATIENCE)
    press(page, "list-reader")
    page.locator(".st-key-pick-reader-compatible").wait_for(timeout=PATIENCE)
    turns = count(page, "turns")
    say(page, "Where does my sister live?")
    words = page.locator(".turn.answer", has_text="Answer …").locator("p")
    words.wait_for(timeout=2 * PATIENCE)
    first = words.inner_text()
    until(page, lambda: words.count() == 0 or len(words.inner_text()) > len(first), "more words come")
    press(page, "stop-saying")
    page.get_by_text("Stopped: nothing was stored.").wait_for(timeout=PATIENCE)
    box = page.get_by_test_id("stChatInputTextArea")
    until(page, lambda: box.input_value() == "Where does my sister live?", "the words are back where they were typed")
    assert count(page, "turns") == turns


def test_an_answer_tells_what_it_took_and_the_key_is_nowhere(
    page: Page, address: str, folder: Path, hostile: Hostile
) -> None:
    hostile.says(streamed("She lives", " in <b>Porto</b>.", usage={"prompt_tokens": 1200, "completion_tokens": 9}))
    visit(page, address, "?memory=small")
    choose(page, "reader", "OpenAI", Model="gpt-4o-mini", Address=f"{hostile.url}/v1", Key=KEY)
    say(page, "Where does my sister live?")
    answer = page.locator(".turn.answer", has_text="1,200 tokens in, 9 out, $0.0002")
    answer.wait_for(timeout=PATIENCE)
    assert "She lives in <b>Porto</b>." in answer.inner_text()
    assert hostile.seen_headers[-1]["authorization"] == f"Bearer {KEY}"
    assert KEY not in page.locator("body").inner_text() + page.url
    holders = "[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.value.includes('KEY')))"
    kinds = page.evaluate(holders.replace("KEY", KEY) + ".map(e => e.tagName + e.type)")
    assert set(kinds) <= {"INPUTpassword"}, "the field it was typed in is masked, and nothing else holds it"
    assert not [path for path in folder.iterdir() if KEY.encode() in path.read_bytes()]
    hostile.says(Answer(json.dumps({"error": {"message": f"Incorrect API key: {KEY}"}}), 401))
    press(page, "test-reader")
    page.get_by_text("does not accept the key").wait_for(timeout=PATIENCE)
    assert KEY not in page.locator("body").inner_text()


def injected(page: Page) -> list[str]:
    """What hostile text did to the page and the frames in it: nothing, or what."""
    found = """() => [
        ...(window.__pwned === undefined ? [] : ["script ran: " + window.__pwned]),
        ...[...document.querySelectorAll("img")].filter(i => i.getAttribute("src") === "x").map(i => i.outerHTML),
        ...[...document.querySelectorAll("img")].filter(i => i.src.includes("evil.example")).map(i => i.outerHTML),
        ...[...document.querySelectorAll("script")].filter(s => s.text.startsWith("window.__pwned")).map(s => s.text),
        ...[...document.querySelectorAll("b, i, s, u")].filter(
            e => /^leak\\d$/.test(e.textContent) && !e.attributes.length).map(e => e.outerHTML),
    ]"""
    return [what for frame in page.frames for what in frame.evaluate(found)]


def test_what_looks_for_injected_elements_finds_them(page: Page) -> None:
    page.set_content("<b>leak1</b><script>window.__pwned=1</script><p>harmless</p>")
    assert len(injected(page)) == 3


def quiet(page: Page) -> None:
    page.locator("[data-test-script-state=notRunning]").wait_for(timeout=2 * PATIENCE)
    page.wait_for_timeout(600)


@pytest.mark.parametrize("of", ["", "extraction", "retrieval", "forgetting", "results"])
def test_sec_01_markup_and_script_are_words_on_every_page(page: Page, address: str, of: str) -> None:
    visit(page, address, f"{of}?memory=hostile&node=n1&q=who+said+x<img+src%3Dx>")
    quiet(page)
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    page.wait_for_timeout(300)
    assert injected(page) == []
    if of in ("", "extraction"):
        assert "x</script><script>window.__pwned=1</script>" in page.locator("body").inner_text()


def test_sec_01_runs_of_strangers_are_words(page: Page, address: str, tmp_path: Path) -> None:
    for name, f1 in (("a", 0.2), ("b", 0.9)):
        rows = [
            {"question_id": f"q{n} {PWN}", "question_type": f"<b>leak1</b>{PWN}", "question": PWN, "predicted": PWN,
             "ground_truth": PWN, "f1": f1, "precision": f1, "recall": f1, "judge_correct": n % 2} for n in range(4)
        ]  # fmt: skip
        head = {"run": {"label": f"<b>leak1</b>{name}{PWN}", "group": PWN, "condition": f"<i>leak2</i>{name}"}}
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, [head, *rows])))
    visit(page, address, "results?memory=hostile")
    page.get_by_text("Add runs").click()
    page.locator(".st-key-results-dropped input[type=file]").set_input_files(sorted(tmp_path.glob("*.jsonl")))
    page.get_by_text("b.jsonl").first.wait_for(timeout=PATIENCE)
    quiet(page)
    group = page.get_by_test_id("stSelectbox").filter(has=page.get_by_text("Group", exact=True))
    group.locator("[role=combobox], input").first.click()
    page.get_by_role("option").filter(has_text="window.__pwned=1").first.click()
    quiet(page)
    assert "window.__pwned=1" in page.locator("body").inner_text()
    assert injected(page) == []


def test_sec_01_a_hostile_answer_and_question_are_words(page: Page, address: str, hostile: Hostile) -> None:
    hostile.says(streamed(PWN[:20], PWN[20:], " ![x](http://evil.example/a.png)", usage=None))
    visit(page, address, "?memory=hostile")
    choose(page, "reader", "OpenAI-compatible", Model="m", Address=f"{hostile.url}/v1")
    say(page, f"Who is {PWN}?")
    page.locator(".turn.answer").last.wait_for(timeout=PATIENCE)
    quiet(page)
    assert injected(page) == []
    assert PWN in page.locator(".turn.answer p").last.inner_text()


def test_sec_01_the_exported_picture_runs_nothing(page: Page, folder: Path, tmp_path: Path) -> None:
    from memory_core.exporters import export

    with Memory.open(folder / "hostile.sqlite3") as memory:
        for ending in ("html", "json", "graphml", "csv"):
            export(memory, tmp_path / f"m.{ending}")
    page.goto((tmp_path / "m.html").as_uri())
    page.wait_for_timeout(1500)
    assert injected(page) == []
    written = (tmp_path / "m.html").read_text("utf-8")
    assert "</script><script>window" not in written
    assert json.loads((tmp_path / "m.json").read_text("utf-8"))["nodes"]["n1"]["title"] == PWN
