"""The extraction page in a real Chromium, light and dark: words coloured, hostile text shown as text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from memory_core.memory import Memory
from memory_core.schema import Drop, Extraction, FoundNode, Turn
from tests.browser.conftest import open_page, running_app

AT = datetime(2024, 5, 1, 10, tzinfo=UTC)
EVIL = "<script>window.__pwned=1</script><img src=x onerror='window.__pwned=2'>"
VIEWS = ("turns", "overview", "court", "compare", "gold", "prompts", "difference")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The app on a free port with one small memory, one turn of which is hostile in every field."""
    with Memory.open(tmp_path / "small.sqlite3") as memory:
        memory.say("My sister Mira lives in Porto.", at=AT)
        nodes = (FoundNode("Person", EVIL, EVIL, {"note": EVIL}, (0, 20)), FoundNode("Person", f"{EVIL} two", EVIL))
        drops = (Drop("node", EVIL, EVIL),)
        made = Extraction("repaired", nodes, drops=drops, repairs=(EVIL,), raw=EVIL, reason=EVIL, extractor=EVIL)
        memory.remember(Turn("user", EVIL, AT, EVIL, EVIL, EVIL), made)
    with running_app(tmp_path) as address:
        yield address


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_view_shows_words_as_words(chromium: Browser, address: str, dark: bool) -> None:
    with open_page(chromium, dark) as (page, seen):
        page.goto(f"{address}/extraction?memory=small&turn=t1")
        mark = page.locator(".glass mark", has_text="Mira")
        mark.wait_for(timeout=30_000)
        assert mark.get_attribute("title") == "Person Mira: added"
        assert mark.evaluate("box => getComputedStyle(box).backgroundColor") != "rgba(0, 0, 0, 0)"
        page.get_by_role("button", name="Turn →").click()
        page.locator(".glass", has_text="window.__pwned=1").wait_for(timeout=30_000)
        for view in VIEWS[1:]:
            page.goto(f"{address}/extraction?memory=small&view={view}")
            page.locator(".stMainBlockContainer").get_by_text("Difference").wait_for(timeout=30_000)
            page.wait_for_timeout(700)
        assert page.evaluate("window.__pwned") is None
        assert seen.errors == []
        assert seen.hosts <= {address.removeprefix("http://"), "inline"}
