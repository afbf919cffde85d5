"""Forgetting: move a slider and see what would leave the memory, why, and what it would cost; then commit, or not."""

from __future__ import annotations

from pages._ui import imported  # noqa: F401

# isort: split

from pathlib import Path

import streamlit as st

from memory_core.memories import OpenMemory
from pages._ui.forgetting.commit import asked, commit_bar, undo_bar
from pages._ui.forgetting.compare import compare_view
from pages._ui.forgetting.controls import controls
from pages._ui.forgetting.cost import cost_view
from pages._ui.forgetting.history import history_view
from pages._ui.forgetting.immunity import immunity_view
from pages._ui.forgetting.map import map_page
from pages._ui.forgetting.outcome import outcome
from pages._ui.forgetting.protect import protect_view
from pages._ui.forgetting.scores import scores_view
from pages._ui.forgetting.state import VIEWS, begin, plan_of, seeded, to_link
from pages._ui.forgetting.why import why_view
from pages._ui.opened import NOTICE, as_text, current, part
from pages._ui.words import page_head

STYLE = Path(__file__).parent / "_ui" / "forgetting" / "style.css"
OF_A_PLAN = {
    "scores": scores_view, "table": why_view, "map": map_page, "immunity": immunity_view, "cost": cost_view,
}  # fmt: skip
ALWAYS = {"compare": compare_view, "protect": protect_view, "history": history_view}


def simulator(opened: OpenMemory) -> None:
    """Controls on the left, what they do on the right; a slider reruns this and nothing else."""
    if NOTICE in st.session_state:
        st.rerun()
    state = begin(opened)
    left, right = st.columns([3, 11], gap="medium")
    with left:
        setting = controls(opened, state)
    with right:
        shown = plan_of(opened, setting)
        if isinstance(shown, str):
            st.warning(as_text(shown))
        else:
            numbers, acts = st.columns([8, 3])
            with numbers:
                outcome(opened, state, shown)
            with acts:
                commit_bar(opened, state, shown)
            asked(opened, state, shown)
        undo_bar(opened, state)
        state.view = st.segmented_control(
            "View", list(VIEWS), format_func=VIEWS.get, key=seeded("view", state.view), required=True,
            label_visibility="collapsed",
        )  # fmt: skip
        state.save()
        if state.view in ALWAYS:
            ALWAYS[state.view](opened, state, setting)
        elif not isinstance(shown, str):
            OF_A_PLAN[state.view](opened, state, shown)
    to_link(state)


st.html(STYLE)
page_head(
    "Forgetting",
    "Move a slider and see what would leave, why, and what it would cost; nothing leaves until you say so.",
)
opened = current()
if not opened.memory.graph.node_count and not opened.memory.passes():
    st.info("Nothing is remembered yet, so there is nothing to forget. Say something on the chat page first.")
else:
    part(simulator)(opened)
