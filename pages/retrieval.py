"""Retrieval: every step of finding what a question needs, four retrievers side by side, and their parameters by eye."""

from __future__ import annotations

from pages._ui import imported  # noqa: F401

# isort: split

from pathlib import Path

import streamlit as st

from memory_core.evaluation.fates import fates
from memory_core.memories import OpenMemory
from memory_core.parts import RETRIEVERS
from memory_core.retrieval.tuning import tuned
from pages._ui.opened import current, part, told
from pages._ui.retrieval.asking import asking, questions
from pages._ui.retrieval.comparing import comparing
from pages._ui.retrieval.evidence import evidence_html
from pages._ui.retrieval.knobs import tuning
from pages._ui.retrieval.looking import looked
from pages._ui.retrieval.preparing import prepared
from pages._ui.retrieval.state import VIEWS, RetrievalState
from pages._ui.retrieval.stepping import stepping
from pages._ui.retrieval.sweeping import sweeping
from pages._ui.words import page_head


def body(opened: OpenMemory, state: RetrievalState) -> None:
    """What is asked and how on the left, what comes of it on the right."""
    left, right = st.columns([3, 8], gap="medium")
    with left, st.container(key="retrieval-ask"):
        question = asking(opened, state)
        by = st.segmented_control("Retriever", RETRIEVERS, key=state.widget("by", state.by), help="Who finds")
        state.by = by or state.by
        tuning(opened, state)
        below = st.container()
    with right, told():
        view = st.segmented_control("View", VIEWS, key=state.widget("view", state.view), label_visibility="collapsed")
        state.view = view or state.view
        state.save()
        state.to_address()
        if (state.view != VIEWS[0] or state.by in ("flat", "hybrid")) and not prepared(opened):
            return
        if state.view == "Sweep":
            sweeping(opened, state, questions(opened, state))
        elif not state.question.strip():
            st.info("Ask something on the left, or pick a question, and see every step of finding its answer.")
        else:
            part = tuned(opened.memory, state.by, state.own, question.asked_at if question else None)
            with below:
                asked = looked(opened, state.question, part)
                found = fates(opened.memory, asked.retrieval, part, question.evidence) if asked and question else []
                if question:
                    st.html(evidence_html(question, found, state.by))
            if asked and state.view == "Steps":
                stepping(opened, state, asked, part, frozenset(fate.turn.id for fate in found if fate.turn))
            elif asked:
                comparing(opened, state, question)
    state.save()
    state.to_address()


opened = current()
state = RetrievalState.load(opened.name)
state.from_address()
st.html(Path(__file__).parent / "_ui" / "retrieval" / "style.css")
page_head(
    "Retrieval", "Ask, and see each step of finding the answer: what was near, where the walk went, what is read."
)
part(body)(opened, state)
