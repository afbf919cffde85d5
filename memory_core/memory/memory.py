"""`Memory`: the one object pages and commands hold. It remembers turns, answers questions, forgets when told to."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from memory_core.errors import EmbedderMismatchError, ForgettingLabError, InputError, KnownTurnError
from memory_core.extraction import checked, timed
from memory_core.graph import Graph
from memory_core.graph.loading import ACCESSES, EDGE_COLUMNS, NODES, no_collecting
from memory_core.graph.scan import Near
from memory_core.memory.asking import Asking
from memory_core.memory.checks import check_embedder, check_turn, moment_given
from memory_core.memory.following import newer
from memory_core.memory.outside import EmbedderOutside, Outside
from memory_core.memory.reports import TurnReport
from memory_core.memory.rereading import Rereading
from memory_core.memory.turn_rows import Counters, turn_row
from memory_core.memory.turns import moment
from memory_core.memory.writing import TurnWriter
from memory_core.protocols import Embedder, Extractor, Floats, Reader
from memory_core.schema import Extraction, Turn
from memory_core.settings import Settings
from memory_core.store.address import Address
from memory_core.store.contract import StaleRevisionError, Store
from memory_core.store.opening import open_store
from memory_core.store.rows import RowChange, insert

DEFAULT_PATH = Path("data/memory.sqlite3")
Result = TypeVar("Result")


class Memory(Rereading, Asking):
    """A long-term memory: turns, the graph read from them, and what was asked.

    Any thread may call it; writes happen one at a time. Another process may write the same file: its commits are seen
    before the next read or write.

    >>> from memory_core import Memory
    >>> memory = Memory.open(":memory:")
    >>> report = memory.say("My sister Mira lives in Porto.", at="2024-05-01T10:00:00Z")
    >>> "Porto" in memory.ask("Where does my sister live?").answer.text
    True
    >>> memory.close()
    """

    def __init__(self, store: Store, embedder: Embedder, extractor: Extractor, reader: Reader) -> None:
        self.store = store
        self.embedder = embedder
        self.extractor = extractor
        self.reader = reader
        self.lock = threading.RLock()
        self.outside = Outside(self.lock)
        self._since: int | None = None  # the revision that a write in the making started from
        self._load()
        self.rewrite_when_due()

    @classmethod
    def open(
        cls,
        path: str | Path | Address | None = None,
        *,
        create: bool = True,
        embedder: Embedder | None = None,
        extractor: Extractor | None = None,
        reader: Reader | None = None,
        user: str | None = None,
    ) -> Memory:
        """Open a memory file, made when missing if `create` is set; `:memory:` gives one that is gone when closed.

        `path` defaults to $FORGETTING_LAB_MEMORY, else `data/memory.sqlite3`; parts default to the embedded ones.
        The address of a memory on a server, `postgresql://…?memory=NAME`, is opened as `user`.
        Raises MemoryFileError, EmbedderMismatchError, ModelFileError.
        """
        from memory_core.parts import default_embedder, default_extractor, default_reader

        where = path or os.environ.get("FORGETTING_LAB_MEMORY") or DEFAULT_PATH
        store = open_store(where, create=create, user=user)
        try:
            embedder = embedder or default_embedder(store.meta("embedder"), int(store.meta("dim", "0")))
            return cls(store, embedder, extractor or default_extractor(), reader or default_reader(embedder))
        except BaseException:
            store.close()
            raise

    def _load(self) -> None:
        with self.lock, self.store.snapshot():
            check_embedder(self.store, self.embedder)
            graph = Graph(self.embedder.dim)
            with no_collecting():
                graph.load(
                    self.store.query(NODES),
                    self.store.texts("edge", EDGE_COLUMNS),
                    self.store.query(ACCESSES),
                    self.store.batches("SELECT node, vector FROM node_vector"),
                )
            turns, clock = self.store.query("SELECT coalesce(max(position) + 1, 0), max(at) FROM turn")[0]
            ever = int(self.store.meta("turns", "0"))  # a purge may have removed the last turn: places are never reused
            graph.turns, graph.clock = max(int(turns), ever), clock
            self._take_over(graph, ())
            self._made: dict[str, tuple[int, object]] = {}

    def _catch_up(self) -> None:
        """Follow what another process committed; load all only where rows went or moved."""
        with self.lock, self.store.snapshot():
            if self.store.lists_newer(self._revision):
                check_embedder(self.store, self.embedder)
                self._take_over(self.graph, newer(self.store, self.graph, self._revision))
            else:
                self._load()

    def _take_over(self, graph: Graph, changes: Sequence[RowChange]) -> None:
        """All is read first: when the store fails, what is in RAM stays as it was."""
        settings = Settings.from_json(self.store.meta("settings", "{}"))
        counters, revision = Counters.of(self.store), self.store.revision()
        graph.apply(changes)
        graph.search.mode = settings.search
        self.graph, self.settings, self.counters, self._revision = graph, settings, counters, revision

    @property
    def revision(self) -> int:
        """Number of commits this object has seen; follows first what another process wrote."""
        with self.lock:
            if self.store.revision() != self._revision:
                self._catch_up()
            return self._revision

    @property
    def clock(self) -> datetime | None:
        """The memory clock: the greatest `at` of the turns stored, None when there are none."""
        return None if self.graph.clock is None else moment(self.graph.clock)

    def commit(self, changes: Sequence[RowChange], *, reload: bool = False) -> None:
        """Store row changes in one transaction and let the graph follow; all or nothing.

        Raises MemoryFileError; StaleRevisionError when another process wrote since the changes were made.
        """
        with self.lock:
            if self._since not in (None, self._revision):
                raise StaleRevisionError  # a look at the memory has followed another process since the write began
            meta = [insert("meta", key="counters", value=json.dumps(asdict(self.counters)))]
            if not self.store.meta("embedder"):
                meta += [
                    insert("meta", key="embedder", value=self.embedder.id),
                    insert("meta", key="dim", value=str(self.embedder.dim)),
                ]
            self._revision = self.store.commit([*changes, *meta], self._revision, whole=reload)
            self._since = None if self._since is None else self._revision
            if reload:
                self._load()
            else:
                self.graph.apply(changes)

    def retrying(self, make: Callable[[], Result]) -> Result:
        """Run a write; when another process committed meanwhile, look again and redo it.

        Others may read and write while an embedder is asked; the write then starts anew from what they left.
        """
        return self.outside.run(lambda: self._retried(make))

    def _retried(self, make: Callable[[], Result]) -> Result:
        for attempt in range(20):
            with self.store.in_turn() if attempt else nullcontext():
                outer, self._since = self._since, self.revision
                began, saved = self._since, replace(self.counters)
                try:
                    return make()
                except BaseException as error:
                    self.counters = saved if self._revision == began else Counters.of(self.store)
                    if not isinstance(error, StaleRevisionError):
                        raise
                finally:
                    self._since = None if outer is None else self._revision
        raise ForgettingLabError(f"{self.store.place} is written by another program without pause: try again later.")

    # -- remembering -----------------------------------------------------------------------------------------------

    def say(
        self, text: str, *, at: datetime | str, role: str = "user", speaker: str = "", session: str = ""
    ) -> TurnReport:
        """Remember one turn given as text; `at` is ISO 8601 or a datetime (naive is UTC). Raises InputError."""
        name = speaker or ("User" if role == "user" else "Assistant")
        return self.add(Turn("assistant" if role == "assistant" else "user", text, moment_given(at), name, session))

    def add(self, turn: Turn) -> TurnReport:
        """Extract and remember one turn.

        Raises InputError for a turn that cannot be stored. A failed extraction or embedding does not lose the turn: it
        is stored, counted and can be retried.
        """
        if not turn.text.strip():
            raise InputError("The turn is empty: write something to remember.")
        turn = check_turn(turn)
        return self.remember(turn, timed(self.extractor, turn))

    def remember(self, turn: Turn, extraction: Extraction) -> TurnReport:
        """Store a turn with what was read from it, in one transaction; a transcript's blank turn is kept as it stands.

        Raises KnownTurnError when the turn of that session and source id is stored already.
        """
        turn = check_turn(turn)
        kept = checked(extraction, turn, self.settings.on_invalid)
        report = self.retrying(lambda: self._remember(turn, kept))
        self.forget_when_due(report.turn)
        return report

    def _remember(self, turn: Turn, extraction: Extraction) -> TurnReport:
        if turn.source_id and self.holds(turn):
            raise KnownTurnError(f"Turn {turn.source_id} of session {turn.session!r} is in the memory already.")
        position = self.graph.turns
        turn = replace(turn, position=position, id=f"t{position + 1}", source_id=turn.source_id or f"t{position + 1}")
        report, changes = self._written(turn, extraction)
        self.commit([turn_row(turn), *changes])
        return report

    def _written(self, turn: Turn, extraction: Extraction) -> tuple[TurnReport, list[RowChange]]:
        saved = replace(self.counters)
        try:
            return self._write(turn, extraction)
        except ForgettingLabError as error:
            if isinstance(error, EmbedderMismatchError):
                raise
            self.counters = saved  # the turn is kept: what was read from it could not be embedded
            return self._write(turn, replace(extraction, status="failed", nodes=(), edges=(), reason=str(error)))

    def _write(self, turn: Turn, extraction: Extraction) -> tuple[TurnReport, list[RowChange]]:
        number = turn.position + 1
        embedder = EmbedderOutside(self.embedder, self.outside)
        writer = TurnWriter(
            self.counters, turn, extraction, number, self.graph, self.store, embedder, self.settings, self._above
        )
        return writer.write(), writer.changes

    def _above(self, vectors: Floats, threshold: float) -> list[Near]:
        key = ("above", self._revision, threshold, vectors.tobytes())
        return self.outside.once(key, lambda: self.graph.above(vectors, threshold))

    def retry(self, turn_id: str, extractor: Extractor | None = None) -> TurnReport:
        """Extract again a turn whose last extraction failed, with the memory's extractor unless another is given.

        Raises InputError when there is nothing to retry."""
        self._check_failed(turn_id)
        return self.store_retry(turn_id, timed(extractor or self.extractor, self.turn(turn_id)))

    def store_retry(self, turn_id: str, extraction: Extraction) -> TurnReport:
        """Store a further extraction of a turn whose last one failed. Raises InputError when it did not."""
        turn = self.turn(turn_id)
        kept = checked(extraction, turn, self.settings.on_invalid)
        return self.retrying(lambda: self._rewrite(turn, kept))

    def _check_failed(self, turn_id: str) -> None:
        if not self.failed(turn_id):
            raise InputError(f"Turn {turn_id} was read already; only failed extractions can be retried.")

    def _rewrite(self, turn: Turn, extraction: Extraction) -> TurnReport:
        self._check_failed(turn.id)
        report, changes = self._written(turn, extraction)
        self.commit(changes)
        return report

    def change_settings(self, settings: Settings) -> None:
        """Save parameters with the memory."""
        self.retrying(lambda: self.commit([insert("meta", key="settings", value=settings.to_json())]))
        self.settings = settings
        self.graph.search.mode = settings.search

    def adopt(self, embedder: Embedder) -> None:
        """Go on with the embedder that the file now names. Raises EmbedderMismatchError when it names another."""
        from memory_core.parts import default_reader

        with self.lock:
            self.embedder = embedder
            if hasattr(self.reader, "embedder"):
                self.reader = default_reader(embedder)
            self._load()

    # -- the object itself -----------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the file."""
        self.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
