"""Newest value wins for edges too: which stored edges a new one ends, or by which it is already outdated."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from datetime import UTC, datetime

from memory_core.graph import Graph
from memory_core.schema import Turn
from memory_core.store.contract import Store
from memory_core.store.rows import RowChange, update

#: Relationships of which a source has one at a time: a new one ends the old.
FAMILIES: tuple[frozenset[str], ...] = (
    frozenset({"lives_in", "moved_to", "relocated_to", "resides_in"}),
    frozenset({"works_at", "works_for", "employed_by", "joined"}),
    frozenset({"married_to", "engaged_to"}),
    frozenset({"born_on", "has_birthday"}),
)
LIKES = frozenset({"likes", "loves", "enjoys", "prefers", "adores", "favors", "is_a_fan_of"})
DISLIKES = frozenset({"dislikes", "hates", "avoids", "detests", "no_longer_likes", "stopped_liking", "does_not_like"})


def superseded_edges(
    graph: Graph, store: Store, turn: Turn, edge: Mapping[str, str], held: Set[str]
) -> list[RowChange]:
    """Changes that date the end of every older edge that the new `edge` contradicts.

    `held` are nodes that polarity kept apart from the target: a dislike of one ends the like of the other. An edge that
    is newer than the turn (which then arrives late) ends the new edge instead: the first of several.
    """
    changes: list[RowChange] = []
    newer: list[tuple[datetime, str]] = []
    for row in _rivals(graph, edge, held):
        rival = graph.edge_ids[row]
        again = _stated_after(store, rival, turn.at)
        if again is not None:
            newer.append((again, rival))
        else:
            changes.append(_ended(rival, graph.edge_attributes[row], turn.at, edge["id"]))
    return [*changes, _ended(edge["id"], edge["attributes"], *min(newer))] if newer else changes


def _ended(edge_id: str, attributes: str, at: datetime, by: str) -> RowChange:
    after = json.loads(attributes) | {"until": at.date().isoformat(), "superseded_by": by}
    text = json.dumps(after, ensure_ascii=False, sort_keys=True)
    return update("edge", edge_id, {"attributes": attributes}, {"attributes": text})


def _rivals(graph: Graph, edge: Mapping[str, str], held: Set[str]) -> list[int]:
    source = graph.row_of.get(edge["source"])
    if source is None:
        return []
    relationship = edge["relationship"]
    rivals: list[int] = []
    for family in FAMILIES:
        if relationship in family:
            known = [row for other in sorted(family) for row in graph.outgoing(source, other)]
            rivals += [row for row in known if graph.ids[graph.ends.values[row, 1]] != edge["target"]]
    opposite = DISLIKES if relationship in LIKES else LIKES if relationship in DISLIKES else frozenset()
    for target in sorted({edge["target"], *held}):
        if opposite and target in graph.row_of:
            between = graph.between(source, graph.row_of[target])
            rivals += [row for row in between if graph.relationships[row] in opposite]
    return [row for row in rivals if '"until"' not in graph.edge_attributes[row]]


def _stated_after(store: Store, edge_id: str, at: datetime) -> datetime | None:
    """When the edge was first stated after `at`."""
    sql = (
        "SELECT min(turn.at) FROM provenance JOIN turn ON turn.id = provenance.turn "
        "WHERE provenance.item = ? AND turn.at > ?"
    )
    found = store.query(sql, edge_id, at.timestamp())[0][0]
    return None if found is None else datetime.fromtimestamp(found, UTC)
