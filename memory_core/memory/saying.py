"""What the live memory keeps of what was said, word by word and turn by turn: the ground `coverage` stands on."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from memory_core.graph import Graph
from memory_core.protocols import Said
from memory_core.schema import content_words
from memory_core.store.sqlite import SqliteStore


def said(graph: Graph, store: SqliteStore, rows: NDArray[np.int64]) -> Said:
    """The elements (turn, content word of it) that live nodes and edges keep; places count along `rows`."""
    spoken = {turn: frozenset(content_words(text)) for turn, text in store.query(_SPOKEN)}
    positions = dict(store.query("SELECT id, position FROM turn WHERE forgotten_by IS NULL"))
    counts = Counter(word for words in spoken.values() for word in words)
    place = np.full(len(graph.ids) + 1, -1, np.int64)
    place[rows] = np.arange(len(rows))
    kept = [_node_words(graph, row) for row in rows.tolist()]
    edges = graph.live_edges()
    edge_words = {edge: content_words(graph.relationships[edge].replace("_", " ")) for edge in edges.tolist()}
    edge_place = {edge: number for number, edge in enumerate(edges.tolist())}
    elements: dict[tuple[str, str], int] = {}
    nodes: list[tuple[int, int]] = []
    relations: list[tuple[int, int]] = []
    for item, turn in store.query(_CITED):
        words = spoken.get(turn, frozenset())
        if item in graph.row_of:
            row = int(place[graph.row_of[item]])
            nodes += (
                [(row, elements.setdefault((turn, word), len(elements))) for word in kept[row] & words]
                if row >= 0
                else []
            )
        elif item in graph.edge_row and graph.edge_row[item] in edge_place:
            edge = graph.edge_row[item]
            relations += [
                (edge_place[edge], elements.setdefault((turn, word), len(elements)))
                for word in words.intersection(edge_words[edge])
            ]
    node_pairs, edge_pairs = _pairs(nodes), _pairs(relations)
    return Said(
        rows=node_pairs[:, 0],
        elements=node_pairs[:, 1],
        edge_ends=place[graph.ends.values[edges]],
        edge_rows=edge_pairs[:, 0],
        edge_elements=edge_pairs[:, 1],
        turns=np.array([positions[turn] for turn, _ in elements], np.int64),
        counts=np.array([counts[word] for _, word in elements], np.int64),
        turn_count=sum(bool(words) for words in spoken.values()),
    )


def _pairs(pairs: list[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def _node_words(graph: Graph, row: int) -> frozenset[str]:
    values = " ".join(str(value) for value in json.loads(graph.attributes[row]).values())
    return frozenset(content_words(f"{graph.titles[row]} {values}"))


_SPOKEN = "SELECT id, text FROM turn WHERE forgotten_by IS NULL ORDER BY position"
_CITED = """
    SELECT item, provenance.turn FROM provenance JOIN turn ON turn.id = provenance.turn
    WHERE forgotten_by IS NULL ORDER BY position, item"""
