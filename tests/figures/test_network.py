"""Plain data to pictures: nothing lost, nothing run, no more than can be drawn."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.errors import InputError
from memory_core.figures.network import GraphEdge, GraphNode, live_data, network, select, standalone_html
from tests.synthetic import memory_graph

HOSTILE = "x</script><script>window.__pwned=1</script>"


def stored(page: str) -> dict[str, list[dict[str, dict[str, str]]]]:
    found = re.search(r'<script type="application/json" id="memory">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found.group(1))


def test_ids_that_look_like_numbers_stay_text() -> None:  # UI-05
    nodes = [GraphNode("2024", "Goal", "Year goal"), GraphNode("17", "Goal", "Run 10 km")]
    made = network(nodes, [GraphEdge("e", "2024", "17", "includes")])
    assert [node["id"] for node in made.nodes] == ["2024", "17"]
    assert [(edge["from"], edge["to"]) for edge in made.edges] == [("2024", "17")]


def test_parallel_edges_keep_their_labels_and_arrows() -> None:  # UI-04
    nodes = [GraphNode("a", "Person", "Alba"), GraphNode("b", "Organization", "Norte Air")]
    made = network(nodes, [GraphEdge("1", "a", "b", "works_at"), GraphEdge("2", "a", "b", "founded")])
    drawn = [(e["from"], e["to"], e["edge"]["relationship"], e["label"], e["arrows"]) for e in made.edges]
    assert drawn == [("a", "b", "works_at", "works at", "to"), ("a", "b", "founded", "founded", "to")]


def test_an_edge_to_nowhere_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="'lost'"):
        network([GraphNode("a", "Person", "A")], [GraphEdge("lost", "a", "b", "knows")])


@given(st.text(max_size=60), st.text(max_size=60))
@settings(deadline=None)
def test_any_title_and_content_are_read_back_equal_and_never_close_the_script(title: str, content: str) -> None:
    page = standalone_html([GraphNode("1", "Concept", title + HOSTILE, content)], [], title=title)
    assert "</script><script>window" not in page
    node = stored(page)["nodes"][0]["node"]
    assert node["title"] == title + HOSTILE
    assert node["content"] == content


def test_the_saved_page_names_no_other_host_and_forbids_the_network() -> None:
    page = standalone_html(*memory_graph(30))
    own = page[: page.index("<script>")] + page[page.index('<script type="module">') :]
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", own)
    assert "default-src 'none'" in page
    assert "cdn" not in own.lower()


def test_pyvis_itself_writes_the_safe_page_and_escaped_titles() -> None:
    made = network([GraphNode("1", "Concept", HOSTILE, '<a href="x">')], [])
    assert "<" not in made.nodes[0]["title"]
    assert "</script><script>window" not in made.generate_html()


def test_a_large_graph_is_cut_to_the_cap_and_says_so() -> None:  # UI-03
    nodes, edges = memory_graph(8526)
    start = time.process_time()
    data = live_data(nodes, edges)
    assert time.process_time() - start < 3
    assert data["shown"] == len(data["nodes"]) == 400
    assert data["text"].startswith("showing 400 of 8,526 nodes")
    shown = {node["id"] for node in data["nodes"]}
    assert all(edge["source"] in shown and edge["target"] in shown for edge in data["edges"])
    assert json.loads(json.dumps(data)) == data


def test_what_changed_and_what_is_near_the_focus_is_kept() -> None:
    nodes, edges = memory_graph(2000)
    nodes[1777] = replace(nodes[1777], state="new")
    chosen = select(nodes, edges, cap=50, focus="1500")
    neighbours = {e.source if e.target == "1500" else e.target for e in edges if "1500" in (e.source, e.target)}
    assert {"1777", "1500"} | neighbours <= chosen
    assert len(chosen) == 50


@given(st.integers(0, 120), st.integers(1, 60))
@settings(deadline=None)
def test_the_cap_holds_and_small_graphs_are_whole(n: int, cap: int) -> None:
    nodes, edges = memory_graph(n)
    data = live_data(nodes, edges, cap)
    assert len(data["nodes"]) == min(n, cap)
    if n <= cap:
        assert len(data["edges"]) == len(edges)


def test_repeated_ids_and_dangling_edges_are_drawn_once_and_counted() -> None:
    twice = [GraphNode("a", "Person", "old"), GraphNode("a", "Person", "new")]
    data = live_data(twice, [GraphEdge("1", "a", "gone", "knows")])
    assert [node["title"] for node in data["nodes"]] == ["new"]
    assert data["dangling"] == 1
    assert data["edges"] == []
