"""What an assistant's lists and tables hold: each item's name with its place, its gist, and what the list is about."""

from __future__ import annotations

import re

from memory_core.extractors.embedded.labels import label_of
from memory_core.extractors.embedded.phrases import head_label, nameable, phrase
from memory_core.extractors.embedded.reading import Token
from memory_core.extractors.embedded.scene import Scene
from memory_core.extractors.embedded.text import Line
from memory_core.schema import Scalar, content_words

ITEM_WORDS = 8
ITEMS = 9
SLICES = 3

_SPLIT = re.compile(r"\s*(?::(?=\s|$)|\s[-–—]\s|\s\(|\sby\s(?=[A-Z])|,\s)")
_NUMBERED = re.compile(
    r"\s*(?:day|step|week|option|phase|part|chapter|month|stage|round|level) \w{1,5}\s*(?::|-|–)\s+", re.I
)
_FIGURE = re.compile(r"[$€£]?\d[\d,.]*(?:\s?(?:%|percent|[a-zA-Z]{1,12}))?")
_MEASURED = re.compile(r"\s*[\d½¼¾⅓⅔][\d./½¼¾⅓⅔-]*\s?(?:[a-zA-Z(]|$)")
_AUTHOR = re.compile(r"^\s*by (?P<names>(?:[A-ZÀ-Þ][\w.'-]+ ?){1,4}(?:\s?(?:,|and|&)\s(?:[A-ZÀ-Þ][\w.'-]+ ?){1,4})*)")
_MADE_BY = re.compile(
    r"\b(?:(?P<made>written|hosted|directed|created|presented|produced|narrated|edited|made) )?"
    r"by (?P<names>(?:[A-ZÀ-Þ][\w.'-]+ ?){2,4}(?:\s?(?:,|and|&)\s(?:[A-ZÀ-Þ][\w.'-]+ ?){2,4})*)"
)
_RECOMMENDS = re.compile(
    r"\b(?:recommend|suggest|you (?:might|could|may|can)|try|here are|consider|options?|ideas?|tips?)\b", re.I
)


def head_of(text: str) -> tuple[int, int]:
    """Places of an item's name in its line: up to the first colon, dash, bracket or author, at most `ITEM_WORDS` words.

    >>> line = "Green transportation: ships by sea"
    >>> line[slice(*head_of(line))]
    'Green transportation'
    """
    start = len(text) - len(text.lstrip())
    numbered = _NUMBERED.match(text)
    found = _SPLIT.search(text, numbered.end() if numbered else start + 1)
    end = found.start() if found else len(text)
    sentence = re.search(r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.!?;](?:\s|$)", text[start:end])
    if sentence:
        end = start + sentence.start()
    pieces = list(re.finditer(r"\S+", text[start:end]))
    if len(pieces) > ITEM_WORDS:
        end = start + pieces[ITEM_WORDS - 1].end()
    return start, end


def slices(text: str, count: int = SLICES, length: int = 6) -> list[str]:
    """The first `count` stretches of at most `length` words of what an item says of itself, verbatim.

    >>> slices(": ships by sea instead of air, which is slower", 2, 4)
    ['ships by sea instead', 'air']
    """
    found: list[str] = []
    for clause in re.split(r"[,;:.!?()\n]+\s|\s[-–—]\s", text):
        pieces = clause.strip(" -–—:;,.()").split()
        while pieces and len(found) < count:
            while pieces and not content_words(pieces[0]):
                pieces = pieces[1:]
            piece, pieces = pieces[:length], pieces[length:]
            if content_words(" ".join(piece)):
                found.append(" ".join(piece))
    return found[:count]


