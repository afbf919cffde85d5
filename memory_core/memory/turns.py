"""The turns of a memory: by id, by words, by vector. Nothing here changes what is remembered."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TypeVar, cast

import numpy as np

from memory_core.errors import InputError
from memory_core.graph import Graph
from memory_core.graph.turn_columns import TurnColumns
from memory_core.memory.outside import Outside
from memory_core.protocols import Embedder, Floats, RankedTurn
from memory_core.schema import Role, Turn
from memory_core.settings import Settings
from memory_core.store.contract import Store
from memory_core.store.rows import insert
from memory_core.walk import Walks, nodes_of

Made = TypeVar("Made")
_CHUNK = 64  # turns embedded between two commits
_COLUMNS = (
    "SELECT position, id, session, role, speaker, text, at FROM turn "
    "WHERE position > ? AND position < ? AND forgotten_by IS NULL ORDER BY position"
)
_VECTORS = (
    "SELECT id, vector, CASE WHEN vector IS NULL THEN speaker || ': ' || text END FROM turn "
    "LEFT JOIN turn_vector ON turn = id "
    "WHERE position >= ? AND position < ? AND forgotten_by IS NULL ORDER BY position"
)
_MISSING = (
    "SELECT id, speaker || ': ' || text FROM turn LEFT JOIN turn_vector ON turn = id "
    "WHERE position >= ? AND position < ? AND vector IS NULL AND forgotten_by IS NULL ORDER BY position"
)
_TURN = "SELECT role, text, at, speaker, session, source_id, position, id FROM turn"


class Turns:
    """What a memory shares with its parts, and its turns."""

    store: Store
    graph: Graph
    embedder: Embedder
    settings: Settings
    lock: threading.RLock
    outside: Outside
    _made: dict[str, tuple[int, object]]

    @property
    def revision(self) -> int:
        """Number of commits seen."""
        raise NotImplementedError

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """All inside sees the memory as it is now, whatever another process commits meanwhile; none of it stores."""
        with self.lock, self.store.snapshot():
            _ = self.revision
            yield

    def retrying(self, make: Callable[[], Made]) -> Made:
        """Run a write, again when another process committed meanwhile."""
        raise NotImplementedError

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What `make` gives, kept until the memory changes."""
        return self.grown(name, lambda _: make())

    def grown(self, name: str, grow: Callable[[Made | None], Made]) -> Made:
        """What `grow` makes of what it gave before the memory changed, kept until it changes again. It is given None
        the first time, and after rows went."""
        with self.lock:
            revision = self.revision
            made, known = self._made.get(name, (-1, None))
            if made != revision:
                self._made[name] = (revision, grow(cast("Made | None", known)))
            return cast(Made, self._made[name][1])

    def turn(self, turn_id: str) -> Turn:
        """One stored turn. Raises InputError for an unknown id."""
        found = self.turns([turn_id])
        if not found:
            raise InputError(f"There is no turn {turn_id} in this memory.")
        return found[0]

    def turns(self, ids: Sequence[str]) -> list[Turn]:
        """Stored turns in the order asked; unknown ids are left out."""
        return read_turns(self.store, ids)

    def latest_turns(self, limit: int, before: int | None = None) -> list[Turn]:
        """The last `limit` turns in order, those ahead of position `before` when given."""
        where = "" if before is None else f"WHERE position < {int(before)} "
        return [
            _turn(row) for row in reversed(self.store.query(f"{_TURN} {where}ORDER BY position DESC LIMIT ?", limit))
        ]

    def stored_sources(self, turns: Sequence[Turn]) -> set[tuple[str, str]]:
        """(session, source id) of those turns that are stored, so that a transcript is never remembered twice."""
        names = list(dict.fromkeys(turn.source_id for turn in turns if turn.source_id))
        rows = self.store.query_in("SELECT session, source_id FROM turn WHERE source_id IN ({})", names)
        return {(str(session), str(source)) for session, source in rows}

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
        return [RankedTurn(turn, score, "bm25") for turn, score in self.store.search(words, limit)]

    def turn_columns(self) -> TurnColumns:
        """The live turns as columns, kept and extended as turns come."""
        with self.lock:
            _ = self.revision
            columns = self.graph.turn_columns
            if columns is None:
                columns = self.graph.turn_columns = TurnColumns(self.graph.dim)
            if columns.last_position + 1 < self.graph.turns:
                columns.extend(self.store.query(_COLUMNS, columns.last_position, self.graph.turns))
                columns.last_position = self.graph.turns - 1
            return columns

    def walks(self) -> Walks:
        """How a walk steps over the live graph and from its nodes to their turns; made once a revision."""
        return self.once("walks", self._walks)

    def _walks(self) -> Walks:
        columns, graph = self.turn_columns(), self.graph
        cited = [
            (columns.place[turn], node)
            for item, turn in self.store.query("SELECT item, turn FROM provenance ORDER BY item, turn")
            if turn in columns.place
            for node in nodes_of(graph, item)
        ]
        return Walks.over(graph, cited, len(columns))

    def turn_vectors(self, advance: Callable[[int, int], None] = lambda done, total: None) -> tuple[list[str], Floats]:
        """Ids and vectors of the live turns in position order; missing ones are made and kept (no new revision).

        They are made chunk by chunk while others go on reading and writing. `advance` is told how many of the missing
        ones are made, of how many; it may raise to stop, and what was made is kept. Raises what the embedder raises.
        """

        def look() -> tuple[list[str], Floats]:
            columns = self.turn_columns()
            if len(columns.vectors) < len(columns):
                made = self.outside.ask(("turn vectors", self.embedder.id), lambda: self._make_vectors(advance))
                self._fill_vectors(columns, made)
            return columns.ids, columns.vectors.values

        return self.outside.run(look)

    def _make_vectors(self, advance: Callable[[int, int], None]) -> dict[str, bytes]:
        """Turn id -> vector as stored, of those that were missing; kept in the file as they are made."""
        with self.lock:
            embedder, missing = self.embedder, self._without_vector(self.turn_columns())
        made: dict[str, bytes] = {}
        for start in range(0, len(missing), _CHUNK):
            vectors = _embedded(embedder, missing[start : start + _CHUNK])
            with self.lock:
                if self.embedder is not embedder:
                    return {}  # re-embedded meanwhile
                made |= vectors
                self._keep_vectors(vectors)
            advance(len(made), len(missing))
        return made

    def _without_vector(self, columns: TurnColumns) -> list[tuple[str, str]]:
        known = len(columns.vectors)
        if known == len(columns):
            return []
        rows = self.store.query(_MISSING, int(columns.position.values[known]), self.graph.turns)
        return [(str(turn), str(said)) for turn, said in rows]

    def _fill_vectors(self, columns: TurnColumns, made: dict[str, bytes]) -> None:
        known = len(columns.vectors)
        if known == len(columns):
            return
        stored = self.store.query(_VECTORS, int(columns.position.values[known]), columns.last_position + 1)
        late = [(turn, said) for turn, blob, said in stored if blob is None and turn not in made]
        if late:  # said while the others were made
            made |= self.outside.ask(("late vectors", *late), lambda: self._make_late(late))
        blobs = b"".join(blob or made[turn] for turn, blob, _ in stored)
        columns.vectors.extend(np.frombuffer(blobs, np.float16).reshape(-1, self.embedder.dim).astype(np.float32))

    def _make_late(self, late: Sequence[tuple[str, str]]) -> dict[str, bytes]:
        vectors = _embedded(self.embedder, late)
        with self.lock:
            self._keep_vectors(vectors)
        return vectors

    def _keep_vectors(self, made: Mapping[str, bytes]) -> None:
        if self.store.read_only:
            return
        known = {turn for (turn,) in self.store.query_in("SELECT id FROM turn WHERE id IN ({})", list(made))}
        rows = [insert("turn_vector", turn=turn, vector=blob) for turn, blob in made.items() if turn in known]
        self.retrying(lambda: self.store.commit(rows, self.revision, count=False))


def _embedded(embedder: Embedder, turns: Sequence[tuple[str, str]]) -> dict[str, bytes]:
    vectors = embedder.embed([said for _, said in turns]).astype(np.float16)
    return {turn: vector.tobytes() for (turn, _), vector in zip(turns, vectors, strict=True)}


def read_turns(store: Store, ids: Sequence[str]) -> list[Turn]:
    """Stored turns in the order asked; unknown ids are left out."""
    rows = store.query_in(f"{_TURN} WHERE id IN ({{}})", list(dict.fromkeys(ids)))
    by_id = {turn.id: turn for turn in map(_turn, rows)}
    return [by_id[turn_id] for turn_id in ids if turn_id in by_id]


def _turn(row: tuple[Role, str, float, str, str, str, int, str]) -> Turn:
    role, text, at, speaker, session, source_id, position, turn_id = row
    return Turn(role, text, moment(at), speaker, session, source_id, position, turn_id)


def moment(at: float) -> datetime:
    """Seconds since the epoch as an aware UTC time."""
    return datetime.fromtimestamp(at, UTC)
