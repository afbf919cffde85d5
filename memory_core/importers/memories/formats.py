"""The formats a memory is read from, each brought to our JSON form: ours, P1's graph JSON, GraphML, CSV, others'."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import networkx as nx

from memory_core.errors import FormatError
from memory_core.exporters import CSV_COLUMNS, FORMULA
from memory_core.importers.memories.foreign import Imported, from_foreign, unpacked
from memory_core.importers.memories.others import read_other
from memory_core.importers.textfile import read_text
from memory_core.store.sqlite_files import SCHEMA_VERSION

MAX_BYTES = 1_000_000_000
_GRAPH_ONLY = ("no turns: what was said is not known, nor which words became what",)


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
        case ".json" | ".af":
            return _json(text, path.name, result)
    raise FormatError(f"{path.name}: the ending says the format; use .json, .af, .graphml or .csv.")


def _json(text: str, name: str, result: Imported) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} is damaged: {error}. Restore a copy of it.") from error
    if isinstance(value, dict) and "schema" in value and isinstance(value.get("nodes"), dict):
        if value["schema"] != SCHEMA_VERSION:
            raise FormatError(f"{name} has schema {value['schema']!r}; this reads {SCHEMA_VERSION}: update the app.")
        return value
    if (document := read_other(value, result)) is not None:
        return document
    if not isinstance(value, dict) or not isinstance(value.get("nodes"), dict | list):
        raise FormatError(f"{name} holds no memory: expected nodes and edges, or an export of Mem0, Graphiti or Letta.")
    result.missing = _GRAPH_ONLY
    return from_foreign(value, result)


def _no_constant(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f"the key {twice[:60]!r} stands twice in one object")
    return entries


def _graphml(text: str, name: str, result: Imported) -> dict[str, Any]:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise FormatError(f"{name} declares XML entities, which are not read: remove its DOCTYPE.")
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            graph: Any = nx.parse_graphml(text, force_multigraph=True)
    except (ParseError, nx.NetworkXException, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{name} is not readable GraphML: {error}.") from error
    result.problems += [f"{name}: {warning.message}" for warning in told]
    nodes = {str(node): unpacked(values) for node, values in graph.nodes(data=True)}
    edges = {}
    for place, (source, target, key, values) in enumerate(graph.edges(keys=True, data=True), 1):
        edge_id = str(key) if isinstance(key, str) and key not in edges else f"e{place}"
        edges[edge_id] = {"source": str(source), "target": str(target), **unpacked(values)}
    result.missing = _GRAPH_ONLY
    return from_foreign({"nodes": nodes, "edges": edges}, result)


def _csv(text: str, name: str) -> dict[str, Any]:
    csv.field_size_limit(10_000_000)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if tuple(reader.fieldnames or ()) != CSV_COLUMNS:
        raise FormatError(f"{name} is no exported memory: its first line must be {','.join(CSV_COLUMNS)}.")
    document: dict[str, Any] = {"schema": SCHEMA_VERSION, "embedder": {}, "nodes": {}, "edges": {}}
    document |= {part: [] for part in ("turns", "provenance", "value_history", "access")}
    try:
        for row in reader:
            _csv_row(document, {key: _plain(value) for key, value in row.items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, csv.Error) as error:
        raise FormatError(f"{name}, line {reader.line_num}: {error}.") from error
    return document


def _plain(cell: object) -> str:
    if not isinstance(cell, str):
        raise ValueError("it has not as many cells as the first line")
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell


def _csv_row(document: dict[str, Any], row: dict[str, str]) -> None:
    match row["kind"]:
        case "node":
            node = {key: row[key] for key in ("label", "title", "content", "created_at")}
            _new(row["id"], document["nodes"])
            document["nodes"][row["id"]] = node | {
                "attributes": json.loads(row["attributes"]),
                "turns_at_creation": int(row["turns_at_creation"]),
                "pinned": row["pinned"] == "True",
            }
        case "edge":
            edge = {key: row[key] for key in ("source", "target", "relationship")}
            _new(row["id"], document["edges"])
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


def _new(item: str, known: Mapping[str, Any]) -> None:
    if item in known:
        raise ValueError(f"the id {item[:60]} is given twice")
