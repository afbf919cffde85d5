"""Settings held against each other: every policy at equal size, a sweep over parameters, P2's objective, ablation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from memory_core.evaluation import sweeps
from memory_core.evaluation.cost import PRUNES, Figure, cost
from memory_core.evaluation.survival import FIGURES, Probe
from memory_core.figures.curves import Band
from memory_core.figures.curves import Point as Mark
from memory_core.jobs import Job
from memory_core.memory import Memory
from memory_core.policies import found, parameters
from memory_core.simulator.pricing import NAMES, ready
from memory_core.simulator.questions import ProbeSet
from memory_core.simulator.setting import Setting
from memory_core.simulator.simulator import Simulator

SHARES = (90.0, 70.0, 50.0)
#: Axes of a sweep that are no parameter of the policy, with the values a sweep looks at.
CUT_AXES = {"keep": (5.0, 100.0), "threshold": (0.0, 0.5)}
Kind = Literal["policies", "sweep", "budget", "ablation"]


@dataclass(frozen=True)
class Point:
    """One setting, the nodes it keeps and their share (0 to 1), and its figures beside chance (NaN: not drawn)."""

    name: str
    setting: Setting
    kept: int
    share: float
    figures: Mapping[str, Figure]

    def value(self, figure: str) -> float | None:
        """A figure, None when no question can be judged by it."""
        return self.figures[figure].value if self.figures[figure].n else None


@dataclass(frozen=True)
class Comparison:
    """What was compared, on which questions; `swept` are the points of a sweep in the same order, `axes` its values."""

    kind: Kind
    setting: Setting
    probe: str
    questions: int
    nodes: int
    points: tuple[Point, ...]
    axes: Mapping[str, tuple[float, ...]]
    swept: tuple[sweeps.Point, ...] = ()

    def objective(self, eta: float) -> list[float]:
        """P2's L of each point."""
        return [point.objective(eta=eta) for point in self.swept]

    def least(self, eta: float) -> int:
        """Place of the point of least L."""
        return self.swept.index(sweeps.minimum(self.swept, eta=eta))

    def front(self, figure: str) -> list[int]:
        """Places of the points that no other beats: as much of the figure with fewer nodes."""
        known = [(place, point.share, point.value(figure)) for place, point in enumerate(self.points)]
        return [
            place
            for place, share, value in known
            if value is not None
            and not any(
                other is not None and less <= share and other >= value and (less, other) != (share, value)
                for _, less, other in known
            )
        ]

    def place_of(self, name: str, share: float) -> int | None:
        """Place of the point of that name and share kept, None without one."""
        known = ((place, point) for place, point in enumerate(self.points) if point.name == name)
        return next((place for place, point in known if abs(point.share - share) < 1e-6), None)

    def marks(self) -> list[Mark]:
        """The points for the curves."""
        return [Mark(point.name, NAMES[key], point.share, point.value(key)) for key in FIGURES for point in self.points]

    def bands(self) -> list[Band]:
        """The random band at each share kept, for the curves."""
        first = {(key, point.share): point.figures[key] for key in FIGURES for point in reversed(self.points)}
        return [
            Band(NAMES[key], share, one.mean, one.low, one.high)
            for (key, share), one in first.items()
            if one.n and one.mean == one.mean
        ]

    def by_chance(self) -> list[str]:
        """Policies that no figure at any size lifts above the band, said plainly."""
        names = dict.fromkeys(point.name for point in self.points)
        above = [point.name for point in self.points for one in point.figures.values() if one.n and one.above_band]
        return [name for name in names if name not in above]


def start(
    simulator: Simulator, kind: Kind, setting: Setting, probe: str, questions: Callable[[], ProbeSet],
    axes: Mapping[str, tuple[float, ...]] | None = None, shares: Sequence[float] = SHARES,
) -> tuple[str, Job]:  # fmt: skip
    """Compare in the background; the key the job is remembered by, and the job, whose `result` is a Comparison."""
    varied = dict(axes or {})
    key = repr(("compare", kind, simulator.memory.fingerprint(), setting, probe, varied, tuple(shares)))

    def work(job: Job) -> Comparison:
        made, asked = ready(simulator, probe, questions, job)
        nodes = simulator.memory.graph.node_count
        if kind == "policies":
            points, swept = _policies(simulator, made, setting, shares, job), list[sweeps.Point]()
        elif kind == "ablation":
            points, swept = _ablation(made, setting, job)
        else:
            points, swept = _sweep(made, setting, varied, job)
        return Comparison(kind, setting, asked.name, len(made.questions), nodes, tuple(points), varied, tuple(swept))

    return key, simulator.start(key, f"Comparison ({kind})", work, 0)


