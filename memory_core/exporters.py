"""A memory as a file: JSON (everything that is live, read back exactly), GraphML, CSV, and a picture as one page."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx

from memory_core.errors import InputError
from memory_core.memory import Memory
from memory_core.memory.turns import moment
from memory_core.protocols import Floats
from memory_core.schema import LABELS
from memory_core.store.sqlite_files import SCHEMA_VERSION

#: Cells a spreadsheet would run as a formula start with one of these; a quote in front makes them text.
FORMULA = re.compile(r"^'*[=+\-@\t\r]")
CSV_COLUMNS = (
    "kind", "id", "label", "title", "content", "attributes", "created_at", "turns_at_creation", "pinned", "source",
    "target", "relationship", "source_id", "session", "role", "speaker", "text", "at", "position", "item", "turn",
    "start", "stop", "field", "value", "node",
)  # fmt: skip
_NUMBERED = re.compile(r"(.*?)(\d{1,15})", re.DOTALL)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_document(memory: Memory, *, vectors: bool = False) -> dict[str, Any]:
    """The live memory as one JSON-able value: nodes and edges by id, lists sorted by id (design, section 6).

    Without `vectors` an import embeds again. Two memories that hold the same give the same document.
    """
    with memory.lock, memory.store.snapshot():
        _ = memory.revision
        read = _read(memory, vectors)
    return _document(read)  # others go on meanwhile: it takes three times as long as reading


@dataclass(frozen=True)
class _Read:
    """What is live at one moment, as it is stored."""

    embedder: dict[str, Any]
    nodes: list[tuple[Any, ...]]
    edges: list[tuple[Any, ...]]
    turns: list[tuple[Any, ...]]
    provenance: list[tuple[Any, ...]]
    history: list[tuple[Any, ...]]
    access: list[tuple[Any, ...]]
    vectors: dict[str, Floats] | None


def _read(memory: Memory, vectors: bool) -> _Read:
    graph, query, rows = memory.graph, memory.store.query, memory.graph.live_rows().tolist()
    have = [row for row in rows if graph.has_vector.values[row]]
    return _Read(
        {"id": memory.embedder.id, "dim": memory.embedder.dim},
        [_node(memory, row) for row in rows],
        [_edge(memory, row) for row in graph.live_edges().tolist()],
        query(_TURNS),
        query(_PROVENANCE),
        query(_HISTORY),
        query(_ACCESS),
        {graph.ids[row]: graph.vectors.values[row].copy() for row in have} if vectors else None,
    )


def _document(read: _Read) -> dict[str, Any]:
    nodes = {node: _node_entry(*values) for node, *values in sorted(read.nodes, key=lambda item: natural(item[0]))}
    edges = {
        edge: {"source": source, "target": target, "relationship": relationship, "attributes": json.loads(attributes)}
        for edge, source, target, relationship, attributes in sorted(read.edges, key=lambda item: natural(item[0]))
    }
    provenance = [_named(("item", "turn", "start", "stop"), row) for row in read.provenance]
    access = [_named(("node", "at", "turn", "kind"), row) for row in read.access]
    live = nodes.keys() | edges.keys()
    document: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "embedder": read.embedder,
        "nodes": nodes,
        "edges": edges,
        "turns": [_named(_TURN_KEYS, row) for row in read.turns],
        "provenance": _by("item", [entry for entry in provenance if entry["item"] in live]),
        "value_history": _by("item", [entry for entry in map(_said, read.history) if entry["item"] in live]),
        "access": _by("node", [entry for entry in access if entry["node"] in live]),
    }
    if read.vectors is not None:
        document["vectors"] = {node: read.vectors[node].tolist() for node in nodes if node in read.vectors}
    return document


def _by(key: str, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(entries, key=lambda entry: natural(entry[key]))  # stable: of one item as they were written


def export(memory: Memory, path: Path, *, vectors: bool = False) -> dict[str, int]:
    """Write the memory to `path`, whole or not at all; the ending says the format. Raises InputError for another one.

    Returns how many nodes, edges and turns were written (GraphML and HTML hold no turns).
    """
    writers = {".json": to_json, ".graphml": to_graphml, ".csv": to_csv, ".html": to_html}
    ending = path.suffix.lower()
    if ending not in writers:
        raise InputError(f"{path.name}: the ending says the format; use one of {', '.join(writers)}.")
    document = to_document(memory, vectors=vectors)
    write_whole(path, writers[ending](document))
    turns = len(document["turns"]) if ending in (".json", ".csv") else 0
    return {"nodes": len(document["nodes"]), "edges": len(document["edges"]), "turns": turns}


def write_whole(path: Path, text: str) -> None:
    """Write beside, then move: no half file ever stands at `path`. Raises InputError."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, "utf-8", newline="")
        os.replace(partial, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def to_json(document: Mapping[str, Any]) -> str:
    """The document as JSON text; NaN and infinity never stand in it."""
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def to_graphml(document: Mapping[str, Any]) -> str:
    """Nodes and edges for other graph programs; attributes as JSON text, since GraphML knows only scalars."""
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for node_id, node in document["nodes"].items():
        graph.add_node(node_id, **_scalars(node))
    for edge_id, edge in document["edges"].items():
        rest = {key: value for key, value in edge.items() if key not in ("source", "target")}
        graph.add_edge(edge["source"], edge["target"], key=edge_id, **_scalars(rest))
    file = io.BytesIO()  # networkx's line generator would break a text at every exotic line end
    nx.write_graphml_xml(graph, file, prettyprint=True)
    return file.getvalue().decode().strip().replace("\r", "&#13;") + "\n"  # a bare return would be read as a newline


def to_csv(document: Mapping[str, Any]) -> str:
    """One table of everything: `kind` says what a row is. Cells that look like formulas get a quote in front."""
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_COLUMNS, lineterminator="\r\n")  # RFC 4180; a lone return is quoted only so
    writer.writeheader()
    for kind in ("nodes", "edges"):
        for item_id, item in document[kind].items():
            writer.writerow(_cells({"kind": kind[:-1], "id": item_id, **item}))
    writer.writerows(_cells({"kind": "turn", **turn}) for turn in document["turns"])
    writer.writerows(_cells({"kind": "provenance", **entry}) for entry in document["provenance"])
    writer.writerows(_cells({"kind": "value", **entry}) for entry in document["value_history"])
    for entry in document["access"]:
        writer.writerow(_cells({**entry, "kind": "access", "role": entry["kind"]}))
    return out.getvalue()


