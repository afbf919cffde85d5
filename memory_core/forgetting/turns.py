"""Turns that leave with the nodes read from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_core.forgetting.cuts import Mask
from memory_core.memory.scoring import Scoring


def leaving_turns(memory: Scoring, fate: Mask, edges: NDArray[np.int64]) -> tuple[str, ...]:
    """Live turns that what goes was read from, and that no live node or edge but a speaker's node cites afterwards."""
    graph = memory.graph
    going = {graph.ids[row] for row in np.flatnonzero(fate).tolist()}
    going |= {graph.edge_ids[edge] for edge in edges.tolist()}
    mute = {graph.ids[row] for row in memory.speaker_rows().tolist()}
    cited: dict[str, bool] = {}
    stays: set[str] = set()
    for item, turn in memory.store.query(_CITED):
        if item in going:
            cited[turn] = True
        elif item not in mute and graph.is_live(item):
            stays.add(turn)
    return tuple(turn for turn in cited if turn not in stays)


_CITED = """
    SELECT item, provenance.turn FROM provenance JOIN turn ON turn.id = provenance.turn
    WHERE forgotten_by IS NULL ORDER BY position, item"""
