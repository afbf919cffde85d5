"""Which nodes no setting in range can touch, and by which term."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from memory_core.errors import InputError
from memory_core.figures.map import MapColors
from memory_core.policies import Parameter, parameters
from memory_core.protocols import Scores, ScoringView
from memory_core.simulator.reasons import Trial, cut_line
from memory_core.simulator.setting import Setting
from memory_core.simulator.simulator import Shown, Simulator

SETTINGS = 200
_COLORS = ("#1f6fd0", "#7643b1", "#0e8a7b", "#a86700", "#c2447f", "#5f646d")


@dataclass(frozen=True)
class Immunity:
    """`alone[term]` (n,): that term by itself reaches the cut, whatever the others say. `never` (n,): goes in none of
    the `settings` drawn from the ranges of the sliders (None: not tried yet)."""

    alone: dict[str, NDArray[np.bool_]]
    held: NDArray[np.bool_]
    never: NDArray[np.bool_] | None = None
    settings: int = 0
    limits: Mapping[str, str] = field(default_factory=dict)

    def sentences(self) -> list[tuple[str, int]]:
        """(what holds nodes, how many), the strongest first."""
        rows = [
            (f"{name} alone reaches the cut{self.limits.get(name, '')}", int(mask.sum()))
            for name, mask in self.alone.items()
        ]
        rows.append(("pinned or protected by a rule", int(self.held.sum())))
        return sorted((row for row in rows if row[1]), key=lambda row: -row[1])


def immunity(shown: Shown, view: ScoringView) -> Immunity:
    """By which single term each node is held at the setting as it stands."""
    plan, line = shown.plan, cut_line(shown.plan)
    if line is None or len(plan.scores.parts) < 2:
        return Immunity({}, plan.held)
    alone = {name: np.asarray(part >= line) for name, part in plan.scores.parts.items()}
    return Immunity(alone, plan.held, limits={name: _limit(name, mask, shown, view) for name, mask in alone.items()})


def _limit(name: str, mask: NDArray[np.bool_], shown: Shown, view: ScoringView) -> str:
    """From where on a term holds, as this memory shows it (P1: three edges, a thousand turns)."""
    if not mask.any():
        return ""
    if name == "centrality":
        return f" (from {int(view.degree[mask].min()):,} edges on)"
    if name == "turns":
        return f" (up to {int((shown.plan.turn - view.turns_at_creation[mask]).max()):,} turns after creation)"
    if name == "recency":
        return (
            f" (up to {view.days_since(view.last_access[mask], shown.plan.at).max():,.0f} days after the last access)"
        )
    return ""


def untouched(
    simulator: Simulator, shown: Shown, advance: Callable[[str], None], settings: int = SETTINGS, seed: int = 0
) -> Immunity:
    """Draw settings of every slider over its range and see which nodes go in none of them, at the cut as it stands.

    Raises InputError when the memory has changed since the plan was made.
    """
    memory = simulator.memory
    dice, touched = np.random.default_rng(seed), np.zeros(shown.plan.nodes_before, np.bool_)
    with memory.lock:
        view = memory.scoring_view()
        if view.ids != shown.plan.node_ids:
            raise InputError("The memory changed since this plan was made: try again.")
        plain, trial = immunity(shown, view), Trial.of(memory, shown)
    for _ in range(settings):
        values = {one.name: _drawn(one, dice) for one in parameters(shown.setting.made())}
        touched |= trial.fate(_scores(trial, shown.setting.with_parameters(values)))
        advance("settings")
    return replace(plain, never=~touched, settings=settings)


def _scores(trial: Trial, setting: Setting) -> Scores:
    try:
        return trial.scores(setting)
    except InputError:  # all weights zero: nothing can be said, so nothing goes
        n = len(trial.view.ids)
        return Scores(np.ones(n), {})


def _drawn(parameter: Parameter, dice: np.random.Generator) -> float | int | str:
    if parameter.choices:
        return str(dice.choice(parameter.choices))
    value = float(dice.uniform(parameter.low, parameter.high))
    return round(value) if parameter.whole else value


def colors(found: Immunity) -> MapColors:
    """The map of what holds each node: nothing (it can go), then each term; a node held by several shows the first."""
    names = ["can be forgotten", "held, by several terms together", *found.alone, "pinned or protected"]
    values = np.zeros(len(found.held), np.uint8)
    if found.never is not None:
        values[found.never] = 1
    for place, mask in reversed(list(enumerate(found.alone.values(), start=2))):
        values[mask] = place
    values[found.held] = len(names) - 1
    counts = np.bincount(values, minlength=len(names))
    inks = ["#9aa1ad", "#47505c", *(_COLORS[k % len(_COLORS)] for k in range(len(found.alone))), "#e0563b"]
    entries = [{"name": n, "color": c, "count": int(k)} for n, c, k in zip(names, inks, counts, strict=True)]
    return MapColors(values, {"kind": "fate", "entries": entries})
