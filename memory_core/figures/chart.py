"""What the charts of numbers share: one quiet look for light and dark pages, a picture that comes with its words."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from memory_core.figures import palette

#: A line for each policy, method or run: colours of the palette, each with its own dash and symbol.
STYLES: tuple[tuple[str, str, str], ...] = tuple(
    (mark.color, dash, mark.symbol)
    for dash, marks in (("solid", tuple(palette.MARKS.values())), ("dot", tuple(palette.MARKS.values())))
    for mark in marks
)


@dataclass(frozen=True)
class Chart:
    """A plotly figure and `alt`, the sentence that says what it shows to those who do not see it.

    Show it with `theme=None`: it brings its own look for the page it was made for.
    """

    figure: go.Figure
    alt: str


@dataclass(frozen=True)
class Ink:
    """The greys of a page: text, quiet text, lines, and the page itself (for outlines)."""

    text: str
    quiet: str
    line: str
    page: str
    accent: str


def ink(dark: bool) -> Ink:
    """The greys for a dark or a light page."""
    if dark:
        return Ink("#e6e8ee", "#9aa1ad", "rgba(230,232,238,.14)", "#0e1117", "#ff7a5c")
    return Ink("#262730", "#5f6673", "rgba(38,39,48,.12)", "#ffffff", palette.ACCENT)


def quiet(figure: go.Figure, dark: bool, height: int = 320) -> go.Figure:
    """Give `figure` the common look: no box, faint horizontal lines, numbers aligned, room only where words need it."""
    shade = ink(dark)
    axis = {
        "gridcolor": shade.line,
        "zeroline": False,
        "linecolor": shade.line,
        "tickcolor": shade.line,
        "tickfont": {"color": shade.quiet, "size": 12},
        "title": {"font": {"color": shade.quiet, "size": 12}, "standoff": 8},
        "automargin": True,
    }
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 8, "r": 12, "t": 34, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": shade.text, "size": 13, "family": "Source Sans, system-ui, sans-serif"},
        legend={"orientation": "h", "x": 0, "y": -0.18, "yanchor": "top", "font": {"size": 12}, "traceorder": "normal"},
        hoverlabel={"bgcolor": shade.page, "bordercolor": shade.line, "font": {"color": shade.text, "size": 12}},
        bargap=0,
        separators=".,",
    )
    figure.update_xaxes(**axis, showgrid=False, ticks="outside", ticklen=4)
    figure.update_yaxes(**axis)
    return figure
