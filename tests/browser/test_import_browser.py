"""A file becomes a memory while others work, and is stopped, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from memory_core.exporters import to_document
from memory_core.memory import Memory
from memory_core.store.rows import insert
from tests.browser.conftest import open_page, running_app

SLOW = 30_000  # milliseconds


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Exports without vectors of a memory of three nodes, and of thousands that take a while to embed."""
    folder = tmp_path_factory.mktemp("files")
    with Memory.open(":memory:") as memory:
        memory.say("My sister Mira lives in Porto.", at="2024-05-01T10:00:00Z")
        made = {"few": to_document(memory)}
        plain = {"label": "Concept", "attributes": "{}", "created": 0.0, "turns_at_creation": 1, "pinned": 0}
        memory.commit(
            [
                insert("node", id=f"n{n}", title=f"Thing {n}", content=f"What is told of {n}", **plain,
                       forgotten_by=None)
                for n in range(100, 6100)
            ]
        )  # fmt: skip
        made["many"] = to_document(memory)
    for name, document in made.items():
        (folder / f"{name}.json").write_text(json.dumps(document), "utf-8")
    return {name: folder / f"{name}.json" for name in made}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("memories")
    with Memory.open(folder / "small.sqlite3") as memory:
        memory.say("My sister Mira lives in Porto.", at="2024-05-01T10:00:00Z")
    with running_app(folder) as address:
        yield address


def imported(page: Page, name: str, file: Path) -> None:
    page.get_by_role("button", name="New").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.locator("input[type=file]").first.set_input_files(file)
    page.get_by_text(file.name).wait_for()
    page.get_by_role("button", name="Create").click()


def test_a_large_file_holds_nobody_up_and_is_stopped(address: str, files: dict[str, Path], chromium: Browser) -> None:
    with open_page(chromium) as (page, seen), open_page(chromium) as (other, others):
        page.goto(f"{address}/?memory=small")
        page.locator("textarea").first.wait_for(timeout=SLOW)
        imported(page, "large", files["many"])
        expect(page.get_by_text("of 6003")).to_be_visible(timeout=SLOW)
        expect(page.locator("textarea")).to_have_count(0)
        other.goto(f"{address}/?memory=small")
        other.locator("textarea").first.fill("Where does Mira live?")
        other.locator("textarea").first.press("Enter")
        expect(other.get_by_text("My sister Mira lives in Porto.").first).to_be_visible(timeout=SLOW)
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("nothing of it is stored")).to_be_visible(timeout=SLOW)
        expect(page.locator("textarea").first).to_be_visible(timeout=SLOW)
        assert not [*seen.errors, *others.errors]


def test_a_file_becomes_a_memory_and_that_is_told(address: str, files: dict[str, Path], chromium: Browser) -> None:
    with open_page(chromium) as (page, seen):
        page.goto(f"{address}/?memory=small")
        page.locator("textarea").first.wait_for(timeout=SLOW)
        imported(page, "large", files["few"])  # the name is free again
        expect(page.get_by_text("large is imported: 3 nodes")).to_be_visible(timeout=SLOW)
        expect(page.locator("textarea").first).to_be_visible(timeout=SLOW)
        assert not seen.errors
