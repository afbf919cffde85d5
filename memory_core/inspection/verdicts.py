"""What a person's verdicts say about the de-duplication threshold: precision and recall at each, and one to use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from memory_core.evaluation.statistics import wilson
from memory_core.figures.chart import Chart, ink, quiet
from memory_core.inspection.court import Merge, Pair

FEW = 10  # verdicts below which no threshold is suggested
_BETA = 0.5  # F0.5: a false merge fuses two things, a missed one is merged by hand


@dataclass(frozen=True)
class Verdict:
    """One answered pair: its cosine, whether it is the same thing, whether a guard keeps it apart at any threshold."""

    similarity: float
    same: bool
    guarded: bool = False


@dataclass(frozen=True)
class Level:
    """What merging above `threshold` would do with the answered pairs; precision is None when it would merge none."""

    threshold: float
    precision: float | None
    recall: float | None
    merged: int
    precision_ci: tuple[float, float]
    recall_ci: tuple[float, float]
    f: float


def verdicts(pairs: Sequence[Pair], merges: Sequence[Merge]) -> list[Verdict]:
    """Answered pairs of one label with a cosine; a merge that was split again counts as two different things."""
    answered = [
        Verdict(pair.similarity, pair.verdict == "same", bool(pair.guard))
        for pair in pairs
        if pair.verdict in ("same", "different") and pair.similarity is not None and " / " not in pair.label
    ]
    split = [Verdict(merge.similarity, False) for merge in merges if merge.split and merge.how == "cosine"]
    return answered + split


def levels(answers: Sequence[Verdict], *, guards: bool = True) -> list[Level]:
    """A level for every threshold that tells answers apart, from .50 to .99 in steps of .01.

    >>> found = levels([Verdict(.9, True), Verdict(.8, False), Verdict(.7, True)])
    >>> [(level.precision, level.recall) for level in found if level.threshold in (.65, .75, .85)]
    [(0.6666666666666666, 1.0), (0.5, 0.5), (1.0, 0.5)]
    """
    return [_level(answers, hundredth / 100, guards) for hundredth in range(50, 100)]


def _level(answers: Sequence[Verdict], at: float, guards: bool) -> Level:
    merged = [one for one in answers if one.similarity > at and not (guards and one.guarded)]
    same, right = sum(one.same for one in answers), sum(one.same for one in merged)
    precision = right / len(merged) if merged else None
    recall = right / same if same else None
    weight = _BETA * _BETA
    below = weight * (precision or 0.0) + (recall or 0.0)
    f = (1 + weight) * precision * recall / below if precision and recall else 0.0
    return Level(at, precision, recall, len(merged), wilson(right, len(merged)), wilson(right, same), f)


def suggested(answers: Sequence[Verdict], *, guards: bool = True) -> Level | None:
    """The threshold of the best F0.5, which weighs precision more; of equal ones the highest. None below FEW answers or
    when all say the same."""
    if len(answers) < FEW or len({one.same for one in answers}) < 2:
        return None
    best = max(levels(answers, guards=guards), key=lambda level: (level.f, level.threshold))
    return best if best.f else None


def verdict_chart(answers: Sequence[Verdict], now: float, *, dark: bool = False, guards: bool = True) -> Chart:
    """Precision and recall against the threshold, the one in use and the one suggested as lines."""
    found, best = levels(answers, guards=guards), suggested(answers, guards=guards)
    figure = go.Figure()
    for name, color, dash in (("precision", "#0c8feb", "solid"), ("recall", "#faa015", "dash")):
        figure.add_scatter(
            x=[level.threshold for level in found], y=[getattr(level, name) for level in found], name=name,
            mode="lines", line={"color": color, "width": 2, "dash": dash, "shape": "hv"},
            hovertemplate=name + " %{y:.2f} at %{x:.2f}<extra></extra>",
        )  # fmt: skip
    quiet(figure, dark, 280)
    sides = ("top left", "top right") if best and best.threshold > now else ("top right", "top left")
    now_line = {"color": ink(dark).quiet, "dash": "dot"}
    figure.add_vline(now, line=now_line, annotation_text="in use", annotation_position=sides[0])
    if best:
        line = {"color": ink(dark).accent}
        figure.add_vline(best.threshold, line=line, annotation_text="suggested", annotation_position=sides[1])
    figure.update_xaxes(title_text="de-duplication threshold (cosine)", range=[0.5, 1.0])
    figure.update_yaxes(range=[0, 1.12])
    told = f" Suggested: {best.threshold:.2f}." if best else " Too few answers to suggest one."
    return Chart(figure, f"Precision and recall of merging against the threshold, {len(answers)} answers.{told}")
