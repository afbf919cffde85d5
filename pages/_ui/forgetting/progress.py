"""The progress of long work, followed until it ends."""

from __future__ import annotations

import streamlit as st

from memory_core.jobs import Job
from pages._ui.opened import as_text
from pages._ui.words import seconds


def progress(job: Job | None) -> None:
    """Draw it, with its cancel; when the work ends, or has a first result, the page is drawn again."""
    if job is None or job.state == "done":
        return
    if job.finished:
        st.warning(as_text(job.error))
        return
    st.fragment(_follow, run_every=0.5)(job, job.result is not None)


def _follow(job: Job, drawn: bool) -> None:
    if job.finished or (job.result is not None and not drawn):
        st.rerun()
    left = f", about {seconds(job.seconds_left)} left" if job.seconds_left is not None else ""
    waits = "waits for other work on this memory" if job.state == "waiting" else job.message or "getting ready"
    bar, stop = st.columns([8, 1], vertical_alignment="center")
    with bar:
        share = min(job.done / job.total, 1.0) if job.total else 0.0
        st.progress(share, f"{job.name}: {waits}, {job.done:,} of {job.total or '…'}{left}")
    with stop:
        st.button("Cancel", key=f"cancel-{job.name}", on_click=job.cancel)
