"""The map of a whole memory in a real browser, at a tenth of the paper's size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import open_page, serve


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(Path(__file__).parent / "map_harness.py", tmp_path_factory.mktemp("map")) as url:
        yield url


def test_the_map_recolours_without_its_geometry_and_a_click_gives_the_id(chromium: Browser, address: str) -> None:
    with open_page(chromium) as (page, seen):
        sent: list[int] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sent.append(len(frame))))
        page.goto(f"{address}/?n=2702&m=4654")
        box = page.locator(".graph[data-first-ms]")
        box.wait_for(timeout=30_000)
        page.wait_for_timeout(800)
        assert max(sent) > 2702 * 8 + 4654 * 8
        sent.clear()
        kept = box.evaluate("box => box.view.geo.xy[77]")
        page.get_by_text("fate", exact=True).click()
        expect(box.locator(".legend")).to_contain_text("forgotten")
        assert sum(sent) < 4654 * 8
        assert box.evaluate("box => box.view.geo.xy[77]") == kept
        at = box.evaluate(
            """box => { const v = box.view, frame = v.stage.getBoundingClientRect(); v.find.value = 'topic 2701';
            v.find.dispatchEvent(new Event('input'));
            return [v.found[0], frame.x + v.width / 2, frame.y + v.height / 2]; }"""
        )
        box.locator(".find").press("Enter")
        expect(page.get_by_text(f"SELECTED='{at[0]}'")).to_be_visible()
        page.wait_for_timeout(400)
        box.locator(".stage").focus()
        page.keyboard.press("Escape")
        expect(page.get_by_text("SELECTED=None")).to_be_visible()
        page.mouse.click(at[1], at[2])
        expect(page.get_by_text(f"SELECTED='{at[0]}'")).to_be_visible()
        assert page.evaluate("window.__pwned") is None
        assert seen.errors == []
        assert seen.hosts <= {address.removeprefix("http://"), "inline"}
