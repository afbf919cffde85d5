"""Several people at once on one server: `python -m tests.browser.soak MEMORY.sqlite3 [--minutes 10] [--sessions 4]`.

The memory is copied. Sessions take turns at four ways of working: saying and asking in the chat, having a transcript
replayed while other pages are looked at, asking on the retrieval page, and moving sliders, map and search. Told are the
errors in pages and log, the 95th percentile of every kind of interaction, and how the server's memory grew from the
end of the warm-up (a fifth of the time) to the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright
from playwright.async_api import Error as BrowserError

from tests.browser.conftest import SWITCHES, Server, find_chromium, running_server
from tests.browser.speed import PAGES, SCRIPT, copied, titles

WARM_UP = 0.2  # of the time; what is loaded once is loaded by then
GROWTH, BUSY_CHANGE = 0.10, 1.5  # the most the server may grow; p95 in seconds of a page change while one ingests
_WAIT = 30_000  # milliseconds after which an interaction has failed
_NAMES = "Amara Bruno Chidi Dalia Emeka Farah Goran Hana Ivo Jelena Kofi Leila Marek Nadia Oskar Priya".split()
_TOWNS = "Porto Ghent Leeds Turin Basel Malmö Graz Lille Bergen Split".split()
_THINGS = "a red bicycle,a cello,an old camera,a kayak,a telescope,a sewing machine".split(",")


@dataclass
class Told:
    """What happened: seconds of each kind of interaction, errors, and the server's bytes over time."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    resident: list[tuple[float, int]] = field(default_factory=list)


