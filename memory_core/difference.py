"""Two memories compared: what the second has more, what it has less, what is other. Before and after, two extractors,
two days."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memory_core.errors import FormatError
from memory_core.exporters import natural, to_document
from memory_core.importers.memories import Imported, read_document
from memory_core.memory import Memory
from memory_core.schema import normalise_title

Document = Mapping[str, Any]
_SHOWN = ("label", "title", "content", "attributes", "pinned")


@dataclass(frozen=True)
class Changed:
    """A node that both hold, in words, with its id in the second; `fields` are (name, in the first, in the second)."""

    id: str
    item: str
    fields: tuple[tuple[str, Any, Any], ...]


@dataclass(frozen=True)
class Part:
    """Nodes, edges or turns: in words, in the order of their memories; `same` counts what both hold alike."""

    added: tuple[str, ...]
    gone: tuple[str, ...]
    changed: tuple[Changed, ...]
    same: int


@dataclass(frozen=True)
class Difference:
    """The second memory against the first."""

    nodes: Part
    edges: Part
    turns: Part

    def to_json(self) -> dict[str, Any]:
        """As `python -m memory_core diff --json` prints it."""
        return asdict(self)


def difference(a: Document, b: Document) -> Difference:
    """Two documents as `to_document` makes them.

    Nodes are one by label and normalised title; of the rest by title alone (the label changed), then by id and time of
    creation (the title was edited). Edges are one by ends and relationship; turns by session, source id and words.
    """
    pairs = _matched(a["nodes"], b["nodes"])
    back = {theirs: ours for ours, theirs in pairs}
    return Difference(_nodes(a["nodes"], b["nodes"], pairs), _edges(a, b, back), _turns(a, b))


def read_memory(path: Path | str) -> Document:
    """The document of a memory or, by the ending, of an export. Raises MemoryFileError, FormatError."""
    if isinstance(path, Path) and path.suffix.lower() in (".json", ".graphml", ".xml", ".csv", ".af"):
        if not path.is_file():
            raise FormatError(f"There is no file {path}: check the path.")
        return read_document(path, Imported())
    with Memory.open(path, create=False) as memory:
        return to_document(memory)


def _matched(ours: Document, theirs: Document) -> list[tuple[str, str]]:
    keys: tuple[Callable[[str, Document], object], ...] = (
        lambda item, node: (node["label"], normalise_title(node["title"]), item),
        lambda item, node: (node["label"], normalise_title(node["title"])),
        lambda item, node: normalise_title(node["title"]),
        lambda item, node: (item, node["created_at"]),
    )
    left, right = dict(ours), dict(theirs)
    pairs: list[tuple[str, str]] = []
    for key in keys:
        waiting: dict[object, list[str]] = defaultdict(list)
        for item in sorted(left, key=natural, reverse=True):
            waiting[key(item, left[item])].append(item)
        for item in sorted(right, key=natural):
            if found := waiting.get(key(item, right[item])):
                pairs.append((found.pop(), item))
        for mine, other in pairs:
            left.pop(mine, None)
            right.pop(other, None)
    return pairs


def _nodes(ours: Document, theirs: Document, pairs: Sequence[tuple[str, str]]) -> Part:
    changed = []
    for mine, other in pairs:
        a, b = ours[mine], theirs[other]
        fields = tuple((name, a[name], b[name]) for name in _SHOWN if a[name] != b[name])
        if fields:
            changed.append(Changed(other, _named(b), fields))
    kept, came = {mine for mine, _ in pairs}, {other for _, other in pairs}
    added = tuple(_named(theirs[item]) for item in sorted(theirs, key=natural) if item not in came)
    gone = tuple(_named(ours[item]) for item in sorted(ours, key=natural) if item not in kept)
    return Part(added, gone, tuple(changed), len(pairs) - len(changed))


def _named(node: Document) -> str:
    return f"{node['title']} ({node['label']})"


def _edges(a: Document, b: Document, back: Mapping[str, str]) -> Part:
    ours = _by(a["edges"].items(), lambda edge: (edge["source"], edge["relationship"], edge["target"]))
    theirs = _by(
        b["edges"].items(),
        lambda edge: (back.get(edge["source"]), edge["relationship"], back.get(edge["target"])),
    )
    changed: list[Changed] = []
    added: list[tuple[str, Document]] = []
    gone: list[tuple[str, Document]] = []
    same = 0
    for key in [*ours, *(key for key in theirs if key not in ours)]:
        mine, other = ours.get(key, []), theirs.get(key, [])
        for (_, edge), (their_id, their_edge) in zip(mine, other, strict=False):
            if edge["attributes"] == their_edge["attributes"]:
                same += 1
            else:
                fields = (("attributes", edge["attributes"], their_edge["attributes"]),)
                changed.append(Changed(their_id, _joined(b, their_edge), fields))
        added += other[len(mine) :]
        gone += mine[len(other) :]
    return Part(_in_order(b, added), _in_order(a, gone), tuple(changed), same)


def _in_order(document: Document, edges: Iterable[tuple[str, Document]]) -> tuple[str, ...]:
    return tuple(_joined(document, edge) for _, edge in sorted(edges, key=lambda item: natural(item[0])))


def _joined(document: Document, edge: Document) -> str:
    titles = (document["nodes"][edge[end]]["title"] for end in ("source", "target"))
    source, target = titles
    return f"{source} {edge['relationship']} {target}"


def _turns(a: Document, b: Document) -> Part:
    def said(turn: Document) -> object:
        return turn["session"], turn["source_id"], turn["text"]

    ours, theirs = ({said(turn): turn for turn in one.get("turns") or ()} for one in (a, b))
    added = tuple(_quoted(turn) for key, turn in theirs.items() if key not in ours)
    gone = tuple(_quoted(turn) for key, turn in ours.items() if key not in theirs)
    return Part(added, gone, (), len(ours.keys() & theirs.keys()))


def _quoted(turn: Document) -> str:
    return f"{turn['source_id']}: {turn['text'][:200]}"


def _by(
    items: Iterable[tuple[str, Document]], key: Callable[[Document], object]
) -> dict[object, list[tuple[str, Document]]]:
    grouped: dict[object, list[tuple[str, Document]]] = defaultdict(list)
    for item_id, item in items:
        grouped[key(item)].append((item_id, item))
    return grouped
