"""Everything about one node or edge on one card: values with their history, score parts, words, neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from memory_core.memory import Memory
from memory_core.memory.looking import Said
from memory_core.policies.importance import Importance
from memory_core.protocols import Policy
from memory_core.schema import Edge, Node, Scalar, Turn

Piece = tuple[str, bool]  # words, and whether the item was read from them


@dataclass(frozen=True)
class Value:
    """A field of a node or edge, the value it holds and every value it was given, oldest first."""

    field: str
    value: Scalar
    said: tuple[Said, ...] = ()

    @property
    def earlier(self) -> tuple[Said, ...]:
        """Values that do not hold any more, newest first, each with the turn that set it."""
        return tuple(said for said in reversed(self.said) if said.value != self.value)


@dataclass(frozen=True)
class Quote:
    """A turn an item was read from, its text in pieces so that the words can be marked."""

    turn: Turn
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Link:
    """An edge of the node on the card and the node at its other end."""

    edge: Edge
    other: Node
    outgoing: bool


@dataclass(frozen=True)
class NodeCard:
    """`score` in [0, 1] is the sum of `parts`, at the memory clock."""

    node: Node
    score: float
    parts: Mapping[str, float]
    values: tuple[Value, ...]
    quotes: tuple[Quote, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True)
class EdgeCard:
    """An edge with both its ends."""

    edge: Edge
    source: Node
    target: Node
    values: tuple[Value, ...]
    quotes: tuple[Quote, ...]


def node_card(memory: Memory, node_id: str, policy: Policy | None = None) -> NodeCard:
    """The card of a live node; `policy` scores it (default: P1's importance). Raises InputError for an unknown id."""
    with memory.lock:
        node = memory.live_node(node_id)
        score, parts = _score(memory, node_id, policy or Importance())
        values = _values(memory, node_id, node.attributes)
        return NodeCard(node, score, parts, values, quotes(memory, node_id), links(memory, node_id))


def edge_card(memory: Memory, edge_id: str) -> EdgeCard:
    """The card of a live edge. Raises InputError for an unknown id."""
    with memory.lock:
        edge = memory.live_edge(edge_id)
        source, target = memory.graph.node(edge.source), memory.graph.node(edge.target)
        return EdgeCard(edge, source, target, _values(memory, edge_id, edge.attributes), quotes(memory, edge_id))


def _score(memory: Memory, node_id: str, policy: Policy) -> tuple[float, dict[str, float]]:
    view, clock = memory.scoring_view(), memory.clock
    if clock is None:
        return 0.0, {}
    scores = policy.score(view, clock)
    place = int(np.searchsorted(memory.graph.live_rows(), memory.graph.row_of[node_id]))
    return float(scores.score[place]), {name: float(part[place]) for name, part in scores.parts.items()}


def _values(memory: Memory, item: str, attributes: Mapping[str, Scalar]) -> tuple[Value, ...]:
    said: dict[str, list[Said]] = {}
    for entry in memory.history_of(item):
        said.setdefault(entry.field, []).append(entry)
    now: dict[str, Scalar] = {}
    if item in memory.graph.row_of:
        node = memory.graph.node(item)
        now = {"title": node.title, "content": node.content}
    now |= {f"attributes.{key}": value for key, value in attributes.items()}
    values = [Value(field.split(".", 1)[-1], value, tuple(said.get(field, ()))) for field, value in now.items()]
    return tuple(value for value in values if value.field not in ("title", "content") or value.earlier)


def quotes(memory: Memory, item: str) -> tuple[Quote, ...]:
    """The live turns an item was read from, newest first."""
    live = set(memory.cited_turns([item])[item])
    spans = {cited.turn: cited.span for cited in memory.citations(item) if cited.turn in live}
    turns = memory.turns(list(spans))
    return tuple(Quote(turn, pieces(turn.text, [spans[turn.id]])) for turn in reversed(turns))


def pieces(text: str, spans: Sequence[tuple[int, int] | None]) -> tuple[Piece, ...]:
    """The text cut at the spans, which may overlap or reach past its end; joined it is the text again.

    >>> pieces("My sister Mira", [(10, 14), None])
    (('My sister ', False), ('Mira', True))
    """
    inside = np.zeros(len(text), bool)
    for start, stop in filter(None, spans):
        inside[max(start, 0) : stop] = True
    cuts = [0, *(np.flatnonzero(np.diff(inside)) + 1).tolist(), len(text)] if text else [0]
    return tuple((text[a:b], bool(inside[a])) for a, b in pairwise(cuts))


def links(memory: Memory, node_id: str) -> tuple[Link, ...]:
    """The live edges of a node, those that still hold first, then newest first."""
    graph = memory.graph
    found = [
        Link(edge, graph.node(graph.ids[other]), edge.source == node_id)
        for row, other in graph.neighbours(graph.row_of[node_id])
        for edge in [graph.edge(graph.edge_ids[row])]
    ]
    found.reverse()
    return tuple(sorted(found, key=lambda link: "until" in link.edge.attributes))
