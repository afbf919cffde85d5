"""What the extraction page keeps between runs, and the address that opens it again as it is."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from pages._ui.state import PageState

VIEWS = {
    "turns": "Turns",
    "overview": "Overview",
    "court": "Merge court",
    "compare": "Compare",
    "gold": "Gold",
    "prompts": "Prompts",
    "difference": "Difference",
}


@dataclass
class ExtractionState(PageState):
    """The view, the turn looked at, and the filter of the list of turns."""

    view: str = "turns"
    turn: str = ""
    status: list[str] = field(default_factory=list)
    by: str = ""
    words: str = ""
    only: str = ""
    page: int = 0
    pair: str = ""  # the pair in court
    merges_shown: int = 8
    linked: bool = False  # the address was read
    undo: str = ""  # id of the last change made here
    undo_text: str = ""

    def from_address(self) -> None:
        """Take what the address says, once."""
        if self.linked:
            return
        self.linked = True
        view = st.query_params.get("view", self.view)
        self.view = view if view in VIEWS else self.view
        self.turn = st.query_params.get("turn", self.turn)

    def to_address(self) -> None:
        """Make the address say it."""
        said = {"view": self.view if self.view != "turns" else "", "turn": self.turn if self.view == "turns" else ""}
        wanted = {"memory": self.memory} | {name: value for name, value in said.items() if value}
        if dict(st.query_params) != wanted:
            st.query_params.from_dict(wanted)

    def key(self, name: str) -> str:
        """The key of a widget of this page."""
        return f"extraction-{self.memory}-{name}"

    def widget(self, name: str, value: object) -> str:
        """The key of a widget, which starts with `value`."""
        st.session_state.setdefault(self.key(name), value)
        return self.key(name)

    def go(self, view: str) -> None:
        """Open another view in the next run."""
        self.view = view
        st.session_state.pop(self.key("view"), None)
        self.save()

    def done(self, change: str, text: str) -> None:
        """Remember the last act, so that it can be taken back."""
        self.undo, self.undo_text = change, text
        self.save()
