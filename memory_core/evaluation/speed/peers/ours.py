"""Forgetting Lab itself: `Memory` with a stubbed embedder and extractor, all else as the app runs it."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memory_core.evaluation.speed.limit import limit, parts_on_disk
from memory_core.memory import Memory
from memory_core.memory.reports import Placed, PlacedEdge, TurnReport
from memory_core.memory.turn_rows import TurnRows
from memory_core.policies.importance import Importance
from memory_core.protocols import Extractor, Floats, Kind
from memory_core.readers.embedded import EmbeddedReader
from memory_core.retrievers.graph import GraphRetriever
from memory_core.schema import Extraction, FoundEdge, FoundNode, Turn
from memory_core.store.rows import RowChange, insert

if TYPE_CHECKING:
    from memory_core.evaluation.speed.given import Given

_TURNS_A_COMMIT = 2000
#: Rows of one table follow each other, so that they are written as one.
_ORDER = ("turn", "turn_vector", "node", "node_vector", "edge", "value_history", "provenance", "extraction")


@dataclass(frozen=True)
class GivenEmbedder:
    """The vectors that go with the texts; thresholds of nomic-embed-text, the paper's embedder."""

    dim: int
    known: dict[str, Floats] = field(default_factory=dict, hash=False)
    id: str = "given"
    match_threshold: float = 0.92
    floor: float = 0.75
    languages: tuple[str, ...] = ("*",)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Shape (n, dim), by the content of a descriptor or by the question. Raises KeyError for an unknown one."""
        return np.stack([self.known[text.rpartition(" | ")[2]] for text in texts])


@dataclass(frozen=True)
class GivenExtractor:
    """What a turn is said to hold; a question is its own entity."""

    known: dict[str, Extraction] = field(default_factory=dict, hash=False)
    id: str = "given"

    def extract(self, turn: Turn) -> Extraction:
        """The nodes and edges that go with the turn."""
        return self.known[turn.text]

    def entities(self, question: str) -> list[str]:
        """One: the question."""
        return [question]


class Session:
    """A memory file in `work`, filled, opened, timed."""

    def __init__(self, given: Given, work: Path) -> None:
        self.given, self.path = given, work / "memory.sqlite3"
        self.embedder, self.extractor = GivenEmbedder(given.dim), GivenExtractor()
        self.memory: Memory
        self.commits: list[float] = []
        self.logged: list[int] = []
        for number in range(given.turns):
            self._expect(number)
        self.embedder.known.update((given.question(row), given.queries[row]) for row in range(given.searches))

    def _expect(self, number: int) -> None:
        told = self.given.turn(number)
        for node in told["nodes"]:
            self.embedder.known[node["content"]] = node["vector"]
        self.extractor.known[told["text"]] = _extraction(told["nodes"], told["edges"])

    def fill(self) -> None:
        """Rows as the memory writes them, thousands of turns a commit, without de-duplication."""
        with self._opened() as memory:
            ends = self.given.ends
            order = np.argsort(ends.max(axis=1), kind="stable")  # an edge is said when its later end is
            known = np.searchsorted(ends.max(axis=1)[order], np.arange(self.given.nodes + 1))
            turns = range(0, self.given.stored_turns, _TURNS_A_COMMIT)
            for start in turns:
                rows: list[RowChange] = []
                for turn in range(start, min(start + _TURNS_A_COMMIT, self.given.stored_turns)):
                    rows += _stored(memory, self.given, turn, order, known)
                memory.commit(sorted(rows, key=lambda change: _ORDER.index(change.table)))
            memory.store.query("PRAGMA wal_checkpoint(TRUNCATE)")

    def open(self) -> None:
        """From the file to a memory that can be asked."""
        self.memory = self._opened()

    def close(self) -> None:
        """Let go of the file."""
        self.memory.close()
        del self.memory
        gc.collect()

    def turn(self, number: int) -> dict[str, float]:
        """Validate, de-duplicate, merge, commit with fsync, follow in RAM; `commit` is the store's part of it."""
        told = self.given.turn(number)
        turn = Turn("user", told["text"], datetime.fromtimestamp(self.given.at(self.given.stored_turns + number), UTC),
                    "User", "timed", f"timed:{number}")  # fmt: skip
        commit = self.memory.store.commit

        def timed(*values: Any, **named: Any) -> int:
            began = time.perf_counter()
            revision = commit(*values, **named)
            self.commits.append(1000 * (time.perf_counter() - began))
            return revision

        self.memory.store.commit = timed  # type: ignore[method-assign]
        before = self.memory.store.bytes_on_disk()
        started = time.perf_counter()
        report = self.memory.add(turn)
        ms = 1000 * (time.perf_counter() - started)
        self.memory.store.commit = commit  # type: ignore[method-assign]
        self.logged.append(self.memory.store.bytes_on_disk() - before)
        matched = sum(node.how != "new" for node in report.nodes)
        return {"ms": ms, "commit": self.commits[-1], "nodes": len(report.nodes), "matched": matched}

    def search(self, number: int) -> dict[str, Any]:
        """Entities, cosine over all nodes, roots, two hops; `whole` goes on to the context with its citations."""
        started = time.perf_counter()
        found = self.memory.retrieve(self.given.question(number), GraphRetriever())
        whole = 1000 * (time.perf_counter() - started)
        return {"ms": found.ms["candidates"] + found.ms["walk"], "whole": whole, "found": len(found.nodes)}

    def probe(self) -> dict[str, Any]:
        """The five nearest of every question, as rows, which are places of what was given: as the memory searches by
        itself, whether that was by signs first (`approximate`), and by signs in any case."""
        search = self.memory.graph.search
        self.memory.graph.nearest(np.array(self.given.queries[:1]), 5)  # it learns how long comparing all takes here
        found = {"approximate": search.approximate, "nearest": self._nearest()}
        mode, search.mode = search.mode, "approximate"
        found["by signs"] = self._nearest()
        search.mode = mode
        return found

    def _nearest(self) -> list[list[int]]:
        found = (self.memory.graph.nearest(np.array(query)[None], 5)[0] for query in self.given.queries)
        return [[row for row, _ in rows] for rows in found]

    def score(self) -> dict[str, float]:
        """P1's importance of every node; `view` is what a change to the memory adds to the first scoring after it."""
        started = time.perf_counter()
        view = self.memory.scoring_view()
        viewed = time.perf_counter()
        Importance().score(view, self.memory.clock or datetime.now(UTC))
        return {"ms": 1000 * (time.perf_counter() - viewed), "view": 1000 * (viewed - started)}

    def sizes(self) -> dict[str, Any]:
        """Bytes part by part; `graph` is nodes, edges, node vectors and their indexes."""
        self.memory.store.query("PRAGMA wal_checkpoint(TRUNCATE)")
        parts = parts_on_disk(self.memory.store)
        graph = sum(parts[name] for name in ("nodes", "edges", "node vectors", "indexes of these"))
        return {"graph": graph, "whole": self.path.stat().st_size, "parts": parts}

    def limit(self) -> dict[str, float]:
        """How near all this is to what the machine can do."""
        return limit(self.memory, self.given, self.commits, self.logged, self.path.parent)

    def _opened(self) -> Memory:
        extractor: Extractor = self.extractor
        return Memory.open(self.path, embedder=self.embedder, extractor=extractor, reader=EmbeddedReader(self.embedder))


