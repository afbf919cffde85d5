"""The map of a whole memory, every node and edge, by label, score or fate. Call it inside the page's fragment."""

from __future__ import annotations

import streamlit as st

from memory_core.figures import network, palette
from memory_core.figures.map import MapColors, MapPicture, geometry, message

_EMPTY = "Nothing is remembered yet."
_component = st.components.v2.component(
    "forgetting_lab_map",
    html=network.view_part("graph.html").replace("Memory graph", "Memory map"),
    css=network.view_part("graph.css") + network.view_part("map.css"),
    js=network.map_script(),
)


def map_view(
    picture: MapPicture, colors: MapColors, *, key: str, height: int = 640, focus: str | None = None
) -> str | None:
    """Draw the map and return the id of the node that is selected, None when there is none.

    Positions, edges and titles are sent once for each `picture.revision`; another `colors` alone sends one byte a node.
    `focus` is a node id to centre and select when it changes.
    """
    known = (st.session_state.get(key) or {}).get("have") == picture.revision
    ids = picture.part.ids
    head = {
        "key": key,
        "revision": picture.revision,
        "height": height,
        "filename": f"{key}.png",
        "legend": colors.legend,
        "marks": palette.data(),
        "selected": ids.index(focus) if focus in ids else None,
        "text": picture.words,
        "empty": _EMPTY,
    }
    parts = {"values": colors.values[picture.drawn].tobytes()} | ({} if known else geometry(picture.part))
    state = _component(
        data=message(head, parts),
        key=key,
        default={"selected": None, "have": None},
        on_selected_change=_nothing,
        on_have_change=_nothing,
    )
    chosen = state.selected
    fits = isinstance(chosen, dict) and chosen.get("revision") == picture.revision
    return ids[chosen["place"]] if fits and 0 <= chosen["place"] < len(ids) else None


def _nothing() -> None:
    """Streamlit keeps a component's state only under a name that has a callback."""
