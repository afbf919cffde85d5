"""P1 3.5 where the memory lives: the server finds roots, walk and provenance, this process holds what is returned."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from memory_core.context import graph_lines
from memory_core.graph import Graph
from memory_core.graph.scan import dots
from memory_core.memory.checks import check_embedder
from memory_core.protocols import Embedder, Floats, Retrieval, Root
from memory_core.retrievers.graph import SHOWN, GraphRetriever, best_by_row
from memory_core.schema import normalise_title
from memory_core.store.rows import Value, insert
from memory_core.walk import rank_turns, walk_from

if TYPE_CHECKING:
    from memory_core.store.postgres import PostgresStore

_EDGES = 300  # of one node that are looked at, oldest first, beside those that the cap lets in
_SPARE = 2  # candidates an index gives for each that is shown: it only estimates the cosine, we compute it
_BEAM = 100  # nodes the index keeps in sight while it searches (hnsw.ef_search)


@dataclass(frozen=True)
class ServerSearch:
    """The graph retriever's steps as queries to a server.

    The same `Retrieval` as `GraphRetriever` gives in RAM, but for two things: with the index (`exact` off) a candidate
    may be missed (recall in README), and of a node with more than `cap` + 300 edges only the oldest so many are walked.
    """

    store: PostgresStore
    embedder: Embedder
    exact: bool = False

    def retrieve(self, part: GraphRetriever, question: str, entities: Sequence[str]) -> Retrieval:
        """Roots, walk, context and the ranking of turns, all as of one moment. Raises EmbedderMismatchError for a
        memory that was re-embedded meanwhile."""
        started = time.perf_counter()
        floor = self.embedder.floor if part.floor is None else part.floor
        vectors = self.embedder.embed(list(entities), "query") if entities else np.zeros((0, 1), np.float32)
        with self.store.snapshot():
            check_embedder(self.store, self.embedder)
            candidates = self._candidates(entities, vectors, max(SHOWN, part.roots))
            found = time.perf_counter()
            roots = tuple(root for root in candidates if root.score >= floor)[: part.roots]
            visits, capped = walk_from(
                [root.id for root in roots], part.hops, part.cap, partial(self._neighbours, part.cap + _EDGES)
            )
            ids = [visit.id for visit in visits]
            window = self._window(ids)
            walked = time.perf_counter()
            cited = self._cited(ids + window.edge_ids)
            mute = self._speakers(window)
        edges = [window.edge(edge) for edge in window.edge_ids]
        return Retrieval(
            retriever="graph",
            question=question,
            entities=tuple(entities),
            candidates=candidates[:SHOWN],
            floor=floor,
            roots=roots,
            nodes=tuple(visits),
            edges=tuple(window.edge_ids),
            capped=tuple(capped),
            turns=tuple(rank_turns([node for node in ids if node not in mute], cited, roots)),
            lines=graph_lines(window, visits, edges, cited),
            ms={
                "candidates": 1000 * (found - started),
                "walk": 1000 * (walked - found),
                "context": 1000 * (time.perf_counter() - walked),
            },
        )

    def _candidates(self, entities: Sequence[str], vectors: Floats, k: int) -> tuple[Root, ...]:
        """Best cosine of each node over the entities, best first."""
        titles: dict[int, tuple[str, str]] = {}
        nearest = []
        if not self.exact:
            self.store.query(SEARCHING, "off", str(_BEAM))
        for vector in vectors:
            rows = self._nearest(vector, k)
            titles |= {row: (node, title) for row, node, title, _ in rows}
            nearest.append(_rescored(rows, vector)[:k])
        if not self.exact:
            self.store.query(SEARCHING, "on", str(_BEAM))
        return tuple(Root(*titles[row], score, entity) for row, score, entity in best_by_row(entities, nearest))

    def _nearest(self, vector: Floats, k: int) -> list[tuple[int, str, str, bytes]]:
        """(row, id, title, vector) of at least the k live nodes nearest to a vector, unless there are fewer."""
        text = str(vector.tolist())
        if not self.exact:
            sql = BY_INDEX.format(dim=self.embedder.dim, tenant=self.store.tenant)
            rows = self.store.query(sql, text, k * _SPARE)
            if len(rows) >= k:
                return rows
        return self.store.query(_EXACT, text, k * _SPARE)

    def _neighbours(self, most: int, nodes: Sequence[str]) -> Iterable[tuple[str, str]]:
        return self.store.query(_NEIGHBOURS, list(nodes), most, most, most)

    def _window(self, nodes: Sequence[str]) -> Graph:
        """The visited nodes and the edges among them as a graph; it holds no vectors."""
        window = Graph(1)
        ids: list[Value] = list(nodes)
        for table, columns, where in (("node", _NODE, _AT), ("edge", _EDGE, _AMONG)):
            sql = f"SELECT {', '.join(columns)} FROM {table} WHERE {where} ORDER BY rowid"
            rows = self.store.query(sql, *[ids] * where.count("?"))
            window.apply(insert(table, **dict(zip(columns, row, strict=True))) for row in rows)
        return window

    def _cited(self, items: Sequence[str]) -> dict[str, list[str]]:
        """Item id -> ids of the live turns it was read from, by position."""
        cited: dict[str, list[str]] = {item: [] for item in items}
        for item, turn in self.store.query(_CITED, list(items)):
            cited[item].append(turn)
        return cited

    def _speakers(self, window: Graph) -> set[str]:
        """Those nodes of the window that stand for somebody who spoke."""
        names = {normalise_title(name) for (name,) in self.store.query(_SPEAKERS)} | {"user"}
        persons = (node for node in map(window.node, window.ids) if node.label == "Person")
        return {node.id for node in persons if normalise_title(node.title) in names}


def _rescored(rows: Sequence[tuple[int, str, str, bytes]], vector: Floats) -> list[tuple[int, float]]:
    """(row, cosine) by the arithmetic of the graph in RAM, best first, ties by age."""
    if not rows:
        return []
    matrix = np.stack([np.frombuffer(blob, np.float16) for *_, blob in rows]).astype(np.float32)
    scores = dots(matrix, vector[None])[0].tolist()
    return sorted(
        ((row[0], score) for row, score in zip(rows, scores, strict=True)), key=lambda pair: (-pair[1], pair[0])
    )


# Strict tenants: every table is cut to this memory by its row-level policy, so no statement says so.
#: Until the transaction ends. Sorting is put off so that the index is taken whatever the statistics say of the table.
SEARCHING = """
    SELECT set_config('enable_sort', ?, true), set_config('hnsw.ef_search', ?, true),
        set_config('hnsw.iterative_scan', 'relaxed_order', true)"""
#: The index of `index_vectors` is over one memory and dimension, and taken only where the statement names both.
BY_INDEX = """
    SELECT node.rowid, node.id, title, vector FROM node_vector JOIN node ON node.id = node_vector.node
    WHERE node_vector.tenant = {tenant} AND vector_dims(half) = {dim} AND forgotten_by IS NULL
    ORDER BY CAST(half AS halfvec({dim})) <=> CAST(? AS halfvec({dim})) LIMIT ?"""
_EXACT = """
    SELECT node.rowid, node.id, title, vector FROM node_vector JOIN node ON node.id = node_vector.node
    WHERE forgotten_by IS NULL ORDER BY CAST(half AS vector) <#> CAST(? AS vector), node.rowid LIMIT ?"""
