"""How fast the app answers in a real browser: `python -m tests.browser.speed MEMORY.sqlite3 [--n 10] [--json]`.

The memory is copied and a server of its own is started; nothing else should run on the machine. Times are taken inside
the page, from the event of the hand to the frame in which the new state is drawn and the script rests.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from tests.browser.conftest import SWITCHES, Server, find_chromium, running_server

#: Figure -> (the most it may be, unit, what it is). Seconds are judged by their median.
TARGETS: dict[str, tuple[float, str, str]] = {
    "first_page": (3.0, "s", "first page usable, a fresh browser; the first of a started server opens the memory"),
    "page_change": (1.0, "s", "a click in the top menu to the other page, drawn and at rest"),
    "slider": (0.5, "s", "slider released to new plan and histogram"),
    "map_first": (5.0, "s", "Map chosen to map drawn; the first of a started server lays it out"),
    "map_recolour": (0.5, "s", "another colouring chosen to map recoloured"),
    "search": (0.3, "s", "Enter to the nodes found in the whole memory"),
    "inspect": (1.0, "s", "a click on a node found to its card"),
    "server_rss": (1.0, "GB", "memory of the server process after all of it"),
}
PAGES = ("Extraction", "Retrieval", "Forgetting", "Results", "Chat")
PATIENCE = 120_000  # milliseconds
#: In the page: `all(selector)` looks into components too; `rests()` is whether the script of the page has ended.
SCRIPT = """
window.all = (selector) => {
  const roots = [...document.querySelectorAll('[data-testid^="stBidiComponent"], [data-testid^="stBidiComponent"] *')]
    .map((one) => one.shadowRoot).filter(Boolean);
  return [document, ...roots].flatMap((root) => [...root.querySelectorAll(selector)]);
};
window.rests = () => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === 'notRunning';
window.shows = {
  Chat: () => all('.graph canvas').length > 0 && document.querySelector('[class*="st-key-say"] textarea, .stChatInput'),
  Extraction: () => document.querySelector('.st-key-reading'),
  Retrieval: () => document.querySelector('.st-key-retrieval-ask input'),
  Forgetting: () => document.querySelector('.going') && document.querySelector('.js-plotly-plot .main-svg'),
  Results: () => document.querySelector('.st-key-results-menu'),
};
window.title = () => document.querySelector('.pagehead h1')?.textContent;
window.usable = (page) => title() === page && !!shows[page]() && rests();
window.watch = (ready, begins) => {
  window.t0 = begins ? null : 0;
  window.t1 = null;
  const begin = () => { window.t0 = performance.now(); };
  for (const kind of begins ?? []) document.addEventListener(kind, begin, { once: true, capture: true });
  const look = () => (t0 !== null && ready() ? (window.t1 = performance.now()) : requestAnimationFrame(look));
  requestAnimationFrame(look);
};
"""
FIRST = "(() => { const go = () => document.body ? watch(() => usable('Chat')) : requestAnimationFrame(go); go(); })();"


@contextmanager
def one_browser(browser: Browser, script: str = SCRIPT) -> Iterator[tuple[Page, list[int]]]:
    """A page of a browser that never was here before, and the sizes of what the server sent it."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.add_init_script(script)
    page, sent = context.new_page(), [0]
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: sent.append(len(data))))
    page.set_default_timeout(PATIENCE)
    yield page, sent
    context.close()


def timed(page: Page, act: Callable[[], object], ready: str, begins: str = "pointerup") -> float:
    """Seconds from the event `begins` that `act` makes to the first frame in which `ready`, JavaScript, is true."""
    page.evaluate(f"watch(() => {ready}, ['{begins}'])")
    act()
    page.wait_for_function("window.t1 !== null", timeout=PATIENCE)
    return float(page.evaluate("window.t1 - window.t0")) / 1000


