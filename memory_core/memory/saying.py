"""What the live memory keeps of what was said, word by word and turn by turn: the ground `coverage` stands on."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_core.graph import Graph
from memory_core.protocols import Said
from memory_core.schema import content_set, content_words
from memory_core.store.contract import Store

if TYPE_CHECKING:
    from memory_core.memory.scoring import Cited


def said(graph: Graph, store: Store, cited: Cited, rows: NDArray[np.int64]) -> Said:
    """The elements (turn, content word of it) that live nodes and edges keep; places count along `rows`."""
    texts = store.query("SELECT id, position, text FROM turn WHERE forgotten_by IS NULL")
    spoken = {turn: content_set(text) for turn, _, text in texts}
    counts = Counter(word for words in spoken.values() for word in words)
    edges = graph.live_edges()
    kept = _kept_words(graph, rows, edges)
    elements: dict[tuple[int, str], int] = {}
    pairs: list[tuple[int, int]] = []
    for item, place in zip(cited.items.tolist(), cited.turns.tolist(), strict=True):
        if item in kept:
            for word in kept[item] & spoken[cited.turn_ids[place]]:
                pairs.append((item, elements.setdefault((place, word), len(elements))))
    holders, held = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
    n = len(graph.ids)
    of_nodes = holders < n
    place_of = _places(n, rows)
    positions = {turn: position for turn, position, _ in texts}
    return Said(
        rows=place_of[holders[of_nodes]],
        elements=held[of_nodes],
        edge_ends=place_of[graph.ends.values[edges]],
        edge_rows=_places(len(graph.edge_ids), edges)[holders[~of_nodes] - n],
        edge_elements=held[~of_nodes],
        turns=np.array([positions[cited.turn_ids[place]] for place, _ in elements], np.int64),
        counts=np.array([counts[word] for _, word in elements], np.int64),
        turn_count=sum(bool(words) for words in spoken.values()),
    )


def _places(count: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    place = np.full(count, -1, np.int64)
    place[rows] = np.arange(len(rows))
    return place


def _kept_words(graph: Graph, rows: NDArray[np.int64], edges: NDArray[np.int64]) -> dict[int, frozenset[str]]:
    """Words of each live node's title and attribute values and of each live edge's relationship, by item."""
    kept = {row: content_set(f"{graph.titles[row]} {_values(graph.attributes[row])}") for row in rows.tolist()}
    names = {name: frozenset(content_words(name.replace("_", " "))) for name in set(graph.relationships)}
    n = len(graph.ids)
    return kept | {n + edge: names[graph.relationships[edge]] for edge in edges.tolist()}


def _values(attributes: str) -> str:
    return " ".join(str(value) for value in json.loads(attributes).values()) if attributes != "{}" else ""
