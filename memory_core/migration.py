"""A memory from a file to a server, or back, or between two of either: stopped anywhere, the same call goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_core.embedders.absent import Absent
from memory_core.errors import InputError, MemoryFileError
from memory_core.exporters import to_document, to_json
from memory_core.memory import Memory
from memory_core.migration_targets import Target, identity, target_at
from memory_core.parts import default_embedder, default_extractor, default_reader
from memory_core.progress import Meter
from memory_core.store.contract import Store
from memory_core.store.opening import open_store
from memory_core.store.transfer import MARK, counts, digest, finish, transfer

_HOLDS = ("turn", "node", "edge", "question", "change")  # a memory with no row in them is empty


class _UnequalError(MemoryFileError):
    """Some row of a copy is not as in the source."""


@dataclass(frozen=True)
class Migrated:
    """`rows` by table; `already` of them stood there from a call that was stopped; `export` is the SHA-256 of both
    exports, and `equal` says that every row of both memories is the same, forgotten ones and vectors too."""

    source: str
    target: str
    rows: dict[str, int]
    already: int
    equal: bool
    export: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """As `python -m memory_core migrate --json` prints it."""
        return asdict(self)


def migrate(source: str | Path, target: str | Path, user: str | None = None) -> Migrated:
    """Copy a memory with all its history. The source is only read; the target appears when it is whole and equal.

    Raises InputError for a target that holds something, MemoryFileError for what cannot be read or written; the same
    call then goes on where it was.
    """
    began = time.monotonic()
    if identity(source, user) == identity(target, user):
        raise InputError("Source and target are the same memory: give another target.")
    with closing(open_store(source, create=False, user=user, read_only=True)) as kept, kept.snapshot():
        place = target_at(target, user)
        _check_free(place)
        rows = counts(kept)
        with Meter("rows copied and compared", 3 * sum(rows.values())) as meter:
            origin = json.dumps([identity(source, user), kept.revision(), rows])
            with _half(place, origin) as half:
                already = sum(counts(half).values())
                _advance(meter, already)
                transfer(kept, half, origin, lambda count: _advance(meter, count))
                made = _compared(kept, half, meter)
                _check_free(place)  # somebody may have come there meanwhile
                finish(half)
        place.appear(kept.revision())
    return Migrated(kept.place, place.place, rows, already, True, made, round(time.monotonic() - began, 2))


def _check_free(place: Target) -> None:
    there = place.there()
    if there is None:
        return
    with closing(there):
        if any(there.query(f"SELECT 1 FROM {table} LIMIT 1") for table in _HOLDS):
            raise InputError(f"{place.place} holds a memory already: give another name, or delete that one first.")


@contextmanager
def _half(place: Target, origin: str) -> Iterator[Store]:
    """The copy that is being made: of this source as it is now, or a new one."""
    half = place.half()
    marked = half.meta(MARK)
    if (json.loads(marked)["origin"] if marked else None) != origin and sum(counts(half).values()):
        half.close()
        place.discard()
        half = place.half()
    try:
        with closing(half):
            yield half
    except _UnequalError:
        place.discard()  # what went wrong once would be found again, for ever
        raise


def _compared(a: Store, b: Store, meter: Meter) -> str:
    """The SHA-256 of the export of both. Raises _UnequalError when a row or the exports differ."""
    rows = [digest(store, lambda count: _advance(meter, count)) for store in (a, b)]
    exports = [_export(store) for store in (a, b)]
    if rows[0] != rows[1] or exports[0] != exports[1]:
        raise _UnequalError(f"The copy of {a.place} is not equal to it, so it was not put in place: migrate it again.")
    return exports[0]


def _export(store: Store) -> str:
    stored = store.meta("embedder") or default_embedder().id
    embedder = Absent(stored, int(store.meta("dim", "0")) or default_embedder().dim, "nothing is embedded")
    memory = Memory(store, embedder, default_extractor(), default_reader(embedder))
    return sha256(to_json(to_document(memory)).encode()).hexdigest()


def _advance(meter: Meter, count: int) -> None:
    meter.at(meter.done + count, meter.total)
