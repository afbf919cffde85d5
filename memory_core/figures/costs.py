"""What a prune costs beside chance, and settings held against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from memory_core.figures import palette
from memory_core.figures.chart import Chart, ink, quiet


@dataclass(frozen=True)
class Bar:
    """One figure: its value after the prune, before it, and the random band; None where nothing could be judged."""

    name: str
    value: float | None
    before: float | None
    mean: float | None
    low: float | None
    high: float | None


def cost_bars(rows: Sequence[Bar], *, dark: bool = False) -> Chart:
    """A line a figure: the grey band of random prunes with its mean, the plan as a dot, what was there as a tick."""
    shade, figure = ink(dark), go.Figure()
    names = [row.name for row in rows]
    band = {"color": "rgba(138,143,152,.38)", "width": 16}
    for row in rows:
        if row.low is not None:
            figure.add_scatter(x=[row.low, row.high], y=[row.name] * 2, mode="lines", line=band, hoverinfo="skip")
    _marks(figure, [(row.mean, row.name) for row in rows], "random, mean", "line-ns-open", shade.quiet, 13)
    _marks(figure, [(row.before, row.name) for row in rows], "before", "line-ns-open", shade.text, 20)
    _marks(figure, [(row.value, row.name) for row in rows], "this plan", "circle", shade.accent, 13)
    quiet(figure, dark, 78 + 52 * max(len(rows), 1))
    figure.update_layout(showlegend=False, margin={"l": 8, "r": 16, "t": 6, "b": 8})
    figure.update_xaxes(
        range=[0, 1.03],
        tickformat=".1f",
        title_text="0 to 1; dot: this plan; grey: 95 % of random prunes, with their mean; black tick: before",
    )
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], type="category", showgrid=False)
    told = "; ".join(f"{row.name} {row.value:.3f}" for row in rows if row.value is not None)
    return Chart(figure, f"Cost of the plan beside random prunes: {told or 'nothing could be judged'}.")


def _marks(
    figure: go.Figure, pairs: Sequence[tuple[float | None, str]], name: str, symbol: str, color: str, size: int
) -> None:
    known = [(x, y) for x, y in pairs if x is not None]
    figure.add_scatter(
        x=[x for x, _ in known], y=[y for _, y in known], mode="markers", name=name,
        marker={"symbol": symbol, "size": size, "color": color, "line": {"width": 2.5, "color": color}},
        hovertemplate=f"{name} %{{x:.3f}}<extra></extra>",
    )  # fmt: skip


def sweep_curve(
    values: Sequence[float], lines: Mapping[str, Sequence[float | None]], axis: str, *, least: int | None = None,
    dark: bool = False,
) -> Chart:  # fmt: skip
    """One axis against several figures; `least` marks the place of the minimum of the last one."""
    shade, figure = ink(dark), go.Figure()
    colors = ("#1f6fd0", "#0e8a7b", "#a463c9", shade.accent, "#f0960a")
    for (name, ys), color in zip(lines.items(), colors, strict=False):
        figure.add_scatter(
            x=list(values), y=list(ys), mode="lines+markers", name=name, line={"color": color, "width": 2},
            marker={"size": 8}, hovertemplate=f"{name} %{{y:.3f}}<extra></extra>",
            customdata=list(range(len(values))),
        )  # fmt: skip
    quiet(figure, dark, 340)
    figure.update_xaxes(title_text=axis)
    figure.update_yaxes(rangemode="tozero", tickformat=".1f")
    if least is not None:
        name, ys = list(lines.items())[-1]
        figure.add_annotation(
            x=values[least], y=ys[least], text=f"minimum {ys[least]:.3f}", showarrow=True, arrowcolor=shade.text,
            ay=32, ax=0, font={"color": shade.text},
        )  # fmt: skip
    return Chart(figure, f"{', '.join(lines)} against {axis}, {len(values)} points.")


def heat_map(
    xs: Sequence[float], ys: Sequence[float], grid: Sequence[Sequence[float | None]], x_name: str, y_name: str,
    figure_name: str, *, dark: bool = False,
) -> Chart:  # fmt: skip
    """A figure over two parameters; cell (row, column) is (ys, xs)."""
    flat = [value for row in grid for value in row if value is not None]
    scale = [[k / (len(palette.SCORES) - 1), color] for k, color in enumerate(palette.SCORES)]
    figure = go.Figure(
        go.Heatmap(
            x=list(xs), y=list(ys), z=[list(row) for row in grid], colorscale=scale, xgap=1, ygap=1,
            colorbar={"title": {"text": figure_name}, "thickness": 12}, showscale=True,
            hovertemplate=f"{x_name} %{{x:.4g}}<br>{y_name} %{{y:.4g}}<br>{figure_name} %{{z:.3f}}<extra></extra>",
        )
    )  # fmt: skip
    places = [(k, x, y) for k, (y, x) in enumerate((y, x) for y in ys for x in xs)]
    figure.add_scatter(
        x=[x for _, x, _ in places], y=[y for _, _, y in places], customdata=[k for k, *_ in places], mode="markers",
        marker={"size": 16, "color": "rgba(0,0,0,0.01)"}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    quiet(figure, dark, 380)
    figure.update_xaxes(title_text=x_name)
    figure.update_yaxes(title_text=y_name, showgrid=False)
    span = f"from {min(flat):.3f} to {max(flat):.3f}" if flat else "not measured"
    return Chart(figure, f"{figure_name} over {x_name} and {y_name}: {span}.")


def front(
    points: Sequence[tuple[str, float, float | None]], best: Sequence[int], figure_name: str, *, dark: bool = False
) -> Chart:
    """(name, share kept, figure) of every point; those that nothing beats in both are joined: the Pareto front."""
    shade, figure = ink(dark), go.Figure()
    places = [k for k, point in enumerate(points) if point[2] is not None]
    for name, chosen, color, mode in (
        ("other settings", [k for k in places if k not in set(best)], shade.quiet, "markers"),
        ("Pareto front", sorted((k for k in places if k in set(best)), key=lambda k: points[k][1]), shade.accent,
         "lines+markers"),
    ):  # fmt: skip
        figure.add_scatter(
            x=[points[k][1] for k in chosen], y=[points[k][2] for k in chosen], customdata=chosen, mode=mode, name=name,
            text=[points[k][0] for k in chosen], marker={"size": 9, "color": color}, line={"color": color, "width": 2},
            hovertemplate=f"%{{text}}<br>{figure_name} %{{y:.3f}}, %{{x:.1%}} kept<extra></extra>",
        )  # fmt: skip
    quiet(figure, dark, 300)
    figure.update_xaxes(title_text="nodes kept", tickformat=".0%", autorange="reversed")
    figure.update_yaxes(title_text=figure_name, tickformat=".2f")
    told = f"{len(best)} of {len(points)} settings on the Pareto front"
    return Chart(figure, f"{figure_name} against nodes kept: {told}.")