def _extraction(nodes: Sequence[dict[str, Any]], edges: Sequence[dict[str, Any]]) -> Extraction:
    found = [FoundNode(node["label"], node["title"], node["content"], node["attributes"]) for node in nodes]
    between = [FoundEdge(edge["source"], edge["target"], edge["relationship"]) for edge in edges]
    return Extraction("ok", tuple(found), tuple(between), extractor="given", model="stub", prompt_version="1")


def _stored(memory: Memory, given: Given, turn: int, order: Any, known: Any) -> Iterator[RowChange]:
    """All rows of one stored turn."""
    places = range(turn * 3, min(turn * 3 + 3, given.nodes))
    edges = [int(edge) for place in places for edge in order[known[place] : known[place + 1]]]
    nodes = [given.node(place) for place in places]
    said = Turn("user", given.text(turn), datetime.fromtimestamp(given.at(turn), UTC), "User", f"s{turn // 20}",
                f"s{turn // 20}:{turn}", turn, f"t{turn + 1}")  # fmt: skip
    rows = TurnRows(memory.counters, said, _extraction(nodes, ()), turn + 1)
    ids = [f"n{memory.counters.take('node')}" for _ in nodes]
    yield insert(
        "turn", position=turn, id=said.id, source_id=said.source_id, session=said.session, role=said.role,
        speaker=said.speaker, text=said.text, at=said.at.timestamp(), forgotten_by=None,
    )  # fmt: skip
    yield insert("turn_vector", turn=said.id, vector=given.vectors[places[0]].astype(np.float16).tobytes())
    for place, node_id, node in zip(places, ids, rows.extraction.nodes, strict=True):
        yield insert("node", **rows.node_row(node_id, node))
        yield insert("node_vector", node=node_id, vector=given.vectors[place].astype(np.float16).tobytes())
        yield from rows.statements(node_id, node)
        yield rows.citation(node_id, None)
    placed_edges = []
    for place in edges:
        edge, edge_id = given.edge(place), f"e{memory.counters.take('edge')}"
        source, target = f"n{edge['source'] + 1}", f"n{edge['target'] + 1}"
        yield insert("edge", id=edge_id, source=source, target=target, relationship=edge["relationship"],
                     attributes="{}", forgotten_by=None)  # fmt: skip
        yield rows.citation(edge_id, None)
        placed_edges.append(PlacedEdge(edge_id, source, edge["relationship"], target, True, None))
    placed = [Placed(node_id, node.label, node.title, "new", 0.0, (), None)
              for node_id, node in zip(ids, rows.extraction.nodes, strict=True)]  # fmt: skip
    yield rows.extraction_row(TurnReport(said.id, rows.extraction, tuple(placed), tuple(placed_edges)))
