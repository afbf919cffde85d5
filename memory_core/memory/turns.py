"""The turns of a memory: by id, by words, by vector. Nothing here changes what is remembered."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from memory_core.errors import InputError
from memory_core.graph import Graph
from memory_core.protocols import Embedder, Floats, RankedTurn
from memory_core.schema import Role, Turn
from memory_core.settings import Settings
from memory_core.store.rows import insert
from memory_core.store.sqlite import SqliteStore

_TURN = "SELECT role, text, at, speaker, session, source_id, position, id FROM turn"


class Turns:
    """What a memory shares with its parts, and its turns."""

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


def _turn(row: tuple[Role, str, float, str, str, str, int, str]) -> Turn:
    role, text, at, speaker, session, source_id, position, turn_id = row
    return Turn(role, text, moment(at), speaker, session, source_id, position, turn_id)


def moment(at: float) -> datetime:
    """Seconds since the epoch as an aware UTC time."""
    return datetime.fromtimestamp(at, UTC)
