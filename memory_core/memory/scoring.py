"""What a retention policy sees of a memory, and what each row weighs in bytes; made once a revision."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from memory_core.memory.editing import Editing
from memory_core.memory.saying import said
from memory_core.protocols import Doubles, Said, ScoringView
from memory_core.schema import LABELS, normalise_title

QUESTIONS = 10  # P2: S looks at the last ten questions


@dataclass(frozen=True)
class Sizes:
    """Bytes of rows as `bytes_live` counts them: one entry a node row and an edge row of the graph."""

    nodes: NDArray[np.int64]
    edges: NDArray[np.int64]


@dataclass(frozen=True)
class Cited:
    """Who cites what, (p,) each, by position of the turn; live turns only, items live or not.

    `items` are node rows, or graph rows + edge row; `turns` are places in `turn_ids`.
    """

    items: NDArray[np.int64]
    turns: NDArray[np.int64]
    turn_ids: tuple[str, ...]


class Scoring(Editing):
    """The memory as columns."""

    def scoring_view(self) -> ScoringView:
        """The live nodes as columns; the same object until the memory changes."""
        return self.once("view", self._view)

    def _view(self) -> ScoringView:
        graph, rows = self.graph, self.graph.live_rows()
        created = graph.created.values[rows]
        accessed = graph.last_access.values[rows]
        access_rows, access_times = self._accesses(rows)
        revision = self.revision

        @cache
        def lazily() -> Said:
            with self.lock:
                if self.revision != revision:
                    raise RuntimeError("The memory changed since this view was made: make a new one.")
                return said(graph, self.store, self.cited(), rows)

        return ScoringView(
            ids=tuple(graph.ids[row] for row in rows.tolist()),
            labels=graph.label.values[rows],
            created=created,
            last_access=np.where(np.isnan(accessed), created, accessed),
            accesses=graph.accesses.values[rows],
            degree=graph.degree.values[rows],
            turns_at_creation=graph.turns_at_creation.values[rows],
            turns_at_access=graph.turns_at_access.values[rows],
            turn=graph.turns,
            similarity=self._similarity(rows),
            poignancy=self._poignancy(rows),
            access_rows=access_rows,
            access_times=access_times,
            said=lazily,
        )

    def _accesses(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], Doubles]:
        place = np.full(len(self.graph.ids), -1, np.int64)
        place[rows] = np.arange(len(rows))
        found = self.store.query("SELECT node, at FROM access ORDER BY id")
        row_of = self.graph.row_of
        places = place[[row_of[node] for node, _ in found]] if found else np.zeros(0, np.int64)
        times = np.array([at for _, at in found], np.float64)
        return places[places >= 0], times[places >= 0]

    def _similarity(self, rows: NDArray[np.int64]) -> Doubles:
        blobs = self.store.query("SELECT vector FROM question ORDER BY id DESC LIMIT ?", QUESTIONS)
        if not blobs or not len(rows):
            return np.zeros(len(rows))
        asked = np.stack([np.frombuffer(blob, np.float32) for (blob,) in blobs])
        return np.asarray(np.clip(self.graph.cosines(asked).max(axis=0)[rows], 0.0, 1.0), np.float64)

    def _poignancy(self, rows: NDArray[np.int64]) -> Doubles:
        values = np.full(len(rows), np.nan)
        for place, row in enumerate(rows.tolist()):
            if '"poignancy"' in self.graph.attributes[row]:
                value = json.loads(self.graph.attributes[row]).get("poignancy")
                values[place] = float(value) if isinstance(value, int | float) else np.nan
        return values

    def cited(self) -> Cited:
        """Every citation of a live turn; made once a revision."""
        return self.once("cited", self._cited)

    def _cited(self) -> Cited:
        graph, n = self.graph, len(self.graph.ids)
        row_of = {**graph.row_of, **{edge: n + row for edge, row in graph.edge_row.items()}}
        rows = self.store.query(
            "SELECT item, provenance.turn FROM provenance JOIN turn ON turn.id = provenance.turn "
            "WHERE forgotten_by IS NULL ORDER BY position, item"
        )
        turn_ids = dict.fromkeys(turn for _, turn in rows)
        place = {turn: number for number, turn in enumerate(turn_ids)}
        pairs = np.array([(row_of[item], place[turn]) for item, turn in rows if item in row_of], np.int64)
        items, turns = pairs.reshape(-1, 2).T
        return Cited(items, turns, tuple(turn_ids))

    def fingerprint(self) -> str:
        """A hash that tells this memory at this revision from any other: plans carry it."""
        return self.once("fingerprint", self._fingerprint)

    def _fingerprint(self) -> str:
        graph = self.graph
        parts = [self.embedder.id, str(self.revision), *graph.ids, *graph.titles, *graph.edge_ids]
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]

    def speaker_rows(self) -> NDArray[np.int64]:
        """Rows of the live nodes that stand for those who spoke; they never count as evidence."""
        return self.once("speakers", self._speaker_rows)

    def _speaker_rows(self) -> NDArray[np.int64]:
        names = {normalise_title(name) for name in self.speakers()}
        persons = np.flatnonzero(self.graph.live.values & (self.graph.label.values == LABELS.index("Person")))
        return np.array([row for row in persons.tolist() if normalise_title(self.graph.titles[row]) in names], np.int64)

    def speaker_nodes(self) -> frozenset[str]:
        """Ids of those nodes."""
        return self.once("speaker ids", lambda: frozenset(self.graph.ids[row] for row in self.speaker_rows().tolist()))

    def sizes(self) -> Sizes:
        """Bytes of every row of the graph, live or not."""
        return self.once("sizes", self._sizes)

    def _sizes(self) -> Sizes:
        graph = self.graph
        _count(graph.node_bytes.values, self._node_bytes)
        _count(graph.edge_bytes.values, self._edge_bytes)
        vectors = 2 * self.embedder.dim * graph.has_vector.values
        return Sizes(graph.node_bytes.values + vectors, graph.edge_bytes.values.copy())

    def _node_bytes(self, row: int) -> int:
        texts = self.graph.titles[row], self.graph.contents[row], self.graph.attributes[row]
        return 2 * _bytes(self.graph.ids[row]) + 32 + sum(map(_bytes, texts))

    def _edge_bytes(self, row: int) -> int:
        graph = self.graph
        ends = [graph.ids[end] for end in graph.ends.values[row].tolist()]
        texts = graph.edge_ids[row], *ends, graph.relationships[row], graph.edge_attributes[row]
        return 8 + sum(map(_bytes, texts))


def _count(counted: NDArray[np.int64], count: Callable[[int], int]) -> None:
    fresh = np.flatnonzero(counted == 0)
    counted[fresh] = [count(row) for row in fresh.tolist()]


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
