"""What has to be made once before similarity of turns can be asked for: shown, and stopped when told to."""

from __future__ import annotations

import streamlit as st

from memory_core.memories import OpenMemory
from memory_core.retrieval import turn_vectors
from pages._ui.opened import as_text, part
from pages._ui.words import plural
from pages._ui.working import working


def prepared(opened: OpenMemory) -> bool:
    """Whether every turn has its vector; else the making is started and drawn."""
    job, left = turn_vectors.latest(opened.worker), turn_vectors.missing(opened.memory)
    if left <= turn_vectors.FEW or opened.memory.store.read_only:
        return True
    if job is None:
        job = turn_vectors.start(opened.worker, opened.memory)
    if not job.finished:
        part(_progress, run_every=1.0)(opened)
        return False
    st.warning(as_text(job.error or "Vectors of some turns are missing."))
    if st.button(f"Make the other {left:,}", key="vectors-start"):
        turn_vectors.start(opened.worker, opened.memory)
        st.rerun()
    return False


def _progress(opened: OpenMemory) -> None:
    job = turn_vectors.latest(opened.worker)
    if job is None or job.finished:
        st.rerun()
    missing = plural(job.total - job.done, "turn")
    words = f"This retriever compares turns, and {missing} of this memory have no vector yet: they are made once"
    working(job, words, "vectors-stop", "What is made is kept")
