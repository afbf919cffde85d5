"""Which two runs are compared: A minus B."""

from __future__ import annotations

import streamlit as st

from memory_core.evaluation.results import disagreements
from pages._ui.results.choosing import Chosen
from pages._ui.results.state import ResultsState


def pairing(chosen: Chosen, state: ResultsState) -> tuple[str, str] | None:
    """Draw the choice; None when there are fewer than two runs."""
    names = list(chosen.runs)
    if len(names) < 2:
        st.info("Choose two runs on the left to compare them.")
        return None
    if state.b not in names or state.b == state.a:
        state.b = names[1]
    left, right, _ = st.columns([3, 3, 4], gap="small")
    a = left.selectbox("A", names, key=state.widget("a", names))
    others = [name for name in names if name != a]
    b = right.selectbox("minus B", others, key=state.widget("b", others))
    state.keep("a", a)
    state.keep("b", b)
    return a, b


def between(chosen: Chosen, a: str, b: str) -> list[str]:
    """What else the two differ in."""
    return disagreements(chosen.full[a].meta, chosen.full[b].meta)
