"""What the plan costs before it is paid: three figures beside chance, hybrid recall, and the questions that flip."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from memory_core.evaluation.cost import PRUNES
from memory_core.figures.costs import Bar, cost_bars
from memory_core.memories import OpenMemory
from memory_core.simulator import Shown, simulator_of
from memory_core.simulator.pricing import NAMES, Price, key, start
from memory_core.simulator.sharing import price_report
from pages._ui.forgetting.figures_table import figures_table
from pages._ui.forgetting.probes import probe_choice
from pages._ui.forgetting.progress import progress
from pages._ui.forgetting.state import ForgettingState
from pages._ui.words import dark, safe

PNG = {"displayModeBar": True, "displaylogo": False, "modeBarButtons": [["toImage"]]}


def cost_view(opened: OpenMemory, state: ForgettingState, shown: Shown) -> None:
    """Draw the view."""
    probe = probe_choice(opened, state)
    if probe is None:
        return
    if shown.plan.nothing:
        st.caption("This plan forgets nothing, so it costs nothing.")
        return
    simulator = simulator_of(opened)
    job = simulator.job(key(shown, probe[0]))
    if job is None or job.state in ("cancelled", "failed"):
        words = f"Measure the cost, beside {PRUNES} random prunes of the same size"
        st.button(words, type="primary", key="price", help="No model is asked; nothing is changed", on_click=start,
                  args=(simulator, shown, *probe))  # fmt: skip
    progress(job)
    if job is not None and job.result is not None:
        _price(opened, shown, job.result)  # type: ignore[arg-type]


def _price(opened: OpenMemory, shown: Shown, price: Price) -> None:
    figures = price.cost.figures
    lines = "".join(f'<li class="{_class(line)}">{safe(line)}</li>' for line in price.verdicts())
    st.html(f'<ul class="verdicts">{lines}</ul>')
    chart = cost_bars([
        Bar(NAMES[name], one.value, one.before, one.mean, one.low, one.high) if one.n
        else Bar(f"{NAMES[name]} (not judged)", None, None, None, None, None)
        for name, one in figures.items()
    ], dark=dark())  # fmt: skip
    st.plotly_chart(chart.figure, theme=None, key="cost-bars", config=PNG, alt=chart.alt)
    figures_table({NAMES[name]: one for name, one in figures.items()}, _hybrid(price))
    st.download_button("Report as Markdown", lambda: price_report(opened.name, shown, price), key="price-md",
                       file_name=f"{opened.name}-cost-{shown.plan.id}.md", on_click="ignore", type="tertiary",
                       icon=":material/download:")  # fmt: skip
    _flips(price)


def _class(line: str) -> str:
    return "" if line.startswith("Better") else "chance"


def _hybrid(price: Price) -> list[tuple[str, str]]:
    one = price.hybrid
    if one is None:
        return [("hybrid recall@5", "follows")]
    return [
        ("hybrid recall@5, whole memory", f"{one.whole:.3f}"),
        ("hybrid recall@5, turns kept", f"{one.turns_kept:.3f}"),
        (f"hybrid recall@5, {one.turns_gone:,} turns forgotten", f"{one.turns_forgotten:.3f}"),
    ]


def _flips(price: Price) -> None:
    flips = price.cost.flips
    st.markdown(f"**{len(flips):,} losses** in {len({flip.question for flip in flips}):,} questions")
    if flips:
        st.dataframe(pd.DataFrame({
            "question": [flip.text for flip in flips],
            "loses": [NAMES[flip.figure] for flip in flips],
            "what is lost": [", ".join(flip.lost) for flip in flips],
            "id": [flip.question for flip in flips],
        }), hide_index=True, height=min(38 + 35 * len(flips), 420), key="flips")  # fmt: skip
