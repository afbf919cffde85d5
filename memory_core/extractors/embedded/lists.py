"""What an assistant's lists hold: each item's name with its place, its gist and what the list is about."""

from __future__ import annotations

import re

from memory_core.extractors.embedded.clauses import Clauses
from memory_core.extractors.embedded.reading import Token, label_of
from memory_core.extractors.embedded.text import Line
from memory_core.schema import Scalar, content_words

_SPLIT = re.compile(r"\s*(?::\s|\s[-–—]\s|\s\()")
_FIGURE = re.compile(r"[$€£]?\d[\d,.]*(?:\s?(?:%|percent|[a-zA-Z]{1,12}))?")
ITEM_WORDS = 9


def head_of(text: str) -> tuple[int, int]:
    """Places of an item's name in its line: up to the first colon, dash or bracket, at most `ITEM_WORDS` words.

    >>> line = "Green transportation: ships by sea"
    >>> line[slice(*head_of(line))]
    'Green transportation'
    """
    start = len(text) - len(text.lstrip())
    found = _SPLIT.search(text, start + 1)
    end = found.start() if found else len(text)
    sentence = re.search(r"[.!?;](?:\s|$)", text[start:end])
    if sentence:
        end = start + sentence.start()
    pieces = list(re.finditer(r"\S+", text[start:end]))
    if len(pieces) > ITEM_WORDS:
        end = start + pieces[ITEM_WORDS - 1].end()
    return start, end


def gist(text: str, count: int = 6) -> str:
    """The first `count` content words of what an item says of itself."""
    return " ".join(content_words(text)[:count])


def read_items(clauses: Clauses, lines: tuple[Line, ...], recommends: bool) -> None:
    """Adds a node an item, with `rank`, `gist` and `figure`, and an edge to the heading above it."""
    text, topic, assistant = clauses.reading.text, None, None
    for line in lines:
        body = text[line.start : line.end]
        if line.kind == "heading":
            topic = _topic(clauses, line, body)
        elif line.kind == "item":
            place = _item(clauses, line, body)
            if place is None:
                continue
            if topic is not None:
                clauses.draft.edge(place, "about", topic, (line.start, line.end))
            if recommends:
                assistant = clauses.draft.node("Person", "Assistant", "The assistant of the conversation.", None, named=True)
                clauses.draft.edge(assistant, "recommends", place, (line.start, line.end))


def _topic(clauses: Clauses, line: Line, body: str) -> int | None:
    tokens = [t for t in clauses.reading.doc if line.start <= t.idx < line.end]
    noun = next((t for t in reversed(tokens) if t.pos_ in ("NOUN", "PROPN") and t.dep_ in ("nsubj", "attr", "dobj", "ROOT")), None)
    return clauses.thing(noun, "Concept", ("of", "for", "in", "to", "on", "about")) if noun is not None else None


def _item(clauses: Clauses, line: Line, body: str) -> int | None:
    start, end = head_of(body)
    rest = body[end:]
    label = _label(clauses, line.start + start, line.start + end)
    attributes: dict[str, Scalar] = {"rank": line.rank, "gist": gist(rest)}
    figure = _FIGURE.search(rest)
    if figure:
        attributes["figure"] = figure.group()
    return clauses.draft.node(
        label, body[start:end], body.strip(), (line.start + start, line.start + end), attributes=attributes
    )


def _label(clauses: Clauses, start: int, end: int) -> str:
    span = [t for t in clauses.reading.doc if start <= t.idx < end]
    head: Token | None = next((t for t in span if t.head.idx < start or t.head.idx >= end or t.dep_ == "ROOT"), None)
    return label_of(clauses.reading, head) if head is not None else "Concept"