def to_html(document: Mapping[str, Any]) -> str:
    """The graph as one page that needs no network."""
    from memory_core.figures.network import GraphEdge, GraphNode, standalone_html

    degree = dict.fromkeys(document["nodes"], 0)
    for edge in document["edges"].values():
        degree[edge["source"]] += 1
        degree[edge["target"]] += 1
    nodes = [
        GraphNode(id=node_id, label=node["label"], title=node["title"], content=node["content"], degree=degree[node_id])
        for node_id, node in document["nodes"].items()
    ]
    edges = [
        GraphEdge(edge_id, edge["source"], edge["target"], edge["relationship"])
        for edge_id, edge in document["edges"].items()
    ]
    return standalone_html(nodes, edges, "Memory")


def natural(item: str) -> tuple[str, int, str]:
    """Sort key that puts `n2` before `n10`.

    >>> sorted(["n10", "n2", "a"], key=natural)
    ['a', 'n2', 'n10']
    """
    match = _NUMBERED.fullmatch(item)
    return (match[1], int(match[2]), item) if match else (item, -1, item)


def _node(memory: Memory, row: int) -> tuple[Any, ...]:
    graph = memory.graph
    return (
        graph.ids[row], LABELS[graph.label.values[row]], graph.titles[row], graph.contents[row], graph.attributes[row],
        float(graph.created.values[row]), int(graph.turns_at_creation.values[row]), bool(graph.pinned.values[row]),
    )  # fmt: skip


def _node_entry(
    label: str, title: str, content: str, attributes: str, created: float, turns: int, pinned: bool
) -> dict[str, Any]:
    return {
        "label": label,
        "title": title,
        "content": content,
        "attributes": json.loads(attributes),
        "created_at": moment(created).isoformat(),
        "turns_at_creation": turns,
        "pinned": pinned,
    }


def _edge(memory: Memory, row: int) -> tuple[str, ...]:
    graph = memory.graph
    source, target = graph.ends.values[row].tolist()
    return (
        graph.edge_ids[row],
        graph.ids[source],
        graph.ids[target],
        graph.relationships[row],
        graph.edge_attributes[row],
    )


_TURN_KEYS = ("id", "source_id", "session", "role", "speaker", "text", "at", "position")
_TURNS = f"SELECT {', '.join(_TURN_KEYS)} FROM turn WHERE forgotten_by IS NULL ORDER BY position"
_PROVENANCE = (
    "SELECT item, turn, start, stop FROM provenance JOIN turn ON turn.id = provenance.turn "
    "WHERE forgotten_by IS NULL ORDER BY position, item"
)
_HISTORY = (
    "SELECT item, field, value, turn, value_history.at FROM value_history JOIN turn ON turn.id = value_history.turn "
    "WHERE forgotten_by IS NULL ORDER BY value_history.id"
)
_ACCESS = "SELECT node, at, turn, kind FROM access ORDER BY id"


def _named(keys: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    entry = dict(zip(keys, row, strict=True))
    if "at" in entry:
        entry["at"] = moment(entry["at"]).isoformat()
    return entry


def _said(row: tuple[Any, ...]) -> dict[str, Any]:
    entry = _named(("item", "field", "value", "turn", "at"), row)
    return entry | {"value": json.loads(entry["value"])}


def _scalars(values: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    plain = {
        key: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
        for key, value in values.items()
        if value is not None
    }
    return {key: _NOT_XML.sub("�", value) if isinstance(value, str) else value for key, value in plain.items()}


def _cells(row: Mapping[str, Any]) -> dict[str, str]:
    cells = {}
    for column in CSV_COLUMNS:
        value = row.get(column)
        structured = column in ("attributes", "value") and value is not None
        text = json.dumps(value, ensure_ascii=False) if structured else "" if value is None else str(value)
        cells[column] = f"'{text}" if FORMULA.match(text) else text
    return cells
