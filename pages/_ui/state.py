"""What a page keeps between runs. Session state holds plain values only, so that a hot reload cannot break it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TypeVar

import streamlit as st

State = TypeVar("State", bound="PageState")


@dataclass
class PageState:
    """Base of the state of a page; `memory` names the memory it belongs to, another one starts afresh."""

    memory: str = ""

    @classmethod
    def load(cls: type[State], memory: str) -> State:
        """The state kept for this memory, else a new one."""
        stored = st.session_state.get(cls.__name__, {})
        known = {field.name for field in fields(cls)}
        state = cls(**{name: value for name, value in stored.items() if name in known})
        return state if state.memory == memory else cls(memory=memory)

    def save(self) -> None:
        """Keep it for the next run."""
        st.session_state[type(self).__name__] = asdict(self)


@dataclass
class ChatState(PageState):
    """The chat page: what the inspector shows, what the picture told last, and what can be undone."""

    item: str = ""  # node or edge id in the inspector
    told: str = ""  # the selection the picture returned last
    focus: str = ""  # the node the picture is asked to centre
    expanded: list[str] = field(default_factory=list)
    act: str = ""  # "edit" or "delete" while the inspector asks
    undo: str = ""  # id of the last change
    undo_text: str = ""
    shown: int = 30  # turns of the conversation on the page
    whole: list[str] = field(default_factory=list)  # long turns shown in full
    failed: str = ""  # why the last turn was not stored
    kept: str = ""  # its text, put back where it was typed
    kept_at: float = 0.0  # monotonic seconds
    was_busy: bool = False

    def look_at(self, item: str) -> None:
        """Show an item in the inspector and centre it in the picture."""
        self.item, self.focus, self.act = item, item, ""
        self.save()

    def doing(self, act: str) -> None:
        """What the inspector asks about its item: "edit", "delete" or nothing."""
        self.act = act
        self.save()
