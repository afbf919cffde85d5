"""A memory of any size on a server within minutes: rows go in by COPY, past everything that a turn does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from memory_core.evaluation.speed.given import NODES_A_TURN, Given
from memory_core.memory.turn_rows import Counters
from memory_core.protocols import Embedder
from memory_core.store.halves import Half, register_halves
from memory_core.store.server import Connection

_CHUNK = 20_000
_ACCESSES = 3  # one access to every third node
_NODE = "id label title content attributes created turns_at_creation pinned forgotten_by revision"
_TYPES = {
    "tenant": "int8", "position": "int8", "revision": "int8", "turns_at_creation": "int8", "pinned": "int4",
    "at": "float8", "created": "float8", "vector": "bytea", "half": "halfvec",
}  # fmt: skip


def fill(db: Connection, tenant: int, given: Given, embedder: Embedder) -> None:
    """Turns, nodes, vectors, edges, citations and accesses as turns would have left them; `db` is a superuser's.

    Left out are the index of the turns' words, replies and the history of values, which nothing measured here reads.
    """
    register_halves(db)
    ends = given.ends
    order = np.argsort(ends.max(axis=1), kind="stable")  # an edge is said when its later end is
    said = (ends.max(axis=1)[order] // NODES_A_TURN + 1).tolist()
    _copy(db, tenant, "turn", "position id source_id session role speaker text at forgotten_by revision",
          (_turn(given, turn) for turn in range(given.stored_turns)))  # fmt: skip
    _copy(db, tenant, "node", _NODE, (_node(given, place) for place in range(given.nodes)))
    _copy(db, tenant, "node_vector", "node vector half revision", _vectors(given))
    _copy(db, tenant, "edge", "id source target relationship attributes forgotten_by revision",
          (_edge(given, place, number) for number, place in enumerate(order.tolist(), 1)))  # fmt: skip
    _copy(db, tenant, "provenance", "item turn",
          ((f"n{place + 1}", f"t{place // NODES_A_TURN + 1}") for place in range(given.nodes)))  # fmt: skip
    _copy(db, tenant, "provenance", "item turn", ((f"e{number}", f"t{turn}") for number, turn in enumerate(said, 1)))
    met = range(1, given.nodes // _ACCESSES + 1)
    _copy(db, tenant, "access", "id node at turn kind revision",
          ((number, f"n{number * number % given.nodes + 1}", given.at(number), number, "merge", 1)
           for number in met), id="int8", turn="int8")  # fmt: skip
    counters = Counters(node=given.nodes + 1, edge=len(order) + 1, access=len(met) + 1)
    kept = {"embedder": embedder.id, "dim": str(embedder.dim), "counters": json.dumps(asdict(counters))}
    _copy(db, tenant, "meta", "key value", kept.items())
    db.execute("UPDATE forgetting_lab.memory SET revision = 1, whole = 1 WHERE tenant = $1", (tenant,))
    db.execute("ANALYZE")


def _copy(db: Connection, tenant: int, table: str, columns: str, rows: Iterable[Sequence[Any]], **types: str) -> None:
    names = ["tenant", *columns.split()]
    sql = f"COPY forgetting_lab.{table} ({', '.join(names)}) FROM STDIN (FORMAT BINARY)"
    with db.cursor() as cursor, cursor.copy(sql.encode()) as copy:
        copy.set_types([(_TYPES | types).get(name, "text") for name in names])
        for row in rows:
            copy.write_row((tenant, *row))


def _turn(given: Given, turn: int) -> Sequence[Any]:
    session = f"s{turn // 20}"
    said = (f"t{turn + 1}", f"{session}:{turn}", session, "user", "User", given.text(turn))
    return (turn, *said, given.at(turn), None, 1)


def _node(given: Given, place: int) -> Sequence[Any]:
    node, turn = given.node(place), place // NODES_A_TURN
    told = (node["label"], node["title"], node["content"], json.dumps(node["attributes"]))
    return (f"n{place + 1}", *told, given.at(turn), turn + 1, 0, None, 1)


def _edge(given: Given, place: int, number: int) -> Sequence[Any]:
    edge = given.edge(place)
    return (f"e{number}", f"n{edge['source'] + 1}", f"n{edge['target'] + 1}", edge["relationship"], "{}", None, 1)


def _vectors(given: Given) -> Iterable[Sequence[Any]]:
    for start in range(0, given.nodes, _CHUNK):
        for row, vector in enumerate(np.asarray(given.vectors[start : start + _CHUNK]).astype(np.float16), start + 1):
            yield f"n{row}", vector.tobytes(), Half.of(vector.tobytes()), 1
