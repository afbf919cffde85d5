"""Nodes and edges as someone claims them, made into nodes and edges that may be stored (P1 3.2 and 3.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from memory_core.schema import LABELS, Extraction, FoundEdge, FoundNode, Role, Scalar, Status, normalise_title
from memory_core.validation.values import Report, clean, cut, flat_attributes

OnInvalid = Literal["drop", "reject"]

MAX_TITLE = 200
MAX_CONTENT = 2_000
MAX_NODES = 64
MAX_EDGES = 128
MAX_ATTRIBUTES = 32

_LABELS = {label.casefold(): label for label in LABELS}
_SELF = frozenset({"i", "me", "myself"})
_USER = frozenset({"user", "the user", "speaker", "the speaker"})
_ADDRESSED = frozenset({"you", "yourself"})
_ASSISTANT = frozenset({"assistant", "the assistant"})
#: A Person by one of these names nobody; the book "It" or the film "Her" is an Artifact and stays.
_NOBODY = frozenset({"he", "she", "they", "him", "her", "them", "it", "we", "us", "you", "yourself"})
#: Relationships by which an extractor says that there is none: they made up most edges of one published graph's hub.
_NO_RELATIONSHIP = re.compile(
    r"none|null|nil|na|n_a|unrelated|unknown|undefined|unspecified|not_(applicable|related|specified|stated|connected)"
    r"|(no|without|unclear|not)(_[a-z]+)?_(relation|relationship|connection|link|association)s?(_[a-z]+)?"
)


def validate(
    nodes: Iterable[Mapping[str, object] | FoundNode | object],
    edges: Iterable[Mapping[str, object] | FoundEdge | object],
    *,
    speaker: str = "User",
    role: Role = "user",
    on_invalid: OnInvalid = "drop",
    synonyms: Mapping[str, str] | None = None,
    limit: bool = True,
) -> Extraction:
    """What may be stored of `nodes` and `edges`, with a reason for each thing left out; never raises on bad items.

    A node is a FoundNode or a mapping of label, title, content, attributes (a mapping, or a list of {key, value}) and,
    if edges name it, id. An edge is a FoundEdge or a mapping of source, target (a node's id, else the title only one
    node has), relationship, attributes. Kept: the nine labels in any case (`synonyms` such as {"City": "Location"} are
    ours to give, none by default), titles with something to read, edges between two different kept nodes that say how
    they are related. Attributes come out flat (`address.city`, lists as JSON text). Titles are cut at 200 characters,
    contents at 2,000; at most 64 nodes, 128 edges and 32 attributes each (`limit=False`, for an imported graph, lifts
    the first two). A Person called I, me or the user is `speaker`; on an assistant's turn I is the assistant and you is
    `speaker`. Items given twice become one.

    `status` is ok (all kept as given), repaired (something dropped or mended), empty (nothing was given) or rejected
    (nothing is left, or `on_invalid="reject"`, P1's rule, and a node or an edge had to be dropped).

    >>> found = validate(
    ...     [{"id": "a", "label": "person", "title": "I"}, {"id": "b", "label": "Location", "title": "Turku"}],
    ...     [{"source": "a", "target": "Turku", "relationship": "moved_to"}, {"source": "a", "target": "b",
    ...       "relationship": "none"}],
    ...     speaker="Mira",
    ... )
    >>> [node.title for node in found.nodes], [(e.source, e.target) for e in found.edges]
    (['Mira', 'Turku'], [(0, 1)])
    >>> found.status, found.drops[0].reason
    ('repaired', "edge 2 (a - none - b): 'none' is no relationship")
    """
    given_nodes, given_edges = list(nodes), list(edges)
    report = Report()
    kept = _Nodes(speaker, role, report, {**_LABELS, **_canonical(synonyms or {})})
    for place, item in enumerate(given_nodes):
        if limit and len(kept.found) == MAX_NODES:
            report.drop("node", f"{len(given_nodes) - place} more nodes", f"a reply may hold {MAX_NODES} nodes")
            break
        kept.add(place, item)
    links = _Edges(kept, report)
    for place, item in enumerate(given_edges):
        if limit and len(links.found) == MAX_EDGES:
            report.drop("edge", f"{len(given_edges) - place} more edges", f"a reply may hold {MAX_EDGES} edges")
            break
        links.add(place, item)
    return _outcome(kept.found, list(links.found.values()), report, on_invalid, bool(given_nodes or given_edges))


def _outcome(
    nodes: list[FoundNode], edges: list[FoundEdge], report: Report, on_invalid: OnInvalid, given: bool
) -> Extraction:
    drops, repairs = report.drops, tuple(report.repairs)
    structural = [drop for drop in drops if drop.kind != "attribute"]
    if not given:
        return Extraction("empty", drops=drops, repairs=repairs)
    if not nodes or (on_invalid == "reject" and structural):
        reason = "; ".join(drop.reason for drop in structural[:3]) + (
            f"; and {len(structural) - 3} more" if len(structural) > 3 else ""
        )
        return Extraction("rejected", drops=drops, repairs=repairs, reason=reason)
    status: Status = "repaired" if drops or repairs else "ok"
    return Extraction(status, tuple(nodes), tuple(edges), drops, repairs)


def _canonical(synonyms: Mapping[str, str]) -> dict[str, str]:
    unknown = sorted(set(synonyms.values()) - set(LABELS))
    if unknown:
        raise ValueError(f"a label synonym must stand for one of the nine labels, not {unknown[0]!r}")
    return {name.strip().casefold(): label for name, label in synonyms.items()}


@dataclass
class _Nodes:
    """The nodes kept so far, and by which ids and titles an edge may call them."""

    speaker: str
    role: Role
    report: Report
    labels: Mapping[str, str]
    found: list[FoundNode] = field(default_factory=list)
    by_id: dict[str, set[int]] = field(default_factory=dict)
    by_title: dict[str, set[int]] = field(default_factory=dict)
    _place: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, place: int, item: object) -> None:
        raw, own = _mapping(item), str(place)
        name = _text(raw.get("id")) or (own if isinstance(item, FoundNode) else f"{place + 1}")
        asked = _text(raw.get("title"))
        node = self._read(f"node {name}" + (f" ({asked[:60]})" if asked else ""), raw, item)
        if node is None:
            return
        at = self._keep(node)
        self.by_id.setdefault(own if isinstance(item, FoundNode) else _text(raw.get("id")), set()).add(at)
        self.by_title.setdefault(normalise_title(node.title), set()).add(at)

    def resolve(self, end: object) -> set[int]:
        """The places an edge's end may mean: by id, else by title."""
        name = _text(end)
        title = normalise_title(name)
        title = normalise_title(self._person(title) or title)
        return (self.by_id.get(name) or self.by_title.get(title) or set()) if name else set()

    def _read(self, what: str, raw: Mapping[str, object], item: object) -> FoundNode | None:
        if not raw:
            self.report.drop("node", what, "is not an object with label, title and content")
            return None
        given = _text(raw.get("label"))
        label = self.labels.get(" ".join(given.split()).casefold())
        if label is None:
            self.report.drop("node", what, f"undefined label {given[:60]}" if given else "has no label")
            return None
        title = self._title(label, what, raw.get("title"))
        if not title:
            return None
        if label != given:
            self.report.mend(what, f"label {given!r} read as {label}")
        content = cut(clean(_text(raw.get("content")), what, self.report), MAX_CONTENT, what, "content", self.report)
        attributes = flat_attributes(raw.get("attributes"), what, self.report, MAX_ATTRIBUTES, MAX_CONTENT)
        return FoundNode(label, title, content, attributes, item.span if isinstance(item, FoundNode) else None)

    def _title(self, label: str, what: str, given: object) -> str | None:
        text = " ".join(clean(_text(given), what, self.report).splitlines()).strip()
        if not any(char.isprintable() and not char.isspace() for char in text):
            self.report.drop("node", what, "has no title")
            return None
        named = self._person(normalise_title(text)) if label == "Person" else None
        if label == "Person" and named is None and normalise_title(text) in _NOBODY:
            self.report.drop("node", what, "a pronoun names nobody")
            return None
        return named or cut(text, MAX_TITLE, what, "title", self.report)

    def _person(self, title: str) -> str | None:
        if title in _USER or (title in _SELF and self.role == "user") or (title in _ADDRESSED and self.role != "user"):
            return self.speaker
        return "Assistant" if self.role != "user" and title in _SELF | _ASSISTANT else None

    def _keep(self, node: FoundNode) -> int:
        key = (node.label, normalise_title(node.title))
        at = self._place.setdefault(key, len(self.found))
        if at == len(self.found):
            self.found.append(node)
        else:
            self.found[at] = _joined(self.found[at], node, self.report)
        return at


@dataclass
class _Edges:
    nodes: _Nodes
    report: Report
    found: dict[tuple[int, int, str], FoundEdge] = field(default_factory=dict)

    def add(self, place: int, item: object) -> None:
        raw = _mapping(item)
        source, target = _text(raw.get("source")), _text(raw.get("target"))
        relationship = _text(raw.get("relationship"))
        what = f"edge {_text(raw.get('id')) or place + 1} ({source[:40]} - {relationship[:40]} - {target[:40]})"
        if not raw:
            self.report.drop("edge", what, "is not an object with source, target and relationship")
            return
        ends = self._ends(what, source, target)
        relationship = " ".join(clean(relationship, what, self.report).splitlines()).strip()
        if ends is None or not self._says_something(what, relationship):
            return
        relationship = cut(relationship, MAX_TITLE, what, "relationship", self.report)
        attributes = flat_attributes(raw.get("attributes"), what, self.report, MAX_ATTRIBUTES, MAX_CONTENT)
        edge = FoundEdge(*ends, relationship, attributes, item.span if isinstance(item, FoundEdge) else None)
        key = (*ends, normalise_title(relationship))
        if key in self.found:
            self.report.mend(what, "given twice, joined")
            edge = replace(self.found[key], attributes={**attributes, **self.found[key].attributes})
        self.found[key] = edge

    def _ends(self, what: str, source: str, target: str) -> tuple[int, int] | None:
        places = []
        for role, name in (("source", source), ("target", target)):
            found = self.nodes.resolve(name)
            if not found:
                self.report.drop("edge", what, f"its {role} {name[:60] or '(none)'} is no node that was kept")
                return None
            if len(found) > 1:
                self.report.drop("edge", what, f"its {role} {name[:60]} may be any of {len(found)} nodes")
                return None
            places.append(next(iter(found)))
        if places[0] == places[1]:
            self.report.drop("edge", what, "joins a node to itself")
            return None
        return places[0], places[1]

    def _says_something(self, what: str, relationship: str) -> bool:
        if not re.search(r"\w", relationship):
            self.report.drop("edge", what, "has no relationship")
        elif _NO_RELATIONSHIP.fullmatch(re.sub(r"[\W_]+", "_", relationship.casefold()).strip("_")):
            self.report.drop("edge", what, f"{relationship!r} is no relationship")
        else:
            return True
        return False


def _joined(first: FoundNode, second: FoundNode, report: Report) -> FoundNode:
    """One node of two with the same label and title: both contents, the first's value where attributes differ."""
    what = f"node {first.title[:60]}"
    report.mend(what, "given twice, joined")
    for key in first.attributes.keys() & second.attributes.keys():
        if first.attributes[key] != second.attributes[key]:
            report.drop("attribute", f"{what}, {key}", f"a second value {str(second.attributes[key])[:60]!r} was given")
    said = first.content if second.content in first.content else f"{first.content} {second.content}".strip()
    attributes: dict[str, Scalar] = {**second.attributes, **first.attributes}
    attributes = dict(list(attributes.items())[:MAX_ATTRIBUTES])
    return replace(first, content=said[:MAX_CONTENT], attributes=attributes, span=first.span or second.span)


def _mapping(item: object) -> Mapping[str, object]:
    if isinstance(item, FoundNode | FoundEdge):
        return {name: getattr(item, name) for name in item.__dataclass_fields__}
    return item if isinstance(item, Mapping) else {}


def _text(value: object) -> str:
    """A string, or a number as one; "" for what cannot name or describe anything."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()


def items_of(given: object) -> Sequence[object] | None:
    """A list of items from a list or an id-keyed map (P1's own form); None when it is neither.

    >>> items_of({"n1": {"title": "Porto"}})
    [{'title': 'Porto', 'id': 'n1'}]
    """
    if given is None:
        return []
    if isinstance(given, Mapping):
        return list(_named(given))
    return given if isinstance(given, list) else None


def _named(given: Mapping[str, object]) -> Iterator[object]:
    for name, item in given.items():
        yield {**item, "id": name} if isinstance(item, Mapping) else {"id": name, "title": "", "label": ""}
