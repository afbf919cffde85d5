"""Everything a memory can be asked without changing it."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from memory_core.memory.reports import unpack_report
from memory_core.memory.turns import Turns, moment
from memory_core.schema import FAILED_STATUSES, LABELS, Citation

_PATIENCE = 0.4  # seconds a write may wait before that is said


@dataclass(frozen=True)
class Said:
    """One value a field of a node or edge was given: by which turn and when; `current` marks the one that holds."""

    field: str
    value: object
    turn: str
    at: datetime
    current: bool = False


@dataclass(frozen=True)
class ChangeRow:
    """One entry of the history: a merge, split, pin, edit, delete or forgetting pass; `state` is applied or undone."""

    id: str
    at: datetime
    kind: str
    by: str
    state: str
    summary: dict[str, object]


@dataclass(frozen=True)
class Attempt:
    """One extraction of a turn as stored: status, what became of each item, and the raw reply."""

    id: int
    turn: str
    status: str
    reason: str
    report: dict[str, list[dict[str, object]]]
    raw: str
    extractor: str
    model: str
    prompt_version: str
    seconds: float
    tokens_in: int
    tokens_out: int


class Looking(Turns):
    """Provenance, history, extractions and numbers of a memory; every method leaves it as it was."""

    def citations(self, item: str) -> list[Citation]:
        """The turns a node or edge was read from, in order."""
        sql = (
            "SELECT item, provenance.turn, start, stop FROM provenance JOIN turn ON turn.id = provenance.turn "
            "WHERE item = ? ORDER BY position"
        )
        rows = self.store.query(sql, item)
        return [Citation(of, turn, None if start is None else (start, stop)) for of, turn, start, stop in rows]

    def cited_turns(self, items: Sequence[str]) -> dict[str, list[str]]:
        """Item id -> ids of the live turns it was read from, by position."""
        sql = (
            "SELECT item, provenance.turn FROM provenance JOIN turn ON turn.id = provenance.turn "
            "WHERE forgotten_by IS NULL AND item IN ({}) ORDER BY position"
        )
        cited: dict[str, list[str]] = {item: [] for item in items}
        for item, turn in self.store.query_in(sql, list(cited)):
            cited[item].append(turn)
        return cited

    def citing_items(self, turns: Sequence[str]) -> dict[str, list[str]]:
        """Turn id -> ids of the live nodes and edges read from it."""
        citing: dict[str, list[str]] = {turn: [] for turn in turns}
        rows = self.store.query_in(
            "SELECT turn, item FROM provenance WHERE turn IN ({}) ORDER BY turn, item", list(citing)
        )
        for turn, item in rows:
            if self.graph.is_live(item):
                citing[turn].append(item)
        return citing

    def history_of(self, item: str) -> list[Said]:
        """Every value each field of a node or edge was given, oldest first."""
        sql = (
            "SELECT field, value, turn, value_history.at FROM value_history JOIN turn ON turn.id = turn "
            "WHERE item = ? ORDER BY value_history.at, position, value_history.id"
        )
        rows = self.store.query(sql, item)
        said = [(field, json.loads(value), turn, moment(at)) for field, value, turn, at in rows]
        current = self._current(item)
        holding = {of: place for place, (of, value, *_) in enumerate(said) if current.get(of) == value}
        return [Said(*entry, holding.get(entry[0]) == place) for place, entry in enumerate(said)]

    def _current(self, item: str) -> dict[str, object]:
        if item in self.graph.row_of:
            node = self.graph.node(item)
            values: dict[str, object] = {"content": node.content, "title": node.title}
            attributes = node.attributes
        else:
            values, attributes = {}, self.graph.edge(item).attributes
        return values | {f"attributes.{key}": value for key, value in attributes.items()}

    def attempts(self, turn_id: str) -> list[Attempt]:
        """Every extraction of a turn, oldest first."""
        sql = (
            "SELECT id, turn, status, reason, report, raw, extractor, model, prompt_version, seconds, tokens_in, "
            "tokens_out FROM extraction WHERE turn = ? ORDER BY id"
        )
        return [_attempt(*row) for row in self.store.query(sql, turn_id)]

    def failed(self, turn_id: str) -> bool:
        """Whether the last extraction of the turn failed, so that it can be retried."""
        rows = self.store.query("SELECT status FROM extraction WHERE turn = ? ORDER BY id DESC LIMIT 1", turn_id)
        return bool(rows) and rows[0][0] in FAILED_STATUSES

    def failed_turns(self) -> list[str]:
        """Ids of the live turns whose last extraction failed, by position."""
        sql = (
            "SELECT turn.id FROM extraction AS made JOIN turn ON turn.id = made.turn "
            "WHERE made.id IN (SELECT max(id) FROM extraction GROUP BY turn) AND forgotten_by IS NULL "
            f"AND status IN ({', '.join('?' * len(FAILED_STATUSES))}) ORDER BY position"
        )
        return [str(turn) for (turn,) in self.store.query(sql, *sorted(FAILED_STATUSES))]

    def statuses(self) -> dict[str, int]:
        """Status of the last extraction of each turn -> how many turns."""
        sql = (
            "SELECT status, count(*) FROM extraction WHERE id IN (SELECT max(id) FROM extraction GROUP BY turn) "
            "GROUP BY status ORDER BY status"
        )
        return {str(status): int(count) for status, count in self.store.query(sql)}

    def changes(self) -> list[ChangeRow]:
        """The history, oldest first."""
        rows = self.store.query("SELECT id, at, kind, made_by, state, summary FROM change ORDER BY number")
        return [
            ChangeRow(of, moment(at), kind, by, state, json.loads(summary)) for of, at, kind, by, state, summary in rows
        ]

    @property
    def waits(self) -> bool:
        """Whether a write has been waiting, for some time now, for another program that holds the file."""
        since = getattr(self.store, "waiting_since", None)
        return since is not None and time.monotonic() - since > _PATIENCE

    # -- numbers ---------------------------------------------------------------------------------------------------

    def stats(self) -> dict[str, object]:
        """Counts, bytes and identity of the memory, as `python -m memory_core stats --json` prints them."""
        with self.lock, self.store.snapshot():
            _ = self.revision
            return self._stats()

    def _stats(self) -> dict[str, object]:
        graph = self.graph
        live = graph.live_rows()
        counts = np.bincount(graph.label.values[live], minlength=len(LABELS))
        turns = self.store.query("SELECT count(*) FROM turn WHERE forgotten_by IS NULL")
        return {
            "nodes": len(live),
            "edges": graph.edge_count,
            "turns": int(turns[0][0]),
            "labels": {label: int(count) for label, count in zip(LABELS, counts, strict=True)},
            "forgotten": len(graph.ids) - len(live),
            "statuses": self.statuses(),
            "bytes_live": self.bytes_live(),
            "bytes_on_disk": self.store.bytes_on_disk(),
            "embedder": self.embedder.id,
            "clock": moment(graph.clock).isoformat() if graph.clock is not None else None,
            "revision": self.revision,
        }

    def bytes_live(self) -> dict[str, int]:
        """Bytes that live rows take: node and turn vectors, text, graph, index entries, total; forgetting frees."""
        live = " WHERE forgotten_by IS NULL"
        words = " + ".join(f"length(CAST({column} AS BLOB))" for column in ("title", "content", "attributes"))
        node_bytes = self._sum(f"SELECT sum({words}), count(*), sum(length(id)) FROM node{live}")
        edge_bytes = self._sum(
            "SELECT sum(length(id) + length(source) + length(target) + length(CAST(relationship AS BLOB)) + "
            f"length(CAST(attributes AS BLOB))), count(*), 0 FROM edge{live}"
        )
        turn_bytes = self._sum(f"SELECT sum(length(CAST(text AS BLOB))), count(*), 0 FROM turn{live}")
        have = self.graph.has_vector.values & self.graph.live.values
        turn_vectors = self._sum(f"SELECT sum(length(vector)), 0, 0 FROM turn_vector JOIN turn ON turn = id{live}")
        parts = {
            "vectors": int(have.sum()) * 2 * self.embedder.dim + turn_vectors[0],
            "text": node_bytes[0] + turn_bytes[0],
            "graph": edge_bytes[0] + node_bytes[2] + 24 * node_bytes[1],
            "index": node_bytes[2] + 8 * (node_bytes[1] + edge_bytes[1]) + turn_bytes[0] // 2,
        }
        return parts | {"total": sum(parts.values())}

    def _sum(self, sql: str) -> tuple[int, int, int]:
        row = self.store.query(sql)[0]
        return int(row[0] or 0), int(row[1] or 0), int(row[2] or 0)


def _attempt(number: int, turn: str, status: str, reason: str, report: bytes, raw: bytes, *made: Any) -> Attempt:
    return Attempt(number, turn, status, reason, unpack_report(report), zlib.decompress(raw).decode(), *made)
