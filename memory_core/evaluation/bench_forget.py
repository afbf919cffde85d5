"""`bench forget`: what each policy costs at equal size, beside the band of random prunes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memory_core import policies
from memory_core.errors import InputError
from memory_core.evaluation.cost import PRUNES, Figure, pooled
from memory_core.evaluation.datasets import Benchmark, for_coverage, load_benchmark
from memory_core.evaluation.ingested import open_benchmark
from memory_core.evaluation.statistics import SEED, estimate, wilson
from memory_core.evaluation.survival import FIGURES, Probe, masks
from memory_core.memory import Memory
from memory_core.protocols import Doubles, Extractor, Policy

KEEP = (0.9, 0.7, 0.5)
_SURVIVALS = FIGURES[:2]
Columns = Mapping[str, Doubles]


@dataclass
class _Measured:
    """Of one memory: figures before, of each (policy, share), and of each share's random prunes."""

    conversation: str
    nodes: int
    before: Columns
    plans: dict[tuple[str, float], Columns] = field(default_factory=dict)
    without_turns: dict[tuple[str, float], Doubles] = field(default_factory=dict)
    bands: dict[float, Columns] = field(default_factory=dict)


def run(
    path: str | Path,
    *,
    pooled: bool = False,
    names: Sequence[str] = (),
    keep: Sequence[float] = KEEP,
    prunes: int = PRUNES,
    extractor: Extractor | None = None,
    advance: Callable[[str], None] = lambda message: None,
) -> dict[str, object]:
    """The report of `bench forget FILE` as JSON values; memories come from the cache or are ingested first.

    `names` are policies (all when empty), `keep` the shares of nodes kept. Raises InputError for an unknown policy or a
    share outside 0 to 1, FormatError for a file that is no benchmark.
    """
    chosen = check(names, keep)
    benchmark = load_benchmark(path, pooled=pooled)
    memories = open_benchmark(benchmark, extractor=extractor, advance=advance)
    return report(benchmark, memories, chosen, keep, prunes=prunes, advance=advance)


def check(names: Sequence[str], keep: Sequence[float]) -> list[str]:
    """The policies meant, `all` and none meaning every one. Raises InputError."""
    chosen = sorted(policies.found()) if not names or list(names) == ["all"] else list(names)
    for name in chosen:
        policies.make(name)
    outside = [share for share in keep if not 0 <= share <= 1]
    if outside or not keep:
        raise InputError(f"keep holds {outside or 'nothing'}; give shares between 0 and 1, as .9,.7,.5.")
    return chosen


def report(
    benchmark: Benchmark,
    memories: Iterable[tuple[str, Memory]],
    names: Sequence[str],
    keep: Sequence[float] = KEEP,
    *,
    prunes: int = PRUNES,
    seed: int = SEED,
    advance: Callable[[str], None] = lambda message: None,
) -> dict[str, object]:
    """Every policy at every share over the questions of all memories, and of each memory by itself.

    Survival figures are shares of the questions that had their evidence or answer before; graph recall@5 is the plain
    fraction, so its loss counts from `before`. Loss ratios are None where chance loses nothing.
    """
    asked = for_coverage(benchmark.questions)
    measured = []
    for conversation, memory in memories:
        questions = [question for question in asked if question.conversation == conversation]
        probe = Probe.of(memory, questions, advance)
        measured.append(
            _measure(conversation, probe, [policies.make(name) for name in names], keep, prunes, seed, advance)
        )
    first = _figures(measured, None) if measured else {}
    return {
        "data": benchmark.name,
        "split_hash": benchmark.split_hash,
        "n": len(asked),
        "n_figures": {name: figure.n for name, figure in first.items()},
        "before": {name: _plain(figure.before) for name, figure in first.items()},
        "prunes": prunes,
        "seed": seed,
        "rows": [_row(measured, name, share) for share in keep for name in names],
        "random": [_band(measured, share) for share in keep],
        "memories": [_memory(one, names, keep) for one in measured],
    }


