"""The app in a real Chromium: say something, see the graph grow, click a node, read its turns; replay a transcript."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from memory_core.memory import Memory
from tests.browser.conftest import Seen, open_page, running_app
from tests.pages.large import make_large

AT = datetime(2024, 5, 1, 10, tzinfo=UTC)
PATIENCE = 20_000  # milliseconds


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memories")
    with Memory.open(folder / "small.sqlite3") as memory:
        memory.say("My sister Mira lives in Porto.", at=AT)
    with Memory.open(folder / "replayed.sqlite3") as memory:
        memory.retrying(lambda: memory.commit([]))
    make_large(folder / "large.sqlite3")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The app itself on a free port, with memories of its own."""
    with running_app(folder) as address:
        yield address


@pytest.fixture
def visit(chromium: Browser, address: str) -> Iterator[Callable[[str], tuple[Page, Seen]]]:
    """Opens a path of the app; afterwards only the app was asked for anything, and nothing went wrong in the page."""
    with open_page(chromium) as (page, seen):

        def go(path: str) -> tuple[Page, Seen]:
            page.goto(f"{address}/{path}")
            page.locator(".numbers").wait_for(timeout=PATIENCE)
            return page, seen

        yield go
        assert {host for host in seen.hosts if host != "inline"} == {address.removeprefix("http://")}
        assert seen.errors == []


def count(page: Page, unit: str) -> int:
    text = page.locator(".numbers").inner_text()
    found = re.search(rf"([\d,]+) {unit}", text)
    assert found, text
    return int(found[1].replace(",", ""))


def until(page: Page, true: Callable[[], bool], what: str) -> None:
    end = datetime.now(UTC) + timedelta(milliseconds=PATIENCE)
    while datetime.now(UTC) < end:
        if true():
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"never happened: {what}")


def settled(page: Page, unit: str) -> int:
    """The number once it has not changed for two seconds, in which a replay that goes on would remember ten turns."""
    for _ in range(5):
        before = count(page, unit)
        page.wait_for_timeout(2000)
        if count(page, unit) == before:
            return before
    raise AssertionError(f"the number of {unit} never settles")


def say(page: Page, text: str) -> None:
    page.get_by_test_id("stChatInputTextArea").fill(text)
    page.keyboard.press("Enter")


def graph(page: Page) -> Locator:
    return page.locator(".graph[data-nodes]")


def drawn(page: Page) -> int:
    graph(page).wait_for(timeout=PATIENCE)
    return int(graph(page).get_attribute("data-nodes") or 0)


def click_node(page: Page, title: str) -> None:
    """A real click on the canvas where the node stands."""
    graph(page).wait_for(timeout=PATIENCE)
    page.wait_for_timeout(700)  # nodes glide to their place
    at = graph(page).evaluate(
        """(box, title) => {
            const id = [...box.view.nodes.values()].find((node) => node.title === title).id;
            const p = box.view.net.canvasToDOM(box.view.net.getPositions([id])[id]);
            const stage = box.view.stage.getBoundingClientRect();
            return [stage.left + p.x, stage.top + p.y];
        }""",
        title,
    )
    page.mouse.click(*at)


def test_the_first_visitor_may_come_to_any_page_by_its_address(visit) -> None:  # type: ignore[no-untyped-def]
    page, _ = visit("results?memory=small")
    assert count(page, "turns") == 1
    assert "memory=small" in page.url


def test_a_turn_grows_the_graph_and_a_click_shows_the_words_it_was_read_from(visit) -> None:  # type: ignore[no-untyped-def]
    page, _ = visit("?memory=small")
    nodes, before = count(page, "nodes"), drawn(page)
    say(page, "My cousin Ilse plays the cello.")
    until(page, lambda: count(page, "nodes") > nodes, "the number of nodes rises")
    until(page, lambda: drawn(page) > before, "the picture grows")
    click_node(page, "Ilse")
    card = page.locator(".st-key-card")
    card.locator("h3", has_text="Ilse").wait_for(timeout=PATIENCE)
    assert "Ilse" in card.locator("mark").first.inner_text()
    assert "My cousin Ilse plays the cello." in card.locator("blockquote").inner_text()
    until(page, lambda: "node=" in page.url, "the address names the node")


def test_an_answer_opens_its_turn_and_a_reload_keeps_the_conversation(visit) -> None:  # type: ignore[no-untyped-def]
    page, _ = visit("?memory=small")
    say(page, "Where does my sister live?")
    answer = page.locator(".turn.answer")
    answer.wait_for(timeout=PATIENCE)
    answer.locator(".cited summary").first.click()
    assert "My sister Mira lives in Porto." in answer.locator("blockquote").first.inner_text()
    turns = count(page, "turns")
    page.reload()
    page.locator(".turn.answer").wait_for(timeout=PATIENCE)
    assert count(page, "turns") == turns


def test_a_replay_pauses_resumes_and_outlives_the_page(visit) -> None:  # type: ignore[no-untyped-def]
    page, _ = visit("?memory=replayed")
    page.get_by_role("tab", name="Replay").click()
    page.get_by_text("5 turns/s").click()
    page.get_by_role("button", name="Play").click()
    until(page, lambda: count(page, "turns") >= 2, "turns are remembered")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for(timeout=PATIENCE)
    paused = settled(page, "turns")
    page.reload()
    page.get_by_role("tab", name="Replay").click()
    page.get_by_role("button", name="Play").click()
    until(page, lambda: count(page, "turns") > paused, "it goes on after a reload")
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("was stopped after").wait_for(timeout=PATIENCE)


def test_delete_asks_and_undo_brings_the_node_back(visit) -> None:  # type: ignore[no-untyped-def]
    page, _ = visit("?memory=small")
    nodes = count(page, "nodes")
    click_node(page, "Porto")
    page.get_by_role("button", name="Delete…").click()
    page.locator(".st-key-ask").get_by_role("button", name="Delete", exact=True).click()
    until(page, lambda: count(page, "nodes") == nodes - 1, "one node less")
    page.get_by_role("button", name="Undo").click()
    until(page, lambda: count(page, "nodes") == nodes, "it is back")


def test_a_link_opens_a_large_memory_at_its_node(visit) -> None:  # type: ignore[no-untyped-def]
    page, _ = visit("?memory=large&node=n14")
    page.locator(".st-key-card mark").wait_for(timeout=PATIENCE)
    assert count(page, "nodes") == 2000
    assert drawn(page) == 400
    page.get_by_text("Showing 400 of 2,000 nodes:").wait_for(timeout=PATIENCE)


def test_what_could_not_be_stored_stands_where_it_was_typed(visit, folder: Path) -> None:  # type: ignore[no-untyped-def]
    with Memory.open(folder / "closed.sqlite3") as memory:
        memory.say("My dog is Rollo.", at=AT)
    (folder / "closed.sqlite3").chmod(0o444)
    page, _ = visit("?memory=closed")
    say(page, "My cat is Ines.")
    page.get_by_text("read-only").wait_for(timeout=PATIENCE)
    until(
        page, lambda: page.get_by_test_id("stChatInputTextArea").input_value() == "My cat is Ines.", "the text is kept"
    )