class Measuring:
    """Every figure in turn, on one server; `seconds` and `sent` (bytes) hold one value a repetition."""

    def __init__(self, browser: Browser, server: Server, n: int) -> None:
        self.browser, self.server, self.n = browser, server, n
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.sent: dict[str, list[int]] = defaultdict(list)

    def _add(self, name: str, page: Page, sent: list[int], act: Callable[[], object], ready: str, by: str) -> None:
        before = sum(sent)
        self.seconds[name].append(timed(page, act, ready, by))
        page.wait_for_timeout(300)
        self.sent[name].append(sum(sent) - before)

    def first_page(self) -> None:
        """A browser that never was here opens the app."""
        with one_browser(self.browser, SCRIPT + FIRST) as (page, sent):
            page.goto(f"{self.server.address}/?memory=speed")
            page.wait_for_function("window.t1 !== null")
            self.seconds["first_page"].append(page.evaluate("window.t1") / 1000)
            self.sent["first_page"].append(sum(sent))

    def page_changes(self) -> None:
        """Through every page and back to the first."""
        with self._at("", "Chat") as (page, sent):
            for name in PAGES * max(1, self.n // 4):
                link = page.get_by_test_id("stTopNavLink").filter(has_text=name)
                self._add("page_change", page, sent, link.click, f"usable('{name}')", "pointerup")

    def slider(self) -> None:
        """The threshold, one step at a time."""
        with self._at("forgetting", "Forgetting", "&policy=importance&cut=threshold&threshold=.2") as (page, sent):
            page.wait_for_timeout(1000)
            thumb = page.locator(".st-key-set-threshold").get_by_role("slider")
            for _ in range(self.n):
                page.evaluate(
                    "window.was = [document.querySelector('.going').dataset.plan, "
                    "document.querySelector('.js-plotly-plot').querySelector('.annotation-text')?.textContent]"
                )
                ready = (
                    "rests() && document.querySelector('.going')?.dataset.plan !== was[0] && "
                    "document.querySelector('.js-plotly-plot .annotation-text')?.textContent !== was[1]"
                )
                self._add("slider", page, sent, lambda: thumb.press("ArrowRight"), ready, "keyup")

    def map(self, recolour: bool) -> None:
        """The map is chosen, then each of its colourings."""
        with self._at("forgetting", "Forgetting") as (page, sent):
            act = self._segment(page, "Map").click
            self._add("map_first", page, sent, act, "all('.graph[data-first-ms]').length > 0 && rests()", "pointerup")
            for name in ("by score", "by label", "by fate") * (max(2, self.n // 3) if recolour else 0):
                page.evaluate("window.was = all('.graph')[0].dataset.version")
                ready = "all('.graph')[0]?.dataset.version !== was"
                self._add("map_recolour", page, sent, self._segment(page, name).click, ready, "pointerup")

    def search(self, words: list[str]) -> None:
        """Titles looked for in the whole memory, and the first one found looked at."""
        with self._at("", "Chat") as (page, sent):
            field = page.locator("[class*=st-key-find-] input")
            for word in words:
                field.fill(word)
                page.evaluate("window.was = document.querySelector('[class*=st-key-hit-]')?.className")
                ready = "rests() && (document.querySelector('[class*=st-key-hit-]')?.className ?? was) !== was"
                self._add("search", page, sent, lambda: field.press("Enter"), ready, "keydown")
                hit = page.locator("[class*=st-key-hit-] button").first
                page.evaluate("window.was = document.querySelector('.st-key-card h3 span')?.textContent")
                ready = "rests() && (document.querySelector('.st-key-card h3 span')?.textContent ?? was) !== was"
                self._add("inspect", page, sent, hit.click, ready, "pointerup")

    @contextmanager
    def _at(self, path: str, name: str, query: str = "") -> Iterator[tuple[Page, list[int]]]:
        with one_browser(self.browser) as (page, sent):
            page.goto(f"{self.server.address}/{path}?memory=speed{query}")
            page.wait_for_function(f"usable('{name}')")
            page.wait_for_timeout(1500)
            yield page, sent

    def _segment(self, page: Page, name: str) -> Locator:
        return page.get_by_role("radio", name=name, exact=True)


def copied(memory: Path, folder: Path, name: str = "speed") -> Path:
    """A copy of a memory file, complete while somebody writes it."""
    target = folder / f"{name}.sqlite3"
    with sqlite3.connect(f"{memory.resolve().as_uri()}?mode=ro", uri=True) as old, sqlite3.connect(target) as new:
        old.backup(new)
        new.execute("PRAGMA journal_mode = WAL")
    return target


def titles(memory: Path, count: int) -> list[str]:
    """Titles from all over the memory, no two the same."""
    with sqlite3.connect(memory) as db:
        rows = db.execute("SELECT DISTINCT title FROM node WHERE forgotten_by IS NULL AND length(title) > 5").fetchall()
    return [title for (title,) in rows[:: max(1, len(rows) // count)]][:count]


def measure(memory: Path, n: int) -> dict[str, object]:
    """Every figure of TARGETS for a memory file, with median, worst, all values and the bytes sent."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_chromium(), args=SWITCHES)
        path = copied(memory, Path(folder))
        with running_server(Path(folder)) as server:
            work = Measuring(browser, server, n)
            for _ in range(max(2, n // 2)):
                work.first_page()
            work.page_changes()
            work.slider()
            for again in range(max(2, n // 3)):
                work.map(recolour=not again)
            work.search(titles(path, n))
            rss = server.resident() / 1e9
            errors = server.log.read_text("utf-8").count("Traceback")
        browser.close()
        with sqlite3.connect(path) as db:
            nodes = db.execute("SELECT count(*) FROM node WHERE forgotten_by IS NULL").fetchone()[0]
    figures = {name: _figure(name, values, work.sent[name]) for name, values in work.seconds.items()}
    figures["server_rss"] = _figure("server_rss", [rss], [0])
    return {"nodes": nodes, "n": n, "tracebacks": errors, "figures": figures}


def _figure(name: str, values: list[float], sent: list[int]) -> dict[str, object]:
    target, unit, what = TARGETS[name]
    middle = statistics.median(values)
    return {
        "median": round(middle, 3), "worst": round(max(values), 3), "first": round(values[0], 3), "n": len(values),
        "target": target, "unit": unit, "met": middle <= target, "kilobytes_sent": round(statistics.median(sent) / 1e3),
        "values": [round(value, 3) for value in values], "what": what,
    }  # fmt: skip


def main() -> int:
    """Measure and print; 1 when a median misses its target."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("memory", type=Path, help="a memory file; it is copied, never written")
    asked.add_argument("--n", type=int, default=10, help="repetitions of each figure")
    asked.add_argument("--json", action="store_true", help="one JSON object on stdout")
    given = asked.parse_args()
    found = measure(given.memory, given.n)
    figures: dict[str, dict[str, object]] = found["figures"]  # type: ignore[assignment]
    if given.json:
        print(json.dumps(found))
    else:
        print(f"{found['nodes']:,} nodes, {found['tracebacks']} tracebacks in the log")
        for name, row in figures.items():
            mark = "" if row["met"] else "  MISSED"
            print(
                f"{name:14}{row['median']:8} {row['unit']:3}worst {row['worst']:8}  first {row['first']:8}"
                f"  n {row['n']:3}  target {row['target']:4}  {row['kilobytes_sent']:6} kB sent{mark}"
            )
    return 0 if all(row["met"] for row in figures.values()) and not found["tracebacks"] else 1


if __name__ == "__main__":
    sys.exit(main())
