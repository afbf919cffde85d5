"""Settings held against each other: all policies, a sweep, P2's objective, terms left out. A click loads a point."""

from __future__ import annotations

from functools import partial

import streamlit as st

from memory_core.evaluation.sweeps import ETA
from memory_core.figures.chart import Chart
from memory_core.figures.costs import front, heat_map, sweep_curve
from memory_core.figures.curves import survival_curves
from memory_core.memories import OpenMemory
from memory_core.simulator import Setting, Simulator, simulator_of
from memory_core.simulator.comparing import SHARES, Comparison, Kind, axes_of, start, values_of
from memory_core.simulator.pricing import NAMES
from memory_core.simulator.sharing import comparison_csv, comparison_report
from pages._ui.forgetting.compare_table import compare_table
from pages._ui.forgetting.probes import Probed, probe_choice
from pages._ui.forgetting.progress import progress
from pages._ui.forgetting.state import ForgettingState, seeded
from pages._ui.opened import as_text
from pages._ui.words import dark

PNG = {"displayModeBar": True, "displaylogo": False, "modeBarButtons": [["toImage"]]}
Axes = dict[str, tuple[float, ...]]
_KINDS = {"policies": "Policies", "sweep": "Sweep", "budget": "P2's objective", "ablation": "Leave one term out"}
_WORDS = {
    "policies": "Every policy keeps the same number of nodes; the grey band is 200 random prunes of that size.",
    "sweep": "One or two parameters over their range, at the memory clock; the Pareto front keeps most with least.",
    "budget": "P2: L = 1 − recall + η · kept / nodes, over the share kept; the minimum is its budget.",
    "ablation": "P1's importance without each of its terms, at the number of nodes the controls keep.",
}


def compare_view(opened: OpenMemory, state: ForgettingState, setting: Setting) -> None:
    """Draw the view."""
    kind = st.segmented_control("Compare", list(_KINDS), format_func=_KINDS.get, key=seeded("kind", "policies"),
                                required=True, label_visibility="collapsed")  # fmt: skip
    st.caption(_WORDS[kind])
    probe = probe_choice(opened, state)
    if probe is None:
        return
    axes = {"keep": values_of(setting, "keep", 20)} if kind == "budget" else {}
    axes = _axes(setting) if kind == "sweep" else axes
    simulator, empty = simulator_of(opened), kind == "sweep" and not axes
    st.button(f"Run: {_KINDS[kind]}", type="primary", key=f"run-{kind}", disabled=empty, on_click=_run,
              args=(simulator, state, kind, setting, probe, axes))  # fmt: skip
    job = simulator.job(state.comparisons.get(kind, ""))
    progress(job)
    if job is not None and job.state == "done":
        _shown(opened, state, job.result)  # type: ignore[arg-type]


def _run(simulator: Simulator, state: ForgettingState, kind: Kind, setting: Setting, probe: Probed, axes: Axes) -> None:
    state.comparisons[kind], _ = start(simulator, kind, setting, *probe, axes, SHARES)
    state.save()


def _axes(setting: Setting) -> Axes:
    names = axes_of(setting)
    chosen = st.multiselect("Over", list(names), ["keep"], format_func=names.get, max_selections=2, key="sweep-axes")
    return {name: values_of(setting, name, 15 if len(chosen) == 1 else 8) for name in chosen}


def _shown(opened: OpenMemory, state: ForgettingState, found: Comparison) -> None:
    of = "" if found.kind == "policies" else f" Of {found.setting.policy}."
    st.caption(
        f"{found.questions:,} questions of {as_text(found.probe)}, {found.nodes:,} nodes.{of} A click on a point "
        "loads it into the controls."
    )
    {"policies": _policies, "sweep": _sweep, "budget": _budget, "ablation": _ablation}[found.kind](state, found)
    compare_table(state, found)
    with st.container(horizontal=True, gap="small"):
        name = f"{opened.name}-{found.kind}"
        st.download_button("CSV", lambda: comparison_csv(found), f"{name}.csv", key="compare-csv", on_click="ignore",
                           icon=":material/download:")  # fmt: skip
        st.download_button("Report", lambda: comparison_report(opened.name, found), f"{name}.md", key="compare-md",
                           on_click="ignore", icon=":material/download:")  # fmt: skip
        st.caption("PNG: the camera above the picture.")


def _policies(state: ForgettingState, found: Comparison) -> None:
    if chance := found.by_chance():
        st.warning(as_text(f"No better than chance on any figure at any size: {', '.join(chance)}."))
    chart = survival_curves(found.marks(), found.bands(), dark=dark())
    _chart(chart, "compare-policies", state, found)


def _sweep(state: ForgettingState, found: Comparison) -> None:
    figure = st.segmented_control(
        "Figure", list(NAMES), format_func=NAMES.get, default="answer_survival", required=True, key="sweep-figure",
        label_visibility="collapsed",
    )  # fmt: skip
    names = list(found.axes)
    if len(names) == 1:
        lines = {NAMES[key]: [point.value(key) for point in found.points] for key in NAMES}
        lines["share of nodes kept"] = [point.share for point in found.points]
        chart = sweep_curve(found.axes[names[0]], lines, names[0], dark=dark())
    else:
        ys, xs = found.axes[names[0]], found.axes[names[1]]
        grid = [[found.points[r * len(xs) + c].value(figure) for c in range(len(xs))] for r in range(len(ys))]
        chart = heat_map(xs, ys, grid, names[1], names[0], NAMES[figure], dark=dark())
    _chart(chart, "compare-sweep", state, found)
    points = [(point.name, point.share, point.value(figure)) for point in found.points]
    pareto = front(points, found.front(figure), NAMES[figure], dark=dark())
    _chart(pareto, "compare-front", state, found)


def _budget(state: ForgettingState, found: Comparison) -> None:
    eta = st.slider("η, the weight of size", 0.0, 2.0, ETA, 0.05, key="eta", help="P2's objective; .5 is the default")
    least = found.least(eta)
    lines = {"graph recall@5": [point.value("graph_recall@5") for point in found.points], "L": found.objective(eta)}
    chart = sweep_curve(found.axes["keep"], lines, "nodes kept, %", least=least, dark=dark())
    _chart(chart, "compare-budget", state, found)
    best = found.points[least]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f"L is least, **{found.objective(eta)[least]:.3f}**, when **{best.share:.0%}** of the nodes are kept."
        )
        st.button("Load the minimum", key="load-least", on_click=state.load_setting, args=(best.setting,))


def _ablation(state: ForgettingState, found: Comparison) -> None:
    st.caption("A figure that rises when a term is left out says that the term chose worse than the others.")


def _chart(chart: Chart, key: str, state: ForgettingState, found: Comparison) -> None:
    """A picture whose points load their setting."""
    st.plotly_chart(
        chart.figure, theme=None, key=key, config=PNG, alt=chart.alt, selection_mode="points",
        on_select=partial(_load, key, state, found),
    )  # fmt: skip


def _load(key: str, state: ForgettingState, found: Comparison) -> None:
    """The point that was clicked becomes the setting."""
    for point in st.session_state[key].selection.points[:1]:
        place = point.get("customdata", point.get("point_index"))
        place = place[0] if isinstance(place, list) else place
        if found.kind == "policies":
            place = found.place_of(point.get("legendgroup", ""), point["x"])
        if isinstance(place, int) and place < len(found.points):
            state.load_setting(found.points[place].setting)
