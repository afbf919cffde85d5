"""Lists the page offers to choose from: sessions, pinned nodes, what was forgotten."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memory_core.memory import Memory
from memory_core.schema import LABELS


@dataclass(frozen=True)
class Forgotten:
    """A forgotten node and the pass that took it."""

    id: str
    label: str
    title: str
    content: str
    forgotten_by: str


def forgotten(memory: Memory, words: str = "") -> list[Forgotten]:
    """What was forgotten and holds every one of the words, oldest first."""
    graph = memory.graph
    rows = [graph.row_of[node] for node in memory.search_forgotten(words)]
    return [
        Forgotten(graph.ids[row], LABELS[graph.label.values[row]], graph.titles[row], graph.contents[row],
                  graph.forgotten_by[row] or "")
        for row in rows
    ]  # fmt: skip


def sessions(memory: Memory) -> list[str]:
    """Sessions of the live turns, in order."""
    rows = memory.store.query(
        "SELECT session FROM turn WHERE forgotten_by IS NULL AND session <> '' GROUP BY session ORDER BY min(position)"
    )
    return [str(session) for (session,) in rows]


def pinned(memory: Memory) -> list[tuple[str, str]]:
    """(id, title) of the live nodes that are pinned."""
    graph = memory.graph
    rows = np.flatnonzero(graph.pinned.values & graph.live.values).tolist()
    return [(graph.ids[row], graph.titles[row]) for row in rows]
