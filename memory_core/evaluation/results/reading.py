"""Per-question results as files hold them: ours, the authors', JSONL, CSV.

A question counts once. Its errored attempts give way to an answered one; of several answered rows the last counts, and
the ids whose rows contradict each other are reported (case IMP-17). An errored row is no zero: it is counted apart.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from memory_core.errors import FormatError
from memory_core.evaluation.metrics import answer_length
from memory_core.evaluation.results.locomo import locomo_rows
from memory_core.evaluation.verdicts import parse_verdict
from memory_core.importers.textfile import Item, Source, json_items, name_of, read_text

#: The newest run file this version reads; a header says `"version": 1`.
RUN_VERSION = 1
ANSWER_METRICS = ("f1", "precision", "recall")
#: Beside names with `@`, such as `fraction@5`, the columns that are metrics too.
OTHER_METRICS = frozenset({"provenance_precision", "locomo_f1"})
#: Names other programs give our columns, in the order they are looked for.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "question_id": ("question_id", "id", "qid"),
    "question_type": ("question_type", "type", "category"),
    "predicted": ("predicted", "prediction", "hypothesis"),
    "ground_truth": ("ground_truth", "answer", "gold", "reference"),
    "judge_correct": ("judge_correct", "autoeval_label", "judge", "correct"),
    "error": ("error",),
}
Record = Mapping[str, object]


@dataclass(frozen=True)
class Row:
    """One question's outcome: metrics in [0, 1], `judge` None when unjudged, `error` "" when it was answered."""

    id: str
    type: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    judge: bool | None = None
    error: str = ""
    predicted: str | None = None
    ground_truth: str | None = None
    other: Record = field(default_factory=dict)

    @property
    def words(self) -> int:
        """Length of the answer in words; long ones please a judge."""
        return answer_length(self.predicted)

    @property
    def figures(self) -> Mapping[str, float]:
        """The metrics and the verdict as numbers, those that are there."""
        return {**self.metrics, **({} if self.judge is None else {"judge_correct": float(self.judge)})}


@dataclass(frozen=True)
class Run:
    """A run: what made it, one row a question, and what was odd about the file.

    `retried` are the ids that errored before they were answered; `repeated` those with several answered rows,
    `conflicting` those among them whose rows differ.
    """

    meta: Record
    rows: tuple[Row, ...]
    problems: tuple[str, ...] = ()
    retried: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    conflicting: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> int:
        """Tells this run from one that another figure may come of, in this process."""
        rows = ((row.id, row.type, row.error, row.judge, row.predicted, *row.metrics.items()) for row in self.rows)
        return hash((repr(self.meta), self.problems, self.retried, self.repeated, self.conflicting, *rows))

    @property
    def answered(self) -> tuple[Row, ...]:
        """The rows that are no error, judged or not."""
        return tuple(row for row in self.rows if not row.error)


def read_run(source: Source, columns: Mapping[str, str] | None = None) -> Run:
    """A run from JSONL (with or without a `{"run": …}` line), the authors' `{summary, questions}`, a list, or CSV.

    LongMemEval's hypotheses and judge logs are JSONL; of LoCoMo's outputs (samples with `qa`) the one `…_prediction`
    is read, or the one that `columns` maps `predicted` to. `columns` maps our names (`question_id`, `f1`, …) to the
    file's. Rows that cannot be read are named by line in `problems`. Raises FormatError when there is no row, or the
    file is of a newer version.
    """
    text, mapped = read_text(source), columns or {}
    if text.lstrip().startswith(("{", "[")):
        meta, items, problems = _json_rows(text, name_of(source), mapped)
    else:
        meta, items, problems = {}, *_csv_rows(text, name_of(source), mapped)
    rows: list[Row] = []
    for item in items:
        try:
            row, odd = _row(item.value, mapped)
            rows.append(row)
            problems += [f"{item.place} ({row.id}): {what}." for what in odd]
        except FormatError as error:
            problems.append(f"{item.place}: {error}; this row was left out.")
    if not rows:
        raise FormatError(f"{name_of(source)} holds no results{': ' + problems[0] if problems else '.'}")
    return _once(meta, rows, problems)


def _json_rows(text: str, name: str, columns: Mapping[str, str]) -> tuple[Record, Sequence[Item], list[str]]:
    found = json_items(text)
    first = found.items[0].value if found.items else None
    if isinstance(first, dict) and isinstance(first.get("questions"), list):
        rows = [Item(f"question {number}", row) for number, row in enumerate(first["questions"], start=1)]
        return {key: value for key, value in first.items() if key != "questions"}, rows, list(found.problems)
    if isinstance(first, dict) and isinstance(first.get("run"), dict):
        meta = first["run"]
        version = meta.get("version", RUN_VERSION)
        if isinstance(version, int) and version > RUN_VERSION:
            raise FormatError(f"{name} is a run file of version {version}; this program reads up to {RUN_VERSION}.")
        return meta, found.items[1:], list(found.problems)
    if isinstance(first, dict) and isinstance(first.get("qa"), list):
        meta, rows = locomo_rows(found.items, name, columns.get("predicted", ""))
        return meta, rows, list(found.problems)
    return {}, found.items, list(found.problems)


