"""Memories from files: our JSON and CSV, P1's graph JSON, GraphML. Nothing of a file is trusted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memory_core.errors import FormatError, InputError
from memory_core.importers.memories.formats import Imported, read_document
from memory_core.memory import Memory
from memory_core.memory.writing import dump
from memory_core.schema import LABELS, descriptor, utc
from memory_core.store.rows import RowChange, insert

_EMBED_CHUNK = 256


def import_memory(
    memory: Memory, path: Path, *, advance: Callable[[int, int], None] = lambda done, total: None
) -> Imported:
    """Fill an empty memory from a file, in one transaction; vectors are embedded anew unless the file brings this
    embedder's. `advance` gets (embedded, total) nodes and may raise to stop.

    Raises InputError when the memory is not empty, FormatError when the file is of no known format or damaged; the
    memory is then as it was.
    """
    if memory.graph.ids or memory.graph.turns:
        raise InputError(f"{memory.store.path} is not empty: import into a new memory.")
    result = Imported()
    document = read_document(path, result)
    changes = _Rows(memory, document, result).changes()
    changes += _vectors(memory, document, advance)
    memory.retrying(lambda: memory.commit(changes, reload=True))
    return result


@dataclass
class _Rows:
    """Row changes of a document in our form; whatever does not fit is a FormatError that names the item."""

    memory: Memory
    document: Mapping[str, Any]
    result: Imported

    def changes(self) -> list[RowChange]:
        parts = [("turns", self._turn), ("nodes", self._node), ("edges", self._edge), ("provenance", self._citation),
                 ("value_history", self._said), ("access", self._access)]  # fmt: skip
        changes: list[RowChange] = []
        for part, make in parts:
            entries = self.document.get(part) or []
            rows = entries.items() if isinstance(entries, dict) else enumerate(entries, 1)
            for key, entry in rows:
                try:
                    changes.append(make(str(key), entry))
                except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                    what = f"{part} {key} of the file cannot be read ({type(error).__name__}: {error})"
                    raise FormatError(f"{what}: mend or remove it.") from error
        self._count()
        return changes

    def _count(self) -> None:
        document, counters = self.document, self.memory.counters
        self.result.nodes, self.result.edges = len(document["nodes"]), len(document.get("edges") or ())
        self.result.turns = len(document.get("turns") or ())
        counters.node = max(counters.node, 1 + _greatest("n", document["nodes"]))
        counters.edge = max(counters.edge, 1 + _greatest("e", document.get("edges") or ()))

    def _turn(self, key: str, turn: Mapping[str, Any]) -> RowChange:
        if turn["role"] not in ("user", "assistant"):
            raise ValueError(f"role {turn['role']!r}")
        text = {name: _text(turn[name]) for name in ("id", "source_id", "session", "role", "speaker", "text")}
        return insert("turn", position=int(turn["position"]), **text, at=_seconds(turn["at"]), forgotten_by=None)

    def _node(self, node_id: str, node: Mapping[str, Any]) -> RowChange:
        if node["label"] not in LABELS or not _text(node["title"]).strip():
            raise ValueError(f"label {node['label']!r}, title {node['title']!r}")
        return insert(
            "node", id=node_id, label=node["label"], title=node["title"], content=_text(node["content"]),
            attributes=dump(_scalars(node["attributes"])), created=_seconds(node["created_at"]),
            turns_at_creation=int(node["turns_at_creation"]), pinned=int(bool(node["pinned"])), forgotten_by=None,
        )  # fmt: skip

    def _edge(self, edge_id: str, edge: Mapping[str, Any]) -> RowChange:
        for end in (edge["source"], edge["target"]):
            if end not in self.document["nodes"]:
                raise ValueError(f"no node {end}")
        return insert(
            "edge", id=edge_id, source=edge["source"], target=edge["target"], relationship=_text(edge["relationship"]),
            attributes=dump(_scalars(edge["attributes"])), forgotten_by=None,
        )  # fmt: skip

    def _citation(self, key: str, entry: Mapping[str, Any]) -> RowChange:
        row = {name: _text(entry[name]) for name in ("item", "turn")}
        return insert("provenance", **row, start=_whole(entry["start"]), stop=_whole(entry["stop"]))

    def _said(self, key: str, entry: Mapping[str, Any]) -> RowChange:
        number = self.memory.counters.take("value_history")
        row = {name: _text(entry[name]) for name in ("item", "field", "turn")}
        value = json.dumps(entry["value"], ensure_ascii=False)
        return insert("value_history", id=number, **row, value=value, at=_seconds(entry["at"]))

    def _access(self, key: str, entry: Mapping[str, Any]) -> RowChange:
        if entry["kind"] not in ("merge", "answer", "edit") or entry["node"] not in self.document["nodes"]:
            raise ValueError(f"kind {entry['kind']!r} of node {entry['node']!r}")
        number = self.memory.counters.take("access")
        at, turn = _seconds(entry["at"]), int(entry["turn"])
        return insert("access", id=number, node=_text(entry["node"]), at=at, turn=turn, kind=entry["kind"])


def _vectors(memory: Memory, document: Mapping[str, Any], advance: Callable[[int, int], None]) -> list[RowChange]:
    nodes = document["nodes"]
    given = document.get("vectors") or {}
    same = (document.get("embedder") or {}).get("id") == memory.embedder.id
    known = {node: np.asarray(vector, np.float32) for node, vector in given.items()} if same else {}
    known = {node: vector for node, vector in known.items() if vector.shape == (memory.embedder.dim,)}
    missing = [node for node in nodes if node not in known]
    for start in range(0, len(missing), _EMBED_CHUNK):
        chunk = missing[start : start + _EMBED_CHUNK]
        texts = [descriptor(*(nodes[node][part] for part in ("label", "title", "content"))) for node in chunk]
        known |= dict(zip(chunk, memory.embedder.embed(texts), strict=True))
        advance(start + len(chunk), len(missing))
    return [insert("node_vector", node=node, vector=known[node].astype(np.float16).tobytes()) for node in nodes]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _whole(value: object) -> int | None:
    return None if value is None else int(str(value))


def _seconds(value: object) -> float:
    return utc(_text(value)).timestamp()


def _greatest(prefix: str, ids: Iterable[str]) -> int:
    numbers = (item[1:] for item in ids if item[:1] == prefix and item[1:].isdecimal())
    return max((int(number) for number in numbers if len(number) < 16), default=0)


def _scalars(values: object) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise TypeError(f"{values!r} is no mapping")
    for key, value in values.items():
        if not isinstance(key, str) or not isinstance(value, str | int | float | bool):
            raise TypeError(f"{key}: {value!r} is no text, number or truth value")
    return values
