"""How the per-question differences of two runs are spread: a mean may be many small ones or a few large."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from memory_core.figures import palette
from memory_core.figures.chart import Chart, ink, quiet


def spread(differences: Sequence[float], *, axis: str, dark: bool = False, height: int = 260) -> Chart:
    """A histogram of differences in [-1, 1], 21 bins with one around 0; better is blue, worse is orange."""
    figure, values = go.Figure(), np.asarray(differences, np.float64)
    edges = np.linspace(-1.05, 1.05, 22)
    counts, _ = np.histogram(values, edges)
    middles = (edges[:-1] + edges[1:]) / 2
    colors = [
        palette.FATES["pinned"] if middle > 0.04 else palette.FATES["forgotten"] if middle < -0.04 else ink(dark).quiet
        for middle in middles
    ]
    figure.add_bar(
        x=middles, y=counts, width=0.094, marker={"color": colors}, cliponaxis=False, textposition="outside",
        text=[f"{count:,}" if count else "" for count in counts], textfont={"size": 11, "color": ink(dark).quiet},
        hovertemplate="%{y:,} questions near %{x:+.1f}<extra></extra>",
    )  # fmt: skip
    quiet(figure, dark, height)
    figure.update_layout(margin={"l": 8, "r": 12, "t": 14, "b": 8})
    figure.update_layout(showlegend=False)
    figure.update_xaxes(title_text=axis, range=[-1.1, 1.1], tickformat="+.1f", tickvals=[-1, -0.5, 0, 0.5, 1])
    figure.update_yaxes(title_text="questions", rangemode="tozero")
    return Chart(figure, _alt(values, axis))


def _alt(values: np.ndarray[tuple[int], np.dtype[np.float64]], axis: str) -> str:
    if not len(values):
        return f"Distribution of {axis}: no question in common."
    better, worse = int((values > 0).sum()), int((values < 0).sum())
    same = len(values) - better - worse
    return (
        f"Distribution of {axis} over {len(values):,} questions: {better:,} above 0, {worse:,} below, {same:,} equal."
    )
