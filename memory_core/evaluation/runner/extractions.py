"""What a model read from each turn, kept on disk: a turn is paid for once, however many memories it goes into."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path

from memory_core.errors import ProviderError
from memory_core.protocols import Extractor
from memory_core.schema import FAILED_STATUSES, Drop, Extraction, FoundEdge, FoundNode, Turn

#: Failures one after another that mean the server is gone, not that one turn is odd.
PATIENCE = 10


@dataclass
class KeptExtractor:
    """An extractor whose extractions are kept in `path`; failed ones are not, so that the next run tries again.

    Entities of a question are kept for the life of the object: graph and hybrid retrieval ask for the same.
    """

    extractor: Extractor
    path: Path
    _entities: dict[str, list[str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(self.path, check_same_thread=False, timeout=30)
        self._file.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, extraction TEXT)")

    @property
    def id(self) -> str:
        """The extractor's own."""
        return self.extractor.id

    def extract(self, turn: Turn) -> Extraction:
        """The kept extraction, else a new one."""
        return self._kept(turn) or self._made(turn)

    def entities(self, question: str) -> list[str]:
        """The extractor's, asked once a question. Raises ProviderError, Cancelled."""
        if question not in self._entities:
            self._entities[question] = self.extractor.entities(question)
        return self._entities[question]

    def missing(self, turns: Iterable[Turn]) -> list[Turn]:
        """The turns nothing is kept of, each once."""
        once = {self._key(turn): turn for turn in turns}
        return [turn for turn in once.values() if self._kept(turn) is None]

    def fill(self, turns: Iterable[Turn], parallel: int, advance: Callable[[str], None]) -> None:
        """Extract what is missing, `parallel` turns at a time; `advance` may raise to stop.

        Raises ProviderError when so many turns in a row fail that the server must be gone.
        """
        failed = 0
        with ThreadPoolExecutor(parallel, "extraction") as pool:
            waiting = [pool.submit(self._made, turn) for turn in self.missing(turns)]
            try:
                for done in as_completed(waiting):
                    found = done.result()
                    failed = failed + 1 if found.status == "failed" else 0
                    if failed >= PATIENCE:
                        raise ProviderError(f"{failed} turns in a row could not be read: {found.reason}")
                    advance("")
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _made(self, turn: Turn) -> Extraction:
        found = self.extractor.extract(turn)
        if found.status not in FAILED_STATUSES:
            with self._lock, self._file:
                text = json.dumps(asdict(found), ensure_ascii=False)
                self._file.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (self._key(turn), text))
        return found

    def _kept(self, turn: Turn) -> Extraction | None:
        with self._lock:
            row = self._file.execute("SELECT extraction FROM kept WHERE key = ?", (self._key(turn),)).fetchone()
        return _extraction(json.loads(row[0])) if row else None

    def _key(self, turn: Turn) -> str:
        made = (self.extractor.id, turn.role, turn.speaker, turn.at.isoformat(), turn.text)
        return hashlib.sha256("\x1f".join(made).encode(errors="replace")).hexdigest()


def _extraction(kept: dict[str, object]) -> Extraction:
    values: dict[str, object] = dict(kept)
    for name, kind in (("nodes", FoundNode), ("edges", FoundEdge), ("drops", Drop)):
        values[name] = tuple(_part(kind, row) for row in values[name])  # type: ignore[attr-defined]
    values["repairs"] = tuple(values["repairs"])  # type: ignore[arg-type]
    return Extraction(**values)  # type: ignore[arg-type]


def _part(kind: type, row: dict[str, object]) -> object:
    span = row.get("span")
    return kind(**(row | {"span": tuple(span)} if isinstance(span, list) else row))