def _policies(simulator: Simulator, probe: Probe, setting: Setting, shares: Sequence[float], job: Job) -> list[Point]:
    """Every policy at each share; plans of one size share one band of random prunes."""
    memory, points = simulator.twin(), list[Point]()
    bands: dict[tuple[int, int], Mapping[str, Figure]] = {}
    job.total += len(shares) * (PRUNES + 3 * len(found()) + 2)
    for share in shares:
        for name in sorted(found()):
            own = setting.parameters if name == setting.policy else {}
            one = replace(setting, policy=name, parameters=own, cut="keep", keep=share, where="")
            plan = one.plan(memory, simulator.remembering(one, memory))
            job.advance(f"scored by {name}")
            size = int(plan.fate.sum()), int(plan.held.sum())
            if size not in bands:
                bands[size] = cost(probe, plan, advance=job.advance).figures
            figures = cost(probe, plan, prunes=0, advance=job.advance).figures
            beside = {key: _beside(figures[key], bands[size][key]) for key in FIGURES}
            kept = plan.nodes_before - size[0]
            points.append(Point(name, one, kept, kept / max(plan.nodes_before, 1), beside))
    return points


def _beside(own: Figure, band: Figure) -> Figure:
    return replace(own, mean=band.mean, low=band.low, high=band.high)


def _sweep(
    probe: Probe, setting: Setting, axes: Mapping[str, tuple[float, ...]], job: Job
) -> tuple[list[Point], list[sweeps.Point]]:
    """At the memory clock; without a cut among the axes the setting's own cut holds."""
    count = 1
    for values in axes.values():
        count *= len(values)
    job.total += 2 * count
    n = probe.memory.graph.node_count
    inside = {name: [round(n * v / 100) for v in values] if name == "keep" else values for name, values in axes.items()}
    fixed: dict[str, Any] = dict(setting.parameters)
    if not set(axes) & set(CUT_AXES):
        kept = {"keep": round(n * setting.keep / 100)}
        fixed |= {"threshold": setting.threshold} if setting.cut == "threshold" else kept
    swept = sweeps.sweep(probe, setting.policy, cast(Any, inside), fixed=fixed, advance=job.advance)
    return [_of_swept(setting, one, n) for one in swept], swept


def _of_swept(setting: Setting, one: sweeps.Point, n: int, name: str = "") -> Point:
    values = {key: 100 * value / max(n, 1) if key == "keep" else value for key, value in one.values.items()}
    own = {key: value for key, value in values.items() if key not in CUT_AXES}
    moved = setting.with_parameters({**setting.values(), **own})
    cut = next((key for key in values if key in CUT_AXES), None)
    if cut:
        moved = replace(moved, **cast(Any, {"cut": cut, cut: round(values[cut], 1 if cut == "keep" else 4)}))
    nan = float("nan")
    figures = {key: Figure(int(value == value), value, nan, nan, nan, nan) for key, value in one.figures.items()}
    words = ", ".join(f"{key} {value:.4g}{' %' if key == 'keep' else ''}" for key, value in values.items())
    return Point(name or words, moved, one.nodes, one.kept, figures)


def _ablation(probe: Probe, setting: Setting, job: Job) -> tuple[list[Point], list[sweeps.Point]]:
    """P1's score with each term left out, at the number of nodes the setting keeps."""
    n = probe.memory.graph.node_count
    own = setting if setting.policy == "importance" else replace(setting, policy="importance", parameters={})
    keep = int((~own.plan(cast(Memory, probe.memory)).fate).sum()) if own.cut != "all" else round(n * own.keep / 100)
    made = sweeps.ablation(probe, keep, cast(Any, own.parameters))
    points = [
        _of_swept(own.with_parameters({**own.values(), **({term: 0.0} if term else {})}), one, n,
                  f"without {term}" if term else "all four terms")
        for term, one in made.items()
    ]  # fmt: skip
    return points, list(made.values())


def values_of(setting: Setting, axis: str, count: int) -> tuple[float, ...]:
    """`count` values of an axis, evenly over its range."""
    known = {one.name: (one.low, one.high) for one in parameters(found()[setting.policy])} | CUT_AXES
    low, high = known[axis]
    return tuple(round(low + (high - low) * k / (count - 1), 4) for k in range(count))


def axes_of(setting: Setting) -> dict[str, str]:
    """What can be swept -> its label."""
    own = {one.name: one.label for one in parameters(found()[setting.policy]) if not one.choices and not one.whole}
    return {"keep": "Keep, % of the nodes", "threshold": "Threshold"} | own
