"""The cost of a plan beside chance: three figures, the band of random prunes, lift and loss ratio, and what flips."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memory_core.evaluation.datasets import Question
from memory_core.evaluation.survival import FIGURES, Flip, Probe, masks
from memory_core.forgetting import ForgettingPlan
from memory_core.memory import Memory
from memory_core.protocols import Doubles
from memory_core.store.sqlite import SqliteStore

PRUNES = 200


@dataclass(frozen=True)
class Figure:
    """One figure of a plan over `n` questions, what it was before, and the band of random prunes; NaN without any."""

    n: int
    value: float
    before: float
    mean: float
    low: float
    high: float

    @property
    def lift(self) -> float | None:
        """Plan / mean of random; 1 is chance."""
        return self.value / self.mean if self.mean > 0 else None

    @property
    def loss_ratio(self) -> float | None:
        """What the plan loses of what was there, over what chance loses (1 - plan) / (1 - random) where 1 was there."""
        lost = self.before - self.mean
        return (self.before - self.value) / lost if lost > 0 else None

    @property
    def above_band(self) -> bool:
        """Whether chance does so well in fewer than 2.5 % of its prunes."""
        return self.value > self.high + 1e-9


@dataclass(frozen=True)
class Cost:
    """What one plan costs: its figures, the questions it flips, and graph recall@5 when its turns leave as well."""

    plan: str
    prunes: int
    figures: Mapping[str, Figure]
    flips: tuple[Flip, ...]
    recall_without_turns: float | None = None


def figure_of(plan: Doubles, before: Doubles, band: Doubles) -> Figure:
    """A figure from one value a question: of the plan (q,), before (q,), and of each random prune (p, q)."""
    n = len(plan)
    if not n:
        return Figure(0, *[float("nan")] * 5)
    means = band.mean(axis=1) if len(band) else np.full(1, np.nan)
    low, high = np.quantile(means, [0.025, 0.975])
    return Figure(n, float(plan.mean()), float(before.mean()), float(means.mean()), float(low), float(high))


def cost(
    probe: Probe,
    plan: ForgettingPlan,
    *,
    prunes: int = PRUNES,
    seed: int = 0,
    recall: bool = True,
    advance: Callable[[str], None] = lambda message: None,
) -> Cost:
    """The cost of a plan of the probe's memory; the same plan is counted once.

    Evidence and answer survival take a moment; graph recall@5 (left out with `recall=False`) calls `advance` a prune,
    which may raise to stop. Raises StalePlanError through the plan when it is not of this revision.
    """
    key = (plan.id, prunes if recall else -prunes, seed)
    known: Cost | None = probe.costs.get(key)
    if known is None:
        known = probe.costs[key] = _cost(probe, plan, prunes, seed, recall, advance)
    return known


def _cost(
    probe: Probe, plan: ForgettingPlan, prunes: int, seed: int, recall: bool, advance: Callable[[str], None]
) -> Cost:
    live, band = masks(probe.memory, plan, prunes, seed)
    whole = probe.memory.graph.live.values.copy()
    names = FIGURES if recall else FIGURES[:2]
    outcomes = [probe.outcome(mask, advance, recall=recall).columns() for mask in (live[None], whole[None], band)]
    figures = {name: figure_of(outcomes[0][name][0], outcomes[1][name][0], outcomes[2][name]) for name in names}
    without = probe.without(plan.turns).outcome(live[None]).recall.mean() if recall and plan.turns else None
    return Cost(
        plan.id, prunes, figures, tuple(probe.flips(live, recall=recall)), None if without is None else float(without)
    )


@contextmanager
def pruned(memory: Memory, plan: ForgettingPlan) -> Iterator[Memory]:
    """A duplicate of the memory with the plan applied, for any retriever to run on; gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pruned.sqlite3")
        memory.store.copy_to(path)
        with Memory(SqliteStore(path), memory.embedder, memory.extractor, memory.reader) as copy:
            copy.apply(plan)
            yield copy


def past_questions(memory: Memory) -> list[Question]:
    """The user's own questions as a probe set: evidence is what the graph ranking brings today, so nothing is judged
    but what a prune would change."""
    asked = dict.fromkeys(text for (text,) in memory.store.query("SELECT text FROM question ORDER BY id"))
    found = []
    for number, text in enumerate(asked, start=1):
        turns = memory.turns([turn.id for turn in memory.retrieve(text).turns[:5]])
        if turns:
            found.append(Question(f"own-{number}", text, "", "own", "", tuple(turn.source_id for turn in turns)))
    return found


def pooled(figures: Sequence[tuple[Doubles, Doubles, Doubles]]) -> Figure:
    """One figure over several memories: questions side by side, the random prunes of one number together."""
    plan, before, band = zip(*figures, strict=True)
    return figure_of(np.concatenate(plan), np.concatenate(before), np.concatenate(band, axis=1))
