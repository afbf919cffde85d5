"""The nodes and edges of one turn while they are being read: one node a title, bounded, every span inside the turn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from memory_core.schema import LABELS, FoundEdge, FoundNode, Scalar, content_words, normalise_title

TITLE_CHARACTERS = 120
CONTENT_CHARACTERS = 300
VALUE_CHARACTERS = 160

_LEADING = re.compile(r"^(?:(?:a|an|the|my|our|your|his|her|their|its|this|that|these|those|some|any)\s+)+", re.I)
_EDGE_PUNCTUATION = " \t\n.,;:!?\"'“”‘’()[]{}-–—*_#|/\\`~"


def clean(text: str, limit: int) -> str:
    """One line without control characters, at most `limit` characters, cut at a word."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= limit else line[:limit].rsplit(" ", 1)[0].rstrip()


def tidy_title(text: str, named: bool = False) -> str:
    """A title: one line, no punctuation around it, no leading article or possessive unless it is a name.

    >>> tidy_title("my  road bike, ")
    'road bike'
    >>> tidy_title("The Hobbit", named=True)
    'The Hobbit'
    """
    line = clean(text, TITLE_CHARACTERS).strip(_EDGE_PUNCTUATION)
    return line if named else _LEADING.sub("", line).strip(_EDGE_PUNCTUATION)


@dataclass
class Draft:
    """`limit` nodes at most; a node past it, or without a content word, is None and so are the edges that need it."""

    limit: int
    nodes: list[FoundNode] = field(default_factory=list)
    edges: list[FoundEdge] = field(default_factory=list)
    left_out: int = 0
    _places: dict[str, int] = field(default_factory=dict)

    def node(
        self,
        label: str,
        title: str,
        content: str,
        span: tuple[int, int] | None,
        *,
        named: bool = False,
        attributes: Mapping[str, Scalar] | None = None,
    ) -> int | None:
        """The place of the node with this title, made if it is new; its attributes are added to."""
        title = tidy_title(title, named)
        key = normalise_title(title)
        if not content_words(title) and not (named and key):
            return None
        place = self._places.get(key)
        if place is None:
            if len(self.nodes) >= self.limit:
                self.left_out += 1
                return None
            assert label in LABELS, label
            place = self._places[key] = len(self.nodes)
            self.nodes.append(FoundNode(label, title, clean(content, CONTENT_CHARACTERS), {}, span))
        self.describe(place, attributes or {})
        return place

    def describe(self, place: int, attributes: Mapping[str, Scalar]) -> None:
        """Adds attributes to a node; the first value of a name in a turn stays."""
        tidied = {name: _value(value) for name, value in attributes.items()}
        kept = {name: value for name, value in tidied.items() if value != ""}
        old = self.nodes[place]
        self.nodes[place] = FoundNode(old.label, old.title, old.content, {**kept, **old.attributes}, old.span)

    def replace(self, place: int, attributes: Mapping[str, Scalar]) -> None:
        """Sets attributes whose last value in a turn is the one that counts."""
        old = self.nodes[place]
        self.nodes[place] = FoundNode(old.label, old.title, old.content, {**old.attributes, **attributes}, old.span)

    def relabel(self, place: int, label: str) -> None:
        old = self.nodes[place]
        self.nodes[place] = FoundNode(label, old.title, old.content, old.attributes, old.span)

    def rename(self, place: int, title: str, span: tuple[int, int]) -> None:
        """Gives a node its name, unless another has it."""
        key = normalise_title(title)
        if key and key not in self._places:
            old = self.nodes[place]
            del self._places[normalise_title(old.title)]
            self._places[key] = place
            self.nodes[place] = FoundNode(old.label, tidy_title(title, named=True), old.content, old.attributes, span)

    def edge(
        self,
        source: int | None,
        relationship: str,
        target: int | None,
        span: tuple[int, int] | None,
        attributes: Mapping[str, Scalar] | None = None,
    ) -> None:
        """Adds an edge unless an end is missing, both are one node, or the same edge is there."""
        if source is None or target is None or source == target:
            return
        name = re.sub(r"[^a-z0-9]+", "_", relationship.lower()).strip("_")[:60]
        if not name or any((e.source, e.relationship, e.target) == (source, name, target) for e in self.edges):
            return
        tidied = {key: _value(value) for key, value in (attributes or {}).items()}
        self.edges.append(FoundEdge(source, target, name, {k: v for k, v in tidied.items() if v != ""}, span))


def _value(value: Scalar) -> Scalar:
    return clean(value, VALUE_CHARACTERS).strip(' ,;:.!?"') if isinstance(value, str) else value
