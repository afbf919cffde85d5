"""Why a node goes or stays, and what would have to change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from memory_core.errors import InputError
from memory_core.forgetting import ForgettingPlan, Where
from memory_core.forgetting.cuts import Mask
from memory_core.forgetting.plan import chosen_by, scored
from memory_core.memory import Memory
from memory_core.policies import Parameter, parameters
from memory_core.protocols import Scores, ScoringView
from memory_core.simulator.setting import Setting
from memory_core.simulator.simulator import Shown, Simulator

_TRIED = 14  # values of each slider that are looked at
_EDGES = (1, 2, 3, 5, 10, 20, 50)
_SLOW = frozenset({"coverage"})  # seconds a score at the size of P1's graph: sliders are not tried one by one


@dataclass(frozen=True)
class Change:
    """Something that would have to be otherwise, and whether that turns the node's fate; `setting` loads it."""

    words: str
    turns_it: bool
    setting: Setting | None = None


@dataclass(frozen=True)
class Reasons:
    """`place` among the live nodes; `rank` from the first to go (1) of `n`; `parts` sum to `score`."""

    node: str
    goes: bool
    held: bool
    score: float
    line: float | None
    rank: int
    n: int
    parts: dict[str, float]
    changes: tuple[Change, ...]


def cut_line(plan: ForgettingPlan) -> float | None:
    """The score at which the plan cuts: its threshold, else half way between the last that goes and the first that
    stays; None when nothing or everything goes, or the cut does not follow the scores (by hand, by bytes)."""
    if plan.cut.kind == "threshold":
        return plan.cut.value
    if plan.cut.kind != "keep" or plan.where or plan.nothing:
        return None
    stays = plan.scores.score[~plan.fate & ~plan.held]
    if not len(stays):
        return None
    return float(plan.scores.score[plan.fate].max() + stays.min()) / 2


def reasons(simulator: Simulator, shown: Shown, node_id: str) -> Reasons:
    """Of a live node of the plan. Raises InputError for one that is not in it."""
    plan = shown.plan
    if node_id not in plan.node_ids:
        raise InputError(f"Node {node_id} is not among the live nodes of this plan.")
    place = plan.node_ids.index(node_id)
    order = np.lexsort((-np.arange(plan.nodes_before), plan.created, plan.scores.score))
    return Reasons(
        node=node_id,
        goes=bool(plan.fate[place]),
        held=bool(plan.held[place]),
        score=float(plan.scores.score[place]),
        line=cut_line(plan),
        rank=int(np.flatnonzero(order == place)[0]) + 1,
        n=plan.nodes_before,
        parts={name: float(part[place]) for name, part in plan.scores.parts.items()},
        changes=tuple(_changes(simulator, shown, place)),
    )


@dataclass(frozen=True)
class Trial:
    """Asks the plan's own question again of other scores."""

    memory: Memory
    shown: Shown
    candidates: Mask
    view: ScoringView

    @classmethod
    def of(cls, memory: Memory, shown: Shown) -> Trial:
        """Of a plan that was just shown."""
        plan, view = shown.plan, memory.scoring_view()
        free = ~plan.held
        if plan.where:
            free &= Where.parse(plan.where).select(memory)[memory.graph.live_rows()]
        return cls(memory, shown, free, replace(view, turn=plan.turn))

    def fate(self, scores: Scores) -> Mask:
        """What would go by these scores at the plan's cut, (n,)."""
        plan = self.shown.plan
        return chosen_by(self.memory, plan.cut, scores, self.view, self.candidates, plan.bytes_live).forgotten

    def scores(self, setting: Setting, view: ScoringView | None = None, at: datetime | None = None) -> Scores:
        """Scores by another setting's policy, of another view, or at another time. Raises InputError."""
        plan = self.shown.plan
        return scored(self.memory, setting.made(), view or self.view, at or plan.at, plan.idle_days)


def _changes(simulator: Simulator, shown: Shown, place: int) -> Iterator[Change]:
    memory, plan = simulator.memory, shown.plan
    if plan.held[place]:
        yield Change("It is pinned or protected by a rule; without that the score decides.", False)
        return
    if not plan.fate[place]:
        yield from _staying(shown, place)
        return
    yield Change("Pin it, or protect its label or a word of it by a rule: then no cut takes it.", True)
    with memory.lock:
        trial = Trial.of(memory, shown)
        if plan.cut.kind != "all":
            yield from _by_cut(shown, place)
            yield from _by_use(trial, place)
            yield from _by_sliders(trial, place)
        if plan.where:
            yield Change(f"It is selected by “{plan.where}”: another selection leaves it alone.", True)


