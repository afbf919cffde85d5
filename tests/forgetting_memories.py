"""Small memories for the forgetting tests, and all that a memory holds as one value that can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_core.memory import Memory
from memory_core.store.copying import rows_of
from tests.fakes import LetterEmbedder, SpelledExtractor

START = datetime(2024, 1, 1, tzinfo=UTC)

#: Ten turns, a day apart: (session, text). Lena is said twice, the harbor hangs on her alone.
SAID = (
    ("s1", "Person:User {job=baker} -knows-> Person:Lena | a friend"),
    ("s1", "Person:Lena -lives_in-> Location:Harbor Street"),
    ("s1", "Person:User -likes-> Concept:Quiet Mornings"),
    ("s2", "Person:User -owns-> Artifact:Violin"),
    ("s2", "Artifact:Violin -made_by-> Organization:Brandt Workshop"),
    ("s2", "nothing to read here"),
    ("s3", "Person:User -visited-> Location:Zermatt"),
    ("s3", "Person:User -plans-> Event:Winter Concert"),
    ("s3", "Person:Lena -plays_at-> Event:Winter Concert"),
    ("s4", "Person:User -learns-> Skill:Juggling"),
)


def open_memory(path: Path | str = ":memory:") -> Memory:
    """A memory with the parts that can be computed by hand."""
    return Memory.open(path, embedder=LetterEmbedder(match_threshold=0.9999), extractor=SpelledExtractor())


def told(path: Path | str = ":memory:", said: Iterable[tuple[str, str]] = SAID) -> Memory:
    """The memory of `said`, a turn a day from the first of January 2024."""
    memory = open_memory(path)
    for day, (session, text) in enumerate(said):
        memory.say(text, at=START + timedelta(days=day), session=session)
    return memory


def node(memory: Memory, title: str) -> str:
    """Id of the newest node with that title, forgotten or not."""
    return max((memory.graph.row_of[of], of) for of in memory.graph.ids if memory.graph.node(of).title == title)[1]


def titles(memory: Memory) -> set[str]:
    """Titles of the live nodes."""
    return {memory.graph.titles[row] for row in memory.graph.live_rows().tolist()}


def state(memory: Memory) -> dict[str, object]:
    """Everything live, and every index over it: what must be the same after apply and undo."""
    graph = memory.graph
    live = [graph.ids[row] for row in graph.live_rows().tolist()]
    edges = [graph.edge_ids[row] for row in graph.live_edges().tolist()]
    tables = {
        table: [dict(row.after or {}) for row in rows_of(memory.store, table)]
        for table in ("node", "node_vector", "edge", "turn", "turn_vector", "access", "provenance", "value_history")
    }
    found = {word: memory.search_turns(word, 50) for word in ("lena", "violin", "harbor", "winter", "juggling")}
    return {
        "nodes": [graph.node(of) for of in live],
        "edges": [graph.edge(of) for of in edges],
        "tables": tables,
        "bm25": {word: sorted(turn.id for turn in turns) for word, turns in found.items()},
        "titles": {
            title: graph.find_title(graph.node(of).label, title) for of in live for title in [graph.node(of).title]
        },
        "bytes": memory.bytes_live()["total"],
    }