def _measure(
    conversation: str,
    probe: Probe,
    chosen: Sequence[Policy],
    keep: Sequence[float],
    prunes: int,
    seed: int,
    advance: Callable[[str], None],
) -> _Measured:
    memory = probe.memory
    whole = memory.graph.live.values.copy()
    found = _Measured(conversation, int(whole.sum()), probe.outcome(whole[None]).columns())
    for share in keep:
        for policy in chosen:
            key = (policies.name_of(policy), share)
            plan = memory.plan(policy, keep=round(share * found.nodes), turns="with_nodes")
            live, drawn = masks(memory, plan, prunes if share not in found.bands else 0, seed)
            found.plans[key] = probe.outcome(live[None]).columns()
            left = probe.without(plan.turns) if plan.turns else probe
            found.without_turns[key] = left.outcome(live[None]).columns()[FIGURES[2]]
            if share not in found.bands:
                found.bands[share] = probe.outcome(drawn, advance).columns()
            advance(f"{conversation}: {key[0]} keeps {share:g}")
    return found


def _figures(measured: Sequence[_Measured], key: tuple[str, float] | None) -> dict[str, Figure]:
    """The figures over all memories; without a key those before any prune."""
    figures = {}
    for name in FIGURES:
        columns = []
        for one in measured:
            plan = one.plans[key][name] if key else one.before[name]
            band = one.bands[key[1]][name] if key else np.zeros((0, plan.shape[1]))
            columns.append((plan[0], one.before[name][0], band))
        figures[name] = pooled(columns) if columns else Figure(0, *[float("nan")] * 5)
    return figures


def _row(measured: Sequence[_Measured], policy: str, share: float) -> dict[str, object]:
    figures = _figures(measured, (policy, share))
    row: dict[str, object] = {"policy": policy, "kept": share}
    for name, figure in figures.items():
        values = np.concatenate([one.plans[policy, share][name][0] for one in measured])
        row |= {name: _plain(figure.value), f"{name}_ci": _interval(name, values)}
    left = np.concatenate([one.without_turns[policy, share][0] for one in measured])
    return row | {
        "graph_recall@5_turns_forgotten": _plain(float(left.mean())) if len(left) else None,
        "loss_ratio": {name: figure.loss_ratio for name, figure in figures.items()},
        "lift": {name: figure.lift for name, figure in figures.items()},
        "above_band": {name: figure.above_band for name, figure in figures.items()},
    }


def _band(measured: Sequence[_Measured], share: float) -> dict[str, object]:
    band: dict[str, object] = {"kept": share}
    for name in FIGURES:
        columns = [one.bands[share][name] for one in measured]
        figure = pooled([(values[0], values[0], values) for values in columns]) if columns else None
        band[name] = {part: _plain(getattr(figure, part)) if figure else None for part in ("mean", "low", "high")}
    return band


def _memory(one: _Measured, names: Sequence[str], keep: Sequence[float]) -> dict[str, object]:
    """A memory by itself: its figures without intervals."""
    rows: list[dict[str, Any]] = []
    for share in keep:
        for policy in names:
            figures = _figures([one], (policy, share))
            values = {name: _plain(figure.value) for name, figure in figures.items()}
            ratios = {name: figure.loss_ratio for name, figure in figures.items()}
            above = {name: figure.above_band for name, figure in figures.items()}
            rows.append({"policy": policy, "kept": share, **values, "loss_ratio": ratios, "above_band": above})
    bands = [_band([one], share) for share in keep]
    counts = {name: int(one.before[name].shape[1]) for name in FIGURES}
    return {"conversation": one.conversation, "nodes": one.nodes, "n_figures": counts, "rows": rows, "random": bands}


def _interval(name: str, values: Doubles) -> list[float] | None:
    if not len(values):
        return None
    if name in _SURVIVALS:
        return list(wilson(int(values.sum()), len(values)))
    found = estimate(values.tolist(), seed=SEED)
    return [found.low, found.high]


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else value
