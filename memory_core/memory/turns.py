"""The turns of a memory: by id, by words, by vector. Nothing here changes what is remembered."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import numpy as np

from memory_core.errors import InputError
from memory_core.graph import Graph
from memory_core.graph.turn_columns import TurnColumns
from memory_core.protocols import Embedder, Floats, RankedTurn
from memory_core.schema import Role, Turn
from memory_core.settings import Settings
from memory_core.store.rows import insert
from memory_core.store.sqlite import SqliteStore
from memory_core.walk import Walks, nodes_of

Made = TypeVar("Made")
_CHUNK = 64  # turns embedded between two commits
_COLUMNS = (
    "SELECT position, id, session, role, speaker, text, at FROM turn "
    "WHERE position > ? AND forgotten_by IS NULL ORDER BY position"
)
_VECTORS = (
    "SELECT id, vector, CASE WHEN vector IS NULL THEN speaker || ': ' || text END FROM turn "
    "LEFT JOIN turn_vector ON turn = id WHERE position >= ? AND forgotten_by IS NULL ORDER BY position"
)
_TURN = "SELECT role, text, at, speaker, session, source_id, position, id FROM turn"


class Turns:
    """What a memory shares with its parts, and its turns."""

    store: SqliteStore
    graph: Graph
    embedder: Embedder
    settings: Settings
    lock: threading.RLock
    _made: dict[str, tuple[int, object]]

    @property
    def revision(self) -> int:
        """Number of commits seen."""
        raise NotImplementedError

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What `make` gives, kept until the memory changes."""
        with self.lock:
            revision = self.revision
            if name not in self._made or self._made[name][0] != revision:
                self._made[name] = (revision, make())
            made: Any = self._made[name][1]
            return cast(Made, made)

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

    def holds(self, turn: Turn) -> bool:
        """Whether a turn of that session and source id is stored."""
        sql = "SELECT 1 FROM turn WHERE source_id = ? AND session = ?"
        return bool(self.store.query(sql, turn.source_id, turn.session))

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

    def turn_columns(self) -> TurnColumns:
        """The live turns as columns, kept and extended as turns come."""
        with self.lock:
            _ = self.revision
            columns = self.graph.turn_columns
            if columns is None:
                columns = self.graph.turn_columns = TurnColumns(self.graph.dim)
            if columns.last_position + 1 < self.graph.turns:
                columns.extend(self.store.query(_COLUMNS, columns.last_position))
                columns.last_position = self.graph.turns - 1
            return columns

    def walks(self) -> Walks:
        """How a walk steps over the live graph and from its nodes to their turns; made once a revision."""
        return self.once("walks", self._walks)

    def _walks(self) -> Walks:
        columns, graph = self.turn_columns(), self.graph
        cited = [
            (columns.place[turn], node)
            for item, turn in self.store.query("SELECT item, turn FROM provenance")
            if turn in columns.place
            for node in nodes_of(graph, item)
        ]
        return Walks.over(graph, cited, len(columns))

    def turn_vectors(self, advance: Callable[[int, int], None] = lambda done, total: None) -> tuple[list[str], Floats]:
        """Ids and vectors of the live turns in position order; missing ones are made and kept (no new revision).

        `advance` is told how many of the missing ones are made, of how many; it may raise to stop, and what was made
        is kept. Raises what the embedder raises.
        """
        with self.lock:
            columns = self.turn_columns()
            self._fill_vectors(columns, advance)
            return columns.ids, columns.vectors.values

    def _fill_vectors(self, columns: TurnColumns, advance: Callable[[int, int], None]) -> None:
        known = len(columns.vectors)
        if known == len(columns):
            return
        stored = self.store.query(_VECTORS, int(columns.position.values[known]))
        missing = [(turn, said) for turn, blob, said in stored if blob is None]
        made: dict[str, bytes] = {}
        for start in range(0, len(missing), _CHUNK):
            made |= self._embed_turns(missing[start : start + _CHUNK])
            advance(len(made), len(missing))
        blobs = b"".join(blob or made[turn] for turn, blob, _ in stored)
        columns.vectors.extend(np.frombuffer(blobs, np.float16).reshape(-1, self.embedder.dim).astype(np.float32))

    def _embed_turns(self, turns: Sequence[tuple[str, str]]) -> dict[str, bytes]:
        """Turn id -> its vector as stored."""
        vectors = self.embedder.embed([said for _, said in turns]).astype(np.float16)
        made = {turn: vector.tobytes() for (turn, _), vector in zip(turns, vectors, strict=True)}
        if not self.store.read_only:
            rows = [insert("turn_vector", turn=turn, vector=blob) for turn, blob in made.items()]
            self.store.commit(rows, self.revision, count=False)
        return made


def _turn(row: tuple[Role, str, float, str, str, str, int, str]) -> Turn:
    role, text, at, speaker, session, source_id, position, turn_id = row
    return Turn(role, text, moment(at), speaker, session, source_id, position, turn_id)


def moment(at: float) -> datetime:
    """Seconds since the epoch as an aware UTC time."""
    return datetime.fromtimestamp(at, UTC)
