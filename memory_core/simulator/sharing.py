"""What leaves the page: a plan as JSON, a comparison as CSV and as a short Markdown report."""

from __future__ import annotations

import csv
import io
import json
import shlex

from memory_core.evaluation.cost import Figure
from memory_core.evaluation.survival import FIGURES
from memory_core.memory import Memory
from memory_core.simulator.comparing import Comparison, Point
from memory_core.simulator.effects import words
from memory_core.simulator.pricing import NAMES, Price
from memory_core.simulator.setting import Setting
from memory_core.simulator.simulator import Shown


def plan_json(shown: Shown) -> str:
    """The plan as `forget --json` prints it."""
    return json.dumps(shown.plan.to_json(), ensure_ascii=False, indent=1)


def command(memory: Memory, setting: Setting) -> str:
    """The command that makes the same plan."""
    told = ["python -m memory_core forget", "--policy", setting.policy]
    if setting.cut == "threshold":
        told += ["--threshold", f"{setting.threshold:g}"]
    elif setting.cut == "keep":
        told += ["--keep", str(setting.kept_nodes(memory))]
    elif setting.cut == "bytes":
        told += ["--bytes", str(round(memory.bytes_live()["total"] * setting.bytes / 100))]
    told += ["--turns with_nodes"] if setting.turns == "with_nodes" else []
    told += ["--where", shlex.quote(setting.where)] if setting.where else []
    told += [f"--set {name}={value}" for name, value in sorted(setting.parameters.items())]
    at = setting.at(memory)
    return " ".join(told + (["--at", at.isoformat()] if at else []))


def comparison_csv(found: Comparison) -> str:
    """One row a point, with interval of chance, lift and loss ratio of each figure."""
    out = io.StringIO()
    table = csv.writer(out)
    parts = ("", " random mean", " random low", " random high", " lift", " loss ratio")
    table.writerow(["setting", "nodes kept", "share kept", *(f"{name}{part}" for name in FIGURES for part in parts)])
    for point in found.points:
        cells = [_plain(cell) for name in FIGURES for cell in _cells(point.figures[name])]
        table.writerow([point.name, point.kept, f"{point.share:.4f}", *cells])
    return out.getvalue()


def _cells(figure: Figure) -> list[float | None]:
    return [figure.value, figure.mean, figure.low, figure.high, figure.lift, figure.loss_ratio]


def _plain(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.4f}"


def comparison_report(name: str, found: Comparison) -> str:
    """The comparison as Markdown: what was measured, a table, and what does no better than chance."""
    head = ["setting", "kept", *(f"{NAMES[key]} (random) loss ratio" for key in FIGURES)]
    lines = [
        f"# What forgetting costs: {name}", "",
        f"{found.nodes:,} nodes; {found.questions:,} questions of {found.probe}. Each figure stands beside the 2.5 and "
        "97.5 percentiles of random prunes of the same number of nodes; a loss ratio of 1 is chance, 0 loses nothing.",
        "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}",
        *(f"| {' | '.join(_line(point))} |" for point in found.points), "",
    ]  # fmt: skip
    if found.kind == "policies" and (chance := found.by_chance()):
        lines += [f"No better than chance on any figure: {', '.join(chance)}.", ""]
    return "\n".join(lines)


def _line(point: Point) -> list[str]:
    return [point.name, f"{point.share:.1%}", *(_cell(point.figures[key]) for key in FIGURES)]


def _cell(figure: Figure) -> str:
    if not figure.n:
        return "not judged"
    band = f" ({figure.low:.3f} to {figure.high:.3f})" if figure.low == figure.low else ""
    ratio = figure.loss_ratio
    loss = f" {ratio:.2f}" if ratio is not None and ratio == ratio else ""
    return f"{figure.value:.3f}{band}{loss}"


def price_report(name: str, shown: Shown, price: Price) -> str:
    """A plan and its cost as Markdown."""
    figures = price.cost.figures
    rows = [f"| {NAMES[key]} | {one.before:.3f} | {_cell(one)} |" for key, one in figures.items() if one.n]
    return "\n".join([
        f"# A forgetting plan for {name}", "", f"Plan {shown.plan.id}: {words(shown.plan)}.", "",
        f"{len(price.probe.questions):,} questions of {price.probe.name}.", "",
        "| figure | before | after (random band) loss ratio |", "|---|---|---|", *rows, "", *price.verdicts(), "",
    ])  # fmt: skip
