"""What was forgotten: every pass with its undo and purge, single nodes back, search, and ghost hits."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from memory_core.errors import ForgettingLabError
from memory_core.forgetting import Pass
from memory_core.memories import OpenMemory
from memory_core.simulator import Setting, simulator_of
from memory_core.simulator.effects import size
from memory_core.simulator.selecting import Forgotten, forgotten
from pages._ui.forgetting.commit import undo
from pages._ui.forgetting.state import ForgettingState
from pages._ui.opened import as_text, notice
from pages._ui.words import day, plural

_STAYS = "No turn left with this pass: what was said stays to the letter, and can still be found."


def history_view(opened: OpenMemory, state: ForgettingState, setting: Setting) -> None:
    """Draw the view."""
    passes = opened.memory.passes()
    if not passes:
        st.caption("Nothing was forgotten yet. Each pass will stand here, with its undo and its purge.")
        return
    for one in reversed(passes):
        _pass(opened, state, one)
    found, hits = st.columns([3, 2], gap="large")
    with found:
        _search(opened, passes)
    with hits:
        _ghosts(opened)


def _pass(opened: OpenMemory, state: ForgettingState, one: Pass) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"pass-{one.id}"):
        freed = one.summary.get("bytes_live_freed")
        what = f"{plural(one.nodes, 'node')}, {plural(one.edges, 'edge')}, {plural(one.turns, 'turn')}"
        size_of = f", {size(freed)} live" if isinstance(freed, int | float) else ""
        how = f"{one.policy} {one.summary.get('cut') or ''} {one.summary.get('where') or ''}".strip() or "receipt"
        st.markdown(as_text(f"{one.id} · {day(one.at)} · {how} · {what}{size_of} · {one.state} by {one.by}"))
        if one.state == "applied":
            st.button("Undo", key=f"undo-{one.id}", icon=":material/undo:", on_click=undo, args=(opened, state, one.id))
            st.button("Purge…", key=f"purge-{one.id}", icon=":material/delete_forever:", on_click=state.ask,
                      args=(f"purge-{one.id}",))  # fmt: skip
    if state.asked == f"purge-{one.id}":
        with st.container(border=True, key="ask-purge"):
            st.text(_question(one))
            with st.container(horizontal=True, gap="small"):
                st.button(
                    "Purge for good", type="primary", key="purge-really", on_click=_purge, args=(opened, state, one.id)
                )
                st.button("Keep it", key="purge-keep", on_click=state.ask)


def _question(one: Pass) -> str:
    what = f"{plural(one.left, 'node')}, {plural(one.edges, 'edge')} and {plural(one.turns, 'turn')}"
    stays = "" if one.turns else f" {_STAYS}"
    return (
        f"Purge pass {one.id}? Its {what} are erased from the file, which is then rewritten. "
        f"There is no way back.{stays}"
    )


def _purge(opened: OpenMemory, state: ForgettingState, pass_id: str) -> None:
    state.last_pass = ""
    state.ask()
    try:
        receipt = opened.memory.purge(pass_id, at=datetime.now(UTC))["receipt"]
    except ForgettingLabError as error:
        notice(str(error), "error")
        return
    assert isinstance(receipt, dict)
    before, after = size(receipt["bytes_on_disk_before"]), size(receipt["bytes_on_disk"])
    kept = _kept(receipt["turns_kept"])
    notice(f"Pass {pass_id} is purged: {plural(receipt['nodes'], 'node')}, {plural(receipt['edges'], 'edge')}, "
           f"{plural(receipt['turns'], 'turn')}. The file went from {before} to {after}.{kept}")  # fmt: skip


def _kept(turns: int) -> str:
    if not turns:
        return ""
    stay, their = ("stays", "its") if turns == 1 else ("stay", "their")
    return f" {plural(turns, 'turn')} they were read from {stay}, with {their} words."


def _search(opened: OpenMemory, passes: list[Pass]) -> None:
    st.markdown("**Search in the forgotten**")
    words = st.text_input("Words", key="forgotten-words", label_visibility="collapsed",
                          placeholder="Words in title, content or attributes; empty lists everything")  # fmt: skip
    found = forgotten(opened.memory, words)
    if not found:
        st.caption("Nothing forgotten holds these words." if words else "Nothing is forgotten now.")
        return
    shown = found[:200]
    chosen = st.dataframe(pd.DataFrame({
        "title": [one.title for one in shown], "label": [one.label for one in shown],
        "pass": [one.forgotten_by for one in shown], "content": [one.content[:120] for one in shown],
    }), key=f"forgotten-{opened.memory.revision}-{words}", hide_index=True, height=320, on_select="rerun",
        selection_mode="multi-row")  # fmt: skip
    st.caption(f"{len(shown):,} of {plural(len(found), 'forgotten node')}.")
    picked = [shown[row] for row in chosen.selection.rows if row < len(shown)]
    st.button(f"Restore {plural(len(picked), 'node')}", key="restore", disabled=not picked, icon=":material/undo:",
              on_click=_restore, args=(opened, picked))  # fmt: skip


def _restore(opened: OpenMemory, picked: list[Forgotten]) -> None:
    try:
        for pass_id in dict.fromkeys(one.forgotten_by for one in picked):
            opened.memory.restore(pass_id, [one.id for one in picked if one.forgotten_by == pass_id])
    except ForgettingLabError as error:
        notice(str(error), "error")
        return
    notice(f"{plural(len(picked), 'node')} back: {', '.join(one.title[:40] for one in picked[:5])}.")


def _ghosts(opened: OpenMemory) -> None:
    st.markdown("**Ghost hits**", help="Questions asked after a pass that would have started from a forgotten node")
    hits = simulator_of(opened).once(("ghosts", opened.memory.fingerprint()), opened.memory.ghost_hits)
    if not hits:
        st.caption("No question has missed what was forgotten.")
        return
    st.caption(f"{plural(len(hits), 'question')} would have started from what was forgotten.")
    for number, hit in enumerate(hits[-20:]):
        st.markdown(as_text(f"“{hit.question[:120]}” ({day(hit.at)})"))
        with st.container(horizontal=True, gap="small"):
            for ghost in hit.ghosts:
                one = Forgotten(ghost.id, "", ghost.title, "", ghost.forgotten_by)
                st.button(f"Restore {as_text(ghost.title[:40])}", key=f"ghost-{number}-{ghost.id}", on_click=_restore,
                          args=(opened, [one]), help=f"Cosine {ghost.score:.2f} to “{ghost.entity}”")  # fmt: skip
