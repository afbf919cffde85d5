"""What has to be made once before similarity of turns can be asked for: shown, and stopped when told to."""

from __future__ import annotations

import streamlit as st

from memory_core.memories import OpenMemory
from memory_core.retrieval import turn_vectors
from pages._ui.opened import as_text
from pages._ui.words import plural, seconds


def prepared(opened: OpenMemory) -> bool:
    """Whether every turn has its vector; else the making is started and drawn."""
    job, left = turn_vectors.latest(opened.worker), turn_vectors.missing(opened.memory)
    if left <= turn_vectors.FEW or opened.memory.store.read_only:
        return True
    if job is None:
        job = turn_vectors.start(opened.worker, opened.memory)
    if not job.finished:
        st.fragment(_progress, run_every=1.0)(opened)
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
    left = f", about {seconds(job.seconds_left)} left" if job.seconds_left is not None else ""
    words = (
        f"This retriever compares turns, and {plural(job.total - job.done, 'turn')} of this memory have no vector yet"
    )
    st.progress(job.done / max(job.total, 1), as_text(f"{words}: they are made once{left}."))
    st.button("Stop", icon=":material/stop:", key="vectors-stop", on_click=job.cancel, help="What is made is kept")