class Session:
    """One person at a browser of their own."""

    def __init__(self, page: Page, server: Server, told: Told, place: int, until: float, words: list[str]) -> None:
        self.page, self.server, self.told, self.until = page, server, told, until
        self.place, self.words, self.dice = place, words, random.Random(place)
        self.count, self.begun = 0, False
        page.on("pageerror", lambda error: told.errors.append(f"page of session {place}: {error}"))

    async def go(self, path: str, name: str, query: str = "") -> None:
        """Open a page by its address."""
        self.begun = True
        await self.page.goto(f"{self.server.address}/{path}?memory=soak{query}")
        await self.page.wait_for_function(f"usable('{name}')", timeout=_WAIT)

    async def timed(self, kind: str, act: Callable[[], Awaitable[object]], ready: str, begins: str) -> None:
        """Do something and write down how long its effect took; what never comes is an error."""
        await self.page.evaluate(f"watch(() => {ready}, ['{begins}'])")
        try:
            await act()
            await self.page.wait_for_function("window.t1 !== null", timeout=_WAIT)
            self.told.seconds[kind].append(await self.page.evaluate("window.t1 - window.t0") / 1000)
        except BrowserError as error:
            self.told.errors.append(f"{kind} of session {self.place}: {str(error).splitlines()[0]}")
        for text in await self.page.locator("[data-testid=stException], [data-testid=stAlertContentError]").all():
            self.told.errors.append(f"{kind} of session {self.place} shows: {(await text.inner_text())[:200]}")
        await asyncio.sleep(self.dice.uniform(0.3, 1.2))

    async def change(self, name: str, kind: str = "page change") -> None:
        """To another page by the menu."""
        link = self.page.get_by_test_id("stTopNavLink").filter(has_text=name)
        await self.timed(kind, link.click, f"usable('{name}')", "pointerup")

    async def chat(self) -> None:
        """A turn said, and every third time a question asked."""
        if not self.begun:
            await self.go("", "Chat")
        self.count += 1
        name, town = self.dice.choice(_NAMES), self.dice.choice(_TOWNS)
        said = f"{name} moved to {town} with {self.dice.choice(_THINGS)} on day {self.count}."
        text = f"Where does {name} live, said {self.count}?" if self.count % 3 == 0 else said
        field = self.page.locator("textarea").first
        await field.fill(text)
        there = f"[...document.querySelectorAll('.turn p')].some((one) => one.textContent.includes({json.dumps(text)}))"
        ready = (
            f"{there} && !document.querySelector('.st-key-stop-saying') && !document.querySelector('textarea').disabled"
        )
        await self.timed("ask" if "?" in text else "say", lambda: field.press("Enter"), ready, "keydown")

    async def replay(self) -> None:
        """A transcript is remembered in the background; meanwhile through all pages."""
        if not self.begun:
            await self.go("", "Chat")
        self.count += 1
        page = self.page
        tab = page.get_by_role("tab", name="Replay")
        await tab.click()
        try:
            await page.locator(".st-key-stop button, .st-key-replay-source").first.wait_for()
        except BrowserError:
            chosen = await tab.get_attribute("aria-selected")
            self.told.errors.append(f"replay of session {self.place}: no panel; its tab is selected: {chosen}")
            raise
        if not await page.locator(".st-key-stop button").count():
            await page.get_by_role("radio", name="File here").click()
            await page.locator(".st-key-replay-path input").fill(str(transcript(self.server.log.parent, self.count)))
            await page.locator(".st-key-replay-path input").press("Enter")
            await page.get_by_role("radio", name="5 turns/s").click()
            started = "!!document.querySelector('.st-key-stop button')"
            await self.timed("start replay", page.locator(".st-key-play button").click, started, "pointerup")
        for name in PAGES:
            await self.change(name, "page change while ingesting")

    async def retrieve(self) -> None:
        """A question on the retrieval page, then the same by another retriever."""
        if not self.begun:
            await self.go("retrieval", "Retrieval", "&by=graph")
        self.count += 1
        field = self.page.locator(".st-key-retrieval-ask input").first
        asked = f"What about {self.dice.choice(self.words)}, asked {self.count}?"
        await field.fill(asked)
        await self._stripped("retrieve", lambda: field.press("Enter"), "keydown")
        by = self.page.get_by_role("radio", name="bm25" if self.count % 2 else "graph", exact=True)
        await self._stripped("other retriever", by.click, "pointerup")

    async def _stripped(self, kind: str, act: Callable[[], Awaitable[object]], begins: str) -> None:
        await self.page.evaluate("window.was = document.querySelector('.strip')?.innerText")
        await self.timed(kind, act, "rests() && (document.querySelector('.strip')?.innerText ?? was) !== was", begins)

    async def simulate(self) -> None:
        """Five steps of a slider, the map, then a search of the memory."""
        self.count += 1
        start = 0.05 + self.count % 20 * 0.03
        await self.go("forgetting", "Forgetting", f"&policy=importance&cut=threshold&threshold={start:.3f}")
        thumb = self.page.locator(".st-key-set-threshold").get_by_role("slider")
        for _ in range(5):
            await self.page.evaluate("window.was = document.querySelector('.going').dataset.plan")
            ready = "rests() && document.querySelector('.going')?.dataset.plan !== was"
            await self.timed("slider", lambda: thumb.press("ArrowRight"), ready, "keyup")
        drawn = "all('.graph[data-first-ms]').length > 0"
        await self.timed("map", self.page.get_by_role("radio", name="Map", exact=True).click, drawn, "pointerup")
        await self.change("Chat")
        field = self.page.locator("[class*=st-key-find-] input")
        await field.fill(self.dice.choice(self.words))
        found = "!!document.querySelector('[class*=st-key-hit-]')"
        await self.timed("search", lambda: field.press("Enter"), found, "keydown")

    async def live(self) -> None:
        """Work in this session's way until the time is over; what fails is told, and the session begins anew."""
        ways = (self.chat, self.replay, self.retrieve, self.simulate)
        while time.monotonic() < self.until:
            try:
                await ways[self.place % len(ways)]()
            except BrowserError as error:
                self.told.errors.append(f"session {self.place} begins anew: {str(error).splitlines()[0]}")
                self.begun = False
                await asyncio.sleep(1)


def transcript(folder: Path, number: int) -> Path:
    """A conversation of 400 turns that no other replay holds, as a file."""
    dice, start = random.Random(number), datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)
    path = folder / f"replay-{number}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for turn in range(400):
            text = (
                f"{dice.choice(_NAMES)} bought {dice.choice(_THINGS)} in {dice.choice(_TOWNS)} for {turn + 10} euros."
            )
            row = {"role": "user", "speaker": "User", "text": text, "at": (start + timedelta(minutes=turn)).isoformat()}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


async def _watch(server: Server, told: Told, began: float, until: float) -> None:
    while time.monotonic() < until:
        told.resident.append((time.monotonic() - began, server.resident()))
        await asyncio.sleep(1)