_NEIGHBOURS = """
    SELECT edge.id, node.id
    FROM unnest(CAST(? AS text[])) WITH ORDINALITY AS frontier (id, place)
    CROSS JOIN LATERAL (
        (SELECT edge.id, edge.rowid, target AS other FROM edge
         WHERE source = frontier.id AND forgotten_by IS NULL ORDER BY edge.rowid LIMIT ?)
        UNION ALL
        (SELECT edge.id, edge.rowid, source FROM edge
         WHERE target = frontier.id AND forgotten_by IS NULL ORDER BY edge.rowid LIMIT ?)
        ORDER BY rowid LIMIT ?) AS edge
    JOIN node ON node.id = other AND node.forgotten_by IS NULL
    ORDER BY place, edge.rowid"""
_NODE = "id label title content attributes created turns_at_creation pinned forgotten_by".split()
_EDGE = "id source target relationship attributes forgotten_by".split()
_AT = "id = ANY(?)"
_AMONG = "source = ANY(?) AND target = ANY(?) AND forgotten_by IS NULL"
_CITED = """
    SELECT item, provenance.turn FROM provenance JOIN turn ON turn.id = provenance.turn
    WHERE forgotten_by IS NULL AND item = ANY(?) ORDER BY position"""
_SPEAKERS = """
    WITH RECURSIVE said AS (
        (SELECT speaker FROM turn ORDER BY speaker LIMIT 1)
        UNION ALL
        SELECT (SELECT speaker FROM turn WHERE turn.speaker > said.speaker ORDER BY speaker LIMIT 1)
        FROM said WHERE said.speaker IS NOT NULL)
    SELECT speaker FROM said WHERE speaker IS NOT NULL"""
