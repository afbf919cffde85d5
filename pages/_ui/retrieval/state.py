"""What the retrieval page keeps between runs, and the address that opens it again as it is."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from memory_core.parts import RETRIEVERS
from pages._ui.state import ChatState

VIEWS = ("Steps", "Side by side", "Sweep")
ROOMS = (250, 500, 1000, 2000, 4000)  # tokens of context
_LONGEST = 1500  # characters of a question in an address: servers and chat programs cut longer ones


@dataclass
class RetrievalState(ChatState):
    """The question, how it is retrieved, and what is looked at; the inspector's fields as on the chat page.

    `values` are the parameters of each retriever that differ from the saved ones.
    """

    question: str = ""
    by: str = "graph"
    values: dict[str, dict[str, float]] = field(default_factory=dict)
    view: str = VIEWS[0]
    tokens: int = 1000
    file: str = ""  # a benchmark file
    pooled: bool = False
    asked: str = ""  # id of its question
    linked: bool = False  # the address was read
    begun: bool = False  # the first question stands there

    @property
    def own(self) -> dict[str, float]:
        """The changed parameters of the retriever chosen."""
        return self.values.setdefault(self.by, {})

    def from_address(self) -> None:
        """Take what the address says, once."""
        if self.linked:
            return
        given = st.query_params
        self.linked, self.question = True, given.get("q", self.question)
        self.by = given["by"] if given.get("by") in RETRIEVERS else self.by
        self.view = given["view"] if given.get("view") in VIEWS else self.view
        self.file, self.asked = given.get("file", self.file), given.get("id", self.asked)
        self.pooled = given.get("pooled", "") == "1" or self.pooled
        room = _number(given.get("context", ""))
        self.tokens = int(room) if room in ROOMS else self.tokens
        numbers = {key.removeprefix("set."): _number(given[key]) for key in given if key.startswith("set.")}
        self.own.update({name: value for name, value in numbers.items() if value is not None})
        self.item = self.focus = given.get("node", self.item)

    def to_address(self) -> None:
        """Make the address say it."""
        said = {
            "q": self.question if len(self.question) <= _LONGEST else "", "by": self.by if self.by != "graph" else "",
            "view": self.view if self.view != VIEWS[0] else "", "file": self.file, "id": self.asked,
            "pooled": "1" if self.pooled else "", "context": str(self.tokens) if self.view == VIEWS[1] else "",
            "node": self.item, **{f"set.{name}": f"{value:g}" for name, value in self.own.items()},
        }  # fmt: skip
        wanted = {"memory": self.memory} | {name: value for name, value in said.items() if value}
        if dict(st.query_params) != wanted:
            st.query_params.from_dict(wanted)

    def key(self, name: str) -> str:
        """The key of a widget of this page."""
        return f"retrieval-{self.memory}-{name}"

    def widget(self, name: str, value: object) -> str:
        """The key of a widget, which starts with `value`."""
        st.session_state.setdefault(self.key(name), value)
        return self.key(name)

    def ask(self, question: str, asked: str = "") -> None:
        """Ask this, which is the benchmark question of id `asked` or one's own; the widgets follow."""
        self.question, self.asked = question, asked
        st.session_state[self.key("question")], st.session_state[self.key("asked")] = question, asked or None
        self.save()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number if abs(number) < 1e9 else None