async def _lived(browser: Browser, server: Server, sessions: int, seconds: float, words: list[str]) -> Told:
    context = await browser.new_context()
    await context.add_init_script(SCRIPT)
    first = await context.new_page()  # the server has imported what it needs before anything is timed
    await first.goto(f"{server.address}/?memory=soak", timeout=4 * _WAIT)
    await first.wait_for_function("usable('Chat')", timeout=4 * _WAIT)
    await context.close()
    told, began = Told(), time.monotonic()
    until, people = began + seconds, []
    for place in range(sessions):
        context = await browser.new_context(viewport={"width": 1440, "height": 1000})
        await context.add_init_script(SCRIPT)
        people.append(Session(await context.new_page(), server, told, place, until, words))
    await asyncio.gather(_watch(server, told, began, until), *(one.live() for one in people))
    return told


async def soak(memory: Path, minutes: float, sessions: int) -> dict[str, object]:
    """Let it go on for some minutes and tell what happened."""
    with tempfile.TemporaryDirectory() as folder:
        words = titles(copied(memory, Path(folder), "soak"), 200)
        with running_server(Path(folder)) as server:
            async with async_playwright() as play:
                browser = await play.chromium.launch(executable_path=find_chromium(), args=SWITCHES)
                told = await _lived(browser, server, sessions, 60 * minutes, words)
                await browser.close()
            log = server.log.read_text("utf-8")
    told.errors += [f"log: {line}" for line in log.splitlines() if "Error" in line or "Traceback" in line][:20]
    return _summary(told, minutes, sessions)


def _summary(told: Told, minutes: float, sessions: int) -> dict[str, object]:
    span = 60 * minutes
    warm = [size for at, size in told.resident if WARM_UP * span <= at < (WARM_UP + 0.1) * span]
    last = [size for at, size in told.resident if at >= 0.9 * span]
    before, after = statistics.median(warm), statistics.median(last)
    kinds = {
        kind: {"n": len(of), "median": _quantile(of, 0.5), "p95": _quantile(of, 0.95), "worst": round(max(of), 3)}
        for kind, of in sorted(told.seconds.items())
    }
    every = [value for of in told.seconds.values() for value in of]
    return {
        "minutes": minutes, "sessions": sessions, "interactions": len(every), "p95": _quantile(every, 0.95),
        "kinds": kinds, "errors": told.errors, "rss_warm": round(before / 1e6), "rss_end": round(after / 1e6),
        "rss_most": round(max(size for _, size in told.resident) / 1e6), "growth": round(after / before - 1, 4),
    }  # fmt: skip


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(int(share * len(ordered)), len(ordered) - 1)], 3) if ordered else 0.0


def main() -> int:
    """Run and print; 1 when there was an error, the server grew by more than a tenth, or ingestion held others up."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("memory", type=Path, help="a memory file; it is copied, never written")
    asked.add_argument("--minutes", type=float, default=10)
    asked.add_argument("--sessions", type=int, default=4)
    asked.add_argument("--json", action="store_true", help="one JSON object on stdout")
    given = asked.parse_args()
    found = asyncio.run(soak(given.memory, given.minutes, given.sessions))
    errors: list[str] = found["errors"]  # type: ignore[assignment]
    kinds: dict[str, dict[str, float]] = found["kinds"]  # type: ignore[assignment]
    if given.json:
        print(json.dumps(found))
    else:
        print(
            f"{found['interactions']:,} interactions of {given.sessions} sessions in {given.minutes:g} min, "
            f"p95 {found['p95']} s\n"
            f"server {found['rss_warm']} MB after warm-up, {found['rss_end']} MB at the end: {found['growth']:+.1%}"
        )
        for kind, row in kinds.items():
            print(f"  {kind:28} n {row['n']:5}  median {row['median']:7}  p95 {row['p95']:7}  worst {row['worst']:7} s")
        print(f"{len(errors)} errors", *errors[:20], sep="\n  ")
    busy = kinds.get("page change while ingesting", {"p95": 0.0})["p95"]
    return 1 if errors or float(str(found["growth"])) > GROWTH or busy > BUSY_CHANGE else 0


if __name__ == "__main__":
    sys.exit(main())
