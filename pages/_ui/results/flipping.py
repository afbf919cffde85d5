"""What A got right and B wrong: the questions, and for one of them everything both had in hand."""

from __future__ import annotations

from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from memory_core.evaluation.results.flips import OUTCOMES, RIGHT, Pair, counted, pairs
from memory_core.evaluation.results.reading import Row
from pages._ui.opened import NAME
from pages._ui.results.choosing import NAMES, Chosen, warn
from pages._ui.results.pairing import between, pairing
from pages._ui.results.state import ResultsState
from pages._ui.words import safe

_SHOWN = 500


def flipping(chosen: Chosen, state: ResultsState) -> None:
    """Draw it."""
    names = pairing(chosen, state)
    if names is None:
        return
    a, b = names
    warn(between(chosen, a, b))
    found = pairs(chosen.runs[a], chosen.runs[b], chosen.metric)
    counts = counted(found)
    if state.outcome not in OUTCOMES:
        state.outcome = next((name for name in OUTCOMES if counts[name]), OUTCOMES[0])
    outcome = st.segmented_control(
        "Outcome", OUTCOMES, key=state.widget("outcome", list(OUTCOMES)), label_visibility="collapsed",
        format_func=lambda name: f"{name.replace('A', a).replace('B', b)} ({counts[name]:,})",
    )  # fmt: skip
    state.keep("outcome", outcome or OUTCOMES[0])
    rows = [pair for pair in found if pair.outcome == state.outcome]
    if not rows:
        st.info("No question has this outcome; choose another, or another metric on the left.")
        return
    left, right = st.columns([6, 5], gap="medium")
    with left:
        picked = _list(rows[:_SHOWN], a, b)
        rule = f"right: {NAMES.get(chosen.metric, chosen.metric)} of at least {RIGHT:g}"
        more = f"; the first {_SHOWN} of {len(rows):,} are listed, Export has all" if len(rows) > _SHOWN else ""
        st.html(f'<p class="method">{len(found):,} questions in common, {safe(rule)}{more}.</p>')
    with right:
        st.html(card(rows[picked], a, b))


def _list(rows: list[Pair], a: str, b: str) -> int:
    frame = pd.DataFrame(
        {
            "question": [pair.question or pair.id for pair in rows],
            "type": [pair.type for pair in rows],
            "A": [pair.a for pair in rows],
            "B": [pair.b for pair in rows],
        }
    )
    made = st.dataframe(
        frame, hide_index=True, height=430, on_select="rerun", selection_mode="single-row", key="results-flips",
        column_config={
            "question": st.column_config.TextColumn("question", width=190),
            "type": st.column_config.TextColumn("type", width=115),
            "A": st.column_config.NumberColumn(a, format="%.2f", width=64),
            "B": st.column_config.NumberColumn(b, format="%.2f", width=64),
        },
    )  # fmt: skip
    chosen = made.selection.rows  # type: ignore[union-attr]
    return chosen[0] if chosen and chosen[0] < len(rows) else 0


def card(pair: Pair, a: str, b: str) -> str:
    """One question with both answers, both contexts, the evidence, and the way to the retrieval page."""
    question = pair.question or "(the file does not hold the question's text)"
    told = {"memory": st.session_state.get(NAME, ""), "question": pair.question}
    link = (
        f'<a href="retrieval?{urlencode(told)}" target="_self">Ask it on the retrieval page</a>'
        if pair.question
        else ""
    )
    evidence = ", ".join(pair.evidence) or "not told"
    return (
        f'<article class="flip"><header>{safe(pair.id)} · {safe(pair.type)}</header><h3>{safe(question)}</h3>'
        f'<p><span class="key">expected</span> {safe(pair.expected) or "<i>not in these files</i>"}</p>'
        f'<p><span class="key">evidence</span> {safe(evidence)}</p>{_side(a, pair.row_a, pair.a, pair)}'
        f"{_side(b, pair.row_b, pair.b, pair)}<footer>{link}</footer></article>"
    )


def _side(name: str, row: Row, value: float, pair: Pair) -> str:
    answer = "<i>this file holds numbers only</i>" if row.predicted is None else safe(row.predicted)
    brought = row.other.get("turns")
    had = set(map(str, brought)) if isinstance(brought, list) else set()
    found = [turn for turn in pair.evidence if turn in had]
    told = f" · {len(found)} of {len(pair.evidence)} evidence turns retrieved" if had and pair.evidence else ""
    words = f" · {row.words} words" if row.predicted is not None else ""
    context = str(row.other.get("context") or "")
    quoted = f"<details><summary>its context</summary><blockquote>{safe(context)}</blockquote></details>"
    shown = quoted if context else ""
    mark = "right" if value >= RIGHT else "wrong"
    return (
        f'<section class="{mark}"><header><b>{safe(name)}</b> {mark} ({value:.2f}){words}{told}</header>'
        f"<p>{answer}</p>{shown}</section>"
    )
