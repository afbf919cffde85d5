"""What one should know before reading a result, with what helps."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from memory_core.memories import OpenMemory
from memory_core.retrieval import multilingual
from memory_core.retrieval.concerns import Concern
from pages._ui.opened import as_text, part
from pages._ui.working import working


def warnings(opened: OpenMemory, found: Sequence[Concern]) -> None:
    """Draw each concern; for another language also the way to the multilingual embedder."""
    for concern in found:
        show = st.info if concern.about in ("language", "length") else st.warning
        show(as_text(concern.text), icon=":material/info:")
        if concern.about == "language":
            _offer(opened)


def _offer(opened: OpenMemory) -> None:
    job = multilingual.latest(opened.worker)
    if job is not None and not job.finished:
        part(_progress, run_every=1.0)(opened)
        return
    if job is not None and job.error:
        st.error(as_text(job.error))
    if st.button(
        "Re-embed with the multilingual embedder", key="retrieval-reembed", icon=":material/translate:",
        help="Every node gets a new vector in the background; nothing else changes. It covers 15 languages",
    ):  # fmt: skip
        multilingual.start(opened.worker, opened.memory)
        st.rerun()


def _progress(opened: OpenMemory) -> None:
    job = multilingual.latest(opened.worker)
    if job is None or job.finished:
        st.rerun()
    words = f"The memory is being re-embedded: {job.done:,} of {job.total:,}"
    working(job, words, "reembed-stop", "Going on later is possible")
