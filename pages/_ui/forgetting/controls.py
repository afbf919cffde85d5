"""The controls: policy with its sliders, cut, time. Every widget starts from the setting and gives one back."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import streamlit as st

from memory_core.memories import OpenMemory
from memory_core.policies import Parameter, found, parameters
from memory_core.simulator import Setting
from memory_core.simulator.sliders import explained, step
from pages._ui.forgetting.coverage_picture import coverage_picture
from pages._ui.forgetting.state import ForgettingState, seeded
from pages._ui.words import day

_FAR = 36_500  # days scores can be looked at before and after the newest turn
_CUTS = {"threshold": "Threshold", "keep": "Keep nodes", "bytes": "Keep bytes", "all": "By hand"}
_CUT_HELP = (
    "Threshold: what scores below it goes. Keep nodes: all but the best so many go. Keep bytes: the most summed score "
    "that fits. By hand: everything selected under Select & protect goes, whatever it scores."
)


def controls(opened: OpenMemory, state: ForgettingState) -> Setting:
    """Draw them; the setting they stand at."""
    setting = state.setting
    with st.container(key="forget-controls"):
        setting = _cut(_policy(setting))
        setting = _sliders(setting)
        with st.expander("Time", expanded=setting.day is not None or setting.later > 0 or setting.idle_days > 0):
            setting = _time(opened, state, setting)
    if setting != state.setting:
        state.why = ""
        state.problems = []
    state.keep_setting(setting)
    return setting


def _policy(setting: Setting) -> Setting:
    names = list(found())
    key = seeded("policy", setting.policy)
    chosen = st.selectbox("Retention policy", names, key=key, help="Scores every node; high is kept")
    if chosen != setting.policy:
        setting = replace(setting, policy=chosen, parameters={})
    with st.popover("How it scores", icon=":material/function:", type="tertiary"):
        if chosen == "coverage":
            coverage_picture()
        st.code(explained(chosen), language=None, wrap_lines=True)
    return setting


def _sliders(setting: Setting) -> Setting:
    now, kind = setting.values(), found()[setting.policy]
    return setting.with_parameters({one.name: _slider(setting.policy, one, now[one.name]) for one in parameters(kind)})


def _slider(policy: str, one: Parameter, value: float | int | str) -> float | int | str:
    key = seeded(f"p-{policy}-{one.name}", value)
    usual = f"Default {one.default:.4g}" if isinstance(one.default, float) else f"Default {one.default}"
    if one.choices:
        return st.segmented_control(one.label, one.choices, key=key, required=True, help=usual)
    if one.whole:
        return int(st.number_input(one.label, int(one.low), int(one.high), step=1, key=key, help=usual))
    return st.slider(one.label, float(one.low), float(one.high), step=step(one), key=key, help=usual)


def _cut(setting: Setting) -> Setting:
    kind = st.segmented_control(
        "Cut", list(_CUTS), format_func=_CUTS.get, key=seeded("cut", setting.cut), required=True, help=_CUT_HELP
    )
    if kind == "threshold":
        value = st.slider("Forget below a score of", 0.0, 1.0, step=0.005, format="%.3f",
                          key=seeded("threshold", setting.threshold), help="P1: 0.10")  # fmt: skip
        setting = replace(setting, threshold=value)
    elif kind in ("keep", "bytes"):
        what = "nodes" if kind == "keep" else "live bytes"
        value = st.slider(f"Keep, % of the {what}", 0.0, 100.0, step=0.5, format="%.1f %%",
                          key=seeded(kind, getattr(setting, kind)))  # fmt: skip
        setting = replace(setting, **{kind: value})
    leave = st.toggle(
        "Turns leave with their nodes", key=seeded("turns", setting.turns == "with_nodes"),
        help="A turn that no live node or edge other than a speaker cites any more leaves too, with its words",
    )  # fmt: skip
    return replace(setting, cut=kind, turns="with_nodes" if leave else "keep")


def _time(opened: OpenMemory, state: ForgettingState, setting: Setting) -> Setting:
    clock = opened.memory.clock
    if clock is None:
        return setting
    newest = clock.date()
    low, high = _moved(newest, -_FAR), _moved(newest, _FAR)
    key = seeded("day", setting.day or newest)
    st.session_state[key] = now = min(max(st.session_state[key], low), high)
    chosen = st.date_input("As of", key=key, min_value=low, max_value=high, required=True,
                           help=f"Scores as they would be on that day. The newest turn is of {day(clock)}")  # fmt: skip
    with st.container(horizontal=True, gap="small", key="forget-clock"):
        for words, days in (("+ day", 1), ("+ month", 30), ("+ year", 365)):
            later = replace(setting, day=min(_moved(now, days), high))
            st.button(words, key=f"clock-{days}", on_click=state.load_setting, args=(later,))
        st.button("Now", key="clock-now", on_click=state.load_setting, args=(replace(setting, day=None, later=0),))
    later = int(st.number_input("Turns after the newest", 0, 1_000_000, step=100, key=seeded("later", setting.later),
                                help="As if so many more turns had been said, about other things"))  # fmt: skip
    guard = st.toggle("Idle guard", key=seeded("idle", setting.idle_days > 0),
                      help="A gap between two turns counts at most 30 days. Not part of P1's formula")  # fmt: skip
    idle = (setting.idle_days or 30.0) if guard else 0.0
    return replace(setting, day=None if chosen == newest else chosen, later=later, idle_days=idle)


def _moved(at: date, days: int) -> date:
    """So many days on, as far as there are dates."""
    return at + timedelta(days=min(max(days, (date.min - at).days), (date.max - at).days))
