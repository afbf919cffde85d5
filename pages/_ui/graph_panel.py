"""The live picture of the memory with its table twin, and the search of the whole memory when it is larger."""

from __future__ import annotations

import streamlit as st

from memory_core.figures.memory_graph import find_nodes, memory_picture
from memory_core.memories import OpenMemory
from pages._ui.graph_view import graph_table, graph_view
from pages._ui.state import ChatState

HEIGHT = 570


def graph_panel(opened: OpenMemory, state: ChatState) -> None:
    """Draw the picture; a click or a row chosen in the table becomes `state.item`."""
    key = f"graph-{opened.name}"
    if key not in st.session_state:  # the picture is mounted afresh, after another page: what was looked at stays
        state.told, state.focus = "", state.item
    looked_at = [item for item in (state.item, state.focus, *state.expanded) if item]
    picture = memory_picture(opened.memory, list(opened.recent), looked_at)
    chosen = graph_view(
        picture.nodes,
        picture.edges,
        key=key,
        height=HEIGHT,
        focus=state.focus or None,
        total=picture.total,
    )
    if len(picture.nodes) < picture.total:
        st.caption(
            f"Showing {len(picture.nodes):,} of {picture.total:,} nodes: what changed last, what you look at, then "
            "those that hang together best. A double click brings in a node's neighbours."
        )
        _search(opened, state)
    told = chosen.id if chosen else ""
    if chosen and chosen.expand and chosen.id not in state.expanded:
        state.expanded = [*state.expanded[-20:], chosen.id]
        state.item = chosen.id
        state.save()
        st.rerun(scope="fragment")
    if told != state.told:
        state.told = state.item = told
        state.act = ""
        state.save()
    with st.expander("The same nodes as a table"):
        row = graph_table(picture.nodes, key=f"table-{opened.name}")
    if row and row != st.session_state.get("table-row"):
        state.look_at(row)
        st.session_state["table-row"] = row
        st.rerun(scope="fragment")


def _search(opened: OpenMemory, state: ChatState) -> None:
    words = st.text_input(
        "Find in the whole memory",
        key=f"find-{opened.name}",
        placeholder="Find one of the others by its title",
        label_visibility="collapsed",
    )
    hits = find_nodes(opened.memory, words) if words else []
    if words and not hits:
        st.caption("No live node has these words in its title.")
    with st.container(horizontal=True, gap="small"):
        for node_id, label, title in hits:
            st.button(f"{title[:40]} ({label})", key=f"hit-{node_id}", on_click=state.look_at, args=(node_id,))
