"""A run file while it is written: a line that says what made it, then a row a question, appended as it is answered.

A killed run loses at most the row being written. Rows of errors stay in the file; the answer that comes later counts.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_core.errors import FormatError, InputError

#: What two runs must share for the one to go on where the other stopped.
MADE_BY = (
    "version", "condition", "forget", "split_hash", "pooled", "limit", "extractor", "embedder", "reader", "judge",
    "retriever", "settings", "prompts", "seed",
)  # fmt: skip


@dataclass
class RunFile:
    """`open` makes or resumes one; `add` appends a row; `finish` puts rows in the order of the questions."""

    path: Path
    header: dict[str, Any]
    rows: list[dict[str, Any]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, path: Path, header: Mapping[str, Any], *, resume: bool) -> RunFile:
        """A new file, or one to go on with. Raises InputError when it exists and is not to be resumed, or another
        setting made it."""
        if not path.exists():
            run = cls(path, dict(header))
            path.parent.mkdir(parents=True, exist_ok=True)
            run._write()
            return run
        if not resume:
            raise InputError(f"{path} exists: add --resume to go on with it, or choose another --out.")
        stored, rows = _read(path)
        wanted = json.loads(json.dumps(header))
        for key in MADE_BY:
            if stored.get(key) != wanted.get(key):
                raise InputError(
                    f"{path} was made with {key} {_short(stored.get(key))}, now it is {_short(wanted.get(key))}: "
                    "choose another --out, or the same settings."
                )
        run = cls(path, stored, rows)
        run._write()
        return run

    @property
    def done(self) -> set[str]:
        """Ids of the questions that were answered; errored ones are asked again."""
        return {str(row["question_id"]) for row in self.rows if not row.get("error")}

    @property
    def errored(self) -> int:
        """Questions with no answer so far but an error."""
        return len({str(row["question_id"]) for row in self.rows} - self.done)

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row; it is in the file when this returns."""
        with self._lock:
            self.rows.append(dict(row))
            with self.path.open("a", encoding="utf-8") as file:
                file.write(_line(row))

    def finish(self, order: Sequence[str], **more: Any) -> None:
        """Write the file anew, complete or not at all, with `more` in its first line."""
        place = {id: number for number, id in enumerate(order)}
        with self._lock:
            self.header |= more
            self.rows.sort(key=lambda row: (place.get(row["question_id"], len(place)), not row.get("error")))
            self._write()

    def _write(self) -> None:
        partial = self.path.with_suffix(".partial")
        with partial.open("w", encoding="utf-8") as file:
            file.write(_line({"run": self.header}))
            file.writelines(_line(row) for row in self.rows)
        os.replace(partial, self.path)


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def _read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """First line and rows; a last line that was cut by a kill is left out."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    values: list[dict[str, Any]] = []
    for number, line in enumerate(lines[:-1], start=1):
        try:
            values.append(json.loads(line))
        except ValueError as error:
            raise FormatError(f"{path} line {number} is not JSON: mend the line or remove it.") from error
    if not values or not isinstance(values[0].get("run"), dict):
        raise FormatError(f"{path} is no run file of ours: choose another --out.")
    return values[0]["run"], values[1:]


def _short(value: object) -> str:
    return str(value)[:60]
