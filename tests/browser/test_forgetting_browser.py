"""The forgetting page in a real Chromium: a slider is moved, the plan that is shown is applied, and taken back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import open_page, running_app
from tests.pages.large import make_large

PATIENCE = 30_000  # milliseconds


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app itself on a free port, with a memory of two thousand nodes."""
    folder: Path = tmp_path_factory.mktemp("memories")
    make_large(folder / "large.sqlite3")
    with running_app(folder) as address:
        yield f"{address}/forgetting?memory=large"


def going(page: Page) -> int:
    found = re.search(r"([\d,]+) of [\d,]+ nodes go", page.locator(".going").first.inner_text())
    assert found
    return int(found[1].replace(",", ""))


def nodes(page: Page) -> int:
    found = re.search(r"([\d,]+) nodes", page.locator(".numbers").inner_text())
    assert found
    return int(found[1].replace(",", ""))


def wait_for(page: Page, words: str) -> None:
    page.get_by_text(words).first.wait_for(timeout=PATIENCE)


def test_a_slider_moves_the_cut_and_what_is_shown_is_applied_and_undone(chromium: Browser, address: str) -> None:
    with open_page(chromium) as (page, seen):
        page.goto(f"{address}&policy=importance&cut=keep&keep=90")
        wait_for(page, "200 go")
        assert (going(page), nodes(page)) == (200, 2000)
        page.locator(".st-key-set-keep").get_by_role("slider").press("ArrowLeft")
        wait_for(page, "210 go")
        page.wait_for_url(re.compile(r"keep=89\.5"), timeout=PATIENCE)
        page.locator(".st-key-commit button").first.click()
        wait_for(page, "Forget 210 of 2,000 nodes")
        page.locator(".st-key-really button").first.click()
        wait_for(page, "Pass c1 is done.")
        page.wait_for_function("document.querySelector('.numbers').innerText.includes('1,790 nodes')", timeout=PATIENCE)
        page.locator(".st-key-undo-last button").first.click()
        page.wait_for_function("document.querySelector('.numbers').innerText.includes('2,000 nodes')", timeout=PATIENCE)
        assert seen.errors == []


def test_a_row_of_the_table_says_why(chromium: Browser, address: str) -> None:
    with open_page(chromium) as (page, seen):
        page.goto(f"{address}&policy=importance&cut=keep&keep=90&view=table")
        table = page.locator("[data-testid=stDataFrame]").first
        table.wait_for(timeout=PATIENCE)
        page.wait_for_timeout(1000)
        corner = table.bounding_box()
        assert corner
        page.mouse.click(corner["x"] + 16, corner["y"] + 52)
        wait_for(page, "Number 1 of 2,000 to go.")
        wait_for(page, "Keep 2,000 nodes or more.")
        assert seen.errors == []
