"""`InDatabase`: a memory on a server that is asked and cut there, for memories past the RAM of one process."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, cast

from memory_core.errors import InputError, StalePlanError
from memory_core.forgetting.cuts import Cut
from memory_core.forgetting.forgetting import STALE
from memory_core.in_database.plans import ServerPlan, ServerPlanning, asked
from memory_core.in_database.retrieving import ServerSearch
from memory_core.in_database.scores import scored
from memory_core.memory.asking import Asked
from memory_core.memory.checks import check_embedder, check_question
from memory_core.memory.memory import DEFAULT_PATH
from memory_core.memory.turn_rows import Counters
from memory_core.memory.turns import read_turns
from memory_core.protocols import Embedder, Extractor, Policy, Reader, Retrieval
from memory_core.retrievers.graph import GraphRetriever
from memory_core.schema import Turn, utc
from memory_core.settings import Settings
from memory_core.store.address import Address, is_address
from memory_core.store.contract import StaleRevisionError
from memory_core.store.opening import open_store
from memory_core.store.rows import insert, pack, update

if TYPE_CHECKING:
    from memory_core.store.postgres import PostgresStore

_LINKS = 500  # bytes of a node's links in the index, measured
_MOST_ROOM = 16_384  # MB


class InDatabase:
    """What of a memory its server can do by itself: ask it by the graph retriever, plan a pass, apply it.

    This process holds neither the vectors nor the graph, only what is returned. What it does is seen by every other
    process that has the memory open, and `Memory.undo` takes its passes back.
    """

    def __init__(
        self, store: PostgresStore, embedder: Embedder, extractor: Extractor, reader: Reader, *, exact: bool = False
    ) -> None:
        """With `exact` every vector is looked at instead of the index. Raises EmbedderMismatchError."""
        check_embedder(store, embedder)
        self.store = store
        self.embedder = embedder
        self.extractor = extractor
        self.reader = reader
        self.exact = exact
        self.settings = Settings.from_json(store.meta("settings", "{}"))

    @classmethod
    def open(cls, where: str | Path | Address | None = None, *, user: str | None = None) -> InDatabase:
        """The memory at a server's address ($FORGETTING_LAB_MEMORY without one), as `user`, with the default parts.

        Raises InputError for a file, MemoryFileError, ModelFileError.
        """
        from memory_core.parts import default_embedder, default_extractor, default_reader

        given = where or os.environ.get("FORGETTING_LAB_MEMORY") or DEFAULT_PATH
        if not isinstance(given, Address) and not is_address(given):
            raise InputError(f"{given} is a file: --in-database is for a memory at postgresql://…?memory=NAME.")
        store = cast("PostgresStore", open_store(given, create=False, user=user))
        try:
            embedder = default_embedder(store.meta("embedder"), int(store.meta("dim", "0")))
            return cls(store, embedder, default_extractor(), default_reader(embedder))
        except BaseException:
            store.close()
            raise

    def index(self) -> bool:
        """Make the index over this memory's vectors; whether it was missing. Minutes for a large memory, in which other
        writers of vectors wait."""
        nodes = int(self.store.query("SELECT count(*) FROM node_vector")[0][0])
        room = nodes * (2 * self.embedder.dim + _LINKS) // 2**20 + 64  # it is built in RAM, or ten times slower
        self.store.query("SELECT set_config('maintenance_work_mem', ?, false)", f"{min(room, _MOST_ROOM)}MB")
        return bool(self.store.query("SELECT index_vectors(?)", self.embedder.dim)[0][0])

    # -- asking ----------------------------------------------------------------------------------------------------

    def retrieve(self, question: str, retriever: GraphRetriever | None = None) -> Retrieval:
        """What `Memory.retrieve` gives with the graph retriever; changes nothing. Raises InputError,
        EmbedderMismatchError."""
        question = check_question(question)
        part = retriever or GraphRetriever.of(self.settings)
        search = ServerSearch(self.store, self.embedder, self.exact)
        return search.retrieve(part, question, self.extractor.entities(question))

    def ask(self, question: str, retriever: GraphRetriever | None = None) -> Asked:
        """Retrieve and answer; changes nothing. Raises InputError, EmbedderMismatchError."""
        retrieval = self.retrieve(question, retriever)
        turns = self.turns([turn.id for turn in retrieval.turns])
        return Asked(retrieval.question, retrieval, self.reader.answer(retrieval.question, retrieval, turns))

    def turns(self, ids: Sequence[str]) -> list[Turn]:
        """Stored turns in the order asked; unknown ids are left out."""
        return read_turns(self.store, ids)

    def titles(self, ids: Sequence[str]) -> dict[str, str]:
        """Titles of nodes by id."""
        return dict(self.store.query_in("SELECT id, title FROM node WHERE id IN ({})", list(ids)))

    # -- forgetting ------------------------------------------------------------------------------------------------

    def plan(
        self, policy: Policy, *, threshold: float | None = None, keep: int | None = None,
        at: datetime | str | None = None, turn: int | None = None,
    ) -> ServerPlan:  # fmt: skip
        """`plan_forgetting` for importance and budgeted, cut by `threshold` or `keep`. Raises InputError."""
        cut = Cut.of(threshold, keep, None, selected=False)
        with self.store.snapshot():
            return ServerPlanning(self.store, self.embedder).plan(policy, cut, at, turn)

    def scores(self, policy: Policy, at: datetime | str, turn: int) -> list[tuple[str, float]]:
        """(id, score) of every live node, oldest first. Raises InputError."""
        sql = f"WITH {scored(policy, utc(at).timestamp(), turn)} SELECT id, score FROM scored ORDER BY rowid"
        return [(str(node), float(score)) for node, score in self.store.query(sql, *asked(self.store, policy))]

    def apply(self, plan: ServerPlan, *, at: datetime | str | None = None, by: str = "user") -> str:
        """Forget exactly what the plan shows, in one transaction; returns the id of the pass.

        Raises StalePlanError when the memory changed since, or the plan was made for another memory.
        """
        if (plan.place, plan.revision) != (self.store.place, self.store.revision()):
            raise StalePlanError(STALE)
        counters = Counters.of(self.store)
        number = counters.take("change")
        pass_id = f"c{number}"
        marks = [
            update(table, item, {"forgotten_by": None}, {"forgotten_by": pass_id})
            for table, items in (("node", plan.forgotten), ("edge", plan.edges))
            for item in items
        ]
        change = insert(
            "change", id=pass_id, number=number, at=(utc(at) if at else plan.at).timestamp(), kind="forget", made_by=by,
            state="applied", summary=json.dumps(plan.summary(), ensure_ascii=False), rows=pack(marks),
        )  # fmt: skip
        kept = insert("meta", key="counters", value=json.dumps(asdict(counters)))
        try:
            self.store.commit([*marks, change, kept], plan.revision)
        except StaleRevisionError:
            raise StalePlanError(STALE) from None
        return pass_id

    # -- the object itself -----------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the connection."""
        self.store.close()

    def __enter__(self) -> InDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
