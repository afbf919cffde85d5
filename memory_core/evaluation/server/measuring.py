"""What a memory on a server costs: turns, questions, forgetting, and what the server does to keep itself in order."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memory_core.evaluation.server.filling import fill
from memory_core.evaluation.speed.given import Given
from memory_core.evaluation.speed.peers.ours import Session
from memory_core.in_database import InDatabase
from memory_core.memory import Memory
from memory_core.policies.importance import Importance
from memory_core.readers.embedded import EmbeddedReader
from memory_core.server_setup import rewrite
from memory_core.store.address import Address
from memory_core.store.postgres import PostgresStore
from memory_core.store.server import Connection, connect

_USER = "bench"  # nobody signs in by it
_KEPT = 0.9  # a plan takes a tenth
#: Settings that the figures depend on.
_SETTINGS = (
    "server_version shared_buffers maintenance_work_mem work_mem max_wal_size synchronous_commit fsync autovacuum "
    "autovacuum_vacuum_scale_factor autovacuum_vacuum_cost_delay"
).split()
Row = dict[str, Any]


class OnServer(Session):
    """The session that `bench speed` times, with its memory on a server."""

    def __init__(self, given: Given, work: Path, store: PostgresStore) -> None:
        super().__init__(given, work)
        self.store = store

    def _opened(self) -> Memory:
        return Memory(self.store, self.embedder, self.extractor, EmbeddedReader(self.embedder))


@dataclass(frozen=True)
class Bench:
    """One memory to be measured; `admin` is a superuser's address. `in_database` leaves out what needs it in RAM."""

    admin: Address
    given: Given
    work: Path
    turns: int
    in_database: bool = False
    advance: Callable[[str], None] = lambda step: None

    def run(self) -> Row:
        """Fill a memory, measure, and remove it again. Raises MemoryFileError."""
        store = PostgresStore(self.admin, user=_USER)
        with connect(self.admin) as db:
            try:
                return self._measured(db, store)
            finally:
                store.close()
                _remove(db, store.tenant, self.given.dim)

    def _measured(self, db: Connection, store: PostgresStore) -> Row:
        session = OnServer(self.given, self.work, store)
        self.advance("filling")
        found: Row = {"nodes": self.given.nodes, "edges": len(self.given.ends), "dim": self.given.dim}
        found["server"] = {name: str(_one(db, f"SHOW {name}")) for name in _SETTINGS}
        found["fill_s"] = _seconds(lambda: fill(db, store.tenant, self.given, session.embedder))
        there = InDatabase(store, session.embedder, session.extractor, EmbeddedReader(session.embedder))
        found["ram"] = None if self.in_database else self._in_ram(session)
        self.advance("index")
        found["index_s"] = _seconds(there.index)
        found["bytes"] = _bytes(db, store.tenant, self.given)
        self.advance("in the database")
        found["database"] = _in_database(there, self.given)
        self.advance("forgetting")
        found["forgetting"] = self._forgotten(session, there)
        self.advance("vacuum")
        return found | _vacuumed(db, store, self.admin)

    def _in_ram(self, session: OnServer) -> Row:
        """As most memories are: held in RAM, without the index over vectors."""
        self.advance("in RAM")
        opened = _seconds(session.open)
        turns = [session.turn(number) for number in range(self.turns)]
        found = [session.search(number)["whole"] for number in range(self.given.searches)]
        return {
            "open_s": opened, "turn_ms": _spread([turn["ms"] for turn in turns]),
            "commit_ms": _spread([turn["commit"] for turn in turns]), "retrieval_ms": _spread(found),
        }  # fmt: skip

    def _forgotten(self, session: OnServer, there: InDatabase) -> Row:
        """A tenth of the nodes: by the server; where it is held in RAM, taken back, by this process, and purged."""
        plan = there.plan(Importance(), keep=int(_KEPT * self.given.nodes))
        done: list[str] = []
        found: Row = {"nodes": len(plan.forgotten), "edges": len(plan.edges)}
        found["apply_in_database_ms"] = 1000 * _seconds(lambda: done.append(there.apply(plan)))
        if self.in_database:
            return found
        memory, more = session.memory, range(self.turns, 2 * self.turns)
        found["follow_ms"] = 1000 * _seconds(lambda: memory.revision)
        found["undo_ms"] = 1000 * _seconds(lambda: memory.undo(done[0], at=plan.at))
        found["turn_with_index_ms"] = _spread([session.turn(number)["ms"] for number in more])
        again = memory.plan(Importance(), keep=int(_KEPT * memory.graph.node_count))
        found["apply_ms"] = 1000 * _seconds(lambda: done.append(memory.apply(again)))
        memory.store.rewrite = lambda: False  # type: ignore[method-assign]
        found["purge_ms"] = 1000 * _seconds(lambda: memory.purge(done[1]))
        return found


