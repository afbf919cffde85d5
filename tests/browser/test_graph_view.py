"""The live graph in a real browser: it grows in place, tells Python what was clicked, and runs no title."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from memory_core.figures.network import GraphEdge, GraphNode, standalone_html
from tests.browser.conftest import open_page, serve
from tests.synthetic import memory_graph

HOSTILE = "x</script><script>window.__pwned=1</script>"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(Path(__file__).parent / "graph_harness.py", tmp_path_factory.mktemp("graph")) as url:
        yield url


def graph(page: Page, nodes: int | None = None) -> Locator:
    found = page.locator(f'.graph[data-nodes="{nodes}"]' if nodes is not None else ".graph[data-version]")
    found.wait_for(timeout=30_000)
    return found


def positions(view: Locator) -> dict[str, dict[str, float]]:
    return view.evaluate("box => box.view.net.getPositions()")


def place(view: Locator, script: str) -> tuple[float, float]:
    """Where on the page the point lies that `script` gives for the network `net`."""
    x, y = view.evaluate(
        f"""box => {{ const net = box.view.net, at = net.canvasToDOM({script});
            const frame = box.view.stage.getBoundingClientRect(); return [at.x + frame.x, at.y + frame.y]; }}"""
    )
    return x, y


@pytest.mark.parametrize("n", [15, 200])
def test_a_graph_grows_in_place_and_what_stood_stays(chromium: Browser, address: str, n: int) -> None:
    with open_page(chromium) as (page, seen):
        page.goto(f"{address}/?n={n}")
        view = graph(page, n)
        before = positions(view)
        page.get_by_role("button", name="grow").click()
        view = graph(page, n + 1)
        page.wait_for_timeout(700)
        after = positions(view)
        assert set(after) - set(before) == {str(n)}
        moved = [math.dist(before[i].values(), after[i].values()) for i in before]
        assert max(moved) <= 2
        nearest = min(math.dist(after[str(n)].values(), after[i].values()) for i in before)
        assert 20 < nearest < 200
        page.get_by_role("button", name="forget").click()
        assert "3" not in positions(graph(page, n))
        assert seen.errors == []
        assert seen.hosts <= {address.removeprefix("http://"), "inline"}


def test_a_click_reaches_python_with_the_id_as_text(chromium: Browser, address: str) -> None:
    with open_page(chromium) as (page, seen):
        page.goto(f"{address}/?n=2&scene=hostile")
        view = graph(page, 2)
        page.mouse.click(*place(view, "net.getPositions(['2024'])['2024']"))
        expect(page.get_by_text("SELECTED=Selection(kind='node', id='2024', expand=False)")).to_be_visible()
        page.mouse.click(*place(view, "net.body.edges['2'].edgeType.getPoint(0.5)"))
        expect(page.get_by_text("SELECTED=Selection(kind='edge', id='2', expand=False)")).to_be_visible()
        page.mouse.dblclick(*place(view, "net.getPositions(['17'])['17']"))
        expect(page.get_by_text("SELECTED=Selection(kind='node', id='17', expand=True)")).to_be_visible()
        assert seen.errors == []


def test_titles_are_text_and_parallel_edges_are_two(chromium: Browser, address: str) -> None:  # UI-01
    with open_page(chromium) as (page, seen):
        page.goto(f"{address}/?n=2&scene=hostile")
        view = graph(page, 2)
        page.mouse.move(*place(view, "net.getPositions(['17'])['17']"))
        tip = view.locator(".tip")
        expect(tip.locator("strong")).to_have_text("Ines <b>Duarte</b>")
        assert tip.locator("p").inner_text() == "line one\nline two"
        page.mouse.move(*place(view, "net.getPositions(['2024'])['2024']"))
        expect(tip.locator("strong")).to_have_text(HOSTILE)
        assert tip.locator("script, img, b").count() == 0
        drawn = view.evaluate("box => box.view.visEdges.get().map(e => [e.from, e.to, JSON.stringify(e.smooth)])")
        assert [edge[:2] for edge in drawn] == [["2024", "17"], ["2024", "17"]]
        assert drawn[0][2] != drawn[1][2], "parallel edges lie on each other"
        assert page.evaluate("window.__pwned") is None
        assert seen.errors == []


def test_the_legend_filters_by_keyboard_and_search_focuses(chromium: Browser, address: str) -> None:
    with open_page(chromium) as (page, _):
        page.goto(f"{address}/?n=15")
        view = graph(page, 15)
        nodes, _edges = memory_graph(15)
        events = [node.id for node in nodes if node.label == "Event"]
        button = view.locator(".legend button[data-label=Event]")
        assert button.locator("b").inner_text() == str(len(events))
        button.focus()
        page.keyboard.press("Enter")
        expect(button).to_have_attribute("aria-pressed", "false")
        hidden = "box => box.view.visNodes.get().filter(n => n.hidden).map(n => n.id)"
        assert sorted(view.evaluate(hidden)) == sorted(events)
        view.locator(".stage").focus()
        page.keyboard.press("/")
        page.keyboard.type("mira")
        page.keyboard.press("Enter")
        expect(page.get_by_text("SELECTED=Selection(kind='node', id='0', expand=False)")).to_be_visible()
        page.keyboard.press("Escape")
        before = view.evaluate("box => box.view.net.getViewPosition().x")
        view.locator(".stage").focus()
        page.keyboard.press("Escape")
        expect(page.get_by_text("SELECTED=None")).to_be_visible()
        page.wait_for_timeout(500)
        page.keyboard.press("ArrowRight")
        assert view.evaluate("box => box.view.net.getViewPosition().x") > before


def test_the_picture_shows_in_a_second_tab_in_dark_and_saves_as_png(chromium: Browser, address: str) -> None:  # UI-11
    with open_page(chromium, dark=True) as (page, seen):
        page.goto(f"{address}/?n=15&tabs=1")
        page.get_by_role("tab", name="Graph").click()
        view = graph(page, 15)
        page.wait_for_timeout(600)
        assert (view.bounding_box() or {"height": 0})["height"] > 400
        inside = """box => { const { net, stage } = box.view;
            return Object.values(net.getPositions()).map(p => net.canvasToDOM(p))
              .filter(p => p.x > 0 && p.y > 0 && p.x < stage.clientWidth && p.y < stage.clientHeight).length; }"""
        assert view.evaluate(inside) == 15
        assert view.evaluate("box => box.classList.contains('dark')")
        with page.expect_download() as saved:
            view.get_by_role("button", name="PNG").click()
        picture = Path(saved.value.path()).read_bytes()
        assert picture[:8] == b"\x89PNG\r\n\x1a\n"
        assert len(picture) > 5_000
        assert seen.errors == []


def test_hops_are_rings(chromium: Browser, address: str) -> None:
    with open_page(chromium) as (page, _):
        page.goto(f"{address}/?n=15&scene=hops")
        at = positions(graph(page, 15))
        stretch = graph(page).evaluate("box => box.view.rings[0].stretch")
        far = {i: math.hypot(p["x"] / stretch, p["y"]) for i, p in at.items()}
        assert far["0"] < 1
        assert max(far[str(i)] for i in range(1, 6)) < min(far[str(i)] for i in range(6, 15))


def test_the_saved_page_works_alone(chromium: Browser, tmp_path: Path) -> None:
    nodes = [
        GraphNode("2024", "Concept", HOSTILE, "<img src=x onerror=alert(1)>", 2),
        GraphNode("17", "Goal", "Run 10 km", "", 2),
    ]
    edges = [GraphEdge("1", "2024", "17", "works_at"), GraphEdge("2", "2024", "17", "founded")]
    file = tmp_path / "memory.html"
    file.write_text(standalone_html(nodes, edges, "Mira's <memory>"), encoding="utf-8")
    with open_page(chromium) as (page, seen):
        page.goto(file.as_uri())
        view = graph(page, 2)
        assert page.title() == "Mira's <memory>"
        assert view.evaluate("box => box.view.nodes.get('2024').title") == HOSTILE
        assert page.evaluate("window.__pwned") is None
        page.mouse.move(*place(view, "net.getPositions(['2024'])['2024']"))
        expect(view.locator(".tip strong")).to_have_text(HOSTILE)
        view.locator(".find").fill("run")
        page.keyboard.press("Enter")
        assert view.evaluate("box => box.view.keep.selected.id") == "17"
        assert seen.errors == []
        assert seen.hosts == {""}
