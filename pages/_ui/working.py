"""A job as the pages show it: how far it is, how long it may still take, how it is stopped, and why it ended."""

from __future__ import annotations

import streamlit as st

from memory_core.jobs import Job
from pages._ui.words import as_text, seconds


def working(job: Job, words: str, key: str, kept: str) -> None:
    """The bar of a job that is not finished, after `words` its estimate; `key` names the button that stops it, `kept`
    says what stays then."""
    left = "" if job.seconds_left is None else f", about {seconds(job.seconds_left)} left"
    st.progress(min(job.done / max(job.total, 1), 1.0), as_text(f"{words}{left}"))
    st.button("Stop", icon=":material/stop:", key=key, on_click=job.cancel, help=kept)


def followed(job: Job, words: str, key: str, kept: str) -> None:
    """The bar while it works, and then the reason when it did not come to its end."""
    if not job.finished:
        working(job, words, key, kept)
    elif job.error:
        (st.info if job.state == "cancelled" else st.error)(as_text(job.error))


def all_anew_at_end(job: Job, key: str) -> None:
    """Draw the whole page again when a job ends that the run before saw working."""
    if job.finished and st.session_state.pop(key, False):
        st.rerun()
    st.session_state[key] = not job.finished
