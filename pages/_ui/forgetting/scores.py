"""The scores of all nodes with the cut, the labels before and after, and what fades when."""

from __future__ import annotations

import streamlit as st

from memory_core.figures import palette
from memory_core.figures.fates import fading, fate_histogram
from memory_core.memories import OpenMemory
from memory_core.schema import LABELS
from memory_core.simulator import Shown, simulator_of
from memory_core.simulator.fading import ages, fading_of
from memory_core.simulator.reasons import cut_line
from pages._ui.forgetting.state import ForgettingState, seeded
from pages._ui.words import dark, glyph

PLOT = {"displayModeBar": False}


def scores_view(opened: OpenMemory, state: ForgettingState, shown: Shown) -> None:
    """Draw the view."""
    by = st.segmented_control(
        "Stacked by", ["label", "age"], key=seeded("by", "label"), required=True, label_visibility="collapsed",
        format_func={"label": "by label", "age": "by age"}.get,
    )  # fmt: skip
    plan, shape = shown.plan, shown.shape
    groups = {"labels": shape.labels} if by == "label" else {"ages": ages(opened.memory, plan)}
    chart = fate_histogram(plan.scores.score, plan.fate, cut_line(plan), **groups, dark=dark())
    st.plotly_chart(chart.figure, theme=None, key="histogram", config=PLOT, alt=chart.alt)
    st.caption("Hatched: goes. Each bar ends at the cut." if not plan.nothing else "Nothing goes at this cut.")
    mix, over_time = st.columns([5, 4], gap="medium")
    with mix:
        _mix(shown)
    with over_time:
        _fading(opened, state, shown)


def _mix(shown: Shown) -> None:
    before, gone = shown.effects.before.tolist(), shown.effects.gone.tolist()
    most, n, left = max(*before, 1), max(sum(before), 1), max(sum(before) - sum(gone), 1)
    rows = ""
    for label, had, goes in zip(LABELS, before, gone, strict=True):
        ink = f"background-color:{palette.mark(label).color}"
        bar = (
            f'<u class="gone" style="width:{100 * had / most:.1f}%;{ink}"></u>'
            f'<u style="width:{100 * (had - goes) / most:.1f}%;{ink}"></u>'
        )
        rows += (
            f"<span>{glyph(label)} {label}</span><i>{bar}</i><b>{goes:,} of {had:,}</b>"
            f"<b>{had / n:.1%} → {(had - goes) / left:.1%}</b>"
        )
    head = (
        '<span class="h">Labels</span><span></span><span class="h" title="Nodes of the label that go">go</span>'
        '<span class="h" title="Share of the live nodes, before and after">share</span>'
    )
    st.html(f'<div class="mix">{head}{rows}</div>')


def _fading(opened: OpenMemory, state: ForgettingState, shown: Shown) -> None:
    if shown.plan.cut.kind != "threshold":
        st.caption("With a threshold as the cut, here stands what fades when, if nothing more is said.")
        return
    if not st.toggle("What fades when", key=seeded("fading", False), help="The same threshold over three years"):
        return
    found = fading_of(simulator_of(opened), shown)
    chart = fading(found.days, found.going, found.now, shown.plan.nodes_before, dark=dark())
    st.plotly_chart(chart.figure, theme=None, key="fading", config=PLOT, alt=chart.alt)
