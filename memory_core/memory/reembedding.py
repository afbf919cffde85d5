"""Another embedder for a memory: every vector made anew beside the old ones, then all changed in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from memory_core.memory.memory import Memory
from memory_core.protocols import Embedder
from memory_core.schema import descriptor
from memory_core.store.rows import RowChange, insert

_CHUNK = 64
_TEXTS = """
    SELECT kind, id, label, title, content FROM (
        SELECT 0 AS part, rowid AS place, 'node' AS kind, id, label, title, content FROM node
        UNION ALL SELECT 1, id, 'question', CAST(id AS TEXT), '', '', text FROM question) AS texts
    ORDER BY part, place"""


def reembed(memory: Memory, embedder: Embedder, advance: Callable[[int, int], None] = lambda done, total: None) -> int:
    """Give every node and stored question a vector of `embedder`; returns how many were made now.

    Vectors are kept as they are made, so a stopped run goes on where it was; the memory answers with its old ones until
    all are there and are swapped in at once. Turn vectors are made when next needed. `advance` gets (done, total) and
    may raise to stop. Raises ProviderError and MemoryFileError; the memory is then as it was.
    """
    made = 0
    while memory.embedder.id != embedder.id:
        missing = _missing(memory, embedder)
        total = len(memory.store.query(_TEXTS))
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            vectors = embedder.embed([text for _, _, text in chunk])
            kept = [
                insert(
                    "pending_vector", item=f"{kind} {item}", embedder=embedder.id, text=text, vector=_blob(vector, kind)
                )
                for (kind, item, text), vector in zip(chunk, vectors, strict=True)
            ]
            memory.retrying(partial(_keep, memory, kept))
            made += len(chunk)
            advance(total - len(missing) + start + len(chunk), total)
        memory.retrying(partial(_swap, memory, embedder))
    return made


def pending(memory: Memory, embedder: Embedder) -> int:
    """Vectors of `embedder` that a stopped run left to go on with."""
    return int(memory.store.query("SELECT count(*) FROM pending_vector WHERE embedder = ?", embedder.id)[0][0])


def _keep(memory: Memory, rows: list[RowChange]) -> None:
    memory.store.commit(rows, memory.revision, count=False)


def _missing(memory: Memory, embedder: Embedder) -> list[tuple[str, str, str]]:
    """(kind, id, text) of what has no vector of this embedder for the text it has now."""
    known = dict(memory.store.query("SELECT item, text FROM pending_vector WHERE embedder = ?", embedder.id))
    texts = (
        (kind, item, descriptor(label, title, content) if kind == "node" else content)
        for kind, item, label, title, content in memory.store.query(_TEXTS)
    )
    return [(kind, item, text) for kind, item, text in texts if known.get(f"{kind} {item}") != text]


def _swap(memory: Memory, embedder: Embedder) -> None:
    if _missing(memory, embedder):
        return  # a turn came in between: the caller looks again
    rows = memory.store.query("SELECT item, vector FROM pending_vector WHERE embedder = ?", embedder.id)
    stale = memory.store.query("SELECT turn FROM turn_vector")
    changes: list[RowChange] = [
        insert("meta", key="embedder", value=embedder.id),
        insert("meta", key="dim", value=str(embedder.dim)),
        *(RowChange("turn_vector", (turn,), {}, None) for (turn,) in stale),
        *(RowChange("pending_vector", (item,), {}, None) for item, _ in rows),
    ]
    for item, vector in rows:
        kind, _, name = str(item).partition(" ")
        if kind == "node":
            changes.append(insert("node_vector", node=name, vector=vector))
        else:
            changes.append(RowChange("question", (int(name),), {"vector": b""}, {"vector": vector}))
    memory.store.commit(changes, memory.revision, whole=True)
    memory.adopt(embedder)


def _blob(vector: np.ndarray[tuple[int], np.dtype[np.float32]], kind: str) -> bytes:
    return vector.astype(np.float32 if kind == "question" else np.float16).tobytes()
