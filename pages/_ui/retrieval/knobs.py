"""The parameters of a retriever as sliders, made from what its fields say; saved with the memory when told to."""

from __future__ import annotations

import streamlit as st

from memory_core.memories import OpenMemory
from memory_core.retrieval.tuning import Knob, knobs, save
from pages._ui.opened import attempt
from pages._ui.retrieval.state import RetrievalState

_FIRST = 4  # sliders shown at once; the weights of the hybrid's terms open


def tuning(opened: OpenMemory, state: RetrievalState) -> None:
    """Draw the sliders; what they say is in `state.own` afterwards."""
    found = knobs(opened.memory, state.by)
    known = {knob.name for knob in found}
    state.values[state.by] = {name: value for name, value in state.own.items() if name in known}
    whole = [knob for knob in found if isinstance(knob.default, int)]
    rest = [knob for knob in found if knob not in whole]
    with st.container(key="retrieval-knobs", gap="small"):
        if len(found) <= _FIRST:
            _sliders(found, state)
        else:
            _sliders(tuple(whole), state)
            with st.expander("Weights of the terms", expanded=any(knob.name in state.own for knob in rest)):
                _sliders(tuple(rest), state)
    with st.container(horizontal=True, gap="small", key="retrieval-knob-actions"):
        saving = st.button(
            "Save with memory", disabled=not state.own, key="retrieval-save", icon=":material/save:",
            help="The chat and `ask` retrieve with these settings from now on",
        )  # fmt: skip
        reset = st.button("Reset", disabled=not state.own, key="retrieval-reset", help="Back to what is saved")
        defaults = any(knob.value != knob.default for knob in found) and st.button(
            "Defaults", key="retrieval-defaults", help="Set every slider to the default; saved only when you save"
        )
    if saving and attempt(lambda: save(opened.memory, state.by, state.own), "Settings saved with the memory."):
        state.own.clear()
    if reset:
        state.own.clear()
    if defaults:
        state.values[state.by] = {knob.name: knob.default for knob in found if knob.default != knob.value}
    if saving or reset or defaults:
        for knob in found:
            st.session_state.pop(state.key(f"{state.by}-{knob.name}"), None)
        state.save()
        st.rerun()


def _sliders(found: tuple[Knob, ...], state: RetrievalState) -> None:
    for left, right in zip(found[::2], [*found[1::2], None], strict=False):
        columns = st.columns(2, gap="small")
        for column, knob in zip(columns, (left, right), strict=True):
            if knob is not None:
                with column:
                    _slider(knob, state)


def _slider(knob: Knob, state: RetrievalState) -> None:
    whole = isinstance(knob.default, int)
    kind = int if whole else float
    low, high = kind(knob.low), kind(knob.high)
    now = min(max(kind(state.own.get(knob.name, knob.value)), low), high)
    key = state.key(f"{state.by}-{knob.name}")
    if st.session_state.get(f"{key}-saved", knob.value) != knob.value and knob.name not in state.own:
        st.session_state[key] = now  # what is saved changed elsewhere
    st.session_state[f"{key}-saved"] = knob.value
    st.session_state.setdefault(key, now)
    told = f"Saved {knob.value:g}, default {knob.default:g}, from {low:g} to {high:g}"
    value = st.slider(knob.label.capitalize(), low, high, step=kind(knob.step), key=key, help=told)
    if value == knob.value:
        state.own.pop(knob.name, None)
    else:
        state.own[knob.name] = value
