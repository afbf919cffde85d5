"""What fades when, if nothing more is said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from memory_core.forgetting import ForgettingPlan
from memory_core.memory import Memory
from memory_core.simulator.reasons import Trial
from memory_core.simulator.simulator import Shown, Simulator

DAYS = (0, 1, 7, 14, *range(30, 1096, 30))


@dataclass(frozen=True)
class Fading:
    """Nodes that go (`going`) so many `days` after the memory clock; `now` is the day the plan looks at."""

    days: tuple[int, ...]
    going: tuple[int, ...]
    now: int


def fading_of(simulator: Simulator, shown: Shown) -> Fading:
    """Of a plan with a threshold, over three years."""
    memory, plan = simulator.memory, shown.plan
    clock = memory.clock or plan.at
    trial = Trial.of(memory, shown)
    going = [int(trial.fate(trial.scores(shown.setting, at=clock + timedelta(days=days))).sum()) for days in DAYS]
    return Fading(DAYS, tuple(going), (plan.at - clock).days)


def ages(memory: Memory, plan: ForgettingPlan) -> NDArray[np.float64]:
    """Days since each node of the plan was created, (n,), at the plan's time."""
    return np.asarray(np.maximum(plan.at.timestamp() - plan.created, 0.0) / 86400.0, np.float64)
