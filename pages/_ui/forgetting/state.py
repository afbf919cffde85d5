"""What the forgetting page keeps between runs, and how its widgets start from it."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from memory_core.errors import InputError
from memory_core.memories import OpenMemory
from memory_core.simulator import Setting, Shown, simulator_of
from pages._ui.state import ChatState, PageState

VIEWS = {
    "scores": "Scores",
    "table": "Why",
    "map": "Map",
    "immunity": "Immunity",
    "cost": "Cost",
    "compare": "Compare",
    "protect": "Select & protect",
    "history": "History",
}
_OURS = ("policy", "cut", "threshold", "keep", "bytes", "turns", "where", "at", "later", "idle", "view", "node")


@dataclass
class ForgettingState(PageState):
    """`query` is the setting as a link holds it; `asked` names what waits for a yes, of the plan `asked_plan`."""

    query: dict[str, str] = field(default_factory=dict)
    view: str = "scores"
    node: str = ""
    asked: str = ""
    asked_plan: str = ""
    why: str = ""  # why the page opened on what it opened on
    problems: list[str] = field(default_factory=list)
    probe: str = "demo"
    file: str = ""  # benchmark file of the probe set
    comparisons: dict[str, str] = field(default_factory=dict)  # kind -> key of the comparison looked at
    last_pass: str = ""  # the pass made here last, while its undo is offered
    told: str = ""  # what the map told last

    def look_at(self, node: str) -> None:
        """Show a node in the card."""
        self.node = node
        self.save()

    @property
    def setting(self) -> Setting:
        """The setting looked at."""
        return Setting.of_query(self.query)[0]

    def keep_setting(self, setting: Setting) -> None:
        """Look at another setting."""
        self.query = setting.query()
        self.save()

    def load_setting(self, setting: Setting) -> None:
        """Look at another setting and move every control to it: for callbacks, before the controls are drawn."""
        self.why, self.problems = "", []
        self.keep_setting(setting)
        for key in [str(key) for key in st.session_state if str(key).startswith("set-")]:
            del st.session_state[key]

    def ask(self, what: str = "", plan: str = "") -> None:
        """Wait for a yes, or for nothing."""
        self.asked, self.asked_plan = what, plan
        self.save()

    def go(self, view: str) -> None:
        """Open another view."""
        self.view = view
        st.session_state.pop("set-view", None)
        self.save()


@dataclass
class CardState(ChatState):
    """The inspector's state on this page: a neighbour chosen there becomes the node of the card."""

    def look_at(self, item: str) -> None:
        """Follow an edge."""
        super().look_at(item)
        ForgettingState.load(self.memory).look_at(item)


def begin(opened: OpenMemory) -> ForgettingState:
    """The state kept for this memory, else that of the link, else what suits the memory."""
    state = ForgettingState.load(opened.name)
    if state.query:
        return state
    given = {name: st.query_params[name] for name in st.query_params if name in _OURS or name.startswith("p.")}
    opening, why = Setting.opening(opened.memory)
    for key in [str(key) for key in st.session_state if str(key).startswith("set-")]:
        del st.session_state[key]
    if {"policy", "cut", "where"} & set(given):
        setting, problems = Setting.of_query(given)
    else:
        setting, problems, state.why = opening, [], why
    state.problems, state.view = problems, given.get("view", "scores")
    state.view = state.view if state.view in VIEWS else "scores"
    state.node = given.get("node", "")
    state.keep_setting(setting)
    return state


def to_link(state: ForgettingState) -> None:
    """Put the whole state into the address, so that a copy of it reopens the page as it is."""
    wanted = state.query | {"view": state.view} | ({"node": state.node} if state.node else {})
    now = {name: st.query_params[name] for name in st.query_params if name in _OURS or name.startswith("p.")}
    if now != wanted:
        for name in now.keys() - wanted.keys():
            del st.query_params[name]
        st.query_params.update(wanted)


def seeded(key: str, value: object) -> str:
    """The key of a widget that starts at `value` when it is drawn for the first time."""
    name = f"set-{key}"
    if name not in st.session_state:
        st.session_state[name] = value
    return name


def plan_of(opened: OpenMemory, setting: Setting) -> Shown | str:
    """The plan of a setting, or why there is none."""
    try:
        return simulator_of(opened).shown(setting)
    except InputError as error:
        return str(error)
