"""Where a placed node rests now: merges made by hand move it on, merges split again move it back out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from memory_core.memory import Memory
from memory_core.store.rows import unpack


@dataclass(frozen=True)
class RestingPlaces:
    """`merged` is node -> the one it became part of; `split` is (turn, node, found title) -> the node split off."""

    merged: Mapping[str, str]
    split: Mapping[tuple[str, str, str], str]

    def of(self, turn: str, node: str, title: str) -> str:
        """The node that holds today what the turn said under this title."""
        node = self.split.get((turn, node, title), node)
        seen = {node}
        while node in self.merged and self.merged[node] not in seen:
            node = self.merged[node]
            seen.add(node)
        return node


def resting_places(memory: Memory) -> RestingPlaces:
    """Read from the history; made once a revision."""
    return memory.once("resting places", lambda: _places(memory))


def _places(memory: Memory) -> RestingPlaces:
    merged: dict[str, str] = {}
    split: dict[tuple[str, str, str], str] = {}
    sql = (
        "SELECT summary, CASE WHEN state = 'undone' THEN rows END FROM change WHERE kind = 'merge' AND "
        "state = CASE made_by WHEN 'user' THEN 'applied' ELSE 'undone' END ORDER BY number"
    )
    for text, blob in memory.store.query(sql):
        summary = json.loads(text)
        if blob is None:
            merged[summary["gone"]] = summary["node"]
        else:
            split[summary["turn"], summary["node"], summary["found"]] = str(unpack(blob)[0].key[0])
    return RestingPlaces(merged, split)
