"""Forget by hand, protect by rule, pins, and forgetting that runs by itself."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import streamlit as st

from memory_core.errors import ForgettingLabError
from memory_core.forgetting import Where
from memory_core.forgetting.rules import KINDS
from memory_core.forgetting.where import KEYS
from memory_core.memories import OpenMemory
from memory_core.schema import LABELS
from memory_core.simulator import Setting, simulator_of
from memory_core.simulator.selecting import pinned, sessions
from pages._ui.forgetting.state import ForgettingState, seeded
from pages._ui.opened import as_text, notice
from pages._ui.words import plural

_QUOTED = 60  # characters of what was typed that a message repeats
_SUCH_AS = {
    "label": "a label, such as Preference,", "speaker": "the name of a speaker, such as Mira,",
    "word": "a word, such as allergy,",
}  # fmt: skip


def protect_view(opened: OpenMemory, state: ForgettingState, setting: Setting) -> None:
    """Draw the view."""
    hand, rules = st.columns(2, gap="large")
    with hand:
        _select(opened, state, setting)
    with rules:
        _rules(opened)
        _pins(opened)
        _automatic(opened, setting)


def _select(opened: OpenMemory, state: ForgettingState, setting: Setting) -> None:
    st.markdown("**Select by hand**")
    st.caption(
        "Several conditions must all hold. With the cut *By hand* all of it goes; with another cut only what is "
        "selected may go. The same plan, preview, undo and purge."
    )
    now = dict(Where.parse(setting.where).conditions) if setting.where else {}
    told = {"on_change": _selected, "args": (state, setting)}
    st.text_input("Everything about a person", key=seeded("w-person", now.get("person", "")), placeholder="Max",
                  help="The person and what hangs on it alone", **told)  # fmt: skip
    st.selectbox("Read only from the session", ["", *_sessions(opened, now.get("session", ""))],
                 key=seeded("w-session", now.get("session", "")), **told)  # fmt: skip
    st.selectbox("With the label", ["", *LABELS], key=seeded("w-label", now.get("label", "")), **told)
    first, last = st.columns(2)
    with first:
        st.date_input("Said on or after", key=seeded("w-after", _day(now.get("after"))), **told)
    with last:
        st.date_input("and before", key=seeded("w-before", _day(now.get("before"))), **told)
    st.text_input("With all these words", key=seeded("w-search", now.get("search", "")),
                  help="In title, content or attributes", **told)  # fmt: skip
    if setting.where:
        st.code(f"--where {shlex.quote(setting.where)}", language="bash", wrap_lines=True)
        cut = "keep" if setting.cut == "all" else setting.cut
        st.button("Clear the selection", key="w-clear", on_click=state.load_setting,
                  args=(replace(setting, where="", cut=cut),))  # fmt: skip


def _selected(state: ForgettingState, setting: Setting) -> None:
    """Read the conditions off the widgets; the first one turns to the cut by hand, none turns away from it."""
    values = {key: str(st.session_state[f"set-w-{key}"] or "").strip() for key in KEYS}
    where = " ".join(f"{key}={shlex.quote(value)}" for key, value in values.items() if value)
    cut = setting.cut
    if where and not setting.where:
        cut = "all"
    elif not where and cut == "all":
        cut = "keep"
    state.load_setting(replace(setting, where=str(Where.parse(where)) if where else "", cut=cut))


def _day(text: str | None):  # type: ignore[no-untyped-def]
    return datetime.fromisoformat(text).date() if text else None


def _sessions(opened: OpenMemory, chosen: str) -> list[str]:
    known = simulator_of(opened).once(("sessions", opened.memory.fingerprint()), lambda: sessions(opened.memory))
    return known if not chosen or chosen in known else [chosen, *known]


def _rules(opened: OpenMemory) -> None:
    st.markdown("**Protected by rule**")
    for rule in opened.memory.rules():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(f"{rule.kind}: {_short(rule.value)}")
            st.button("", icon=":material/close:", type="tertiary", key=f"unprotect-{rule}", help="Take the rule away",
                      on_click=_attempt, args=(lambda rule=rule: opened.memory.unprotect(rule), ""))  # fmt: skip
    with st.form("new-rule", border=False, clear_on_submit=True):
        kind, value, add = st.columns([2, 3, 1], vertical_alignment="bottom")
        with kind:
            chosen = st.selectbox("Protect a", KINDS)
        with value:
            text = st.text_input("named", placeholder={"label": "Preference"}.get(chosen, "allergy"))
        with add:
            if st.form_submit_button("Add"):
                _protect(opened, chosen, text.strip())
                st.rerun()


def _protect(opened: OpenMemory, kind: str, value: str) -> None:
    if not value:
        notice(f"Type {_SUCH_AS[kind]} beside “Protect a {kind}”, then Add.", "warning")
        return
    try:
        opened.memory.protect(f"{kind}={value}")
    except ForgettingLabError as error:
        notice(str(error).replace(value, _short(value)), "error")
    else:
        notice(f"Nothing of {kind} {_short(value)} will be forgotten.")


def _short(value: str) -> str:
    return value if len(value) <= _QUOTED else f"{value[:_QUOTED]}…"


def _pins(opened: OpenMemory) -> None:
    found = pinned(opened.memory)
    st.markdown(f"**{plural(len(found), 'pinned node')}**")
    if not found:
        st.caption("Pin a node in its card (Why, Map), and no cut takes it.")
    for node_id, title in found[:30]:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(title[:60])
            st.button("Unpin", key=f"unpin-{node_id}", type="tertiary", on_click=_unpin, args=(opened, node_id))


def _unpin(opened: OpenMemory, node_id: str) -> None:
    _attempt(lambda: opened.memory.pin(node_id, False, at=datetime.now(UTC)), "")


def _automatic(opened: OpenMemory, setting: Setting) -> None:
    settings = opened.memory.settings
    st.markdown("**Forgetting by itself**")
    every = int(st.number_input("Every so many turns (0: never; P1: 400)", 0, 1_000_000, settings.forget_every, 50,
                                key=f"auto-{opened.name}"))  # fmt: skip
    guard = float(st.number_input("Idle guard: a gap counts at most so many days (0: off; never for P1's formula)", 0.0,
                                  3650.0, settings.forget_idle_days, 5.0, key=f"idle-{opened.name}"))  # fmt: skip
    own = {one: settings.forget_parameters[one] for one in settings.forget_parameters}
    told = f"{settings.forget_policy} below {settings.forget_threshold:g}" + (f", {own}" if own else "")
    st.caption(as_text(f"Saved: {told}, every {settings.forget_every:,} turns." if settings.forget_every else "Off."))
    if st.button("Save, with the policy and threshold of the controls", key="auto-save"):
        changed = {"forget_every": every, "forget_idle_days": guard, "forget_policy": setting.policy,
                   "forget_parameters": dict(setting.parameters), "forget_threshold": setting.threshold,
                   "forget_turns": setting.turns}  # fmt: skip
        done = f"Forgetting runs every {every:,} turns." if every else "Forgetting no longer runs by itself."
        _attempt(lambda: opened.memory.change_settings(replace(settings, **changed)), done)
        st.rerun()


def _attempt(act: Callable[[], object], done: str) -> None:
    try:
        act()
    except ForgettingLabError as error:
        notice(str(error), "error")
    else:
        if done:
            notice(done)
