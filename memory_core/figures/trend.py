"""Lines with intervals over turns or time, and dots of size against quality: one style a run on every picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from memory_core.figures.chart import STYLES, Chart, ink, quiet

_NAMED = 9  # runs a legend can tell apart; more are named where the pointer is


@dataclass(frozen=True)
class Mark:
    """One point: where it stands, its value, the interval (None without), and over how many questions."""

    x: float | str
    y: float
    low: float | None = None
    high: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class Series:
    """The points of one run, in order."""

    name: str
    marks: tuple[Mark, ...]


def trend(
    series: Sequence[Series],
    *,
    x_title: str,
    y_title: str,
    dark: bool = False,
    height: int = 320,
    share: bool = False,
    lines: bool = True,
    logarithmic: bool = False,
) -> Chart:
    """A line a series (only its points with `lines=False`), with whiskers where there are intervals. Beyond nine series
    there is no legend: the pointer names them.

    `share` holds the y axis between 0 and 1; `logarithmic` makes both axes so.
    """
    figure = go.Figure()
    for place, one in enumerate(series):
        figure.add_scatter(**_trace(one, place, lines))
    quiet(figure, dark, height)
    figure.update_layout(margin={"l": 8, "r": 12, "t": 14, "b": 8})
    named = len(series) <= _NAMED and (len(series) > 1 or not lines)
    figure.update_layout(showlegend=named, hovermode="closest")
    figure.update_xaxes(title_text=x_title)
    figure.update_yaxes(title_text=y_title, rangemode="tozero")
    if share:
        figure.update_yaxes(range=[0, 1.02], tickformat=".1f")
    if logarithmic:
        figure.update_xaxes(type="log")
        figure.update_yaxes(type="log", rangemode="normal")
    if not series:
        figure.add_annotation(text="nothing to show", showarrow=False, font={"color": ink(dark).quiet})
    return Chart(figure, _alt(series, x_title, y_title))


def _trace(one: Series, place: int, lines: bool) -> dict[str, object]:
    color, dash, symbol = STYLES[place % len(STYLES)]
    whiskers = [mark for mark in one.marks if mark.low is not None and mark.high is not None]
    many = len(one.marks) > 20
    trace: dict[str, object] = {
        "name": one.name,
        "x": [mark.x for mark in one.marks],
        "y": [mark.y for mark in one.marks],
        "mode": "markers" if not lines else "lines" if many else "lines+markers",
        "line": {"color": color, "width": 2, "dash": dash},
        "marker": {"symbol": symbol, "size": 10 if not lines else 8, "color": color},
        "customdata": [_words(mark) for mark in one.marks],
        "hovertemplate": f"{one.name}<br>%{{x}}: %{{customdata}}<extra></extra>",
    }
    if len(whiskers) == len(one.marks) and whiskers:
        trace["error_y"] = {
            "type": "data", "symmetric": False, "thickness": 1.2, "width": 3, "color": color,
            "array": [mark.high - mark.y for mark in whiskers if mark.high is not None],
            "arrayminus": [mark.y - mark.low for mark in whiskers if mark.low is not None],
        }  # fmt: skip
    return trace


def _words(mark: Mark) -> str:
    value = f"{mark.y:.3f}" if mark.y <= 1 else f"{mark.y:,.0f}"
    limits = "" if mark.low is None or mark.high is None else f" [{mark.low:.3f}, {mark.high:.3f}]"
    return value + limits + ("" if mark.n is None else f", n = {mark.n:,}")


def _alt(series: Sequence[Series], x_title: str, y_title: str) -> str:
    if not any(one.marks for one in series):
        return f"{y_title} against {x_title}: nothing was measured."
    ends = "; ".join(
        f"{one.name} from {_words(one.marks[0])} at {one.marks[0].x} to {_words(one.marks[-1])} at {one.marks[-1].x}"
        for one in series
        if one.marks
    )
    return f"{y_title} against {x_title}. {ends}."
