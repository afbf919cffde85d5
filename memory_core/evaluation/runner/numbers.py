"""A run without a word of its data set, so that its numbers can be published where its texts cannot."""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_core.errors import FormatError, InputError
from memory_core.evaluation.metrics import answer_length
from memory_core.importers.textfile import json_items, read_text

#: What is kept of a row beside its numbers: names, and that something failed, not how.
_NAMES = ("question_id", "question_type")


def numbers_command(arguments: Sequence[str]) -> dict[str, Any]:
    """`bench numbers RUN … --out DIR`. Raises FormatError, InputError when a file is there already."""
    parser = argparse.ArgumentParser("python -m memory_core bench numbers", description="runs without their texts")
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True, help="the folder for the files")
    parser.add_argument("--prefix", default="", help="put in front of each file's name")
    parser.add_argument("--gzip", action="store_true", help="packed files, a twentieth of the size")
    options = parser.parse_args(arguments)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{options.out} cannot be made: {error.strerror or error}; choose another --out.") from error
    ending = ".gz" if options.gzip else ""
    named = [(path, options.out / f"{options.prefix}{path.name}{ending}") for path in options.runs]
    return {"files": [str(_write(path, target)) for path, target in named]}


def _write(path: Path, target: Path) -> Path:
    if target.exists():
        raise InputError(f"{target} exists: choose another --out or --prefix.")
    header, *rows = [item.value for item in json_items(read_text(path)).items] or [None]
    if not isinstance(header, dict) or not isinstance(header.get("run"), dict):
        raise FormatError(f'{path} is no run file of ours: its first line must be {{"run": …}}.')
    lines = [{"run": header["run"] | {"texts": "left out"}}, *(numbers(row) for row in rows if isinstance(row, dict))]
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    target.write_bytes(gzip.compress(text, mtime=0) if target.suffix == ".gz" else text)
    return target


def numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with numbers, truth values and the counts of its memory; an error says only that there was one.

    >>> numbers({"question_id": "q1", "question": "Where?", "f1": 0.123456789, "predicted": "In Porto", "stale": None})
    {'question_id': 'q1', 'f1': 0.123457, 'answer_words': 2}
    """
    kept: dict[str, Any] = {name: row[name] for name in _NAMES if name in row}
    kept |= {name: round(value, 6) for name, value in row.items() if isinstance(value, int | float)}
    if isinstance(row.get("memory"), dict):
        kept["memory"] = {name: value for name, value in row["memory"].items() if isinstance(value, int | float)}
    if row.get("predicted") is not None:
        kept["answer_words"] = answer_length(row["predicted"])
    return kept | ({"error": "errored"} if row.get("error") else {})
