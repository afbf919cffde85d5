"""Graphs that other programs wrote: what they call labels, ids, times and attributes, in our JSON form."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memory_core.schema import LABELS, utc
from memory_core.validation.items import MAX_CONTENT, MAX_TITLE
from memory_core.validation.values import Report, clean, flat_attributes

_MAX_ATTRIBUTES = 1_000  # of one item: a speaker's node gathers many over the years
#: Labels other systems use, and the one of the nine each becomes; what stands in neither is a Concept, and counted.
LABEL_TABLE: Mapping[str, str] = {
    **dict.fromkeys(("user", "people", "character", "human", "role", "family member"), "Person"),
    **dict.fromkeys(("company", "org", "institution", "team", "group", "brand", "school", "business"), "Organization"),
    **dict.fromkeys(("place", "city", "country", "address", "region", "gpe", "venue", "building"), "Location"),
    **dict.fromkeys(("activity", "meeting", "appointment", "trip", "date", "experience", "milestone"), "Event"),
    **dict.fromkeys(("product", "object", "tool", "book", "document", "software", "item", "food", "pet"), "Artifact"),
    **dict.fromkeys(("like", "dislike", "opinion", "taste", "habit"), "Preference"),
    **dict.fromkeys(("plan", "intention", "task", "aim", "project"), "Goal"),
    **dict.fromkeys(("ability", "language", "expertise"), "Skill"),
}


@dataclass
class Imported:
    """What was read: counts, labels that were mapped to one of the nine, and what was left out, by name. `system` wrote
    the file; `missing` is what its files do not hold, and so no page can show."""

    nodes: int = 0
    edges: int = 0
    turns: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    system: str = ""
    missing: tuple[str, ...] = ()


def from_foreign(value: Mapping[str, Any], result: Imported) -> dict[str, Any]:
    """P1's graph JSON, and other graphs of nodes with a title and edges with two ends, in our form."""
    given = _entries(value["nodes"], "node", result)
    nodes = {node_id: _foreign_node(node_id, node, result) for node_id, node in given}
    nodes = {node_id: node for node_id, node in nodes.items() if node}
    edges: dict[str, Any] = {}
    for given_id, edge in _entries(value.get("edges") or value.get("links") or {}, "edge", result):
        edge_id = f"edge:{given_id}" if given_id in nodes else given_id
        source, target = (str(_first(edge, *names)) for names in (("source", "from"), ("target", "to")))
        relationship = _clean(_first(edge, "relationship", "relation", "type", "label")).strip()
        missing = [end for end in (source, target) if end not in nodes]
        if missing or not relationship or source == target:
            why = f"no node {missing[0]}" if missing else "no relationship" if not relationship else "both ends are one"
            result.problems.append(f"edge {edge_id} ({source} - {target}) was left out: {why}")
            continue
        edges[edge_id] = {"source": source, "target": target, "relationship": relationship,
                          "attributes": _attributes(edge.get("attributes"), f"edge {edge_id}", result)}  # fmt: skip
    access = [entry for node_id, node in given for entry in _accesses(node_id, node, nodes)]
    return {"embedder": {}, "nodes": nodes, "edges": edges, "turns": [], "provenance": [], "value_history": [],
            "access": access}  # fmt: skip


def _entries(values: object, kind: str, result: Imported) -> list[tuple[str, dict[str, Any]]]:
    """Items with their ids, from a map or a list; what is no item, or has the id of another, is left out and named."""
    if isinstance(values, dict):
        rows = list(values.items())
    elif isinstance(values, list):
        rows = [(_item_id(entry) or f"{kind}{place}", entry) for place, entry in enumerate(values, 1)]
    else:
        result.problems.append(f"the {kind}s were left out: neither a map nor a list")
        return []
    kept: dict[str, dict[str, Any]] = {}
    for key, entry in rows:
        if not isinstance(entry, dict) or str(key) in kept:
            why = "its id is given twice" if isinstance(entry, dict) else "it is no object"
            result.problems.append(f"{kind} {str(key)[:60]} was left out: {why}")
        else:
            kept[_clean(key)] = entry
    return list(kept.items())


