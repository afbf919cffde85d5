"""How the scores of a memory are spread, what of it goes, and the mix of labels before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from memory_core.errors import InputError
from memory_core.figures import palette
from memory_core.figures.chart import Chart, ink, quiet
from memory_core.figures.histogram import bin_edges
from memory_core.schema import LABELS

Doubles = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Age of a node in days -> its group, from young to old.
AGES: tuple[tuple[str, float], ...] = (
    ("under a week", 7), ("under a month", 30), ("under 3 months", 91), ("under a year", 365), ("older", np.inf),
)  # fmt: skip
_AGE_INKS = ("#0c5aa6", "#3f8fd2", "#8fb8dc", "#c9a86a", "#a0651a")


def fate_histogram(
    scores: Doubles,
    fate: Mask,
    line: float | None,
    *,
    labels: NDArray[np.int8] | None = None,
    ages: Doubles | None = None,
    bins: int = 50,
    dark: bool = False,
    height: int = 330,
) -> Chart:
    """Scores (n,) stacked by label (n,) or by age in days (n,); what goes (`fate`) is hatched, bins end at the `line`.

    Raises InputError when the columns differ in length or neither labels nor ages are given.
    """
    groups = _groups(labels, ages)
    if any(len(mask) != len(scores) for *_, mask in groups) or len(fate) != len(scores):
        raise InputError(f"{len(scores)} scores need as many fates and labels or ages.")
    edges = bin_edges(scores, line, bins)
    figure = go.Figure()
    for name, color, mask in groups:
        for goes in (False, True):
            counts, _ = np.histogram(scores[mask & (fate == goes)], edges)
            if counts.any():
                figure.add_bar(**_bars(name, color, edges, counts, goes, dark))
    figure.update_layout(barmode="stack")
    quiet(figure, dark, height)
    figure.update_xaxes(title_text="score (0 to 1, low is forgotten first)", range=[edges[0], edges[-1]])
    figure.update_yaxes(title_text="nodes", tickformat=",d", rangemode="tozero")
    if line is not None:
        _mark(figure, line, float(edges[0]), int(fate.sum()), len(fate), dark)
    return Chart(figure, _alt(scores, fate, line))


def _groups(labels: NDArray[np.int8] | None, ages: Doubles | None) -> list[tuple[str, str, Mask]]:
    if labels is not None:
        return [(label, palette.mark(label).color, labels == place) for place, label in enumerate(LABELS)]
    if ages is None:
        raise InputError("Give labels or ages to stack the histogram by.")
    place = np.searchsorted([limit for _, limit in AGES], ages, side="right")
    return [(name, _AGE_INKS[k], place == k) for k, (name, _) in enumerate(AGES)]


def _bars(
    name: str, color: str, edges: Doubles, counts: NDArray[np.int64], goes: bool, dark: bool
) -> dict[str, object]:
    some = np.flatnonzero(counts)
    hatch = {"shape": "/", "size": 5, "solidity": 0.4, "fillmode": "overlay", "fgcolor": ink(dark).page}
    return {
        "name": name,
        "legendgroup": name,
        "showlegend": not goes,
        "x": ((edges[:-1] + edges[1:]) / 2)[some].astype(np.float32),
        "y": counts[some],
        "width": float(np.diff(edges).min()),
        "marker": {
            "color": color, "line": {"width": 0.5, "color": ink(dark).page}, **({"pattern": hatch} if goes else {}),
        },
        "hovertemplate": f"{name}: %{{y:,}} {'go' if goes else 'stay'}, score about %{{x:.3f}}<extra></extra>",
    }  # fmt: skip


def _mark(figure: go.Figure, line: float, low: float, gone: int, n: int, dark: bool) -> None:
    shade = ink(dark)
    figure.add_vrect(x0=low, x1=line, fillcolor=shade.accent, opacity=0.09, line_width=0, layer="below")
    figure.add_vline(x=line, line={"color": shade.accent, "width": 2})
    told = ((f"{gone:,} go", "right", -6, shade.accent), (f"{n - gone:,} stay", "left", 6, shade.text))
    for words, anchor, shift, color in told:
        figure.add_annotation(
            x=line, y=1.0, yref="paper", yanchor="bottom", xanchor=anchor, xshift=shift, text=words, showarrow=False,
            font={"color": color, "size": 13},
        )  # fmt: skip


def _alt(scores: Doubles, fate: Mask, line: float | None) -> str:
    if not len(scores):
        return "Histogram of scores: no node to score."
    spread = f"from {scores.min():.2f} to {scores.max():.2f}, median {np.median(scores):.2f}"
    where = f", cut at {line:.3f}" if line is not None else ""
    gone = f"{int(fate.sum()):,} ({fate.mean():.1%}) would be forgotten"
    return f"Histogram of {len(scores):,} scores {spread}{where}; {gone}."


def fading(days: Sequence[int], going: Sequence[int], now: int, n: int, *, dark: bool = False) -> Chart:
    """How many of `n` nodes lie below the threshold so many days from the clock on; `now` marks the date looked at."""
    shade = ink(dark)
    figure = go.Figure()
    figure.add_scatter(
        x=list(days), y=list(going), mode="lines+markers", fill="tozeroy", line={"color": shade.accent, "width": 2},
        marker={"size": 6}, hovertemplate="%{y:,} go after %{x:,} days<extra></extra>", showlegend=False,
    )  # fmt: skip
    quiet(figure, dark, 220)
    figure.update_traces(fillcolor="rgba(224,86,59,.12)")
    figure.update_xaxes(title_text="days after the newest turn, if nothing more is said")
    figure.update_yaxes(title_text="nodes that go", tickformat=",d", range=[0, max(n, 1)])
    figure.add_vline(x=now, line={"color": shade.quiet, "width": 1, "dash": "dot"})
    words = f"{going[0]:,} today, {going[-1]:,} of {n:,} at the end"
    return Chart(figure, f"Nodes that would be forgotten over time: {words}.")
