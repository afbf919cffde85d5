"""Results: runs of benchmarks side by side, the difference of two with its interval, and the questions that flip."""

from __future__ import annotations

from pages._ui import imported  # noqa: F401

# isort: split

from pathlib import Path

import streamlit as st

from pages._ui.opened import as_text, through_app
from pages._ui.results.choosing import Chosen, choosing, warn
from pages._ui.results.comparing import comparing
from pages._ui.results.curving import curving
from pages._ui.results.exporting import exporting
from pages._ui.results.flipping import flipping
from pages._ui.results.sources import sources
from pages._ui.results.speeding import speeding
from pages._ui.results.state import VIEWS, ResultsState
from pages._ui.results.tables import tables
from pages._ui.words import page_head


def remarks(chosen: Chosen) -> None:
    """What was odd about the files, folded away."""
    told = [(name, problem) for name, run in chosen.full.items() for problem in run.problems]
    if told:
        with st.expander(f"{len(told):,} remarks on these files", icon=":material/info:"):
            for name, problem in told[:200]:
                st.caption(as_text(f"{name}: {problem}"))


through_app()
st.html(Path(__file__).parent / "_ui" / "results" / "style.css")
page_head("Results", "Compare runs side by side: what differs between two, which questions flip, what size costs.")
state = ResultsState.linked()
menu, main = st.columns([2, 9], gap="medium")
with menu, st.container(key="results-menu"):
    loaded = sources(state)
    chosen = choosing(loaded, state)
with main:
    view = st.segmented_control("View", VIEWS, key=state.widget("view", list(VIEWS)), label_visibility="collapsed")
    state.keep("view", view or VIEWS[0])
    if state.view == "Speed":
        speeding()
    elif not chosen.runs:
        st.info("Choose runs on the left, or add files of your own.")
    elif state.view == "Table":
        warn(chosen.warnings)
        tables(chosen)
    elif state.view == "Compare":
        comparing(chosen, state)
    elif state.view == "Flips":
        flipping(chosen, state)
    elif state.view == "Curves":
        curving(chosen, loaded, state)
    else:
        exporting(chosen, state)
    remarks(chosen)
state.link()
