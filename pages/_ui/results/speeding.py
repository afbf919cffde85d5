"""How fast: every system beside ours, how near ours is to the limit of the machine, and growth."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core.errors import ForgettingLabError
from memory_core.evaluation.results.speed import (
    COLUMNS,
    Bound,
    Line,
    bounds,
    conditions,
    curves,
    lines,
    read_speed,
    recalls,
    shown,
    times,
)
from memory_core.figures.trend import Mark, Series, trend
from pages._ui.opened import as_text
from pages._ui.results.comparing import picture
from pages._ui.words import dark, safe

_GROWTH = {"retrieval_ms": "retrieval, ms", "turn_ms": "a turn, ms"}


def speeding() -> None:
    """Draw what `bench speed --out data/speed.json` kept."""
    try:
        told = read_speed()
    except ForgettingLabError as error:
        st.error(as_text(error))
        return
    if told is None:
        st.info("Nothing was measured yet: `python -m memory_core bench speed --out data/speed.json`")
        return
    systems = lines(told)
    if systems:
        st.html("<h4 class='small'>Beside the paper's design and other memories</h4>")
        st.html(f'<div class="wide">{systems_html(systems)}</div><p class="method">{safe(conditions(told))}</p>')
        _limit(told)
        with st.expander("What each did more or less"):
            st.html("".join(f"<p class='method'><b>{safe(one.name)}</b>: {safe(one.note)}</p>" for one in systems))
    for grown in told.get("growth", []):
        _growing(grown)


def systems_html(systems: list[Line]) -> str:
    """A line a system; the small number says how many times ours it takes."""
    names = "".join(f"<th>{name}</th>" for name in COLUMNS)
    rows = ""
    for one in systems:
        cells = "".join(f"<td>{_cell(one, column)}</td>" for column in COLUMNS)
        rows += f'<tr title="{safe(one.note)}"><td class="name">{safe(one.name)}</td><td>{one.nodes:,}</td>{cells}</tr>'
    head = f'<tr><th class="name">system</th><th>nodes</th>{names}</tr>'
    return f'<table class="runs"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _cell(one: Line, column: str) -> str:
    ratio = one.ratios.get(column)
    return safe(one.values[column]) + ("" if ratio is None else f"<small>{times(ratio)}</small>")


def _limit(told: dict[str, Any]) -> None:
    found = bounds(told)
    if not found:
        return
    st.html("<h4 class='small'>How near the limit of the machine</h4>")
    st.html(f'<div class="wide">{bounds_html(found)}</div>')
    parts = [f"{name} {shown(size, 'bytes')}" for name, size in told["limit"].get("disk", {}).items()]
    st.html(f'<p class="method">On disk: {safe(", ".join(parts))}.</p>')


def bounds_html(found: list[Bound]) -> str:
    """A line a figure; one that is missed says so in words."""
    rows = "".join(
        f'<tr><td class="name">{safe(one.what)}</td><td>{safe(one.value)}</td>'
        f"<td>{safe(one.wanted)}{'' if one.held else ', <b>missed</b>'}</td></tr>"
        for one in found
    )
    head = '<tr><th class="name">figure</th><th>is</th><th>should be</th></tr>'
    return f'<table class="runs"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _growing(grown: dict[str, Any]) -> None:
    st.html(f"<h4 class='small'>Growth on vectors that are {safe(grown['vectors'])}, {grown['dim']} dimensions</h4>")
    for column, (key, words) in zip(st.columns(2, gap="medium"), _GROWTH.items(), strict=True):
        found = [
            Series(name, tuple(Mark(n, value) for n, value in marks)) for name, marks in curves(grown, key).items()
        ]
        with column:
            picture(
                trend(found, x_title="nodes", y_title=words, dark=dark(), logarithmic=True), f"{grown['vectors']}-{key}"
            )
    st.html(
        f'<p class="method">Of the exact five nearest ours finds {safe(recalls(grown))}. {safe(conditions(grown))}</p>'
    )
