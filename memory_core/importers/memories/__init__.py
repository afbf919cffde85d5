"""Memories from files: ours, P1's graph JSON, GraphML, Mem0, Graphiti, Letta. Nothing of a file is trusted."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from memory_core.errors import FormatError, InputError
from memory_core.importers.memories.foreign import Imported
from memory_core.importers.memories.formats import read_document
from memory_core.memory import Memory
from memory_core.memory.checks import has_broken_letters, moment_given
from memory_core.memory.turn_rows import Counters, as_json, dump
from memory_core.protocols import Floats
from memory_core.schema import LABELS, descriptor
from memory_core.store.rows import RowChange, insert

__all__ = ["Imported", "fill", "import_memory", "read_document"]

_EMBED_CHUNK = 256


def import_memory(
    memory: Memory, path: Path, *, advance: Callable[[int, int], None] = lambda done, total: None
) -> Imported:
    """Fill an empty memory from a file, in one transaction; vectors are embedded anew unless the file brings this
    embedder's. `advance` gets (embedded, total) nodes and may raise to stop.

    Raises InputError when the memory is not empty, FormatError when the file is of no known format or damaged; the
    memory is then as it was.
    """
    _check_empty(memory)
    result = Imported()
    return fill(memory, read_document(path, result), result, advance)


def fill(
    memory: Memory,
    document: Mapping[str, Any],
    result: Imported,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> Imported:
    """Fill an empty memory from a document that `read_document` made. Raises like `import_memory`."""
    _check_parts(document)
    rows = _Rows(replace(memory.counters), document)
    changes = rows.changes()
    changes += _vectors(memory, document, advance)

    origin = {"system": result.system, "missing": result.missing, "labels": dict(result.labels),
              "left_out": result.problems[:200]}  # fmt: skip
    changes.append(insert("meta", key="origin", value=json.dumps(origin, ensure_ascii=False)))

    def write() -> None:
        _check_empty(memory)  # another process may have been faster
        memory.counters = rows.counters
        memory.commit(changes, reload=True)

    memory.retrying(write)
    result.nodes, result.edges = len(document["nodes"]), len(document.get("edges") or ())
    result.turns = len(document.get("turns") or ())
    return result


def _check_empty(memory: Memory) -> None:
    if memory.graph.ids or memory.graph.turns:
        raise InputError(f"{memory.store.place} is not empty: import into a new memory.")


_PARTS: Mapping[type, Sequence[str]] = {
    dict: ("nodes", "edges", "embedder", "vectors"), list: ("turns", "provenance", "value_history", "access")
}  # fmt: skip


def _check_parts(document: Mapping[str, Any]) -> None:
    for kind, parts in _PARTS.items():
        for part in parts:
            if not isinstance(document.get(part) or kind(), kind):
                raise FormatError(
                    f"{part} of the file is no {'object' if kind is dict else 'list'}: mend or remove it."
                )


@dataclass
class _Rows:
    """Row changes of a document in our form; whatever does not fit is a FormatError that names the item."""

    counters: Counters
    document: Mapping[str, Any]
    _made: set[tuple[object, ...]] = field(default_factory=set)

    def changes(self) -> list[RowChange]:
        parts = [("turns", self._turn), ("nodes", self._node), ("edges", self._edge), ("provenance", self._citation),
                 ("value_history", self._said), ("access", self._access)]  # fmt: skip
        changes: list[RowChange] = []
        for part, make in parts:
            entries = self.document.get(part) or []
            rows = entries.items() if isinstance(entries, dict) else enumerate(entries, 1)
            for key, entry in rows:
                try:
                    changes.append(self._new(make(_text(str(key)), entry)))
                except (KeyError, TypeError, ValueError, AttributeError, OverflowError, InputError) as error:
                    what = f"{part} {key} of the file cannot be read ({type(error).__name__}: {error})"
                    raise FormatError(f"{what}: mend or remove it.") from error
        self._count()
        return changes

    def _count(self) -> None:
        counters, ids = self.counters, [*self.document["nodes"], *(self.document.get("edges") or ())]
        counters.node = max(counters.node, 1 + _greatest("n", ids))
        counters.edge = max(counters.edge, 1 + _greatest("e", ids))

    def _new(self, change: RowChange) -> RowChange:
        if (change.table, change.key) in self._made:
            raise ValueError(f"{' of '.join(map(str, change.key))} is given twice")
        self._made.add((change.table, change.key))
        return change

    def _known(self, part: str, item: str) -> str:
        if (part, (item,)) not in self._made:
            raise ValueError(f"there is no {part} {item}")
        return item

    def _item(self, item: str) -> str:
        return item if ("node", (item,)) in self._made else self._known("edge", item)

    def _turn(self, key: str, turn: Mapping[str, Any]) -> RowChange:
        if turn["role"] not in ("user", "assistant"):
            raise ValueError(f"role {turn['role']!r}")
        text = {name: _text(turn[name]) for name in ("id", "source_id", "session", "role", "speaker", "text")}
        position = _whole(turn["position"])
        if text["id"] != f"t{position + 1}":  # later turns are numbered on from here
            raise ValueError(f"the turn at position {position} must have the id t{position + 1}, not {text['id']}")
        return insert("turn", position=position, **text, at=_seconds(turn["at"]), forgotten_by=None)

    def _node(self, node_id: str, node: Mapping[str, Any]) -> RowChange:
        if node["label"] not in LABELS or not _text(node["title"]).strip():
            raise ValueError(f"label {node['label']!r}, title {node['title']!r}")
        return insert(
            "node", id=node_id, label=node["label"], title=node["title"], content=_text(node["content"]),
            attributes=dump(_scalars(node["attributes"])), created=_seconds(node["created_at"]),
            turns_at_creation=_whole(node["turns_at_creation"]), pinned=_truth(node["pinned"]), forgotten_by=None,
        )  # fmt: skip

    def _edge(self, edge_id: str, edge: Mapping[str, Any]) -> RowChange:
        source, target = (self._known("node", _text(edge[end])) for end in ("source", "target"))
        if ("node", (edge_id,)) in self._made:
            raise ValueError("a node has the same id")
        return insert(
            "edge", id=edge_id, source=source, target=target, relationship=_text(edge["relationship"]),
            attributes=dump(_scalars(edge["attributes"])), forgotten_by=None,
        )  # fmt: skip

    def _citation(self, key: str, entry: Mapping[str, Any]) -> RowChange:
        item, turn = self._item(_text(entry["item"])), self._known("turn", _text(entry["turn"]))
        start, stop = (None if entry[end] is None else _whole(entry[end]) for end in ("start", "stop"))
        return insert("provenance", item=item, turn=turn, start=start, stop=stop)

    def _said(self, key: str, entry: Mapping[str, Any]) -> RowChange:
        item, turn = self._item(_text(entry["item"])), self._known("turn", _text(entry["turn"]))
        value = as_json(_scalars({"value": entry["value"]})["value"])
        number = self.counters.take("value_history")
        at = _seconds(entry["at"])
        return insert("value_history", id=number, item=item, field=_text(entry["field"]), value=value, turn=turn, at=at)

    def _access(self, key: str, entry: Mapping[str, Any]) -> RowChange:
        if entry["kind"] not in ("merge", "answer", "edit"):
            raise ValueError(f"kind {entry['kind']!r}")
        node, number = self._known("node", _text(entry["node"])), self.counters.take("access")
        at, turn = _seconds(entry["at"]), _whole(entry["turn"])
        return insert("access", id=number, node=node, at=at, turn=turn, kind=entry["kind"])


def _vectors(memory: Memory, document: Mapping[str, Any], advance: Callable[[int, int], None]) -> list[RowChange]:
    nodes = document["nodes"]
    same = (document.get("embedder") or {}).get("id") == memory.embedder.id
    given = (document.get("vectors") or {}) if same else {}
    known = {node: row for node in given if (row := _vector(given[node], memory.embedder.dim)) is not None}
    missing = [node for node in nodes if node not in known]
    for start in range(0, len(missing), _EMBED_CHUNK):
        chunk = missing[start : start + _EMBED_CHUNK]
        texts = [descriptor(*(nodes[node][part] for part in ("label", "title", "content"))) for node in chunk]
        known |= dict(zip(chunk, memory.embedder.embed(texts), strict=True))
        advance(start + len(chunk), len(missing))
    return [insert("node_vector", node=node, vector=known[node].astype(np.float16).tobytes()) for node in nodes]


def _vector(given: object, dim: int) -> Floats | None:
    """A vector of the file; None, to be embedded anew, for one that is no unit vector of `dim` numbers."""
    try:
        row = np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    usable = row.shape == (dim,) and np.isfinite(row).all() and float(np.abs(row).max()) <= 1 + 1e-3
    return row.astype(np.float32) if usable and np.linalg.norm(row) < 1.01 else None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    if has_broken_letters(value):
        raise ValueError("half of a surrogate pair, which no file can hold")
    if "\x00" in value:
        raise ValueError("a NUL character, which no table can hold")
    return value


def _whole(value: object) -> int:
    number = int(str(value))
    if not 0 <= number < 2**53:
        raise ValueError(f"{number} is no place or count")
    return number


def _truth(value: object) -> int:
    if not isinstance(value, bool):
        raise TypeError(f"pinned {value!r} is neither true nor false")
    return int(value)


def _seconds(value: object) -> float:
    return moment_given(_text(value)).timestamp()


def _greatest(prefix: str, ids: Iterable[str]) -> int:
    numbers = (item[1:] for item in ids if item[:1] == prefix and item[1:].isdecimal())
    return max((int(number) for number in numbers if len(number) < 16), default=0)


def _scalars(values: object) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise TypeError(f"{values!r} is no mapping")
    for key, value in values.items():
        _text(key)
        if isinstance(value, str):
            _text(value)
        elif isinstance(value, int) and abs(value) >= 2**63:
            raise ValueError(f"{key}: a whole number beyond 64 bits")
        elif not isinstance(value, int | float | bool) or (isinstance(value, float) and not math.isfinite(value)):
            raise TypeError(f"{key}: {value!r} is no text, number or truth value")
    return values