def _csv_rows(text: str, name: str, columns: Mapping[str, str]) -> tuple[Sequence[Item], list[str]]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.DictReader(io.StringIO(text, newline=""))
    items, problems = list[Item](), list[str]()
    try:
        header = reader.fieldnames or ()
        if not _named(dict.fromkeys(header, ""), "question_id", columns):
            raise FormatError(f"{name} has no column question_id (it has {', '.join(header)[:200]}); map one to it.")
        for row in reader:
            place = f"line {reader.line_num}"
            if None in row or None in row.values():
                problems.append(f"{place}: has not the {len(header)} fields of the header; this row was left out.")
            else:
                items.append(Item(place, row))
    except csv.Error as error:
        problems.append(f"line {reader.line_num}: {error}; nothing from here on was read.")
    return items, problems


def _named(record: Record, column: str, columns: Mapping[str, str]) -> str | None:
    """The name under which a record keeps one of our columns."""
    names = (columns[column],) if column in columns else COLUMNS.get(column, (column,))
    return next((name for name in names if name in record), None)


def _row(value: object, columns: Mapping[str, str]) -> tuple[Row, list[str]]:
    """A row, and what in it could not be used."""
    if not isinstance(value, dict):
        raise FormatError("is no object")
    names = {column: _named(value, column, columns) for column in (*COLUMNS, *ANSWER_METRICS)}
    record = cast(dict[str, object], {column: value[name] for column, name in names.items() if name is not None})
    id = str(record.get("question_id") if record.get("question_id") is not None else "").strip()
    if not id:
        raise FormatError("has no question_id")
    others = {name: part for name, part in value.items() if name not in names.values()}
    given = {
        **{name: record.get(name) for name in ANSWER_METRICS},
        **{name: others[name] for name in others if "@" in name or name in OTHER_METRICS},
    }
    metrics, odd = _metrics(given)
    judge, unread = _judged(record.get("judge_correct"))
    predicted, gold, error = (_text(record.get(name)) for name in ("predicted", "ground_truth", "error"))
    row = Row(id, _text(record.get("question_type")) or "", metrics, judge, error or "", predicted, gold, others)
    return row, [*odd, *unread]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _metrics(given: Record) -> tuple[dict[str, float], list[str]]:
    """The numbers in [0, 1]; a missing one is no 0, and neither is one that cannot be one."""
    metrics: dict[str, float] = {}
    odd = []
    for name, value in given.items():
        number = _number(value)
        if number is not None and 0 <= number <= 1:
            metrics[name] = number
        elif value not in (None, ""):
            odd.append(f"{name} is {str(value)[:40]!r}, no number from 0 to 1; left out")
    return metrics, odd


def _number(value: object) -> float | None:
    try:
        return float(cast(str, value))
    except (TypeError, ValueError, OverflowError):
        return None


def _judged(value: object) -> tuple[bool | None, list[str]]:
    """A verdict from 1/0, true/false, a judge's words, or LongMemEval's `{"label": true}`."""
    if isinstance(value, Mapping):
        value = value.get("label")
    number = _number(value)
    if number in (0.0, 1.0):
        return bool(number), []
    if value is None or value == "" or (number is not None and math.isnan(number)):
        return None, []
    verdict = parse_verdict(str(value))
    return verdict, [] if verdict is not None else [f"the verdict {str(value)[:40]!r} cannot be read; unjudged"]


def _once(meta: Record, rows: Sequence[Row], problems: Sequence[str]) -> Run:
    """One row a question, at the place of its first: the last answered one, else the last error."""
    attempts: dict[str, list[Row]] = {}
    for row in rows:
        attempts.setdefault(row.id, []).append(row)
    answered = {id: [row for row in tries if not row.error] for id, tries in attempts.items()}
    kept = tuple((answered[id] or tries)[-1] for id, tries in attempts.items())
    retried = tuple(id for id, tries in attempts.items() if answered[id] and len(answered[id]) < len(tries))
    repeated = tuple(id for id, tries in answered.items() if len(tries) > 1)
    conflicting = tuple(id for id in repeated if any(row.figures != answered[id][0].figures for row in answered[id]))
    notices = []
    if retried:
        notices.append(f"{len(retried)} errored and were answered later; the answers count: {_list(retried)}.")
    if repeated:
        notices.append(f"{len(repeated)} ids have several answered rows; the last counts: {_list(repeated)}.")
    if conflicting:
        notices.append(f"{len(conflicting)} of these have conflicting figures: {_list(conflicting)}.")
    return Run(meta, kept, (*problems, *notices), retried, repeated, conflicting)


def _list(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
