"""What is left of the evidence as the memory shrinks: each policy against a band of random prunes of the same size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from memory_core.figures.chart import STYLES, Chart, ink, quiet


@dataclass(frozen=True)
class Point:
    """One prune: the share of nodes kept, and a figure in [0, 1] (None when it could not be measured)."""

    policy: str
    measure: str
    kept: float
    value: float | None


@dataclass(frozen=True)
class Band:
    """Random prunes to one share kept: their mean and the 2.5 and 97.5 percentiles of a figure."""

    measure: str
    kept: float
    mean: float
    low: float
    high: float


def survival_curves(points: Sequence[Point], bands: Sequence[Band], *, dark: bool = False, height: int = 360) -> Chart:
    """One panel a measure, in order of appearance; the whole memory on the left, the smallest on the right."""
    measures = list(dict.fromkeys([point.measure for point in points] + [band.measure for band in bands])) or [
        "survival"
    ]
    titles = [measure.replace("_", " ") for measure in measures]
    figure = make_subplots(
        rows=1, cols=len(measures), shared_yaxes=True, subplot_titles=titles, horizontal_spacing=0.035
    )
    policies = list(dict.fromkeys(point.policy for point in points))
    for column, measure in enumerate(measures, start=1):
        _add_band(figure, [band for band in bands if band.measure == measure], column, dark)
        for place, policy in enumerate(policies):
            own = [point for point in points if point.policy == policy and point.measure == measure]
            _add_policy(figure, policy, own, place, column)
    quiet(figure, dark, height)
    figure.update_annotations(font={"size": 13, "color": ink(dark).text})
    figure.update_layout(margin={"l": 8, "r": 12, "t": 34, "b": 8}, hovermode="x unified")
    figure.update_xaxes(title_text="nodes kept", tickformat=".0%", autorange="reversed")
    figure.update_yaxes(range=[0, 1.02], tickformat=".1f")
    return Chart(figure, _alt(points, bands, titles, policies))


def _add_band(figure: go.Figure, bands: list[Band], column: int, dark: bool) -> None:
    ordered = sorted(bands, key=lambda band: band.kept)
    if not ordered:
        return
    grey, kept = ink(dark).quiet, [band.kept for band in ordered]
    figure.add_scatter(
        x=kept + kept[::-1],
        y=[band.high for band in ordered] + [band.low for band in reversed(ordered)],
        mode="lines", fill="toself", fillcolor="rgba(138,143,152,.24)", line={"width": 0}, hoverinfo="skip",
        name="random, 95 % of prunes", legendgroup="band", showlegend=column == 1, row=1, col=column,
    )  # fmt: skip
    figure.add_scatter(
        x=kept, y=[band.mean for band in ordered], mode="lines", line={"color": grey, "width": 1.5, "dash": "dash"},
        hovertemplate="random %{y:.3f}<extra></extra>", name="random, mean", legendgroup="mean",
        showlegend=column == 1, row=1, col=column,
    )  # fmt: skip


def _add_policy(figure: go.Figure, policy: str, points: list[Point], place: int, column: int) -> None:
    color, dash, shape = STYLES[place % len(STYLES)]
    ordered = sorted(points, key=lambda point: point.kept)
    figure.add_scatter(
        x=[point.kept for point in ordered], y=[point.value for point in ordered], mode="lines+markers",
        line={"color": color, "width": 2, "dash": dash}, marker={"symbol": shape, "size": 8, "color": color},
        hovertemplate=f"{policy} %{{y:.3f}}<extra></extra>", name=policy, legendgroup=policy,
        showlegend=column == 1, row=1, col=column,
    )  # fmt: skip


def _alt(points: Sequence[Point], bands: Sequence[Band], titles: list[str], policies: list[str]) -> str:
    if not points:
        return f"Curves of {', '.join(titles)}: no prune was measured."
    above: dict[str, int] = defaultdict(int)
    high = {(band.measure, band.kept): band.high for band in bands}
    for point in points:
        if point.value is not None and point.value > high.get((point.measure, point.kept), 2.0):
            above[point.policy] += 1
    counts = ", ".join(f"{policy} {above[policy]}" for policy in policies)
    return f"Curves of {', '.join(titles)} against the share of nodes kept. Points above the random band: {counts}."
