"""The formats a memory is read from, each brought to our JSON form: ours, P1's graph JSON, GraphML, CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import networkx as nx

from memory_core.errors import FormatError
from memory_core.exporters import CSV_COLUMNS, FORMULA
from memory_core.importers.textfile import read_text
from memory_core.schema import LABELS, utc
from memory_core.store.sqlite import SCHEMA_VERSION
from memory_core.validation.values import Report, clean, flat_attributes

MAX_BYTES = 1_000_000_000
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
    """What was read: counts, labels that were mapped to one of the nine, and what was left out, by name."""

    nodes: int = 0
    edges: int = 0
    turns: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def read_document(path: Path, result: Imported) -> dict[str, Any]:
    """The file as our JSON form; what had to be mapped or left out is noted in `result`. Raises FormatError."""
    if path.is_file() and path.stat().st_size > MAX_BYTES:
        raise FormatError(f"{path.name} is larger than {MAX_BYTES // 10**6} MB: split it.")
    text = read_text(path)
    match path.suffix.lower():
        case ".graphml" | ".xml":
            return _graphml(text, path.name, result)
        case ".csv":
            return _csv(text, path.name)
        case ".json":
            return _json(text, path.name, result)
    raise FormatError(f"{path.name}: the ending says the format; use .json, .graphml or .csv.")


def _json(text: str, name: str, result: Imported) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} is damaged: {error}. Restore a copy of it.") from error
    if not isinstance(value, dict) or not isinstance(value.get("nodes"), dict | list):
        raise FormatError(f"{name} holds no memory: expected an object with nodes and edges.")
    if "schema" in value:
        if value["schema"] != SCHEMA_VERSION:
            raise FormatError(f"{name} has schema {value['schema']!r}; this reads {SCHEMA_VERSION}: update the app.")
        return value
    return _foreign(value, result)


def _no_constant(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _foreign(value: Mapping[str, Any], result: Imported) -> dict[str, Any]:
    """P1's graph JSON, and other graphs of nodes with a title and edges with two ends, in our form."""
    nodes = {node_id: _foreign_node(node_id, node, result) for node_id, node in _entries(value["nodes"], "node")}
    nodes = {node_id: node for node_id, node in nodes.items() if node}
    edges: dict[str, Any] = {}
    for edge_id, edge in _entries(value.get("edges") or value.get("links") or {}, "edge"):
        source, target = (str(_first(edge, *names)) for names in (("source", "from"), ("target", "to")))
        relationship = _clean(_first(edge, "relationship", "relation", "type", "label")).strip()
        missing = [end for end in (source, target) if end not in nodes]
        if missing or not relationship or source == target:
            why = f"no node {missing[0]}" if missing else "no relationship" if not relationship else "both ends are one"
            result.problems.append(f"edge {edge_id} ({source} - {target}) was left out: {why}")
            continue
        edges[edge_id] = {"source": source, "target": target, "relationship": relationship,
                          "attributes": _attributes(edge.get("attributes"), f"edge {edge_id}", result)}  # fmt: skip
    access = [entry for node_id, node in _entries(value["nodes"], "node") for entry in _accesses(node_id, node, nodes)]
    return {"embedder": {}, "nodes": nodes, "edges": edges, "turns": [], "provenance": [], "value_history": [],
            "access": access}  # fmt: skip


def _entries(values: object, prefix: str) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(values, dict):
        return [(str(key), entry) for key, entry in values.items() if isinstance(entry, dict)]
    rows = [entry for entry in values if isinstance(entry, dict)] if isinstance(values, list) else []
    ids = (_first(entry, "id", "uuid", "key") or f"{prefix}{place}" for place, entry in enumerate(rows, 1))
    return list(dict(zip(map(str, ids), rows, strict=True)).items())


