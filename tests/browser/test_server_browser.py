"""In a real Chromium: a server is opened by its address, and what another process writes appears by itself."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from memory_core.memories import on_server
from memory_core.memory import Memory
from memory_core.store.address import Address
from tests.browser.conftest import open_page, running_app

PATIENCE = 60_000  # milliseconds


def test_a_server_is_opened_and_followed_and_its_password_is_nowhere(
    chromium: Browser, postgres: str, tmp_path: Path
) -> None:
    address = Address.parse(postgres)
    place = on_server(address, "browser")
    place.create("shared").memory.say("My sister Mira lives in Porto.", at="2024-05-01T10:00:00Z")
    with Memory.open(tmp_path / "here.sqlite3") as memory:
        memory.say("I bake rye bread.", at="2024-05-01T10:00:00Z")
    with running_app(tmp_path, FORGETTING_LAB_USER="browser") as app, open_page(chromium) as (page, seen):
        page.goto(app)
        expect(page.get_by_text("I bake rye bread.").first).to_be_visible(timeout=PATIENCE)
        page.get_by_role("button", name="Open a server").click(timeout=PATIENCE)
        page.get_by_label("Address", exact=True).last.fill(postgres.replace(f":{address.password}", ""))
        page.get_by_label("Password", exact=True).fill(address.password)
        page.get_by_label("Password", exact=True).press("Enter")
        expect(page.get_by_text("My sister Mira lives in Porto.").first).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_text(f"On postgresql://postgres@{address.host}")).to_be_visible()
        with Memory.open(f"{postgres}?memory=shared", create=False, user="browser") as other:
            other.say("My cousin Ilse plays the cello.", at="2024-05-02T10:00:00Z")
        expect(page.get_by_text("My cousin Ilse plays the cello.").first).to_be_visible(timeout=PATIENCE)
        inputs = page.evaluate("[...document.querySelectorAll('input')].map(one => one.value).join(' ')")
        log = (tmp_path / "log").read_text("utf-8", "replace")
        assert address.password not in page.content() + page.url + inputs + log
        assert not seen.errors
    place.delete("shared")
    place.close()
