"""The list of turns with what came of each, counted by status and filtered; one is opened beside it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from memory_core.inspection.lines import ONLY, TurnLine, filtered, statuses, turn_lines
from memory_core.memories import OpenMemory
from pages._ui.extraction.state import ExtractionState
from pages._ui.words import plural

_PAGE = 100
_MISSING = """
This memory holds no turns: it came from a file without them. What can be seen of its extraction is under **Overview**;
words, spans, replies and retries need the turns.
"""


def walking(opened: OpenMemory, state: ExtractionState) -> None:
    """Draw the filter and the list; the row chosen becomes `state.turn`."""
    lines = turn_lines(opened.memory)
    if not lines:
        st.info(_MISSING if opened.memory.graph.ids else "Nothing was said to this memory yet: open **Chat** and do.")
        return
    counts = statuses(lines)
    chosen = st.pills(
        "Status of the last extraction", list(counts), format_func=lambda name: f"{name} {counts[name]:,}",
        selection_mode="multi", key=state.widget("status", [s for s in state.status if s in counts]),
        help="ok: nothing dropped. repaired: something mended or dropped. empty: nothing to remember. rejected, "
        "truncated, refused, failed: nothing usable, can be read again. unread: came without its extraction.",
    )  # fmt: skip
    state.status = list(chosen)
    with st.container(horizontal=True, gap="small"):
        readers = sorted({line.by for line in lines if line.by})
        state.by = st.selectbox("Read by", ["", *readers], format_func=lambda name: name or "anyone", width=200,
                                key=state.widget("by", state.by if state.by in readers else ""))  # fmt: skip
        state.only = st.selectbox("Only with", ["", *ONLY], format_func=lambda name: name or "anything", width=150,
                                  key=state.widget("only", state.only))  # fmt: skip
        state.words = st.text_input(
            "Words", key=state.widget("words", state.words), placeholder="in the turn or reason"
        )
    shown = filtered(lines, status=state.status, by=state.by, words=state.words, only=state.only)
    _list(state, shown, len(lines))
    state.save()


def _list(state: ExtractionState, shown: Sequence[TurnLine], total: int) -> None:
    if not shown:
        st.caption("No turn fits this filter.")
        return
    pages = (len(shown) - 1) // _PAGE + 1
    state.page = min(state.page, pages - 1)
    part = shown[state.page * _PAGE : (state.page + 1) * _PAGE]
    of = f" of {plural(total, 'turn')}" if len(shown) < total else ""
    st.caption(f"{plural(len(shown), 'turn')}{of}" + (f", page {state.page + 1} of {pages}" if pages > 1 else ""))
    picked = st.dataframe(
        _frame(part), key=state.key(f"turns-{state.page}-{len(shown)}"), hide_index=True, height=470,
        on_select="rerun", selection_mode="single-row",
        column_config={
            "nodes": st.column_config.NumberColumn(help="Nodes read, added or merged", width=60),
            "edges": st.column_config.NumberColumn(help="Edges read", width=60),
            "drops": st.column_config.NumberColumn(help="Items validation left out", width=60),
            "said": st.column_config.TextColumn(width="large"),
        },
    ).selection.rows  # fmt: skip
    if picked and picked[0] < len(part):
        state.turn = part[picked[0]].id
    elif state.turn not in {line.id for line in shown}:
        state.turn = part[0].id
    _steps(state, shown, pages)


def _frame(part: Sequence[TurnLine]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "turn": [line.source_id for line in part],
            "status": [line.status for line in part],
            "nodes": [line.added + line.merged for line in part],
            "edges": [line.edges for line in part],
            "drops": [len(line.drops) for line in part],
            "said": [f"{line.speaker or line.role}: {line.excerpt}" for line in part],
        }
    )


def _steps(state: ExtractionState, shown: Sequence[TurnLine], pages: int) -> None:
    ids = [line.id for line in shown]
    at = ids.index(state.turn)
    with st.container(horizontal=True, gap="small"):
        back = st.button("← Turn", key=state.key("back"), disabled=at == 0, help="The turn before in this list")
        on = st.button("Turn →", key=state.key("on"), disabled=at + 1 == len(ids), help="The next turn of this list")
        if back or on:
            state.turn = ids[at + (1 if on else -1)]
            state.page = ids.index(state.turn) // _PAGE
            _reopen(state)
        if pages > 1:
            earlier = st.button("Earlier page", key=state.key("earlier"), disabled=state.page == 0)
            later = st.button("Later page", key=state.key("later"), disabled=state.page + 1 == pages)
            if earlier or later:
                state.page += 1 if later else -1
                state.turn = ids[state.page * _PAGE]
                _reopen(state)


def _reopen(state: ExtractionState) -> None:
    """Forget which row of the table is chosen: the steps have gone on from it."""
    for key in [str(key) for key in st.session_state if str(key).startswith(state.key("turns-"))]:
        del st.session_state[key]
    state.save()
    st.rerun(scope="fragment")
