"""How the scores of a memory are spread, and where a threshold cuts them."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from memory_core.errors import InputError
from memory_core.figures import palette
from memory_core.figures.chart import Chart, ink, quiet
from memory_core.schema import LABELS


def bin_edges(scores: NDArray[np.float64], threshold: float | None, bins: int = 50) -> NDArray[np.float64]:
    """About `bins` equal bins over the scores, one edge exactly on the threshold, so that no bar straddles the cut.

    >>> bin_edges(np.array([0.0, 1.0]), 0.1, bins=10).round(2).tolist()
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    """
    marks = scores if threshold is None else np.append(scores, threshold)
    low, high = (float(marks.min()), float(marks.max())) if marks.size else (0.0, 1.0)
    width = max(high - low, 1e-3) / bins
    origin = low if threshold is None else threshold
    before = int(np.ceil((origin - low) / width))
    after = max(int(np.ceil((high - origin) / width - 1e-9)), 1)
    edges = origin + width * np.arange(-before, after + 1, dtype=np.float64)
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
    return edges


def score_histogram(
    scores: NDArray[np.float64],
    labels: NDArray[np.int8],
    threshold: float | None = None,
    *,
    bins: int = 50,
    dark: bool = False,
    height: int = 320,
) -> Chart:
    """Scores (n,) stacked by label (n,), a place in schema.LABELS; nodes below the threshold are the ones forgotten.

    Raises InputError when the two columns differ in length.
    """
    if len(scores) != len(labels):
        raise InputError(f"{len(scores)} scores but {len(labels)} labels: give one label for each score")
    edges = bin_edges(scores, threshold, bins)
    figure = go.Figure()
    for place, label in enumerate(LABELS):
        counts, _ = np.histogram(scores[labels == place], edges)
        if counts.any():
            figure.add_bar(**_bars(label, edges, counts, dark))
    figure.update_layout(barmode="stack")
    quiet(figure, dark, height)
    figure.update_xaxes(title_text="score (0 to 1, low is forgotten first)", range=[edges[0], edges[-1]])
    figure.update_yaxes(title_text="nodes", tickformat=",d", rangemode="tozero")
    if threshold is not None:
        _mark_cut(figure, scores, threshold, float(edges[0]), dark)
    return Chart(figure, _alt(scores, threshold))


def _bars(label: str, edges: NDArray[np.float64], counts: NDArray[np.int64], dark: bool) -> dict[str, object]:
    mark = palette.mark(label)
    return {
        "name": label,
        "x": (edges[:-1] + edges[1:]) / 2,
        "y": counts,
        "width": np.diff(edges),
        "marker": {"color": mark.color, "line": {"width": 0.6, "color": ink(dark).page}},
        "customdata": np.column_stack([edges[:-1], edges[1:]]),
        "hovertemplate": f"{label}: %{{y:,}} nodes, score %{{customdata[0]:.3f}}-%{{customdata[1]:.3f}}<extra></extra>",
    }


def _mark_cut(figure: go.Figure, scores: NDArray[np.float64], threshold: float, low: float, dark: bool) -> None:
    shade = ink(dark)
    gone = int((scores < threshold).sum())
    figure.add_vrect(x0=low, x1=threshold, fillcolor=shade.accent, opacity=0.09, line_width=0, layer="below")
    figure.add_vline(x=threshold, line={"color": shade.accent, "width": 2})
    for words, anchor, shift in ((f"{gone:,} forgotten", "right", -6), (f"{len(scores) - gone:,} kept", "left", 6)):
        figure.add_annotation(
            x=threshold, y=1.0, yref="paper", yanchor="bottom", xanchor=anchor, xshift=shift, text=words,
            showarrow=False, font={"color": shade.accent if anchor == "right" else shade.text, "size": 12},
        )  # fmt: skip


def _alt(scores: NDArray[np.float64], threshold: float | None) -> str:
    if not len(scores):
        return "Histogram of scores: no node to score."
    spread = f"from {scores.min():.2f} to {scores.max():.2f}, median {np.median(scores):.2f}"
    words = f"Histogram of {len(scores):,} scores {spread}"
    if threshold is None:
        return words + "."
    gone = int((scores < threshold).sum())
    return f"{words}; {gone:,} ({gone / len(scores):.1%}) lie below the cut at {threshold:.2f} and would be forgotten."
