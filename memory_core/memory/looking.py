"""Everything a memory can be asked without changing it."""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from memory_core.errors import InputError
from memory_core.graph import Graph
from memory_core.memory.reports import unpack_report
from memory_core.protocols import Embedder, Floats, RankedTurn
from memory_core.schema import FAILED_STATUSES, LABELS, Citation, Role, Turn
from memory_core.settings import Settings
from memory_core.store.rows import insert
from memory_core.store.sqlite import SqliteStore

_TURN = "SELECT role, text, at, speaker, session, source_id, position, id FROM turn"


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


class Looking:
    """Reading side of a memory; every method leaves it as it was."""

    store: SqliteStore
    graph: Graph
    embedder: Embedder
    settings: Settings
    lock: threading.RLock
    _turn_vectors: tuple[int, list[str], Floats] | None

    @property
    def revision(self) -> int:
        """Number of commits seen."""
        raise NotImplementedError

    # -- turns -----------------------------------------------------------------------------------------------------

    def turn(self, turn_id: str) -> Turn:
        """One stored turn. Raises InputError for an unknown id."""
        found = self.turns([turn_id])
        if not found:
            raise InputError(f"There is no turn {turn_id} in this memory.")
        return found[0]

    def turns(self, ids: Sequence[str]) -> list[Turn]:
        """Stored turns in the order asked; unknown ids are left out."""
        rows = self.store.query_in(f"{_TURN} WHERE id IN ({{}})", list(dict.fromkeys(ids)))
        by_id = {turn.id: turn for turn in map(_turn, rows)}
        return [by_id[turn_id] for turn_id in ids if turn_id in by_id]

    def latest_turns(self, limit: int, before: int | None = None) -> list[Turn]:
        """The last `limit` turns in order, those ahead of position `before` when given."""
        where = "" if before is None else f"WHERE position < {int(before)} "
        return [
            _turn(row) for row in reversed(self.store.query(f"{_TURN} {where}ORDER BY position DESC LIMIT ?", limit))
        ]

    def stored_sources(self) -> set[tuple[str, str]]:
        """(session, source id) of every turn, so that a transcript is never remembered twice."""
        return {
            (str(session), str(source)) for session, source in self.store.query("SELECT session, source_id FROM turn")
        }

    def source_turns(self) -> dict[str, str]:
        """Source id -> turn id of the live turns."""
        rows = self.store.query("SELECT source_id, id FROM turn WHERE forgotten_by IS NULL ORDER BY position")
        return {str(source): str(turn) for source, turn in rows}

    def speakers(self) -> set[str]:
        """Names of those who spoke; their nodes never count as evidence."""
        return {str(row[0]) for row in self.store.query("SELECT DISTINCT speaker FROM turn")} | {"User"}

    def search_turns(self, question: str, limit: int) -> list[RankedTurn]:
        """Live turns by BM25 over stemmed words, best first, ties by age; scores are positive, higher is better.

        Operators and quotes typed by the user are plain words.
        """
        words = list(dict.fromkeys(re.findall(r"[^\W_]+", question)))[:200]
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        rows = self.store.query(
            "SELECT turn.id, -bm25(turn_text) AS score FROM turn_text JOIN turn ON turn.position = turn_text.rowid "
            "WHERE turn_text MATCH ? ORDER BY score DESC, turn.position LIMIT ?",
            match,
            limit,
        )
        return [RankedTurn(str(turn), float(score), "bm25") for turn, score in rows]

    def turn_vectors(self) -> tuple[list[str], Floats]:
        """Ids and vectors of the live turns in position order; missing ones are made and kept (no new revision)."""
        with self.lock:
            revision = self.revision
            if self._turn_vectors is None or self._turn_vectors[0] != revision:
                self._turn_vectors = (revision, *self._read_turn_vectors(revision))
            return self._turn_vectors[1], self._turn_vectors[2]

    def _read_turn_vectors(self, revision: int) -> tuple[list[str], Floats]:
        sql = (
            "SELECT id, vector, CASE WHEN vector IS NULL THEN speaker || ': ' || text END FROM turn "
            "LEFT JOIN turn_vector ON turn = id WHERE forgotten_by IS NULL ORDER BY position"
        )
        rows = self.store.query(sql)
        vectors = np.zeros((len(rows), self.embedder.dim), np.float32)
        for place, (_, blob, _) in enumerate(rows):
            if blob is not None:
                vectors[place] = np.frombuffer(blob, np.float16)
        missing = [place for place, row in enumerate(rows) if row[1] is None]
        for start in range(0, len(missing), 64):
            chunk = missing[start : start + 64]
            made = self.embedder.embed([str(rows[place][2]) for place in chunk]).astype(np.float16)
            vectors[chunk] = made
            if not self.store.read_only:
                kept = [
                    insert("turn_vector", turn=rows[place][0], vector=vector.tobytes())
                    for place, vector in zip(chunk, made, strict=True)
                ]
                self.store.commit(kept, revision, count=False)
        return [str(row[0]) for row in rows], vectors

    # -- provenance, history, extractions --------------------------------------------------------------------------

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
        said = [
            Said(field, json.loads(value), turn, _moment(at)) for field, value, turn, at in self.store.query(sql, item)
        ]
        current = self._current(item)
        return [Said(*_fields(entry), current.get(entry.field) == entry.value) for entry in said]

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
        rows = self.store.query(sql, turn_id)
        return [Attempt(*row[:4], unpack_report(row[4]), _text(row[5]), *row[6:12]) for row in rows]

    def failed(self, turn_id: str) -> bool:
        """Whether the last extraction of the turn failed, so that it can be retried."""
        rows = self.store.query("SELECT status FROM extraction WHERE turn = ? ORDER BY id DESC LIMIT 1", turn_id)
        return bool(rows) and rows[0][0] in FAILED_STATUSES

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
        return [ChangeRow(of, _moment(at), *words, json.loads(summary)) for of, at, *words, summary in rows]

    # -- numbers ---------------------------------------------------------------------------------------------------

    def stats(self) -> dict[str, object]:
        """Counts, bytes and identity of the memory, as `python -m memory_core stats --json` prints them."""
        _ = self.revision
        graph = self.graph
        live = graph.live_rows()
        counts = np.bincount(graph.label.values[live], minlength=len(LABELS))
        speakers = self.store.query("SELECT count(*) FROM turn WHERE forgotten_by IS NULL")
        return {
            "nodes": len(live),
            "edges": graph.edge_count,
            "turns": int(speakers[0][0]),
            "labels": {label: int(count) for label, count in zip(LABELS, counts, strict=True)},
            "forgotten": len(graph.ids) - len(live),
            "statuses": self.statuses(),
            "bytes_live": self.bytes_live(),
            "bytes_on_disk": self.store.bytes_on_disk(),
            "embedder": self.embedder.id,
            "clock": _moment(graph.clock).isoformat() if graph.turns else None,
            "revision": self.revision,
        }

    def bytes_live(self) -> dict[str, int]:
        """Bytes that live rows take: node and turn vectors, text, graph, index entries, total. Forgetting lowers them."""
        live = " WHERE forgotten_by IS NULL"
        node_text = "length(CAST(title AS BLOB)) + length(CAST(content AS BLOB)) + length(CAST(attributes AS BLOB))"
        node_bytes = self._sum(f"SELECT sum({node_text}), count(*), sum(length(id)) FROM node{live}")
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


def _turn(row: tuple[Role, str, float, str, str, str, int, str]) -> Turn:
    role, text, at, speaker, session, source_id, position, turn_id = row
    return Turn(role, text, _moment(at), speaker, session, source_id, position, turn_id)


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def _text(blob: bytes) -> str:
    return zlib.decompress(blob).decode()
