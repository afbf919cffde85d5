"""Extraction: what was read from every turn, measured, compared between extractors, and settled by hand."""

from __future__ import annotations

from pages._ui import imported  # noqa: F401

# isort: split

from pathlib import Path

import streamlit as st

from memory_core.memories import OpenMemory
from pages._ui.extraction.again import again
from pages._ui.extraction.comparing import comparing
from pages._ui.extraction.court import court
from pages._ui.extraction.differing import differing
from pages._ui.extraction.golding import golding
from pages._ui.extraction.overviewing import overviewing
from pages._ui.extraction.prompting import prompting
from pages._ui.extraction.state import VIEWS, ExtractionState
from pages._ui.extraction.turn_view import turn_view
from pages._ui.extraction.walking import walking
from pages._ui.opened import current, part, told
from pages._ui.words import page_head


def body(opened: OpenMemory, state: ExtractionState) -> None:
    """The view chosen."""
    view = st.segmented_control(
        "View", list(VIEWS), format_func=VIEWS.get, key=state.widget("view", state.view), label_visibility="collapsed"
    )
    state.view = view or state.view
    state.save()
    state.to_address()
    with told():
        match state.view:
            case "turns":
                _turns(opened, state)
            case "overview":
                overviewing(opened, state)
            case "court":
                court(opened, state)
            case "compare":
                comparing(opened, state)
            case "gold":
                golding(opened, state)
            case "prompts":
                prompting(opened, state)
            case "difference":
                differing(opened, state)


def _turns(opened: OpenMemory, state: ExtractionState) -> None:
    left, right = st.columns([5, 6], gap="medium")
    with left, told():
        walking(opened, state)
    with right, st.container(height=700, border=False, key="reading"), told():
        turn_view(opened, state)
        again(opened, state)


opened = current()
state = ExtractionState.load(opened.name)
state.from_address()
st.html(Path(__file__).parent / "_ui" / "extraction" / "style.css")
page_head("Extraction", "See which words of every turn became which node or edge, what was left out, and what to mend.")
part(body)(opened, state)
