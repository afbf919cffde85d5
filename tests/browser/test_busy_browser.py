"""Quick hands and a slow server: the page is the one that was asked for, whole, and goes on working."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from memory_core.memory import Memory
from tests.browser.conftest import open_page, running_app

PATIENCE = 20_000  # milliseconds
_LEAVE_THEN_CLICK = """(late) => {
    const all = (css) => [...document.querySelectorAll(css)];
    const link = all("[data-testid=stTopNavLink]").find((one) => one.innerText.includes("Chat"));
    const map = all("label, [role=radio]").find((one) => one.innerText.trim() === "Map");
    link.click();
    setTimeout(() => map.click(), late);
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("memories")
    with Memory.open(folder / "small.sqlite3") as memory:
        memory.say("My sister Mira lives in Porto.", at=datetime(2024, 5, 1, 10, tzinfo=UTC))
    with running_app(folder) as address:
        yield address


class SlowWire:
    """What the server says to a page, held back for a while."""

    def __init__(self, page: Page) -> None:
        self.holds, self._held = False, list[Callable[[], None]]()
        page.route_web_socket(lambda _: True, self._between)

    def _between(self, browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()
        browser.on_message(server.send)
        server.on_message(lambda said: self._pass(lambda: browser.send(said)))

    def _pass(self, send: Callable[[], None]) -> None:
        self._held.append(send)
        if not self.holds:
            self.let_go()

    def let_go(self) -> None:
        self.holds, held, self._held = False, self._held, []
        for send in held:
            send()


@pytest.mark.parametrize("late", [20, 40, 60, 80])
def test_a_click_on_a_page_that_is_being_left_does_not_empty_the_next_one(
    chromium: Browser, address: str, late: int
) -> None:
    with open_page(chromium) as (page, seen):
        wire = SlowWire(page)
        page.goto(f"{address}/forgetting")
        page.get_by_role("radio", name="Map", exact=True).wait_for(timeout=PATIENCE)
        wire.holds = True
        page.evaluate(_LEAVE_THEN_CLICK, late)  # the server draws the next page, of which this browser has not heard
        page.wait_for_timeout(500)
        wire.let_go()
        page.locator("textarea").first.wait_for(timeout=PATIENCE)
        page.wait_for_timeout(500)
        expect(page.locator("textarea").first).to_be_enabled()
        assert seen.errors == []
