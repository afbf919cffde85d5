"""How a memory grew with its turns, read back from its own history: nothing has to be written down while it grows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_core.memory import Memory

Ints = NDArray[np.int64]


def growth(memory: Memory, points: int = 60) -> list[dict[str, int]]:
    """Live nodes, edges and their bytes after each of at most `points` numbers of turns.

    What a pass forgot counts until that pass; bytes are those of nodes and edges with their vectors, as they stand now.
    """
    graph, sizes = memory.graph, memory.sizes()
    passes = {change.id: _turn(change.summary.get("turn")) for change in memory.changes()}
    columns = [
        (graph.turns_at_creation.values, _deaths(graph.forgotten_by, passes, graph.turns), sizes.nodes),
        (_edge_births(memory), _deaths(graph.edge_forgotten_by, passes, graph.turns), sizes.edges),
    ]
    rows = []
    for turn in np.unique(np.linspace(0, graph.turns, points + 1).round().astype(int))[1:].tolist():
        alive = [(born <= turn) & (died > turn) for born, died, _ in columns]
        weight = sum(int(size[mask].sum()) for mask, (_, _, size) in zip(alive, columns, strict=True))
        nodes, edges = (int(mask.sum()) for mask in alive)
        rows.append({"turns": turn, "nodes": nodes, "edges": edges, "bytes": weight})
    return rows


def _turn(told: object) -> int:
    """Number of the turn a change was made at: a pass tells it, other changes the turn's id.

    >>> _turn(400), _turn("t3"), _turn(None)
    (400, 3, 0)
    """
    number = str(told or "").removeprefix("t")
    return int(number) if number.isdigit() else 0


def _deaths(forgotten_by: Sequence[str | None], passes: dict[str, int], turns: int) -> Ints:
    """Turn at which each row was forgotten; beyond the last for what lives."""
    return np.array([turns + 1 if by is None else passes.get(by, turns + 1) for by in forgotten_by], np.int64)


def _edge_births(memory: Memory) -> Ints:
    rows = memory.store.query(
        "SELECT item, min(position) + 1 FROM provenance JOIN turn ON turn.id = provenance.turn GROUP BY item"
    )
    first = dict(rows)
    return np.array([first.get(edge, 0) for edge in memory.graph.edge_ids], np.int64)
