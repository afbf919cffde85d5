"""`coverage` in two sentences and a picture."""

from __future__ import annotations

import streamlit as st

from memory_core.figures.coverage import coverage_drawing
from pages._ui.words import dark


def coverage_picture() -> None:
    """Draw it."""
    st.markdown(
        "**coverage** keeps what was said: a node goes early when everything it says is said by another node that "
        "stays, and late when rare words or edges would be lost with it. It goes backwards from the whole memory, one "
        "node at a time, always the one whose going loses the least, so a stricter cut forgets the same nodes and more."
    )
    st.html(coverage_drawing(dark()))
