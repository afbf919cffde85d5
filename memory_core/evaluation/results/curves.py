"""What a run says beyond its means: quality by age of the evidence, stale answers, size, growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from memory_core.evaluation.results.reading import Row, Run
from memory_core.evaluation.statistics import SEED, Estimate, estimate, wilson

SLICES = 6  # P2 reports LOCCO in six slices, T1 (oldest) to T6


@dataclass(frozen=True)
class Size:
    """What a run's memory weighs: live nodes, edges and bytes, on the mean over its memories; None where not told."""

    nodes: float | None
    edges: float | None
    bytes: float | None


def by_age(run: Run, metric: str, *, seed: int = SEED) -> list[tuple[str, Estimate]]:
    """The metric by when the newest evidence turn was said: equal time slices of the conversation, T1 the oldest.

    Empty for a run that does not tell the times of its evidence; a slice without questions is left out.
    """
    slices: dict[int, list[float]] = {}
    for row in run.answered:
        when = _number(row.other.get("evidence_time"))
        if when is not None and metric in row.figures:
            slices.setdefault(min(int(SLICES * when), SLICES - 1), []).append(row.figures[metric])
    return [(f"T{place + 1}", estimate(slices[place], seed=seed)) for place in sorted(slices)]


def stale_rate(run: Run) -> tuple[int, int, tuple[float, float]]:
    """(stale, answers that can be told, Wilson's limits): knowledge updates answered from an older evidence turn
    without the newest (what P2 calls false memory)."""
    told = [bool(row.other["stale"]) for row in run.answered if row.other.get("stale") is not None]
    return sum(told), len(told), wilson(sum(told), len(told))


def size_of(run: Run) -> Size:
    """From the rows' `memory`, else the header's `storage`."""
    rows = [row.other["memory"] for row in run.answered if isinstance(row.other.get("memory"), dict)]
    storage = run.meta.get("storage")
    if not rows:
        found: Mapping[str, Any] = storage if isinstance(storage, dict) else {}
        return Size(_number(found.get("nodes")), _number(found.get("edges")), _number(found.get("bytes")))
    return Size(_mean(rows, "nodes"), _mean(rows, "edges"), _mean(rows, "bytes_live"))


def growths(runs: Sequence[Run]) -> dict[str, list[Mapping[str, float]]]:
    """How the memories of these runs grew, each way to forget once: "none", "every-N"; a prune at the end is none."""
    found: dict[str, list[Mapping[str, float]]] = {}
    for run in runs:
        policy, forget = _policy(run), run.meta.get("forget")
        if policy in ("", "none", "every") and (rows := growth_of(run)):
            found.setdefault(str(forget.get("name")) if isinstance(forget, dict) else "none", rows)
    return found


def growth_of(run: Run) -> list[Mapping[str, float]]:
    """The header's `growth`: rows of turns, nodes, edges, bytes."""
    rows = run.meta.get("growth")
    if not isinstance(rows, list):
        return []
    wanted = ("turns", "nodes", "edges", "bytes")
    return [row for row in rows if isinstance(row, dict) and all(_number(row.get(name)) is not None for name in wanted)]


@dataclass(frozen=True)
class Kept:
    """A run after forgetting: its policy, the share of nodes kept of the run that kept everything, its metric."""

    policy: str
    share: float
    mean: float
    condition: str = ""


def after_forgetting(runs: Sequence[Run], metric: str) -> list[Kept]:
    """Those runs whose memory forgot, each against the run of the same condition, data and pooling that did not.

    Where turns left with their nodes, the condition says so: those runs are a picture of their own.
    """
    whole = {_kind(run): run for run in runs if _policy(run) in ("", "none")}
    found = list[Kept]()
    for run in runs:
        kept, before = _mean_of(run, metric), whole.get(_kind(run))
        if (
            before is None
            or _policy(run) in ("", "none")
            or kept is None
            or (all_of := _mean_of(before, metric)) is None
        ):
            continue
        nodes, all_nodes = size_of(run).nodes, size_of(before).nodes
        if nodes is None or not all_nodes:
            continue
        panel = str(run.meta.get("condition") or "") + (", turns leave too" if _turns_leave(run) else "")
        if not any(one.condition == panel for one in found):
            found.append(Kept("everything", 1.0, all_of, panel))
        found.append(Kept(_policy(run), nodes / all_nodes, kept, panel))
    return found


def _mean_of(run: Run, metric: str) -> float | None:
    values = [row.figures[metric] for row in run.answered if metric in row.figures]
    return fmean(values) if values else None


def spread_of(means: Sequence[float]) -> tuple[float, float, float]:
    """Mean, 2.5 and 97.5 percentile of several random prunes.

    >>> spread_of([0.0, 1.0])
    (0.5, 0.025, 0.975)
    """
    low, high = np.quantile(means, [0.025, 0.975])
    return fmean(means), float(low), float(high)


def _policy(run: Run) -> str:
    forget = run.meta.get("forget")
    return str(forget.get("policy") or forget.get("name") or "") if isinstance(forget, dict) else ""


def _turns_leave(run: Run) -> bool:
    forget = run.meta.get("forget")
    return isinstance(forget, dict) and forget.get("turns") == "with_nodes"


def _kind(run: Run) -> tuple[str, ...]:
    return tuple(str(run.meta.get(key)) for key in ("condition", "split_hash", "pooled"))


def _mean(rows: Sequence[Any], name: str) -> float | None:
    values = [value for row in rows if (value := _number(row.get(name))) is not None]
    return fmean(values) if values else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def differences(a: Sequence[Row], b: Sequence[Row], metric: str) -> list[float]:
    """A minus B of each question both have the metric of."""
    theirs = {row.id: row.figures[metric] for row in b if metric in row.figures}
    return [row.figures[metric] - theirs[row.id] for row in a if metric in row.figures and row.id in theirs]
