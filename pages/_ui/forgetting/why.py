"""Who goes and who stays last, with the parts of the score."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from memory_core.memories import OpenMemory
from memory_core.simulator import Shown
from memory_core.simulator.tables import FIRST, PART_INKS, Row, as_csv, rows, stacked
from pages._ui.forgetting.node_why import node_why
from pages._ui.forgetting.state import ForgettingState, seeded
from pages._ui.words import safe

_WHICH = {"first": "Goes first", "last": "Just goes", "stay": "Just stays"}


def why_view(opened: OpenMemory, state: ForgettingState, shown: Shown) -> None:
    """Draw the table and the card of the row chosen."""
    table, card = st.columns([7, 4], gap="medium")
    with table:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            which = st.segmented_control("Which", list(_WHICH), format_func=_WHICH.get, key=seeded("which", "first"),
                                         required=True, label_visibility="collapsed")  # fmt: skip
            st.download_button("All as CSV", lambda: as_csv(opened.memory, shown.plan, which), key="why-csv",
                               file_name=f"{opened.name}-{which}-{shown.plan.id}.csv", on_click="ignore",
                               type="tertiary", icon=":material/download:")  # fmt: skip
        _legend(shown)
        _table(state, rows(opened.memory, shown.plan, which), shown, which)
    with card:
        node_why(opened, state, shown)


def _legend(shown: Shown) -> None:
    names = "".join(
        f'<span><i style="background:{PART_INKS[place % len(PART_INKS)]}"></i>{safe(name)}</span>'
        for place, name in enumerate(shown.plan.scores.parts)
    )
    st.html(f'<div class="parts">{names}</div>')


def _table(state: ForgettingState, found: list[Row], shown: Shown, which: str) -> None:
    if not found:
        st.caption("No node goes at this cut." if which != "stay" else "No node stays at this cut.")
        return
    whole = 1.02 * max(row.score for row in found) or 1.0
    frame = pd.DataFrame({
        "title": [row.title[:90] for row in found],
        "label": [row.label for row in found],
        "score": [row.score for row in found],
        "parts": [stacked(list(row.parts.values()), whole) for row in found],
        "edges": [row.degree for row in found],
        "accesses": [row.accesses for row in found],
        "last access": [row.accessed or row.created for row in found],
    })  # fmt: skip
    chosen = st.dataframe(
        frame, key=f"why-{which}-{shown.plan.id}", height=520, hide_index=True, on_select="rerun",
        selection_mode="single-row",
        column_config={
            "title": st.column_config.TextColumn(width="medium"),
            "label": st.column_config.TextColumn(width="small"),
            "score": st.column_config.NumberColumn(format="%.4f", width="small", help="0 to 1, high is kept"),
            "parts": st.column_config.ImageColumn(width="medium", help="The weighted terms that sum to the score"),
            "edges": st.column_config.NumberColumn(width="small", help="Live edges"),
            "accesses": st.column_config.NumberColumn(width="small", help="Merges, answers and edits"),
            "last access": st.column_config.DateColumn(width="small", help="Of the creation when never accessed"),
        },
    )  # fmt: skip
    total = int(shown.plan.fate.sum()) if which != "stay" else shown.plan.nodes_before - int(shown.plan.fate.sum())
    if total > FIRST:
        st.caption(f"The first {FIRST} of {total:,}; the download has them all.")
    picked = chosen.selection.rows
    if picked and picked[0] < len(found):
        state.look_at(found[picked[0]].id)
