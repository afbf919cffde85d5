"""Chat: say something and watch the graph grow; ask something and get an answer with the turns it comes from."""

from __future__ import annotations

from pages._ui import imported  # noqa: F401

# isort: split

import threading

import streamlit as st

from memory_core.chat import Models
from memory_core.memories import OpenMemory
from pages._ui.conversation import MakeModels, being_said, conversation
from pages._ui.graph_panel import graph_panel
from pages._ui.inspector import inspector
from pages._ui.models_menu import MODELS, made
from pages._ui.numbers import running
from pages._ui.opened import current, part, told
from pages._ui.replay_panel import replay_panel
from pages._ui.state import ChatState
from pages._ui.words import page_head


def left(opened: OpenMemory, state: ChatState, models: MakeModels) -> None:
    """What is said, or what is replayed."""
    talk, replay = st.tabs(["Chat", "Replay"], key="talk-or-replay", on_change="rerun")
    with talk, told():
        conversation(opened, state, models)
    if replay.open:
        with replay, told():
            replay_panel(opened, models)
    if state.was_busy and not running(opened) and not being_said(opened):
        state.was_busy = False
        state.save()
        st.rerun()


def right(opened: OpenMemory, state: ChatState) -> None:
    """The picture and the inspector of what is selected in it."""
    picture, card = st.columns([5, 3], gap="medium")
    with picture, told():
        graph_panel(opened, state)
    with card, st.container(height=620, border=False, key="card"), told():
        inspector(opened.memory, state)
    if state.item:
        st.query_params["node"] = state.item
    elif "node" in st.query_params:
        del st.query_params["node"]


opened = current()
state = ChatState.load(opened.name)
if not state.item and (linked := st.query_params.get("node", "")) and opened.memory.graph.is_live(linked):
    state.look_at(linked)
every = 0.3 if being_said(opened) else 1.0 if running(opened) else None
state.was_busy = every is not None
state.save()
chosen = st.session_state[MODELS]


def models(stop: threading.Event | None = None) -> Models:
    """The models this browser chose."""
    return made(chosen, opened, stop)


page_head(
    "Chat", "Say something and see what is remembered of it; ask something and see which turns the answer rests on."
)
talk, rest = st.columns([3, 8], gap="medium")
with talk:
    part(left, run_every=every)(opened, state, models)
with rest:
    part(right, run_every=every)(opened, state)
