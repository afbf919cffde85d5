"""Turns that leave with the nodes read from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_core.forgetting.cuts import Mask
from memory_core.memory.scoring import Scoring


def leaving_turns(memory: Scoring, fate: Mask, edges: NDArray[np.int64]) -> tuple[str, ...]:
    """Live turns that what goes was read from, and that no live node or edge but a speaker's node cites afterwards."""
    graph, cited = memory.graph, memory.cited()
    going = np.concatenate([fate, np.zeros(len(graph.edge_ids), np.bool_)])
    going[len(fate) + edges] = True
    holds = np.concatenate([graph.live.values, graph.edge_live.values]) & ~going
    holds[memory.speaker_rows()] = False
    taken, stays = (np.zeros(len(cited.turn_ids), np.bool_) for _ in range(2))
    taken[cited.turns[going[cited.items]]] = True
    stays[cited.turns[holds[cited.items]]] = True
    return tuple(cited.turn_ids[place] for place in np.flatnonzero(taken & ~stays).tolist())
