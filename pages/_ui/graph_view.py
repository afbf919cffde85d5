"""The live graph: a component that is mounted once and then only told what changed.

Call it inside the page's `st.fragment`, so that a click reruns the picture and its inspector and nothing else.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd
import streamlit as st

from memory_core.figures import network, palette
from memory_core.figures.network import CAP, GraphEdge, GraphNode

STATIC = Path(__file__).parents[2] / "static"
_LIBRARY = "vis/vis-network.min.js"
_EMPTY = "Nothing is remembered yet. Say something, and what is read from it appears here."


@dataclass(frozen=True)
class Selection:
    """What the person chose in a picture; `expand` is True in the run after a double click asks for its neighbours."""

    kind: Literal["node", "edge"]
    id: str
    expand: bool = False


def ensure_static(static: Path = STATIC) -> Path:
    """Copy vis-network out of the pyvis wheel into `static/vis`, which Streamlit serves; call it once at start."""
    target, source = static / _LIBRARY, network.vis_path()
    if not target.exists() or target.stat().st_size != source.stat().st_size:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        shutil.copyfile(source, part)
        part.replace(target)
    return target


_component = st.components.v2.component(
    "forgetting_lab_graph",
    html=network.view_part("graph.html"),
    css=network.view_part("graph.css"),
    js=network.view_script(),
)


def graph_view(
    nodes: Sequence[GraphNode],
    edges: Sequence[GraphEdge],
    *,
    key: str,
    height: int = 560,
    focus: str | None = None,
    total: int | None = None,
    cap: int = CAP,
    empty: str = _EMPTY,
) -> Selection | None:
    """Draw the graph and return what is selected in it, None when nothing is or it has left the picture.

    `key` names the picture: the browser keeps positions, filters and camera under it, so give each memory its own.
    `focus` centres and selects a node when it changes; `total` is the size of the memory that `nodes` are a part of.
    """
    data = network.live_data(nodes, edges, cap, focus=focus, total=total)
    data |= {
        "key": key,
        "height": height,
        "library": f"app/static/{_LIBRARY}",
        "filename": f"{key}.png",
        "empty": empty,
    }
    state = _component(
        data=data,
        key=key,
        default={"selected": None},
        on_selected_change=_nothing,
        on_expand_change=_nothing,
    )
    return _selection(
        state.selected, state.expand, {node["id"] for node in data["nodes"]}, {e["id"] for e in data["edges"]}
    )


def _nothing() -> None:
    """Streamlit keeps a component's state only under a name that has a callback."""


def _selection(selected: object, expand: object, nodes: set[str], edges: set[str]) -> Selection | None:
    if isinstance(expand, str) and expand in nodes:
        return Selection("node", expand, expand=True)
    if not isinstance(selected, dict):
        return None
    kind, item = selected.get("kind"), selected.get("id")
    if kind == "node" and item in nodes:
        return Selection("node", item)
    return Selection("edge", item) if kind == "edge" and item in edges else None


def graph_table(nodes: Sequence[GraphNode], *, key: str, height: int = 300, limit: int = 200) -> str | None:
    """The same nodes as a table for those who do not see a canvas; returns the id of the row that is selected."""
    rows = sorted(nodes, key=lambda node: (-node.degree, node.id))[:limit]
    frame = pd.DataFrame(
        {
            "mark": [palette.image(node.label) for node in rows],
            "label": [node.label for node in rows],
            "title": [node.title for node in rows],
            "edges": [node.degree for node in rows],
            "state": [node.state for node in rows],
            "content": [node.content for node in rows],
        }
    )
    chosen = st.dataframe(
        frame,
        key=key,
        height=height,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "mark": st.column_config.ImageColumn("", width=36, help="Colour and shape of the label"),
            "edges": st.column_config.NumberColumn(help="Edges of the node in the whole memory"),
        },
    )
    if len(nodes) > limit:
        st.caption(f"The {limit:,} nodes with most edges of {len(nodes):,}.")
    picked = chosen.selection.rows
    return rows[picked[0]].id if picked and picked[0] < len(rows) else None
