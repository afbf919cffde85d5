"""Commit the plan that is shown, after asking once in words (twice when it takes everything); share it."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from memory_core.errors import ForgettingLabError
from memory_core.memories import OpenMemory
from memory_core.simulator import Shown, simulator_of
from memory_core.simulator.effects import words
from memory_core.simulator.sharing import command, plan_json
from pages._ui.forgetting.state import ForgettingState
from pages._ui.opened import notice

_GONE = "The memory changed since this plan was shown: look at the new one and commit again."


def commit_bar(opened: OpenMemory, state: ForgettingState, shown: Shown) -> None:
    """The buttons."""
    plan = shown.plan
    with st.container(horizontal=True, gap="small", key="forget-acts", horizontal_alignment="right"):
        st.button("Forget…", type="primary", key="commit", icon=":material/hourglass_bottom:", disabled=plan.nothing,
                  on_click=state.ask, args=("commit", plan.id), help="Asks before anything leaves")  # fmt: skip
        with st.popover("Share", icon=":material/ios_share:"):
            st.caption("The address of this page holds the whole setting: a copy of it reopens it as it is.")
            st.caption(f"The same plan ({plan.id}) from the command line:")
            st.code(command(opened.memory, shown.setting), language="bash", wrap_lines=True)
            st.download_button("Plan as JSON", lambda: plan_json(shown), f"{opened.name}-plan-{plan.id}.json",
                               key="plan-json", on_click="ignore", type="tertiary")  # fmt: skip


def asked(opened: OpenMemory, state: ForgettingState, shown: Shown) -> None:
    """The question, while one waits for its yes."""
    if state.asked not in ("commit", "everything"):
        return
    if state.asked_plan != shown.plan.id:
        state.ask()  # the controls moved on: what was asked is no longer what is shown
        return
    sure = state.asked == "everything"
    told = words(shown.plan)
    text = f"{told[0].upper()}{told[1:]}. It can be undone under History until it is purged."
    if shown.plan.everything:
        text = "Really everything? Nothing would be left in the live memory." if sure else f"This is everything. {text}"
    with st.container(border=True, key="ask-commit"):
        st.text(text)
        with st.container(horizontal=True, gap="small"):
            if shown.plan.everything and not sure:
                st.button("Forget everything…", key="ask-twice", on_click=state.ask, args=("everything", shown.plan.id))
            else:
                st.button("Forget", type="primary", key="really", on_click=_apply, args=(opened, state))
            st.button("Keep", key="keep", on_click=state.ask)


def _apply(opened: OpenMemory, state: ForgettingState) -> None:
    plan = simulator_of(opened).seen(state.asked_plan)
    state.ask()
    if plan is None:
        notice(_GONE, "error")
        return
    try:
        done = opened.memory.apply(plan, at=datetime.now(UTC))
    except ForgettingLabError as error:
        notice(str(error), "error")
        return
    state.last_pass, state.why = done, ""
    state.save()
    notice(f"Done: pass {done}. {words(plan)[7:].split(';')[0]} left the live memory.")


def undo_bar(opened: OpenMemory, state: ForgettingState) -> None:
    """The last pass made here, with its undo."""
    if not state.last_pass:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="undo-bar"):
        st.text(f"Pass {state.last_pass} is done.")
        st.button("Undo", key="undo-last", icon=":material/undo:", on_click=undo, args=(opened, state, state.last_pass))
        st.button("", key="undo-close", icon=":material/close:", type="tertiary", on_click=_close, args=(state,),
                  help="Keep it forgotten")  # fmt: skip


def _close(state: ForgettingState) -> None:
    state.last_pass = ""
    state.save()


def undo(opened: OpenMemory, state: ForgettingState, pass_id: str) -> None:
    """Take a pass back; what became of it is the next run's notice."""
    state.last_pass = ""
    state.ask()
    try:
        back = opened.memory.undo(pass_id, at=datetime.now(UTC))["restored"]
    except ForgettingLabError as error:
        notice(str(error), "error")
        return
    notice(
        f"Pass {pass_id} is undone: {back['nodes']:,} nodes, {back['edges']:,} edges, {back['turns']:,} turns are back."
    )