def read_lists(scene: Scene, lines: tuple[Line, ...]) -> None:
    """Adds a node an item up to `ITEMS`; what is deeper or past it is kept as attributes of its parent or heading."""
    topic: int | None = None
    parent: int | None = None
    count = 0
    columns: list[str] = []
    many = sum(line.kind == "item" for line in lines) > ITEMS
    recommends = bool(_RECOMMENDS.search(scene.reading.text[:400]))
    for line in lines:
        body = scene.reading.text[line.start : line.end]
        if line.kind == "heading" or (line.kind == "item" and line.depth == 0 and body.rstrip(" *").endswith(":")):
            place = _topic(scene, line, body)
            topic, parent = (place, place) if place is not None else (topic, parent)
        elif line.kind == "item" and topic is not None and (_is_step(scene, line, body) or _MEASURED.match(body)):
            _shelve(scene, topic, line, body)
        elif line.kind == "item":
            shelf = parent if line.depth else topic
            if shelf is not None and (
                (line.depth and parent is not None) or (many and not line.rank and count >= ITEMS // 2)
            ):
                _shelve(scene, shelf, line, body)
                continue
            place = _item(scene, line, body, _kind_under(scene, topic)) if count < ITEMS else None
            if place is None:
                if shelf is not None or parent is not None:
                    _shelve(scene, shelf if shelf is not None else parent, line, body)
                continue
            count += 1
            parent = place
            scene.draft.edge(place, "about", topic, (line.start, line.end))
            if recommends:
                _recommended(scene, place, line)
        elif line.kind == "field":
            shelf = parent if parent is not None else topic
            if shelf is None or line.rank == "bold":
                topic = parent = _item(scene, line, body)
            else:
                _field(scene, shelf, line, body)
        elif line.kind == "row" and line.rank == "header":
            columns = ["_".join(re.findall(r"[a-z0-9]+", cell.lower())) for cell in body.split(";")]
            _use(scene, line.start, line.end)
            scene.told |= {t.i for t in _tokens(scene, line.start, line.end)}
        elif line.kind == "row":
            _row(scene, line, body, columns)


def _is_step(scene: Scene, line: Line, body: str) -> bool:
    """An instruction such as "Fill the tank": a step of its topic, not a thing."""
    first = next(iter(_tokens(scene, line.start, line.end)), None)
    return (
        first is not None
        and first.tag_ == "VB"
        and first.pos_ == "VERB"
        and not re.match(r"[^.!?]{2,60}:\s", body)
        and not scene.reading.kind(first)
    )


def _recommended(scene: Scene, place: int, line: Line) -> None:
    assistant = scene.draft.node("Person", "Assistant", "The assistant of the conversation.", None, named=True)
    scene.draft.edge(assistant, "recommends", place, (line.start, line.end))


def _tokens(scene: Scene, start: int, end: int) -> list[Token]:
    return [t for t in scene.reading.doc if start <= t.idx < end]


def _use(scene: Scene, start: int, end: int) -> None:
    for token in _tokens(scene, start, end):
        scene.reading.use(token, token)


def _topic(scene: Scene, line: Line, body: str) -> int | None:
    """What a heading names: all of a short one, the noun phrase of a sentence."""
    start, end = head_of(body)
    title = body[start:end].strip(" :")
    tokens = _tokens(scene, line.start, line.end)
    _use(scene, line.start, line.end)
    if not any(nameable(scene.reading, t) for t in tokens):
        return None
    if len(title.split()) <= 6 and not any(t.tag_ in ("VBP", "VBZ", "PRP", "MD") for t in tokens):
        return scene.draft.node(_label(scene, tokens), title, body, (line.start + start, line.start + end))
    nouns = [
        t
        for t in tokens
        if nameable(scene.reading, t) and t.dep_ in ("nsubj", "attr", "dobj", "ROOT", "pobj", "npadvmod")
    ]
    first = next((t for t in nouns if t.dep_ != "pobj"), nouns[0] if nouns else None)
    if first is None:
        return None
    begin, last = phrase(scene.reading, first, ("of", "on", "about", "for", "in", "to"))
    title = scene.reading.slice(begin, last)
    place = scene.draft.node(label_of(scene.reading, first), title, body, scene.reading.span(begin, last))
    scene.places[first.i] = place
    return place


def _item(scene: Scene, line: Line, body: str, kind: str = "") -> int | None:
    start, end = head_of(body)
    tokens = _tokens(scene, line.start + start, line.start + end)
    rest = body[end:]
    attributes: dict[str, Scalar] = {"rank": line.rank if line.rank.isalnum() and line.rank != "bold" else ""}
    attributes |= {("gist" if k == 0 else f"gist_{k + 1}"): text for k, text in enumerate(slices(rest))}
    figure = _FIGURE.search(rest)
    if figure:
        attributes["figure"] = figure.group()
    place = scene.draft.node(
        _label(scene, tokens, kind),
        body[start:end],
        body,
        (line.start + start, line.start + end),
        named=_is_name(scene, tokens),
        attributes=attributes,
    )
    if place is not None:
        _credited(scene, place, line.start + end, rest)
        for token in tokens:
            scene.places.setdefault(token.i, place)
        _use(scene, line.start, line.end)
    return place


def _is_name(scene: Scene, tokens: list[Token]) -> bool:
    return bool(tokens) and scene.reading.named(tokens[0])


def _credited(scene: Scene, place: int, start: int, rest: str) -> None:
    author = _AUTHOR.match(rest)
    if author:
        scene.draft.relabel(place, "Artifact")
    elif scene.draft.nodes[place].label == "Artifact":
        author = _MADE_BY.search(rest)
    if author:
        made = author.groupdict().get("made") or "written"
        _authors(scene, place, start + author.start("names"), author.group("names"), f"{made}_by")


def _authors(scene: Scene, place: int, start: int, names: str, relationship: str) -> None:
    for name in re.split(r"\s*(?:,|&|\band\b)\s*", names.strip(" .")):
        if name:
            begin = scene.reading.text.find(name, start)
            span = (begin, begin + len(name)) if begin >= 0 else None
            author = scene.draft.node(
                "Person", name, f"{name}: author of {scene.draft.nodes[place].title}.", span, named=True
            )
            scene.draft.edge(place, relationship, author, span)


def _shelve(scene: Scene, parent: int | None, line: Line, body: str) -> None:
    """A sub-item, or one past the bound, as an attribute of what it stands under."""
    if parent is None:
        return
    start, end = head_of(body)
    taken = scene.draft.nodes[parent].attributes
    name = next(f"item_{k}" for k in range(1, 999) if f"item_{k}" not in taken)
    if len(taken) < 24:
        rest = slices(body[end:], 1, 4)
        text = " ".join([body[start:end].strip(" :"), *rest]) if len(body[start:end].split()) <= 4 else body[start:end]
        scene.draft.describe(parent, {name: text})
    _use(scene, line.start, line.end)


def _field(scene: Scene, shelf: int, line: Line, body: str) -> None:
    """ "Phone: 555 0100" under a name."""
    key, _, value = body.partition(":")
    name = "_".join(re.findall(r"[a-z0-9]+", key.lower())) or "field"
    if len(scene.draft.nodes[shelf].attributes) < 24:
        scene.draft.describe(shelf, {scene.free(shelf, name): value.strip()})
    _use(scene, line.start, line.end)


def _row(scene: Scene, line: Line, body: str, columns: list[str]) -> None:
    """A table row: its first name is the node, the other cells its attributes."""
    cells, place = body.split(";"), line.start
    tokens = _tokens(scene, line.start, line.end)
    if not any(content_words(cell) for cell in cells):
        return
    head: int | None = None
    for number, cell in enumerate(cells):
        inside = [t for t in tokens if place <= t.idx < place + len(cell)]
        named = [t for t in inside if scene.reading.named(t)]
        if head is None and (
            named or (inside and not any(scene.reading.dated(t) for t in inside) and content_words(cell))
        ):
            kind = (
                head_label(columns[number].split("_")[-1].removesuffix("s"), named=True)
                if number < len(columns)
                else ""
            )
            head = (
                scene.thing(named[0], force=kind)
                if named
                else scene.draft.node(_label(scene, inside), cell, body.strip(" ;"), (place, place + len(cell)))
            )
        elif head is not None and content_words(cell):
            name = columns[number] if number < len(columns) and columns[number] else "cell"
            scene.draft.describe(head, {scene.free(head, name): cell.strip()})
        place += len(cell) + 1
    if head is not None:
        dated = next((t.text for t in tokens if scene.reading.dated(t)), "")
        scene.draft.describe(head, {"when": dated})
    _use(scene, line.start, line.end)


def _label(scene: Scene, tokens: list[Token], kind: str = "") -> str:
    inside = {t.i for t in tokens}
    head = next((t for t in tokens if t.head.i not in inside or t.dep_ == "ROOT"), None)
    if len(tokens) > 2 and tokens[1].pos_ == "ADP" and (first := head_label(tokens[0].lower_)):
        return first
    if kind and head is not None and (scene.reading.kind(head) or not head_label(head.lemma_.lower())):
        return kind
    label = label_of(scene.reading, head) if head is not None else "Concept"
    return "Concept" if label == "Person" and any(t.text.islower() for t in tokens) else label


def _kind_under(scene: Scene, topic: int | None) -> str:
    """What the items of a list are, when its heading says it: "podcasts you might enjoy", "Restaurants in Porto"."""
    if topic is None:
        return ""
    head = re.split(r"\s(?:in|for|about|on|of|to|with|from|near|that|you)\s", scene.draft.nodes[topic].title.lower())[0]
    noun = head.split()[-1].removesuffix("s")
    return "Location" if noun in ("place", "spot", "destination") else head_label(noun, named=True)
