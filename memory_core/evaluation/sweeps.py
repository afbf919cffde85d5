"""What a parameter does: sweeps over one or two of them, the Pareto front, P2's objective, and terms left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from memory_core import policies
from memory_core.errors import InputError
from memory_core.evaluation.survival import FIGURES, Probe
from memory_core.forgetting import ForgettingPlan

CUTS = ("threshold", "keep", "bytes")
ETA = 0.5  # P2's weight of size in the objective


@dataclass(frozen=True)
class Point:
    """One setting of a sweep: its values by name, the plan's id, what stays, and the three figures."""

    values: Mapping[str, float]
    plan: str
    nodes: int
    nodes_before: int
    bytes_live: int
    figures: Mapping[str, float]
    best: bool = False  # on the Pareto front: nothing else keeps as much with as few nodes

    @property
    def kept(self) -> float:
        """Share of the nodes that stay."""
        return self.nodes / self.nodes_before if self.nodes_before else 1.0

    def objective(self, figure: str = FIGURES[2], eta: float = ETA) -> float:
        """P2's L(keep) = 1 - recall + eta · kept / B0, B0 the size before the cut; `figure` stands for recall."""
        return 1.0 - self.figures[figure] + eta * self.kept


def sweep(
    probe: Probe,
    policy: str,
    axes: Mapping[str, Sequence[float]],
    *,
    fixed: Mapping[str, float] | None = None,
    front: str = FIGURES[1],
    advance: Callable[[str], None] = lambda message: None,
) -> list[Point]:
    """A point for every combination of one or two axes: parameters of the policy, or a cut (threshold, keep, bytes).

    `fixed` holds the other parameters and, when no axis is one, the cut. `front` is the figure of the Pareto front.
    `advance` is called a point and may raise to stop. Raises InputError.
    """
    if not 1 <= len(axes) <= 2 or not all(axes.values()):
        raise InputError("A sweep takes one or two parameters with at least one value each.")
    points = []
    for values in product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        points.append(_point(probe, _plan(probe, policy, {**(fixed or {}), **chosen}), chosen))
        advance(", ".join(f"{name} {value:g}" for name, value in chosen.items()))
    return _with_front(points, front)


def _plan(probe: Probe, policy: str, values: Mapping[str, float]) -> ForgettingPlan:
    cut = {name: value if name == "threshold" else int(value) for name, value in values.items() if name in CUTS}
    given = {name: value for name, value in values.items() if name not in CUTS}
    return probe.memory.plan(policies.make(policy, given), **cut)


def _point(probe: Probe, plan: ForgettingPlan, values: Mapping[str, float]) -> Point:
    live = probe.memory.graph.live.values.copy()
    live[probe.memory.graph.live_rows()] = ~plan.fate
    columns = probe.outcome(live[None]).columns()
    figures = {name: float(column.mean()) if column.size else float("nan") for name, column in columns.items()}
    left = plan.bytes_live - plan.bytes_live_freed
    return Point(values, plan.id, int((~plan.fate).sum()), plan.nodes_before, left, figures)


def _with_front(points: Sequence[Point], figure: str) -> list[Point]:
    return [
        Point(*_parts(point), best=not any(_beats(other, point, figure) for other in points)) for point in points
    ]  # fmt: skip


def _parts(point: Point) -> tuple[Mapping[str, float], str, int, int, int, Mapping[str, float]]:
    return point.values, point.plan, point.nodes, point.nodes_before, point.bytes_live, point.figures


def _beats(other: Point, point: Point, figure: str) -> bool:
    ours, theirs = point.figures[figure], other.figures[figure]
    return theirs >= ours and other.nodes <= point.nodes and (theirs > ours or other.nodes < point.nodes)


def minimum(points: Sequence[Point], figure: str = FIGURES[2], eta: float = ETA) -> Point:
    """The point of least objective; on ties the one that keeps fewest."""
    if not points:
        raise InputError("There is no point to choose from.")
    return min(points, key=lambda point: (point.objective(figure, eta), point.nodes))


def ablation(probe: Probe, keep: int, weights: Mapping[str, float] | None = None) -> dict[str, Point]:
    """The importance score (P1 3.6) with each of its terms left out, at equal size; "" is the whole score."""
    terms = ("recency", "frequency", "centrality", "turns")
    given = dict(weights or {})
    return dict(_ablated(probe, keep, given, terms))


def _ablated(probe: Probe, keep: int, given: Mapping[str, float], terms: Sequence[str]) -> Iterator[tuple[str, Point]]:
    yield "", _point(probe, _plan(probe, "importance", {**given, "keep": keep}), {"keep": keep})
    for term in terms:
        values = {**given, term: 0.0, "keep": keep}
        yield term, _point(probe, _plan(probe, "importance", values), {"keep": keep})
