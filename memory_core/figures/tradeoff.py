"""Evidence recall against the tokens a context takes: a line for each retriever, a point for each value swept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from memory_core.figures.chart import STYLES, Chart, quiet


@dataclass(frozen=True)
class SweepPoint:
    """One retriever at one value: mean share of the evidence its context rests on, with a 95 % interval over the
    questions, and the mean size of the context in tokens. `parameter` is "context" when its room was swept."""

    retriever: str
    parameter: str
    value: float
    recall: float
    low: float
    high: float
    tokens: float
    n: int


def tradeoff(points: Sequence[SweepPoint], *, dark: bool = False, height: int = 400) -> Chart:
    """Up and to the left is better: more evidence in fewer tokens. Intervals are 95 % over the questions."""
    figure = go.Figure()
    names = list(dict.fromkeys(point.retriever for point in points))
    for name, (color, dash, symbol) in zip(names, STYLES, strict=False):
        own = [point for point in points if point.retriever == name]
        swept = own[0].parameter
        figure.add_scatter(
            x=[point.tokens for point in own],
            y=[point.recall for point in own],
            error_y={
                "type": "data", "symmetric": False, "thickness": 1, "width": 3, "color": color,
                "array": [point.high - point.recall for point in own],
                "arrayminus": [point.recall - point.low for point in own],
            },
            mode="lines+markers+text" if len(names) == 1 else "lines+markers",
            text=[f"{point.value:.3g}" for point in own], textposition="top left",
            line={"color": color, "dash": dash, "width": 2}, marker={"symbol": symbol, "size": 8, "color": color},
            customdata=[(point.value, point.n) for point in own], name=name,
            hovertemplate=f"{name}, {swept} %{{customdata[0]:.3g}}<br>recall %{{y:.3f}}, %{{x:.0f}} tokens"
            "<br>%{customdata[1]} questions<extra></extra>",
        )  # fmt: skip
    quiet(figure, dark, height)
    figure.update_layout(showlegend=len(names) > 1)
    figure.update_xaxes(title_text="context, mean tokens", rangemode="tozero", tickformat=",d")
    figure.update_yaxes(title_text="evidence recall", range=[0, 1.04], tickformat=".1f")
    return Chart(figure, _alt(points))


def _alt(points: Sequence[SweepPoint]) -> str:
    if not points:
        return "Evidence recall against context tokens: nothing measured yet."
    best = max(points, key=lambda point: (point.recall, -point.tokens))
    return (
        f"Evidence recall against context tokens, {len(points)} points. Best: {best.retriever} with {best.parameter} "
        f"{best.value:.3g}, recall {best.recall:.2f} at {best.tokens:.0f} tokens."
    )
