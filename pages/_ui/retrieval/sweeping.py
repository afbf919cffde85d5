"""A sweep over a question set: recall against tokens, in the background, with progress and stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import pandas as pd
import streamlit as st

from memory_core.evaluation import sweep
from memory_core.evaluation.conversations import holds
from memory_core.evaluation.datasets import Question
from memory_core.figures.tradeoff import tradeoff
from memory_core.jobs import Job
from memory_core.memories import OpenMemory
from memory_core.retrieval.tuning import knobs
from pages._ui.opened import attempt, part
from pages._ui.retrieval.state import RetrievalState
from pages._ui.words import dark, plural
from pages._ui.working import all_anew_at_end, followed

_ROOM = "context size, all four retrievers"


def sweeping(opened: OpenMemory, state: RetrievalState, questions: Sequence[Question]) -> None:
    """Draw what can be swept, the sweep that runs, and what the last one measured."""
    asked = [question for question in questions if question.evidence and holds(opened.memory, question)]
    if not asked:
        st.info(
            "A sweep asks many questions whose evidence is known. Name a benchmark file on the left whose conversation "
            "this memory holds; the demo memory brings questions of its own."
        )
        return
    job = sweep.latest(opened.worker)
    _choose(opened, state, asked, job)
    running = job is not None and not job.finished
    part(_shown, run_every=1.0 if running else None)(opened)


def _choose(opened: OpenMemory, state: RetrievalState, asked: Sequence[Question], job: Job | None) -> None:
    labels = {knob.name: f"{knob.label} of {state.by}" for knob in knobs(opened.memory, state.by)} | {"context": _ROOM}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        parameter = st.selectbox(
            "Sweep", ["context", *(name for name in labels if name != "context")], format_func=labels.get, width=320,
            key=state.key(f"sweep-{state.by}"), help="Everything else stays as the sliders say",
        )  # fmt: skip
        most = st.selectbox(
            "Questions", sorted({min(count, len(asked)) for count in (25, 50, 100, 250, len(asked))}), width=120,
            format_func=lambda count: f"{count:,}", key=state.key("sweep-n"),
            help="The first of the set; more questions, narrower intervals",
        )  # fmt: skip
        busy = job is not None and not job.finished
        if st.button("Sweep", type="primary", key="sweep-start", disabled=busy, icon=":material/play_arrow:"):
            settings = {name: dict(values) for name, values in state.values.items()}
            attempt(lambda: sweep.start(opened.worker, opened.memory, asked[:most], state.by, parameter, settings))
            st.rerun()


def _shown(opened: OpenMemory) -> None:
    job = sweep.latest(opened.worker)
    if job is None:
        st.caption("Nothing is changed by a sweep: every question is only looked up.")
        return
    so_far = f"{job.done:,} of {plural(job.total, 'lookup')}, {job.message or job.state}"
    followed(job, so_far, "sweep-stop", "What is measured stays")
    points = list(job.result) if isinstance(job.result, list) else []
    if points:
        chart = tradeoff(points, dark=dark())
        st.plotly_chart(chart.figure, theme=None, key="sweep-chart", alt=chart.alt, config={"displaylogo": False})
        frame = pd.DataFrame(map(asdict, points)).round(3)
        st.dataframe(frame, hide_index=True, height=min(36 * (len(frame) + 1), 300), key="sweep-table")
    all_anew_at_end(job, "sweep-was-running")
