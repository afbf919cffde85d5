"""One setting of the simulator: all that decides a plan, as plain values that fit in a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal, cast

from memory_core.errors import InputError
from memory_core.forgetting import ForgettingPlan, Where, plan_forgetting
from memory_core.forgetting.plan import TurnMode
from memory_core.memory import Memory
from memory_core.policies import found, make, parameters
from memory_core.protocols import Policy

CutKind = Literal["threshold", "keep", "bytes", "all"]
CUTS: tuple[CutKind, ...] = ("threshold", "keep", "bytes", "all")
#: Turns below which P1's default can forget nothing: the turns term alone is .20 · 2^(-turns / 1000) >= .10.
YOUNG = 1000
_MOST_TURNS = 1_000_000


@dataclass(frozen=True)
class Setting:
    """Shares are in percent: `keep` of the live nodes, `bytes` of the live bytes. `day` is the date scores are computed
    for (None: the memory clock), `later` the turns said after the newest one; `parameters` only what is not default.

    >>> Setting.of_query({"policy": "lru", "cut": "keep", "keep": "70"})[0].query()
    {'policy': 'lru', 'cut': 'keep', 'keep': '70'}
    """

    policy: str = "importance"
    parameters: Mapping[str, float | int | str] = field(default_factory=dict)
    cut: CutKind = "threshold"
    threshold: float = 0.10
    keep: float = 90.0
    bytes: float = 90.0
    turns: TurnMode = "keep"
    where: str = ""
    day: date | None = None
    later: int = 0
    idle_days: float = 0.0

    def made(self) -> Policy:
        """The policy. Raises InputError."""
        return make(self.policy, self.parameters)

    def values(self) -> dict[str, float | int | str]:
        """Every parameter of the policy with the value it has here."""
        kind = found()[self.policy]
        return {one.name: self.parameters.get(one.name, one.default) for one in parameters(kind)}

    def with_parameters(self, values: Mapping[str, float | int | str]) -> Setting:
        """The setting with these parameters; those at their default are left out, so that links stay short."""
        usual = {one.name: one.default for one in parameters(found()[self.policy])}
        return replace(self, parameters={name: value for name, value in values.items() if usual.get(name) != value})

    def at(self, memory: Memory) -> datetime | None:
        """The time scores are computed for: the memory clock, whole days moved. None: the clock itself."""
        clock = memory.clock
        if self.day is None or clock is None:
            return None
        return clock + timedelta(days=(self.day - clock.date()).days)

    def kept_nodes(self, memory: Memory) -> int:
        """The N of the cut `keep`."""
        return round(memory.graph.node_count * self.keep / 100)

    def plan(self, memory: Memory, policy: Policy | None = None) -> ForgettingPlan:
        """The plan of this setting; `policy` may bring scores that are known. Raises InputError."""
        cut: dict[str, Any] = {}
        if self.cut == "threshold":
            cut = {"threshold": self.threshold}
        elif self.cut == "keep":
            cut = {"keep": self.kept_nodes(memory)}
        elif self.cut == "bytes":
            cut = {"bytes": round(memory.bytes_live()["total"] * self.bytes / 100)}
        elif not self.where:
            raise InputError("Nothing is selected: say who, which session, label, dates or words should go.")
        return plan_forgetting(
            memory, policy or self.made(), **cut, turns=self.turns, where=self.where or None, at=self.at(memory),
            turn=memory.graph.turns + self.later if self.later else None, idle_days=self.idle_days or None,
        )  # fmt: skip

    # -- links -----------------------------------------------------------------------------------------------------

    def query(self) -> dict[str, str]:
        """What a link holds: everything that is not default."""
        usual = Setting()
        told = {"policy": self.policy, "cut": self.cut, self.cut: f"{getattr(self, self.cut, 0):g}"}
        told = {name: value for name, value in told.items() if name != "all"}
        told |= {f"p.{name}": _short(value) for name, value in sorted(self.parameters.items())}
        told |= {} if self.turns == usual.turns else {"turns": self.turns}
        told |= {"where": self.where} if self.where else {}
        told |= {"at": self.day.isoformat()} if self.day else {}
        told |= {"later": str(self.later)} if self.later else {}
        return told | ({"idle": f"{self.idle_days:g}"} if self.idle_days else {})

    @classmethod
    def of_query(cls, query: Mapping[str, str]) -> tuple[Setting, list[str]]:
        """The setting of a link, and one line for each part of it that cannot be used (the default stands in)."""
        problems: list[str] = []
        setting = cls()
        for name, value in query.items():
            try:
                setting = _with(setting, name, value)
            except (InputError, ValueError) as error:
                words = str(error) if isinstance(error, InputError) else f"{name}={value[:60]} cannot be used here."
                problems.append(f"The link: {words}")
        given = {name.removeprefix("p."): value for name, value in query.items() if name.startswith("p.")}
        for name, value in given.items():
            try:
                policy = make(setting.policy, {name: value})
            except InputError as error:
                problems.append(f"The link: {error}")
            else:
                setting = replace(setting, parameters={**setting.parameters, name: getattr(policy, name)})
        return setting, problems

    @classmethod
    def opening(cls, memory: Memory) -> tuple[Setting, str]:
        """What the page opens on, and why: P1's default, unless that forgets nothing, as in any memory under 1,000
        turns."""
        plan = cls().plan(memory)
        if not plan.nothing or not plan.node_ids:
            return cls(), ""
        if memory.graph.turns < YOUNG:
            why = (
                f"this memory has {memory.graph.turns:,} turns, and a node younger than {YOUNG:,} turns scores at "
                "least .10, the threshold, from the turns term alone"
            )
        else:
            why = f"the lowest score is {float(plan.scores.score.min()):.3f}, the threshold .10"
        return cls(cut="keep"), f"P1's default forgets nothing here: {why}. So the page opens on keep 90 %."


def _with(setting: Setting, name: str, value: str) -> Setting:
    """The setting with one part of a link. Raises InputError or ValueError."""
    if name == "policy":
        make(value)
        return replace(setting, policy=value)
    if name == "cut" or name == "turns":
        known: tuple[str, ...] = CUTS if name == "cut" else ("keep", "with_nodes")
        if value not in known:
            raise InputError(f"{name} is {value[:60]}; choose one of {', '.join(known)}.")
        return replace(setting, **cast(Any, {name: value}))
    if name == "where":
        return replace(setting, where=str(Where.parse(value)) if value else "")
    if name == "at":
        return replace(setting, day=date.fromisoformat(value))
    ranges = {"threshold": (0.0, 1.0), "keep": (0.0, 100.0), "bytes": (0.0, 100.0), "idle": (0.0, 36500.0)}
    if name in ranges:
        key = "idle_days" if name == "idle" else name
        return replace(setting, **cast(Any, {key: _within(name, float(value), *ranges[name])}))
    if name == "later":
        return replace(setting, later=int(_within(name, int(value), 0, _MOST_TURNS)))
    return setting


def _within(name: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise InputError(f"{name} is {value:g}; it must lie between {low:g} and {high:g}.")
    return value


def _short(value: float | int | str) -> str:
    return repr(value) if isinstance(value, float) else str(value)
