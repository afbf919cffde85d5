"""Paired differences with their intervals, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from memory_core.figures import palette
from memory_core.figures.chart import Chart, ink, quiet


@dataclass(frozen=True)
class Difference:
    """A mean paired difference with its 95 % interval over `n` pairs."""

    name: str
    diff: float
    low: float
    high: float
    n: int

    @property
    def significant(self) -> bool:
        """The interval excludes 0."""
        return self.low > 0 or self.high < 0


def forest(rows: Sequence[Difference], *, axis: str = "difference", dark: bool = False) -> Chart:
    """A forest plot, first row on top; filled marks have an interval that excludes 0. `axis` says A minus B of what."""
    shade = ink(dark)
    figure = go.Figure()
    figure.add_vline(x=0, line={"color": shade.quiet, "width": 1.2})
    for row in rows:
        figure.add_scatter(**_line(row, shade.quiet))
        figure.add_annotation(
            x=1.0, xref="paper", xanchor="left", y=row.name, text=_figures(row), showarrow=False, align="left",
            font={"size": 12, "family": "Source Code Pro, ui-monospace, monospace", "color": shade.text},
        )  # fmt: skip
    quiet(figure, dark, height=84 + 30 * max(len(rows), 1))
    figure.update_layout(showlegend=False, margin={"l": 8, "r": 230, "t": 8, "b": 8})
    reach = max([abs(end) for row in rows for end in (row.low, row.high)], default=1.0) * 1.08 or 1.0
    figure.update_xaxes(title_text=axis, range=[-reach, reach], tickformat="+.2f")
    names = [row.name for row in rows]
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], showgrid=False, type="category")
    return Chart(figure, _alt(rows, axis))


def _line(row: Difference, grey: str) -> dict[str, object]:
    color = grey if not row.significant else palette.FATES["pinned"] if row.diff > 0 else palette.FATES["forgotten"]
    return {
        "x": [row.diff],
        "y": [row.name],
        "error_x": {
            "type": "data", "symmetric": False, "array": [row.high - row.diff], "arrayminus": [row.diff - row.low],
            "color": color, "thickness": 2, "width": 0,
        },
        "mode": "markers",
        "marker": {
            "size": 10, "color": color, "symbol": "circle" if row.significant else "circle-open",
            "line": {"width": 2, "color": color},
        },
        "hovertemplate": f"{row.name}: {_figures(row)}, n = {row.n:,}<extra></extra>",
    }  # fmt: skip


def _figures(row: Difference) -> str:
    return f"{row.diff:+.3f} [{row.low:+.3f}, {row.high:+.3f}]"


def _alt(rows: Sequence[Difference], axis: str) -> str:
    if not rows:
        return f"Forest plot of {axis}: nothing to compare."
    told = [row for row in rows if row.significant]
    lines = "; ".join(f"{row.name} {_figures(row)}" for row in rows)
    return f"Forest plot of {axis}: {len(told)} of {len(rows)} intervals exclude zero. {lines}."
