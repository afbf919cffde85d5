"""What may happen to a file under an open page: another server writes it, holds it, it goes, it is replaced."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from memory_core.memory import Memory
from tests.browser.conftest import open_page, running_app

AT = datetime(2024, 5, 1, 10, tzinfo=UTC)
PATIENCE = 40_000  # milliseconds
MEMORIES = {
    "shared": "Mira", "held": "Tom", "removed": "Ana", "replaced": "Ilse", "moved": "Lea", "left": "Kim", "new": "Rollo"
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memories")
    for name, said in MEMORIES.items():
        with Memory.open(folder / f"{name}.sqlite3") as memory:
            memory.say(f"My friend {said} lives in Porto.", at=AT)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with running_app(folder) as address:
        yield address


def at(page: Page, address: str, memory: str) -> Page:
    page.goto(f"{address}/?memory={memory}")
    page.locator(".numbers").wait_for(timeout=PATIENCE)
    return page


def say(page: Page, text: str) -> None:
    page.get_by_test_id("stChatInputTextArea").fill(text)
    page.keyboard.press("Enter")


def shows(page: Page, words: str) -> None:
    page.get_by_text(words).first.wait_for(timeout=PATIENCE)


def is_typed(page: Page, text: str) -> None:
    page.wait_for_function(
        "text => document.querySelector('[data-testid=stChatInputTextArea]')?.value === text",
        arg=text,
        timeout=PATIENCE,
    )


def test_pages_of_a_fresh_server_opened_at_once_all_come_up(chromium: Browser, address: str) -> None:
    with ExitStack() as stack:
        pages = {
            name: stack.enter_context(open_page(chromium))[0] for name in ("", "forgetting", "retrieval", "results")
        }
        for name, page in pages.items():
            page.goto(f"{address}/{name}?memory=shared", wait_until="commit")
        for page in pages.values():
            page.locator(".numbers").wait_for(timeout=PATIENCE)
            page.locator(".pagehead").wait_for(timeout=PATIENCE)
            assert page.get_by_test_id("stException").count() == 0


def test_two_servers_write_one_file_and_both_see_all_of_it(chromium: Browser, address: str, folder: Path) -> None:
    with ExitStack() as stack:
        other = stack.enter_context(running_app(folder))
        one, two = (at(stack.enter_context(open_page(chromium))[0], server, "shared") for server in (address, other))
        for number in range(3):
            for page, name in ((one, "first"), (two, "second")):
                text = f"The {name} server says that Bruno bought {number + 2} kettles."
                say(page, text)
                shows(page, text)
                page.wait_for_function("() => !document.querySelector('.st-key-stop-saying')", timeout=PATIENCE)
        one.reload()
        shows(one, "The second server says that Bruno bought 4 kettles.")
    with Memory.open(folder / "shared.sqlite3", create=False) as memory:
        said = [turn.text for turn in memory.latest_turns(100)]
    assert len(said) == 7
    assert sum("first server" in text for text in said) == sum("second server" in text for text in said) == 3


def test_a_file_that_another_program_holds_is_named_at_once_and_the_turn_is_stored_when_it_is_free(
    chromium: Browser, address: str, folder: Path
) -> None:
    with open_page(chromium) as (page, _):
        at(page, address, "held")
        holder = sqlite3.connect(folder / "held.sqlite3", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        say(page, "My cat is called Ines.")
        page.get_by_text("Waiting for another program").wait_for(timeout=PATIENCE)
        holder.execute("ROLLBACK")
        holder.close()
        page.get_by_text("Waiting for another program").wait_for(state="detached", timeout=PATIENCE)
        page.locator(".numbers", has_text="2 turns").wait_for(timeout=PATIENCE)


def test_a_file_that_was_removed_takes_no_text_with_it(chromium: Browser, address: str, folder: Path) -> None:
    with open_page(chromium) as (page, seen):
        at(page, address, "removed")
        for file in folder.glob("removed.sqlite3*"):
            file.unlink()
        say(page, "My cat is called Ines.")
        shows(page, "There is no memory 'removed' here")
        is_typed(page, "My cat is called Ines.")
        assert seen.errors == []


def renamed(page: Page, name: str) -> None:
    page.get_by_role("button", name="More").click()
    page.get_by_label("New name", exact=True).fill(name)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Rename").click()
    page.locator(".numbers strong", has_text=name).wait_for(timeout=PATIENCE)


def test_a_memory_that_another_page_renamed_takes_no_text_with_it(chromium: Browser, address: str) -> None:
    with open_page(chromium) as (page, seen), open_page(chromium) as (other, _):
        at(page, address, "moved")
        renamed(at(other, address, "moved"), "moved-on")
        say(page, "My cat is called Ines.")
        shows(page, "There is no memory 'moved' here")
        is_typed(page, "My cat is called Ines.")
        assert seen.errors == []


def test_a_view_of_a_memory_that_another_page_renamed_says_where_it_is(chromium: Browser, address: str) -> None:
    with open_page(chromium) as (page, _), open_page(chromium) as (other, _):
        page.goto(f"{address}/forgetting?memory=left")
        page.get_by_role("radio", name="History").wait_for(timeout=PATIENCE)
        renamed(at(other, address, "left"), "left-behind")
        page.get_by_role("radio", name="History").click()
        shows(page, "There is no memory 'left' here")
        assert page.get_by_test_id("stException").count() == 0


def test_a_file_that_was_replaced_is_read_anew_and_said_so(chromium: Browser, address: str, folder: Path) -> None:
    with open_page(chromium) as (page, _):
        at(page, address, "replaced")
        for file in folder.glob("replaced.sqlite3-*"):
            file.unlink()
        shutil.copyfile(folder / "new.sqlite3", folder / "other.tmp")
        (folder / "other.tmp").replace(folder / "replaced.sqlite3")
        say(page, "My cat is called Ines.")
        shows(page, "Another memory took the place of replaced")
        shows(page, "My friend Rollo lives in Porto.")
        is_typed(page, "My cat is called Ines.")
    with Memory.open(folder / "replaced.sqlite3", create=False) as memory:
        assert "Rollo" in memory.latest_turns(1)[0].text
