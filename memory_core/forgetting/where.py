"""Selecting by hand: `person=Max session=s3 label=Event after=2024-01-01 before=2024-02-01 search="old flat"`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_core.errors import InputError
from memory_core.forgetting.cuts import Mask
from memory_core.memory.scoring import Scoring
from memory_core.schema import LABELS, normalise_title, utc
from memory_core.store.rows import Value

KEYS = ("person", "session", "label", "after", "before", "search")
_FREE = ("person", "session", "search")
_OF_TURNS = ("session", "after", "before")
_HOW = "write it as " + " ".join(f"{key}=…" for key in KEYS) + ', with quotes around spaces: person="Max Roth"'


@dataclass(frozen=True)
class Where:
    """Conditions that all must hold, in the order given."""

    conditions: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str | Sequence[str]) -> Where:
        """Read a selection. Raises InputError for an unknown key, a missing value or a date that is none.

        >>> Where.parse('person="Max Roth" label=event').conditions
        (('person', 'Max Roth'), ('label', 'Event'))
        """
        try:
            parts = shlex.split(text) if isinstance(text, str) else list(text)
        except ValueError:
            raise InputError(f"The selection {text} has an open quote: {_HOW}.") from None
        if not parts:
            raise InputError(f"The selection is empty: {_HOW}.")
        return cls(tuple(_condition(part) for part in parts))

    def __str__(self) -> str:
        return " ".join(f"{key}={shlex.quote(value)}" for key, value in self.conditions)

    @property
    def words(self) -> str:
        """What a person typed of names and content."""
        return " ".join(value for key, value in self.conditions if key in _FREE)

    def without_words(self) -> Where:
        """The selection as it may be kept when its words are to be forgotten.

        >>> str(Where.parse("person=Max label=Event").without_words())
        "person='…' label=Event"
        """
        return Where(tuple((key, "…" if key in _FREE else value) for key, value in self.conditions))

    def select(self, memory: Scoring) -> Mask:
        """Rows of the graph that are selected, shape (rows,), live ones only."""
        graph = memory.graph
        selected = graph.live.values.copy()
        for key, value in self.conditions:
            if key == "label":
                selected &= graph.label.values == LABELS.index(value)
            elif key == "person":
                selected &= _about(memory, value)
            elif key == "search":
                selected &= _holding(memory, value)
        of_turns = [(key, value) for key, value in self.conditions if key in _OF_TURNS]
        return selected & _read_only_from(memory, of_turns) if of_turns else selected


def _condition(part: str) -> tuple[str, str]:
    key, equals, value = part.partition("=")
    if key not in KEYS or not equals or not value.strip():
        raise InputError(f"The selection {part} is not understood: {_HOW}.")
    if key == "label":
        label = next((label for label in LABELS if label.casefold() == value.casefold()), None)
        if label is None:
            raise InputError(f"There is no label {value}: choose one of {', '.join(LABELS)}.")
        return key, label
    if key in ("after", "before"):
        try:
            return key, utc(value).isoformat()
        except (ValueError, OverflowError):
            raise InputError(f"{key}={value} is no date: write it as 2024-05-01 or 2024-05-01T10:00:00Z.") from None
    return key, value.strip()


def _about(memory: Scoring, name: str) -> Mask:
    """The person, by whole title or one word of it, and the nodes that hang on it alone."""
    graph, wanted = memory.graph, normalise_title(name)
    titles = [normalise_title(title) for title in graph.titles]
    person = graph.label.values == LABELS.index("Person")
    chosen = np.array([title == wanted or wanted in title.split() for title in titles], np.bool_)
    chosen &= person & graph.live.values
    about = chosen.copy()
    for row in np.flatnonzero(chosen).tolist():
        for _, other in graph.neighbours(row):
            about[other] |= all(chosen[end] for _, end in graph.neighbours(other))
    about[memory.speaker_rows()] &= chosen[memory.speaker_rows()]
    return about


def _holding(memory: Scoring, text: str) -> Mask:
    """Nodes whose title, content or attributes hold every word of the search."""
    graph, words = memory.graph, text.casefold().split()
    texts = zip(graph.titles, graph.contents, graph.attributes, strict=True)
    held = ("\n".join(parts).casefold() for parts in texts)
    return np.array([all(word in text for word in words) for text in held], np.bool_)


def _read_only_from(memory: Scoring, conditions: Sequence[tuple[str, str]]) -> Mask:
    """Nodes all of whose turns meet the conditions: what is also known from elsewhere stays."""
    graph, cited = memory.graph, memory.cited()
    tests, values = [], list[Value]()
    for key, value in conditions:
        tests.append("session = ?" if key == "session" else "at >= ?" if key == "after" else "at < ?")
        values.append(value if key == "session" else utc(value).timestamp())
    inside = {turn for (turn,) in memory.store.query(f"SELECT id FROM turn WHERE {' AND '.join(tests)}", *values)}
    meets = np.array([turn in inside for turn in cited.turn_ids], np.bool_)
    of_nodes = cited.items < len(graph.ids)
    items, held = cited.items[of_nodes], meets[cited.turns[of_nodes]]
    selected, refused = (np.zeros(len(graph.ids), np.bool_) for _ in range(2))
    selected[items[held]] = True
    refused[items[~held]] = True
    return selected & ~refused
