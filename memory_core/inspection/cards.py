"""One turn under the glass: which words became which node or edge, what was said and not stored, what is stored and has
no words behind it. All of it from stored rows, so that a memory made yesterday by a command is read the same way."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from memory_core.inspection.moves import resting_places
from memory_core.memory import Memory
from memory_core.memory.looking import Attempt
from memory_core.schema import Turn, content_words
from memory_core.stemming import stem

Span = tuple[int, int]
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?。！？]+(?=\s|$)|[.!?](?=\S)[^.!?\n]*)*[.!?。！？]*")


@dataclass(frozen=True)
class Item:
    """A node or edge read from the turn, as the extractor worded it, and what became of it.

    `state` is "live", "forgotten" (or deleted), or "gone" (purged). `missing` says what of it has no words in the turn,
    "" when all has.
    """

    kind: Literal["node", "edge"]
    id: str
    label: str  # of a node; "" for an edge
    text: str
    fate: str
    state: str
    span: Span | None
    held: tuple[str, ...] = ()
    missing: str = ""


@dataclass(frozen=True)
class Stretch:
    """A piece of the turn's text with the items that were read from it, a node's own words before an edge's clause."""

    text: str
    node: Item | None = None
    edges: tuple[Item, ...] = ()


@dataclass(frozen=True)
class TurnCard:
    """`words` are the content words of the turn in order with whether each is stored; `share` is how many are.

    `unread` are the sentences no item was read from.
    """

    turn: Turn
    attempts: tuple[Attempt, ...]
    items: tuple[Item, ...]
    stretches: tuple[Stretch, ...]
    words: tuple[tuple[str, bool], ...]
    unread: tuple[str, ...]
    share: float | None

    @property
    def unsupported(self) -> tuple[Item, ...]:
        """Items with something that was never said in this turn."""
        return tuple(item for item in self.items if item.missing)


def turn_card(memory: Memory, turn_id: str) -> TurnCard:
    """Everything about one turn. Raises InputError for an unknown id."""
    with memory.lock:
        turn, attempts = memory.turn(turn_id), memory.attempts(turn_id)
        said = _values(memory, turn_id)
        spoken = stems(turn.text)
        items = _reported(memory, attempts[-1], said, spoken) if attempts else _cited(memory, turn, said, spoken)
        kept = stems(" ".join([*(item.text.replace("_", " ") for item in items), *_texts(said)]))
    words = tuple((word, bool(_stemmed([word]) & kept)) for word in dict.fromkeys(content_words(turn.text)))
    return TurnCard(
        turn,
        tuple(attempts),
        items,
        tuple(stretches(turn.text, items)),
        words,
        tuple(_unread(turn.text, items)),
        sum(stored for _, stored in words) / len(words) if words else None,
    )


def stems(text: str) -> frozenset[str]:
    """The content words of a text without endings."""
    return _stemmed(content_words(text))


def _stemmed(words: Sequence[str]) -> frozenset[str]:
    return frozenset(map(stem, words))


def stretches(text: str, items: Sequence[Item]) -> list[Stretch]:
    """The text cut wherever an item begins or ends; joined it is the text again. Of nodes that overlap, the one with
    fewer words shows."""
    spans = [((max(item.span[0], 0), min(item.span[1], len(text))), item) for item in items if item.span]
    opening: dict[int, list[int]] = {}
    closing: dict[int, list[int]] = {}
    for place, ((start, stop), _) in enumerate(spans):
        if start < stop:
            opening.setdefault(start, []).append(place)
            closing.setdefault(stop, []).append(place)
    over: dict[int, None] = {}
    found = []
    for start, stop in pairwise(sorted({0, len(text), *opening, *closing})):
        for place in closing.get(start, ()):
            del over[place]
        over |= dict.fromkeys(opening.get(start, ()))
        found.append(_stretch(text[start:stop], [spans[place] for place in over]))
    return found


def _stretch(text: str, over: Sequence[tuple[Span, Item]]) -> Stretch:
    nodes = [(stop - start, place) for place, ((start, stop), item) in enumerate(over) if item.kind == "node"]
    node = over[min(nodes)[1]][1] if nodes else None
    return Stretch(text, node, tuple(item for _, item in over if item.kind == "edge"))


def _unread(text: str, items: Sequence[Item]) -> list[str]:
    spans = [item.span for item in items if item.span]
    sentences = [match for match in _SENTENCE.finditer(text) if content_words(match.group())]
    return [
        match.group().strip()
        for match in sentences
        if not any(start < match.end() and stop > match.start() for start, stop in spans)
    ]


