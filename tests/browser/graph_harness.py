"""A page with nothing but the graph view, driven by the browser tests through its address: ?n=15&file=…"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import streamlit as st

from memory_core.figures.network import GraphEdge, GraphNode
from pages._ui.graph_view import ensure_static, graph_table, graph_view
from tests.synthetic import memory_graph

ensure_static(Path(__file__).parent / "static")
st.set_page_config(layout="wide")
n = int(st.query_params.get("n", "15"))
st.session_state.setdefault("grown", 0)
st.session_state.setdefault("forgotten", 0)


def scene() -> tuple[list[GraphNode], list[GraphEdge]]:
    if st.query_params.get("scene") == "hostile":
        return [
            GraphNode("2024", "Goal", "x</script><script>window.__pwned=1</script>", "<img src=x onerror=alert(1)>", 2),
            GraphNode("17", "Goal", "Ines <b>Duarte</b>", "line one\nline two", 2),
        ], [GraphEdge("1", "2024", "17", "works_at"), GraphEdge("2", "2024", "17", "founded")]
    whole = n + st.session_state.grown
    nodes, edges = memory_graph(whole)
    if st.query_params.get("scene") == "hops":
        hops = [0, *[1] * 5, *[2] * (whole - 6)]
        return [replace(x, hop=h, state="root" if h == 0 else "stood") for x, h in zip(nodes, hops, strict=True)], edges
    drop = {str(i) for i in range(3, 3 + st.session_state.forgotten)}
    fresh = range(n, whole)
    nodes = [replace(x, state="new", stamp=str(whole)) if int(x.id) in fresh else x for x in nodes if x.id not in drop]
    if st.session_state.grown:
        nodes[1] = replace(nodes[1], state="merged", stamp=str(whole))
    return nodes, [e for e in edges if e.source not in drop and e.target not in drop]


def add(key: str) -> None:
    st.session_state[key] += 1


@st.fragment
def panel() -> None:
    left, right = st.columns([3, 1])
    with right:
        st.button("grow", on_click=add, args=("grown",))
        st.button("forget", on_click=add, args=("forgotten",))
    with left:
        nodes, edges = scene()
        chosen = graph_view(nodes, edges, key=f"g{n}", focus=st.query_params.get("focus"), cap=1200)
    with right:
        st.text(f"SELECTED={chosen!r}")
        graph_table(nodes, key="table")


if st.query_params.get("tabs"):
    first, second = st.tabs(["Chat", "Graph"])
    first.write("The graph is in the other tab.")
    with second:
        panel()
else:
    panel()
