"""Forgetting: move a slider and see what would leave the memory, why, and what it would cost; then commit, or not."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from memory_core.memories import OpenMemory
from pages._ui.forgetting.controls import controls
from pages._ui.forgetting.outcome import outcome
from pages._ui.forgetting.scores import scores_view
from pages._ui.forgetting.state import VIEWS, ForgettingState, begin, plan_of, seeded, to_link
from pages._ui.opened import as_text, current
from pages._ui.words import page_head

STYLE = Path(__file__).parent / "_ui" / "forgetting" / "style.css"
DRAWN = {"scores": scores_view}


def simulator(opened: OpenMemory, state: ForgettingState) -> None:
    """Controls on the left, what they do on the right; a slider reruns this and nothing else."""
    left, right = st.columns([3, 11], gap="medium")
    with left:
        setting = controls(opened, state)
    with right:
        shown = plan_of(opened, setting)
        if isinstance(shown, str):
            st.warning(as_text(shown))
        else:
            outcome(opened, state, shown)
        state.view = st.segmented_control(
            "View", list(VIEWS), format_func=VIEWS.get, key=seeded("view", state.view), required=True,
            label_visibility="collapsed",
        )  # fmt: skip
        state.save()
        if not isinstance(shown, str) and state.view in DRAWN:
            DRAWN[state.view](opened, state, shown)
    to_link(state)


st.html(STYLE)
page_head("Forgetting", "Move a slider and see what would leave, why, and what it would cost; nothing leaves until you commit.")
opened = current()
if not opened.memory.graph.node_count and not opened.memory.passes():
    st.info("Nothing is remembered yet, so there is nothing to forget. Say something on the chat page first.")
else:
    st.fragment(simulator)(opened, begin(opened))