def _reported(
    memory: Memory, attempt: Attempt, said: Mapping[str, list[tuple[str, str]]], spoken: frozenset[str]
) -> tuple[Item, ...]:
    places, speakers = resting_places(memory), memory.speakers()
    report: Any = attempt.report
    nodes = [
        Item(
            "node", at := places.of(attempt.turn, node["id"], node["title"]), node["label"], node["title"],
            _fate(memory, node, at), _state(memory, at), _span(node["span"]),
            tuple(_held(memory, held) for held in node["held"]),
            _missing(node["title"], said.get(at, []), spoken, speakers),
        )
        for node in report["nodes"]
    ]  # fmt: skip
    titles = {node["id"]: node["title"] for node in report["nodes"]}
    edges = [
        Item(
            "edge", edge["id"], "",
            " ".join((_title(memory, titles, edge["source"]), edge["relationship"],
                      _title(memory, titles, edge["target"]))),
            "added" if edge["new"] else "known before", _state(memory, edge["id"]), _span(edge["span"]), (),
            _missing("", said.get(edge["id"], []), spoken, speakers),
        )
        for edge in report["edges"]
    ]  # fmt: skip
    return (*nodes, *edges)


def _cited(
    memory: Memory, turn: Turn, said: Mapping[str, list[tuple[str, str]]], spoken: frozenset[str]
) -> tuple[Item, ...]:
    """What cites a turn that came without its extraction: an import keeps provenance, not replies."""
    graph, speakers = memory.graph, memory.speakers()
    spans = {
        item: None if start is None else (start, stop)
        for item, start, stop in memory.store.query(
            "SELECT item, start, stop FROM provenance WHERE turn = ? ORDER BY item", turn.id
        )
    }
    items = []
    for item, span in spans.items():
        if item in graph.row_of:
            node = graph.node(item)
            missing = _missing(node.title, said.get(item, []), spoken, speakers)
            items.append(
                Item("node", item, node.label, node.title, "cites it", _state(memory, item), span, (), missing)
            )
        elif item in graph.edge_row:
            edge = graph.edge(item)
            text = f"{graph.node(edge.source).title} {edge.relationship} {graph.node(edge.target).title}"
            items.append(Item("edge", item, "", text, "cites it", _state(memory, item), span))
    return tuple(sorted(items, key=lambda item: item.kind == "edge"))


def _values(memory: Memory, turn_id: str) -> dict[str, list[tuple[str, str]]]:
    """Item -> (field, value) of each attribute this turn set."""
    said: dict[str, list[tuple[str, str]]] = {}
    sql = "SELECT item, field, value FROM value_history WHERE turn = ? AND field LIKE 'attributes.%' ORDER BY id"
    for item, field, value in memory.store.query(sql, turn_id):
        said.setdefault(item, []).append((field.removeprefix("attributes."), str(json.loads(value))))
    return said


def _texts(said: Mapping[str, list[tuple[str, str]]]) -> list[str]:
    return [value for values in said.values() for _, value in values]


def _missing(title: str, values: Sequence[tuple[str, str]], spoken: frozenset[str], speakers: set[str]) -> str:
    """What of an item shares no content word with the turn. A speaker is named by speaking."""
    bare = []
    if title and title not in speakers and (words := stems(title)) and not words & spoken:
        bare.append("title")
    bare += [f"{name} {value}" for name, value in values if (words := stems(value)) and not words & spoken]
    return ", ".join(bare)


def _fate(memory: Memory, node: Mapping[str, Any], at: str) -> str:
    if at != node["id"] and node["how"] != "new":
        return "merged, then split again"
    match node["how"]:
        case "new":
            return "added" if at == node["id"] else f"added, merged by hand into {_title(memory, {}, at)}"
        case "title":
            return "merged, same title"
    return f"merged with {_title(memory, {}, at)}, cosine {node['similarity']:.2f}"


def _held(memory: Memory, held: Mapping[str, Any]) -> str:
    near = "same title" if held["similarity"] >= 1 else f"cosine {held['similarity']:.2f}"
    return f"kept apart from {_title(memory, {}, held['node'])} ({near}): {held['reason']}"


def _title(memory: Memory, known: Mapping[str, str], node_id: str) -> str:
    row = memory.graph.row_of.get(node_id)
    return known.get(node_id) or (memory.graph.titles[row] if row is not None else "a node that is gone")


def _state(memory: Memory, item: str) -> str:
    if memory.graph.is_live(item):
        return "live"
    return "forgotten" if item in memory.graph.row_of or item in memory.graph.edge_row else "gone"


def _span(given: Sequence[int] | None) -> Span | None:
    return None if given is None else (int(given[0]), int(given[1]))