def _item_id(entry: object) -> object:
    return _first(entry, "id", "uuid", "key") if isinstance(entry, dict) else None


def _foreign_node(node_id: str, node: Mapping[str, Any], result: Imported) -> dict[str, Any] | None:
    named = "title" in node or "name" in node  # else the label is what the node is called, and its type the label
    called = _first(node, "title", "name") if named else node.get("label")
    title = _cut(_clean(called), MAX_TITLE, f"title of node {node_id}", result)
    if not title.strip():
        result.problems.append(f"node {node_id} was left out: it has no title")
        return None
    given = str(node.get("label" if named else "type") or "Concept")
    label = _label(given)
    if label != given:
        result.labels[f"{given} -> {label}"] += 1
    extra = {} if label == given else {"original_label": given}
    return {
        "label": label,
        "title": title,
        "content": _cut(
            _clean(_first(node, "content", "summary", "description", "text")),
            MAX_CONTENT,
            f"content of node {node_id}",
            result,
        ),
        "attributes": _attributes(node.get("attributes"), f"node {node_id}", result) | extra,
        "created_at": _time(_first(node, "created_at", "created"), f"node {node_id}", result),
        "turns_at_creation": int(min(max(_number(node.get("turns_at_creation")), 0), 10**9)),
        "pinned": node.get("pinned") in (True, "true", "True", 1),
    }


def _label(given: str) -> str:
    by_name = {label.casefold(): label for label in LABELS} | dict(LABEL_TABLE)
    return by_name.get(given.strip().casefold(), "Concept")


def _accesses(node_id: str, node: Mapping[str, Any], kept: Mapping[str, Any]) -> list[dict[str, Any]]:
    """P1 stores a count and the last time, not a log: the earlier accesses are put at the node's creation."""
    count = int(min(max(_number(node.get("access_count")), 0), 10_000))
    if node_id not in kept or not count:
        return []
    created = kept[node_id]["created_at"]
    last = _time(node.get("last_accessed_at"), node_id, Imported()) if node.get("last_accessed_at") else created
    turn = kept[node_id]["turns_at_creation"]
    times = [created] * (count - 1) + [last]
    return [{"node": node_id, "at": at, "turn": turn, "kind": "merge"} for at in times]


def unpacked(values: Mapping[str, Any]) -> dict[str, Any]:
    """A GraphML item with its attributes, which stand there as JSON text, as a mapping."""
    entry = dict(values)
    attributes = entry.get("attributes")
    if isinstance(attributes, str):
        try:
            entry["attributes"] = json.loads(attributes)
        except (ValueError, RecursionError):
            entry["attributes"] = {"attributes": attributes}
    return entry


def _first(entry: Mapping[str, Any], *names: str) -> Any:
    return next((entry[name] for name in names if entry.get(name) not in (None, "")), None)


def _number(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0


def _time(value: object, of: str, result: Imported) -> str:
    """ISO time of a foreign item; a missing or unreadable one becomes the epoch, and is named."""
    number = _number(value)
    try:
        if abs(number) < 10**9:  # 2020 or 20240501 is a date, not a second of 1970
            moment = utc(str(value))
        else:
            moment = datetime.fromtimestamp(number / (1000 if abs(number) > 10**11 else 1), UTC)
    except (ValueError, OverflowError, OSError):
        result.problems.append(f"{of}: no readable time ({value!r}); taken as 1970-01-01")
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat()


def _attributes(values: object, of: str, result: Imported) -> dict[str, Any]:
    report = Report()
    flat = flat_attributes(values or {}, of, report, _MAX_ATTRIBUTES, MAX_CONTENT)
    result.problems += report.repairs
    result.problems += [drop.reason for drop in report.drops]
    return dict(flat)


def _cut(text: str, most: int, what: str, result: Imported) -> str:
    if len(text) > most:
        result.problems.append(f"{what} was cut from {len(text):,} to {most:,} characters")
    return text[:most]


def _clean(value: object) -> str:
    return clean(str(value or ""), "", Report())
