"""What a run comes to (`bench show`), and how two differ (`bench compare`), with honest intervals and denominators."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory_core.evaluation.metrics import abstains
from memory_core.evaluation.official import longmemeval_accuracy
from memory_core.evaluation.results.reading import ANSWER_METRICS, Record, Row, Run
from memory_core.evaluation.statistics import RESAMPLES, SEED, Estimate, estimates, paired_difference, wilson

_POOLED = "one run asked a fresh memory a question, the other one memory of everything."
#: Settings two runs must share before their difference means anything.
MUST_AGREE = ("split_hash", "reader", "judge", "pooled")


def show(run: Run, *, seed: int = SEED) -> dict[str, object]:
    """The figures of `bench show`. n counts answered questions, errored those with an errored row, later answer or not.

    `overall` leaves errors out (P1 A.7), `errors_as_wrong` counts a question never answered as 0 (case MET-10); each
    metric says its own n. Undefined figures are None.
    """
    types = dict.fromkeys(row.type for row in run.rows)
    overall = _figures([row.figures for row in run.answered], seed)
    said = [row for row in run.answered if row.predicted is not None]
    silent = sum(abstains(row.predicted) for row in said)
    return {
        **_counts(run, run.rows),
        "questions": len(run.rows),
        "retried": len(run.retried),
        "duplicates": {"ids": len(run.repeated), "conflicting": len(run.conflicting)},
        "overall": overall,
        "errors_as_wrong": overall if len(run.answered) == len(run.rows) else _figures(_zeroed(run.rows), seed),
        "types": {type: _type_figures(run, type, seed) for type in types},
        "abstention": {"n": len(said), "k": silent, "rate": silent / len(said) if said else None},
        "longmemeval": dict(longmemeval_accuracy(_verdicts(run))),
        "words": _plain(sum(row.words for row in said) / len(said)) if said else None,
        "method": {"interval": "percentile bootstrap over questions", "resamples": RESAMPLES, "seed": seed},
        "problems": list(run.problems),
    }


def figure(run: Run, metric: str, *, seed: int = SEED) -> dict[str, Any] | None:
    """One metric of `show`'s `overall`: {n, mean, sem, ci}, of verdicts `wilson` too; None when no row has it."""
    told = [{metric: row.figures[metric]} for row in run.answered if metric in row.figures]
    return _figures(told, seed)[metric] if told else None


def _verdicts(run: Run) -> list[tuple[str, str, bool]]:
    return [(row.id, row.type, row.judge) for row in run.answered if row.judge is not None]


def _counts(run: Run, rows: Iterable[Row]) -> dict[str, object]:
    rows = list(rows)
    answered = [row for row in rows if not row.error]
    errored = len(rows) - len(answered) + len({row.id for row in rows} & set(run.retried))
    return {"n": len(answered), "errored": errored, "unjudged": sum(row.judge is None for row in answered)}


def _type_figures(run: Run, type: str, seed: int) -> dict[str, object]:
    rows = [row for row in run.rows if row.type == type]
    return {**_counts(run, rows), **_figures([row.figures for row in rows if not row.error], seed)}


def _zeroed(rows: Sequence[Row]) -> list[Mapping[str, float]]:
    """Every row's figures; a question never answered scores 0 in each metric that the others have."""
    names = {name for row in rows for name in row.figures}
    return [dict.fromkeys(names, 0.0) if row.error else row.figures for row in rows]


def _figures(rows: Sequence[Mapping[str, float]], seed: int) -> dict[str, dict[str, object]]:
    names = sorted({name for row in rows for name in row} - {*ANSWER_METRICS, "judge_correct"})
    columns = {name: [row[name] for row in rows if name in row] for name in (*ANSWER_METRICS, "judge_correct", *names)}
    figures = {name: _shown(found) for name, found in estimates(columns, seed=seed).items()}
    verdicts = columns["judge_correct"]
    limits = wilson(int(sum(verdicts)), len(verdicts))
    figures["judge_correct"]["wilson"] = [_plain(limit) for limit in limits]
    return figures


def _shown(found: Estimate) -> dict[str, object]:
    return {
        "n": found.n,
        "mean": _plain(found.mean),
        "sem": _plain(found.sem),
        "ci": [_plain(found.low), _plain(found.high)],
    }


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value


def compare(a: Run, b: Run, *, seed: int = SEED) -> dict[str, object]:
    """The figures of `bench compare`, A minus B by question id, over the questions both answered.

    `dropped` counts the questions only one of them answered. `warnings` name settings in which the runs differ, so
    that their difference is not one of memory alone.
    """
    ours, theirs = ({row.id: row.figures for row in run.answered} for run in (a, b))
    every = {row.id for run in (a, b) for row in run.rows}
    shared = ours.keys() & theirs.keys()
    names = {name for side in (ours, theirs) for id in shared for name in side[id]}
    ordered = [*(name for name in (*ANSWER_METRICS, "judge_correct") if name in names)]
    ordered += sorted(names.difference(ordered))
    return {
        "n": len(shared),
        "dropped": len(every - shared),
        "only_a": sorted(ours.keys() - theirs.keys()),
        "only_b": sorted(theirs.keys() - ours.keys()),
        "metrics": {name: _difference(ours, theirs, shared, name, seed) for name in ordered},
        "warnings": disagreements(a.meta, b.meta),
        "unsaid": [key for key in MUST_AGREE if key not in a.meta and key not in b.meta],
        "method": {"interval": "paired percentile bootstrap by question id", "resamples": RESAMPLES, "seed": seed},
    }


def _difference(
    ours: Mapping[str, Mapping[str, float]],
    theirs: Mapping[str, Mapping[str, float]],
    shared: Iterable[str],
    name: str,
    seed: int,
) -> dict[str, object]:
    ids = [id for id in shared if name in ours[id] and name in theirs[id]]
    found = paired_difference({id: ours[id][name] for id in ids}, {id: theirs[id][name] for id in ids}, seed=seed)
    return {
        "n": found.n,
        "diff": _plain(found.diff),
        "ci": [_plain(found.low), _plain(found.high)],
        "p": _plain(found.p),
        "significant": found.significant,
    }


def disagreements(a: Record, b: Record) -> list[str]:
    """One line for each setting in which two runs differ, or that only one of them tells."""
    found = []
    for key in MUST_AGREE:
        if key in a and key in b and a[key] != b[key]:
            found.append(_POOLED if key == "pooled" else f"the runs differ in {key}: {a[key]} and {b[key]}.")
        elif (key in a) != (key in b):
            found.append(f"only one run tells its {key}: they may differ in it.")
    return found
