"""Texts and attribute values that every store and file format can hold, and the report of what was changed for it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from memory_core.schema import Drop, Scalar

_MAX_DROPS = 200  # a reply of 1 MB can hold tens of thousands of bad items; the page and the store need not
_MAX_KEY = 100
_MAX_DEPTH = 8
#: What XML and SQLite cannot hold: control characters other than tab, newline, return; lone surrogates; U+FFFE/F.
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass
class Report:
    """What was dropped and what was mended, while it happens."""

    kept_drops: list[Drop] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    beyond: int = 0

    def drop(self, kind: Literal["node", "edge", "attribute", "reply"], item: str, reason: str) -> None:
        if len(self.kept_drops) < _MAX_DROPS:
            self.kept_drops.append(Drop(kind, item, f"{item}: {reason}"))
        else:
            self.beyond += 1

    def mend(self, item: str, what: str) -> None:
        if len(self.repairs) < _MAX_DROPS:
            self.repairs.append(f"{item}: {what}")

    @property
    def drops(self) -> tuple[Drop, ...]:
        if not self.beyond:
            return tuple(self.kept_drops)
        more = f"{self.beyond} more items"
        return (*self.kept_drops, Drop("reply", more, f"{more} dropped; the reply shows them"))


def clean(text: str, what: str, report: Report) -> str:
    """`text` without the characters no file format carries; what is left is kept to the letter."""
    kept = _UNSTORABLE.sub("", text)
    if kept != text:
        report.mend(what, "control characters taken out")
    return kept


def cut(text: str, most: int, what: str, name: str, report: Report) -> str:
    """`text`, at most `most` characters long."""
    if len(text) <= most:
        return text
    report.mend(what, f"{name} cut from {len(text)} to {most} characters")
    return text[:most].rstrip()


def flat_attributes(given: object, what: str, report: Report, most: int, longest: int) -> dict[str, Scalar]:
    """Attributes as one level of scalars: `{"address": {"city": "Lund"}}` gives `address.city`; lists become JSON text.

    Empty and null values hold nothing and are left out without a word; NaN, infinity and nameless values are reported.
    """
    flat: dict[str, Scalar] = {}
    for key, value in _leaves(_pairs(given, what, report), "", 0):
        name = cut(clean(key, what, report).strip(), _MAX_KEY, what, "attribute name", report)
        scalar = _scalar(value, f"{what}, {name}", report, longest)
        if scalar is None or scalar == "":
            continue
        if not name or name in flat:
            report.drop("attribute", f"{what}, {name or '(no name)'}", "given twice" if name else "has no name")
        elif len(flat) == most:
            report.drop("attribute", f"{what}, {name}", f"an item may hold {most} attributes")
        else:
            flat[name] = scalar
    return flat


def _pairs(given: object, what: str, report: Report) -> Iterator[tuple[str, object]]:
    if isinstance(given, Mapping):
        yield from ((str(key), value) for key, value in given.items())
    elif isinstance(given, list):
        for pair in given:
            if isinstance(pair, Mapping) and "key" in pair and "value" in pair:
                yield str(pair["key"]), pair["value"]
            elif isinstance(pair, Mapping) and len(pair) == 1:
                yield from ((str(key), value) for key, value in pair.items())
            else:
                report.drop("attribute", f"{what}, attributes", f"{str(pair)[:60]!r} is no key and value")
    elif given is not None:
        report.drop("attribute", f"{what}, attributes", f"{str(given)[:60]!r} is no key and value")


def _leaves(pairs: Iterator[tuple[str, object]], path: str, depth: int) -> Iterator[tuple[str, object]]:
    for key, value in pairs:
        if isinstance(value, Mapping) and value and depth < _MAX_DEPTH:
            inner = ((str(name), item) for name, item in value.items())
            yield from _leaves(inner, f"{path}{key}.", depth + 1)
        else:
            yield f"{path}{key}", value


def _scalar(value: object, what: str, report: Report, longest: int) -> Scalar | None:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return cut(clean(value, what, report).strip(), longest, what, "value", report)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)  # SQLite and JSON readers stop at 64 bits
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        report.drop("attribute", what, f"{value} is no number")
        return None
    if isinstance(value, list | tuple | Mapping):
        return _json_text(value, what, report, longest) if value else None
    report.drop("attribute", what, f"a value cannot be a {type(value).__name__}")
    return None


def _json_text(value: object, what: str, report: Report, longest: int) -> str | None:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        report.drop("attribute", what, f"cannot be kept as JSON ({error})")
        return None
    return cut(clean(text, what, report), longest, what, "value", report)
