"""What the results page keeps between runs of the script: plain values, so that page changes lose nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from pages._ui.state import PageState

_LINKED = ("view", "group", "metric", "a", "b", "words", "folder")
VIEWS = ("Table", "Compare", "Flips", "Curves", "Speed", "Export")


@dataclass
class ResultsState(PageState):
    """Chosen runs by name, the pair compared (A minus B), the metric, and what narrows the questions."""

    group: str = ""
    runs: list[str] = field(default_factory=list)
    a: str = ""
    b: str = ""
    metric: str = ""
    view: str = VIEWS[0]
    types: list[str] = field(default_factory=list)
    words: str = ""
    folder: str = ""
    columns: str = ""
    outcome: str = ""

    @classmethod
    def linked(cls) -> ResultsState:
        """The state kept, else the one the address tells."""
        told = {name: st.query_params[name] for name in _LINKED if name in st.query_params}
        return cls.load("") if cls.__name__ in st.session_state else cls(**told)

    def link(self) -> None:
        """Put into the address what opens this view again."""
        for name in _LINKED:
            if getattr(self, name):
                st.query_params[name] = getattr(self, name)

    def widget(self, name: str, allowed: list[str] | None = None) -> str:
        """The key of the widget of a field, its value put there first; values that are not allowed (any more) go."""
        key, value = f"results-{name}", st.session_state.get(f"results-{name}", getattr(self, name))
        if allowed is not None:
            if isinstance(value, list):
                value = [one for one in value if one in allowed]
            elif value not in allowed:
                value = getattr(self, name) if getattr(self, name) in allowed else allowed[0] if allowed else None
        st.session_state[key] = value
        return key

    def keep(self, name: str, value: object) -> None:
        """Remember what a widget returned."""
        setattr(self, name, value)
        self.save()