def _foreign_node(node_id: str, node: Mapping[str, Any], result: Imported) -> dict[str, Any] | None:
    title = " ".join(_clean(_first(node, "title", "name", "label")).split())[:200]
    if not title:
        result.problems.append(f"node {node_id} was left out: it has no title")
        return None
    given = str(node.get("label") if node.get("title") or node.get("name") else node.get("type") or "Concept")
    label = _label(given)
    if label != given:
        result.labels[f"{given} -> {label}"] += 1
    extra = {} if label == given else {"original_label": given}
    return {
        "label": label,
        "title": title,
        "content": _clean(_first(node, "content", "summary", "description", "text"))[:2000],
        "attributes": _attributes(node.get("attributes"), f"node {node_id}", result) | extra,
        "created_at": _time(_first(node, "created_at", "created"), f"node {node_id}", result),
        "turns_at_creation": max(0, int(_number(node.get("turns_at_creation")))),
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


def _graphml(text: str, name: str, result: Imported) -> dict[str, Any]:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise FormatError(f"{name} declares XML entities, which are not read: remove its DOCTYPE.")
    try:
        graph: Any = nx.parse_graphml(text, force_multigraph=True)
    except (ParseError, nx.NetworkXException, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{name} is not readable GraphML: {error}.") from error
    nodes = {str(node): _unpacked(values) for node, values in graph.nodes(data=True)}
    edges = {}
    for place, (source, target, key, values) in enumerate(graph.edges(keys=True, data=True), 1):
        edge_id = str(key) if isinstance(key, str) and key not in edges else f"e{place}"
        edges[edge_id] = {"source": str(source), "target": str(target), **_unpacked(values)}
    return _foreign({"nodes": nodes, "edges": edges}, result)


def _unpacked(values: Mapping[str, Any]) -> dict[str, Any]:
    entry = dict(values)
    attributes = entry.get("attributes")
    if isinstance(attributes, str):
        try:
            entry["attributes"] = json.loads(attributes)
        except ValueError:
            entry["attributes"] = {"attributes": attributes}
    return entry


def _csv(text: str, name: str) -> dict[str, Any]:
    csv.field_size_limit(10_000_000)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if tuple(reader.fieldnames or ()) != CSV_COLUMNS:
        raise FormatError(f"{name} is no exported memory: its first line must be {','.join(CSV_COLUMNS)}.")
    document: dict[str, Any] = {"schema": SCHEMA_VERSION, "embedder": {}, "nodes": {}, "edges": {}}
    document |= {part: [] for part in ("turns", "provenance", "value_history", "access")}
    try:
        for row in reader:
            _csv_row(document, {key: _plain(value or "") for key, value in row.items() if isinstance(key, str)})
    except (ValueError, KeyError, csv.Error) as error:
        raise FormatError(f"{name}, line {reader.line_num}: {error}.") from error
    return document


def _plain(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell


def _csv_row(document: dict[str, Any], row: dict[str, str]) -> None:
    match row["kind"]:
        case "node":
            node = {key: row[key] for key in ("label", "title", "content", "created_at")}
            document["nodes"][row["id"]] = node | {
                "attributes": json.loads(row["attributes"]),
                "turns_at_creation": int(row["turns_at_creation"]),
                "pinned": row["pinned"] == "True",
            }
        case "edge":
            edge = {key: row[key] for key in ("source", "target", "relationship")}
            document["edges"][row["id"]] = edge | {"attributes": json.loads(row["attributes"])}
        case "turn":
            keys = ("id", "source_id", "session", "role", "speaker", "text", "at")
            document["turns"].append({key: row[key] for key in keys} | {"position": int(row["position"])})
        case "provenance":
            span = {key: int(row[key]) if row[key] else None for key in ("start", "stop")}
            document["provenance"].append({"item": row["item"], "turn": row["turn"]} | span)
        case "value":
            entry = {key: row[key] for key in ("item", "field", "turn", "at")}
            document["value_history"].append(entry | {"value": json.loads(row["value"])})
        case "access":
            access = {"node": row["node"], "at": row["at"], "turn": int(row["turn"]), "kind": row["role"]}
            document["access"].append(access)
        case kind:
            raise ValueError(f"there is no kind of row {kind!r}")


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
    try:
        moment = datetime.fromtimestamp(float(str(value)), UTC) if _number(value) else utc(str(value))
    except (ValueError, OverflowError, OSError):
        result.problems.append(f"{of}: no readable time ({value!r}); taken as 1970-01-01")
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat()


def _attributes(values: object, of: str, result: Imported) -> dict[str, Any]:
    report = Report()
    flat = flat_attributes(values or {}, of, report, 64, 2000)
    result.problems += [drop.reason for drop in report.drops]
    return dict(flat)


def _clean(value: object) -> str:
    return clean(str(value or ""), "", Report())
