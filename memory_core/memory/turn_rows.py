"""The rows one turn adds: what was said of what, where it stands in the turn, who was met again, what was changed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory_core.errors import InputError
from memory_core.memory.reports import TurnReport, pack_report
from memory_core.schema import Extraction, FoundNode, Turn
from memory_core.store.contract import Store
from memory_core.store.rows import RowChange, Value, insert, pack


@dataclass
class Counters:
    """The next number of each kind of row. Numbers are never used twice, so a change can name a row not yet made."""

    node: int = 1
    edge: int = 1
    change: int = 1
    access: int = 1
    value_history: int = 1
    extraction: int = 1
    question: int = 1
    pair: int = 1

    @classmethod
    def of(cls, store: Store) -> Counters:
        """As they stand in a store."""
        return cls(**json.loads(store.meta("counters", "{}")))

    def take(self, kind: str) -> int:
        """The next number of `kind`."""
        number: int = getattr(self, kind)
        setattr(self, kind, number + 1)
        return number


@dataclass
class TurnRows:
    """Makes the rows of one turn; `number` is its place among all turns, from 1."""

    counters: Counters
    turn: Turn
    extraction: Extraction
    number: int

    def node_row(self, node_id: str, found: FoundNode) -> dict[str, Value]:
        """A found node as a row."""
        return {
            "id": node_id, "label": found.label, "title": found.title, "content": found.content,
            "attributes": dump(found.attributes), "created": self.turn.at.timestamp(), "turns_at_creation": self.number,
            "pinned": 0, "forgotten_by": None,
        }  # fmt: skip

    def statements(self, item: str, found: FoundNode) -> list[RowChange]:
        """Every value the turn gives to the fields of a node."""
        values = {"content": found.content} | {f"attributes.{key}": value for key, value in found.attributes.items()}
        return [self.statement(item, field, value) for field, value in values.items() if value != ""]

    def statement(self, item: str, field: str, value: object) -> RowChange:
        """One value of the history."""
        return insert(
            "value_history", id=self.counters.take("value_history"), item=item, field=field,
            value=as_json(value), turn=self.turn.id, at=self.turn.at.timestamp(),
        )  # fmt: skip

    def access(self, node_id: str) -> RowChange:
        """A stored node was met again."""
        number = self.counters.take("access")
        return insert("access", id=number, node=node_id, at=self.turn.at.timestamp(), turn=self.number, kind="merge")

    def citation(self, item: str, span: tuple[int, int] | None) -> RowChange:
        """Where in the turn a node or edge was read."""
        start, stop = span or (None, None)
        return insert("provenance", item=item, turn=self.turn.id, start=start, stop=stop)

    def change_row(self, kind: str, by: str, summary: object, rows: Sequence[RowChange]) -> RowChange:
        """A row of `change` that undo can replay."""
        number = self.counters.take("change")
        return insert(
            "change", id=f"c{number}", number=number, at=self.turn.at.timestamp(), kind=kind, made_by=by,
            state="applied", summary=json.dumps(summary, ensure_ascii=False), rows=pack(rows),
        )  # fmt: skip

    def extraction_row(self, report: TurnReport) -> RowChange:
        """The attempt, whatever came of it."""
        made = self.extraction
        return insert(
            "extraction", id=self.counters.take("extraction"), turn=self.turn.id, at=self.turn.at.timestamp(),
            status=made.status, reason=made.reason, report=pack_report(report), raw=zlib.compress(made.raw.encode()),
            extractor=made.extractor, model=made.model, prompt_version=made.prompt_version, seconds=made.seconds,
            tokens_in=made.tokens_in, tokens_out=made.tokens_out,
        )  # fmt: skip


def turn_row(turn: Turn) -> RowChange:
    """A turn as a row."""
    return insert(
        "turn", position=turn.position, id=turn.id, source_id=turn.source_id, session=turn.session, role=turn.role,
        speaker=turn.speaker, text=turn.text, at=turn.at.timestamp(), forgotten_by=None,
    )  # fmt: skip


def dump(attributes: Mapping[str, object]) -> str:
    """Attributes as stored: JSON with sorted keys. Raises InputError for a value that JSON cannot hold."""
    return as_json(dict(attributes))


def as_json(value: object) -> str:
    """A value as JSON text, numbers of numpy as plain ones. Raises InputError for NaN, infinity and other objects.

    >>> dump({"mm": np.float32(50), "colour": "red"})
    '{"colour": "red", "mm": 50.0}'
    """
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        what = str(value)[:80]
        raise InputError(f"{what} cannot be stored: an attribute is a text, a number, or true or false.") from error


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(type(value).__name__)