def _staying(shown: Shown, place: int) -> Iterator[Change]:
    """How much stricter the cut would have to be for it to go."""
    plan, score = shown.plan, float(shown.plan.scores.score[place])
    if plan.where:
        yield Change("The selection leaves it out, or the cut does.", True)
    elif plan.cut.kind == "threshold":
        above = round(min(score + 0.0005, 1.0), 3)
        yield Change(f"It would go at a threshold above {score:.4f}.", True, replace(shown.setting, threshold=above))
    elif plan.cut.kind == "keep":
        better = int((plan.scores.score > score).sum())
        share = max(np.floor(1000 * better / plan.nodes_before) / 10, 0.0)
        yield Change(f"It would go if {better:,} nodes were kept.", True, replace(shown.setting, keep=float(share)))
    else:
        yield Change("Its score for each byte is high enough.", True)
    yield Change("Pin it, and it stays whatever the setting.", True)


def _by_cut(shown: Shown, place: int) -> Iterator[Change]:
    plan, score = shown.plan, float(shown.plan.scores.score[place])
    if plan.cut.kind == "threshold":
        yield Change(f"A threshold of {score:.4f} or lower.", True, replace(shown.setting, threshold=score))
    elif plan.cut.kind == "keep":
        above = int((plan.scores.score > score).sum()) + 1
        share = min(np.ceil(1000 * above / plan.nodes_before) / 10, 100.0)
        yield Change(f"Keep {above:,} nodes or more.", True, replace(shown.setting, keep=float(share)))


def _by_use(trial: Trial, place: int) -> Iterator[Change]:
    """One more access at that time; so many more edges."""
    setting, view, plan = trial.shown.setting, trial.view, trial.shown.plan
    used = replace(
        view,
        last_access=_with(view.last_access, place, plan.at.timestamp()),
        accesses=_with(view.accesses, place, int(view.accesses[place]) + 1),
        turns_at_access=_with(view.turns_at_access, place, plan.turn),
        access_rows=np.append(view.access_rows, place),
        access_times=np.append(view.access_times, plan.at.timestamp()),
    )
    stays = not trial.fate(trial.scores(setting, used))[place]
    yield Change(f"Accessed once more, now: it would {'stay' if stays else 'still go'}.", stays)
    if setting.policy in _SLOW:
        return
    before = trial.scores(setting)
    for more in _EDGES:
        joined = replace(view, degree=_with(view.degree, place, int(view.degree[place]) + more))
        scores = trial.scores(setting, joined)
        if scores.score[place] == before.score[place]:
            return
        if not trial.fate(scores)[place]:
            yield Change(f"{more} more {'edge' if more == 1 else 'edges'}.", True)
            return


def _with(values: np.ndarray, place: int, value: float) -> np.ndarray:
    changed = values.copy()
    changed[place] = value
    return changed


def _by_sliders(trial: Trial, place: int) -> Iterator[Change]:
    """For each slider alone the value nearest to where it stands at which the node stays."""
    setting = trial.shown.setting
    if setting.policy in _SLOW:
        return
    now = setting.values()
    for parameter in parameters(setting.made()):
        for value in tried(parameter, now[parameter.name]):
            other = setting.with_parameters({**now, parameter.name: value})
            try:
                stays = not trial.fate(trial.scores(other))[place]
            except InputError:  # all weights zero
                continue
            if stays:
                shown = f"{value:g}" if isinstance(value, float) else str(value)
                yield Change(f"{parameter.label}: {shown} instead of {_plain(now[parameter.name])}.", True, other)
                break


def _plain(value: float | int | str) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def tried(parameter: Parameter, now: float | int | str, count: int = _TRIED) -> list[float | int | str]:
    """Values of a slider over its range, the nearest to where it stands first; never where it stands.

    >>> tried(Parameter("a", "A", 0.5, 0.0, 1.0), 0.5, 5)
    [0.25, 0.75, 0.0, 1.0]
    """
    if parameter.choices:
        return [choice for choice in parameter.choices if choice != now]
    values: list[float | int | str] = [
        round(float(value)) if parameter.whole else round(float(value), 6)
        for value in np.linspace(parameter.low, parameter.high, count)
    ]
    distance: Callable[[float | int | str], float] = lambda value: abs(float(value) - float(now))  # noqa: E731
    return sorted((value for value in dict.fromkeys(values) if value != now), key=distance)
