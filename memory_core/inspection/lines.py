"""Every turn of a memory in one line: what its last extraction came to. To be counted, filtered and walked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_core.memory import Memory
from memory_core.memory.reports import unpack_report
from memory_core.memory.turns import moment
from memory_core.schema import FAILED_STATUSES

UNREAD = "unread"  # a turn that came without its extraction, as from another memory's export
#: Statuses in the order of a page: good, nothing said, failed.
STATUSES = ("ok", "repaired", "empty", "rejected", "truncated", "refused", "failed", UNREAD)
_EXCERPT = 200

_LINES = f"""
    SELECT turn.id, source_id, session, speaker, role, turn.at, substr(text, 1, {_EXCERPT}), length(text),
           coalesce(status, '{UNREAD}'), coalesce(reason, ''), coalesce(extractor, ''), coalesce(model, ''),
           coalesce(prompt_version, ''), coalesce(seconds, 0), coalesce(tokens_in, 0), coalesce(tokens_out, 0),
           (SELECT count(*) FROM extraction WHERE extraction.turn = turn.id), report
    FROM turn LEFT JOIN extraction AS made
    ON made.id = (SELECT max(id) FROM extraction WHERE extraction.turn = turn.id)
    WHERE forgotten_by IS NULL
    AND (position > ? OR turn.id IN (SELECT turn FROM extraction WHERE id > ?)) ORDER BY position"""


@dataclass(frozen=True)
class TurnLine:
    """A turn and its last extraction: who read it, what came of it in counts, what it took."""

    id: str
    source_id: str
    session: str
    speaker: str
    role: str
    at: datetime
    excerpt: str
    length: int  # characters of the whole turn
    status: str
    reason: str
    extractor: str
    model: str
    prompt_version: str
    seconds: float
    tokens_in: int
    tokens_out: int
    attempts: int
    added: int
    merged: int
    edges: int
    drops: tuple[str, ...]  # a reason each
    repairs: int
    held: int

    @property
    def failed(self) -> bool:
        """Whether the model said nothing usable, so that the turn can be tried again."""
        return self.status in FAILED_STATUSES

    @property
    def by(self) -> str:
        """Who read it: extractor, or model and prompt version."""
        return f"{self.model} {self.prompt_version}" if self.prompt_version else self.extractor


@dataclass(frozen=True)
class _Lines:
    """The lines of all live turns by id, and what of the memory they were made from."""

    lines: dict[str, TurnLine]
    last_turn: int = -1  # position
    last_extraction: int = -1
    moved: int = 0  # turns forgotten or back, so far


def turn_lines(memory: Memory) -> list[TurnLine]:
    """A line for each live turn, in order; made once a revision, of turns said or read since."""
    return list(memory.grown("turn lines", lambda known: _grown(memory, known)).lines.values())


def _grown(memory: Memory, known: _Lines | None) -> _Lines:
    moved = memory.graph.turns_moved
    if known is None or known.moved != moved:
        known = _Lines({})
    found = [_line(*row) for row in memory.store.query(_LINES, known.last_turn, known.last_extraction)]
    newest = memory.store.query("SELECT coalesce(max(id), -1) FROM extraction")[0][0]
    return _Lines(known.lines | {line.id: line for line in found}, memory.graph.turns - 1, int(newest), moved)


def _line(*values: Any) -> TurnLine:
    *row, blob = values
    row[5] = moment(row[5])
    row += _counts(blob) if blob is not None else _UNREAD
    return TurnLine(*row)


_UNREAD = (0, 0, 0, (), 0, 0)


def _counts(blob: bytes) -> tuple[int, int, int, tuple[str, ...], int, int]:
    """Added, merged, edges, reasons of drops, repairs, held back."""
    report: Any = unpack_report(blob)
    nodes = report["nodes"]
    added = sum(node["how"] == "new" for node in nodes)
    drops = tuple(str(drop["reason"]) for drop in report["drops"])
    held = sum(len(node["held"]) for node in nodes)
    return added, len(nodes) - added, len(report["edges"]), drops, len(report["repairs"]), held


def statuses(lines: Sequence[TurnLine]) -> dict[str, int]:
    """How many turns have each status, in the order of STATUSES, those that occur."""
    counts = Counter(line.status for line in lines)
    return {status: counts[status] for status in STATUSES if counts[status]}


def filtered(
    lines: Sequence[TurnLine], *, status: Collection[str] = (), by: str = "", words: str = "", only: str = ""
) -> list[TurnLine]:
    """The lines that fit: any of the statuses (none given: all), read `by`, with `words` in excerpt, name or reasons,
    and `only` those with "drops", "repairs", "held back", "merges" or "nothing stored"."""
    sought = words.casefold().strip()
    return [
        line
        for line in lines
        if (not status or line.status in status) and (not by or line.by == by)
        and (not sought or sought in _text(line)) and (not only or ONLY[only](line))
    ]  # fmt: skip


ONLY: dict[str, Callable[[TurnLine], bool]] = {
    "drops": lambda line: bool(line.drops),
    "repairs": lambda line: line.repairs > 0,
    "held back": lambda line: line.held > 0,
    "merges": lambda line: line.merged > 0,
    "nothing stored": lambda line: not (line.added or line.merged or line.edges),
}


def _text(line: TurnLine) -> str:
    return " ".join((line.excerpt, line.source_id, line.speaker, line.reason, *line.drops)).casefold()
