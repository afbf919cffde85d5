"""The retrieval page in a real Chromium: rings by hop, a node in the inspector, a slider, the downloads, the link."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from memory_core.memory import Memory
from tests.browser.conftest import open_page, running_app
from tests.browser.test_chat_browser import PATIENCE, click_node, graph, until

AT = datetime(2024, 5, 1, 10, tzinfo=UTC)
QUESTION = "Where does my sister Mira live?"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The app on a free port with one small memory."""
    with Memory.open(tmp_path / "small.sqlite3") as memory:
        for text in ("My sister Mira lives in Porto.", "Mira works at Harbor Bakery.", "Porto lies by the sea."):
            memory.say(text, at=AT)
    with running_app(tmp_path) as address:
        yield address


def test_rings_inspector_slider_downloads_and_link(chromium: Browser, address: str) -> None:
    with open_page(chromium) as (page, seen):
        page.goto(f"{address}/retrieval?memory=small&q={QUESTION.replace(' ', '+')}")
        graph(page).wait_for(timeout=3 * PATIENCE)  # the models are loaded now
        hops = graph(page).evaluate("box => [...box.view.nodes.values()].map(node => node.hop)")
        assert 0 in hops
        assert 1 in hops
        click_node(page, "Mira")
        page.locator(".st-key-card h3", has_text="Mira").wait_for(timeout=PATIENCE)
        until(page, lambda: "node=" in page.url, "the address names the node")
        page.get_by_role("button", name="Back to the candidates").click()
        page.locator(".cand .root").first.wait_for(timeout=PATIENCE)

        drawn = len(hops)
        slider = page.locator(".st-key-retrieval-small-graph-hops").get_by_role("slider")
        slider.focus()
        page.keyboard.press("Home")
        until(page, lambda: int(graph(page).get_attribute("data-nodes") or 0) < drawn, "without hops the roots alone")
        until(page, lambda: "set.hops=0" in page.url, "the address names the setting")

        page.locator("[data-test-script-state=notRunning]").wait_for(timeout=PATIENCE)
        with page.expect_download() as trace:
            page.get_by_role("button", name="Trace (JSON)").click()
        exported = json.loads(Path(trace.value.path()).read_text("utf-8"))
        assert (exported["question"], exported["parameters"]["hops"]) == (QUESTION, 0)
        with page.expect_download() as picture:
            page.get_by_role("button", name="Picture (HTML)").click()
        assert "vis.Network" in Path(picture.value.path()).read_text("utf-8")
        with page.expect_download() as png:
            page.get_by_role("button", name="PNG").click()
        assert Path(png.value.path()).read_bytes().startswith(b"\x89PNG")

        page.goto(page.url)
        graph(page).wait_for(timeout=PATIENCE)
        assert all(hop == 0 for hop in graph(page).evaluate("box => [...box.view.nodes.values()].map(n => n.hop)"))
        assert {host for host in seen.hosts if host != "inline"} == {address.removeprefix("http://")}
        assert seen.errors == []
