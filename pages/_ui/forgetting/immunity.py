"""Which nodes no setting in range can touch, and by which term."""

from __future__ import annotations

import streamlit as st

from memory_core.memories import OpenMemory
from memory_core.simulator import Shown, Simulator, simulator_of
from memory_core.simulator.immunity import SETTINGS, Immunity, colors, immunity, untouched
from pages._ui.forgetting.map import drawn
from pages._ui.forgetting.progress import progress
from pages._ui.forgetting.state import ForgettingState
from pages._ui.words import safe


def immunity_view(opened: OpenMemory, state: ForgettingState, shown: Shown) -> None:
    """Draw the view."""
    simulator = simulator_of(opened)
    with opened.memory.lock:  # something may have been said since the plan was made
        shown, view = simulator.shown(shown.setting), opened.memory.scoring_view()
    key = ("immunity", shown.plan.id)
    job = simulator.job(key)
    found: Immunity = job.result if job is not None and job.state == "done" else immunity(shown, view)  # type: ignore[assignment]
    n = max(shown.plan.nodes_before, 1)
    lines = "".join(
        f'<span title="{safe(words)}"><b>{count:,}</b> ({count / n:.0%}) {safe(words)}</span>'
        for words, count in found.sentences()
    )
    if found.never is not None:
        never = int(found.never.sum())
        lines += (
            f"<span><b>{never:,}</b> ({never / n:.0%}) go in none of {found.settings} settings of all sliders</span>"
        )
    st.html(f'<div class="going">{lines or "<span>No single term holds any node at this cut.</span>"}</div>')
    if job is None or job.state in ("cancelled", "failed"):
        words = f"Try {SETTINGS} settings drawn from the ranges of all sliders, at this cut, and see who goes in none"
        st.button(words, key="immunity-try", on_click=_try, args=(simulator, key, shown))
    progress(job)
    drawn(opened, state, shown, colors(found))


def _try(simulator: Simulator, key: tuple[str, str], shown: Shown) -> None:
    simulator.start(key, "Immunity", lambda job: untouched(simulator, shown, job.advance), SETTINGS)
