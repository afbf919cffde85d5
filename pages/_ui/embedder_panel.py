"""Another embedder for the open memory: asked for here, made in the background, with progress and a stop."""

from __future__ import annotations

import threading

import streamlit as st

from memory_core.jobs import Job
from memory_core.memories import OpenMemory
from memory_core.memory.reembedding import pending
from memory_core.reembed import estimate, start
from pages._ui.models_menu import chosen_embedder
from pages._ui.opened import as_text, part
from pages._ui.words import plural
from pages._ui.working import working


def embedder_panel(opened: OpenMemory) -> None:
    """Draw it; while vectors are made it follows every second."""
    job = opened.reembedding
    part(_panel, run_every=None if job is None or job.finished else 1.0)(opened)


def _panel(opened: OpenMemory) -> None:
    job = opened.reembedding
    if job is not None and not job.finished:
        words = f"{job.name}: {job.done:,} of {job.total:,}"
        working(job, words, "stop-reembedding", "What was made is kept; go on when you like")
        return
    if job is not None:
        _ended(opened, job)
    _offer(opened)


def _ended(opened: OpenMemory, job: Job) -> None:
    opened.reembedding = None
    if job.state == "done":
        st.session_state["notice"] = ("success", f"Every vector of {opened.name} is made anew.")
    else:
        st.session_state["notice"] = ("error" if job.state == "failed" else "warning", job.error)
    st.rerun()


def _offer(opened: OpenMemory) -> None:
    chosen = chosen_embedder()
    if chosen.id == opened.memory.embedder.id:
        return
    made, (tokens, dollars) = pending(opened.memory, chosen), estimate(opened.memory, chosen)
    price = "" if dollars is None else f", at most {tokens:,} tokens, ${dollars:.4f}"
    kept = f"; {made:,} are made already" if made else ""
    st.caption(
        f"{opened.name} has the vectors of {as_text(opened.memory.embedder.id)}. "
        f"{plural(opened.memory.graph.node_count, 'node')} to embed with {as_text(chosen.id)}{price}{kept}."
    )
    label = "Go on re-embedding" if made else "Re-embed this memory"
    if st.button(label, key="reembed", help="In the background; until all is made the old vectors answer"):
        stop = threading.Event()
        opened.reembedding = start(opened.worker, opened.memory, chosen_embedder(stop), stop)
        st.rerun()