def _in_database(there: InDatabase, given: Given) -> Row:
    exact = InDatabase(there.store, there.embedder, there.extractor, there.reader, exact=True)
    asked = [given.question(number) for number in range(given.searches)]
    near, ms = _timed([lambda question=question: there.retrieve(question) for question in asked])  # type: ignore[misc]
    few = asked[: max(20, len(asked) // 5)]
    true, exact_ms = _timed([lambda question=question: exact.retrieve(question) for question in few])  # type: ignore[misc]
    hits = [len({root.id for root in one.roots} & {root.id for root in other.roots}) / max(len(one.roots), 1)
            for one, other in zip(true, near, strict=False)]  # fmt: skip
    plans = [1000 * _seconds(lambda: there.plan(Importance(), keep=int(_KEPT * given.nodes))) for _ in range(3)]
    return {
        "retrieval_ms": _spread(ms),
        "steps_ms": {name: round(float(np.median([one.ms[name] for one in near])), 3) for name in near[0].ms},
        "exact_ms": _spread(exact_ms), "recall@5": round(float(np.mean(hits)), 4), "recall_questions": len(few),
        "plan_ms": round(float(np.median(plans)), 1),
    }  # fmt: skip


def _vacuumed(db: Connection, store: PostgresStore, admin: Address) -> Row:
    """VACUUM as autovacuum does it, without its pauses, then VACUUM FULL, which alone gives space back."""
    before = store.bytes_on_disk()
    plain = {table: round(1000 * _seconds(lambda table=table: db.execute(f"VACUUM forgetting_lab.{table}")), 1)  # type: ignore[misc]
             for table in ("node", "edge", "node_vector")}  # fmt: skip
    after = store.bytes_on_disk()
    full = _seconds(lambda: rewrite(admin))
    return {
        "vacuum_ms": plain | {"total": round(sum(plain.values()), 1)}, "vacuum_full_s": round(full, 2),
        "bytes_on_disk": {"before": before, "after_vacuum": after, "after_full": store.bytes_on_disk()},
    }  # fmt: skip


def _bytes(db: Connection, tenant: int, given: Given) -> Row:
    """Bytes of each table with its overflow, of its indexes, and of the index over vectors; and all of it a node."""
    rows = db.execute(_SIZES, (f"node_vector_half_{tenant}_{given.dim}",)).fetchall()
    parts = {name: {"rows": int(table), "indexes": int(indexes)} for name, table, indexes in rows}
    index = int(_one(db, f"SELECT pg_relation_size('forgetting_lab.node_vector_half_{tenant}_{given.dim}')"))
    total = index + sum(sum(part.values()) for part in parts.values())
    return {"tables": parts, "vector_index": index, "total": total, "a_node": round(total / given.nodes)}


def _remove(db: Connection, tenant: int, dim: int) -> None:
    db.execute(f"DROP INDEX IF EXISTS forgetting_lab.node_vector_half_{tenant}_{dim}".encode())
    for (table,) in db.execute(_TABLES).fetchall():
        db.execute(f"DELETE FROM forgetting_lab.{table} WHERE tenant = $1".encode(), (tenant,))


def _one(db: Connection, sql: str) -> Any:
    row = db.execute(sql.encode()).fetchone()
    assert row is not None
    return row[0]


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return round(time.perf_counter() - started, 4)


def _timed(acts: list[Callable[[], Any]]) -> tuple[list[Any], list[float]]:
    found, taken = [], []
    for act in acts:
        started = time.perf_counter()
        found.append(act())
        taken.append(1000 * (time.perf_counter() - started))
    return found, taken


def _spread(ms: list[float]) -> Row:
    return {"p50": round(float(np.median(ms)), 2), "p95": round(float(np.percentile(ms, 95)), 2), "n": len(ms)}


_TABLES = """
    SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'tenant'
    WHERE relnamespace = 'forgetting_lab'::regnamespace AND relkind = 'r' ORDER BY relname"""
_SIZES = """
    SELECT relname, pg_table_size(oid), pg_indexes_size(oid) - coalesce((
        SELECT pg_relation_size(indexrelid) FROM pg_index JOIN pg_class AS one ON one.oid = indexrelid
        WHERE indrelid = pg_class.oid AND one.relname = $1), 0)
    FROM pg_class WHERE relnamespace = 'forgetting_lab'::regnamespace AND relkind = 'r' AND reltuples > 0
    ORDER BY pg_table_size(oid) DESC"""
