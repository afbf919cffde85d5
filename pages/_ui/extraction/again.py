"""Turns read again by another extractor: the difference is shown, and only then kept or left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from memory_core.inspection import readings
from memory_core.inspection.choices import extractor_choices, make_choice
from memory_core.inspection.lines import turn_lines
from memory_core.inspection.readings import Trial, Trials
from memory_core.memories import OpenMemory
from pages._ui.extraction.state import ExtractionState
from pages._ui.opened import as_text, attempt, notice, part
from pages._ui.words import plural, safe
from pages._ui.working import all_anew_at_end, followed

_SHOWN = 50


def again(opened: OpenMemory, state: ExtractionState) -> None:
    """Offer to read the turn, or all failed ones, with a chosen extractor; draw what that would change."""
    if not state.turn:
        return
    offer_undo(opened, state)
    failed = [line.id for line in turn_lines(opened.memory) if line.failed]
    chosen = st.session_state["models"]["extractor"]
    st.html('<h4 class="sub">Read again</h4>')
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        name = st.selectbox("Extractor", extractor_choices(chosen), key=state.key("again"), width=280,
                            help="Models come from “Reads turns” in the sidebar, one a prompt version")  # fmt: skip
        one = st.button("Read this turn again", key="again-one", help="Nothing is stored before you have seen it")
        all_failed = st.button(f"Read the {len(failed):,} failed again", key="again-failed", disabled=not failed)
    if one or all_failed:
        turns = [state.turn] if one else failed
        attempt(lambda: readings.start(opened.worker, opened.memory, turns, make_choice(name, chosen)))
        st.rerun()
    job = readings.latest(opened.worker)
    if job is not None:
        part(_shown, run_every=1.0 if not job.finished else None)(opened, state)


def offer_undo(opened: OpenMemory, state: ExtractionState) -> None:
    """The bar that takes the last act of this page back."""
    if not state.undo:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="undo-bar"):
        st.html(f"<span>{safe(state.undo_text)}</span>")
        if st.button("Undo", key="undo-extraction"):
            changes = state.undo.split(",")
            state.done("", "")
            attempt(lambda: _undo(opened, changes), "Taken back: the memory is as it was.")
            st.rerun()


def _undo(opened: OpenMemory, changes: Sequence[str]) -> None:
    for change in reversed(changes):
        opened.memory.undo(change, at=opened.memory.clock or datetime.now(UTC))


def _shown(opened: OpenMemory, state: ExtractionState) -> None:
    job = readings.latest(opened.worker)
    if job is None:
        return
    followed(job, f"{job.done:,} of {plural(job.total, 'turn')}", "again-stop", "What is read stays")
    trials = job.result if isinstance(job.result, Trials) else None
    if trials is not None:
        _trials(opened, state, trials)
    all_anew_at_end(job, "again-was-running")


def _trials(opened: OpenMemory, state: ExtractionState, trials: Trials) -> None:
    waiting = [trial for trial in trials.found if trial.turn.id not in trials.kept]
    if not waiting:
        return
    usable = [trial for trial in waiting if trial.after.status in ("ok", "repaired", "empty")]
    st.caption(as_text(f"Read by {trials.extractor}, not stored yet: {len(usable):,} of {plural(len(waiting), 'turn')} "
                       "gave something usable. Left out below: what both readings say."))  # fmt: skip
    st.html("".join(_difference(trial) for trial in waiting[:_SHOWN]))
    with st.container(horizontal=True, gap="small"):
        if st.button(f"Keep {plural(len(usable), 'reading')}", type="primary", key="again-keep", disabled=not usable):
            attempt(lambda: _keep(opened, state, trials, usable))
            st.rerun()
        if st.button("Leave them", key="again-leave"):
            trials.found.clear()
            st.rerun()


def _keep(opened: OpenMemory, state: ExtractionState, trials: Trials, usable: Sequence[Trial]) -> None:
    changes, problems = readings.keep(opened.memory, trials, [trial.turn.id for trial in usable])
    if changes:
        what = plural(len(changes), "turn") + (" was" if len(changes) == 1 else " were")
        state.done(",".join(changes), f"{what} read again: what only the old readings held has left.")
    left = f" Not stored: {'; '.join(problems[:3])}" if problems else ""
    notice(f"{plural(len(changes), 'reading')} stored.{left}", "warning" if left else "success")


def _difference(trial: Trial) -> str:
    found = trial.readings
    gone = "".join(f'<li class="gone">{safe(text)}</li>' for text in found.only_a[:40])
    come = "".join(f'<li class="come">{safe(text)}</li>' for text in found.only_b[:40])
    labels = "".join(f'<li class="other">{safe(text)}</li>' for text in found.relabelled[:40])
    same = plural(len(found.both), "item") + " in both"
    reason = f" {safe(trial.after.reason)}" if trial.after.reason else ""
    status = f"{trial.before.status} → {trial.after.status}"
    return (
        f'<div class="difference"><header><b>{safe(trial.turn.source_id)}</b> {status}, {same}.{reason}</header>'
        f"<ul>{gone}{come}{labels}</ul></div>"
    )
