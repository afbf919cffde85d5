"""Runs side by side as P1's Tables 1, 5 and 6 have them, for the page and as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_core.evaluation.results.reading import Run

#: Metric -> its short name in tables.
SHORT: Mapping[str, str] = {"precision": "P", "f1": "F1", "judge_correct": "J", "recall": "R"}
#: Metric -> what it is, in words for a tooltip.
WORDS: Mapping[str, str] = {
    "precision": "share of the answer's words that are in the expected answer",
    "f1": "harmonic mean of token precision and recall",
    "recall": "share of the expected answer's words that are in the answer",
    "judge_correct": "share of answers the judge accepts",
    "fraction@5": "share of the evidence turns among the first 5",
    "fraction@10": "share of the evidence turns among the first 10",
    "recall_any@5": "questions with any evidence turn among the first 5",
    "recall_all@5": "questions with every evidence turn among the first 5",
    "ndcg@10": "discounted gain of the first 10 places",
    "provenance_precision": "share of the turns brought that are evidence",
    "locomo_f1": "LoCoMo's own answer score, by its category rules",
}
#: The order in which metrics are offered; what a run has beyond them follows by name.
ORDER = ("judge_correct", "f1", "precision", "recall", "fraction@5", "recall_any@5", "recall_all@5", "fraction@10",
         "ndcg@10", "provenance_precision", "locomo_f1")  # fmt: skip
_EVIDENCE = ("fraction@5", "recall_all@5", "ndcg@10", "f1", "recall")
OVERALL = "overall"
Shown = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """A metric of one run on one type: mean over n questions, standard error, interval; None where undefined."""

    n: int = 0
    mean: float | None = None
    sem: float | None = None
    low: float | None = None
    high: float | None = None
    best: bool = False

    @property
    def text(self) -> str:
        """Three digits as papers print them.

        >>> Cell(70, 0.7714).text, Cell(3, 1.0).text, Cell().text
        ('.771', '1.000', 'n/a')
        """
        return "n/a" if self.mean is None else f"{self.mean:.3f}".removeprefix("0")

    @property
    def full(self) -> str:
        """Mean ± SEM and the interval."""
        if self.mean is None:
            return "n/a"
        sem = "" if self.sem is None else f" ± {self.sem:.3f}".replace("0.", ".")
        return f"{self.text}{sem} [{_digits(self.low)}, {_digits(self.high)}]"


@dataclass(frozen=True)
class Table:
    """`rows`: question type (overall last) -> run -> metric -> cell; `counts`: type -> run -> n."""

    runs: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: Mapping[str, Mapping[str, Mapping[str, Cell]]]
    counts: Mapping[str, Mapping[str, int]]

    def n(self, kind: str) -> str:
        """The number of questions of a type; several where runs differ."""
        counts = list(dict.fromkeys(self.counts[kind].get(run, 0) for run in self.runs))
        return " / ".join(f"{count:,}" for count in counts)


def metrics_of(runs: Iterable[Run]) -> list[str]:
    """Metrics that any of the runs has, best known first."""
    have = {name for run in runs for row in run.answered for name in row.figures}
    return [name for name in ORDER if name in have] + sorted(have.difference(ORDER))


def headline(metrics: Sequence[str], most: int = 4) -> list[str]:
    """The metrics that speak for a run, best first: the judge's and token scores, or without a judge the evidence's.

    >>> headline(["f1", "precision", "recall", "fraction@5", "ndcg@10"])
    ['fraction@5', 'ndcg@10', 'f1', 'recall']
    """
    order = ("judge_correct", "f1", "precision", "recall") if "judge_correct" in metrics else _EVIDENCE
    first = [name for name in order if name in metrics]
    return [*first, *(name for name in metrics if name not in first)][:most]


def table(shown: Mapping[str, Shown], metrics: Sequence[str]) -> Table:
    """From `show` of each run, types in order of appearance; in each row the best mean of a metric is marked."""
    kinds = list(dict.fromkeys(kind for one in shown.values() for kind in one["types"]))
    rows = {
        kind or "(no type)": {run: _cells(one["types"].get(kind, {}), metrics) for run, one in shown.items()}
        for kind in kinds
    }
    rows[OVERALL] = {run: _cells(one["overall"], metrics) for run, one in shown.items()}
    counts = {kind or "(no type)": {run: one["types"].get(kind, {}).get("n", 0) for run, one in shown.items()}
              for kind in kinds}  # fmt: skip
    counts[OVERALL] = {run: one["n"] for run, one in shown.items()}
    return Table(tuple(shown), tuple(metrics), {kind: _best(row, metrics) for kind, row in rows.items()}, counts)


def _cells(figures: Mapping[str, Any], metrics: Sequence[str]) -> dict[str, Cell]:
    return {name: _cell(figures[name]) if name in figures else Cell() for name in metrics}


def _cell(figure: Mapping[str, Any]) -> Cell:
    low, high = figure.get("wilson") or figure["ci"]
    return Cell(figure["n"], figure["mean"], figure["sem"], low, high)


def _best(row: Mapping[str, Mapping[str, Cell]], metrics: Sequence[str]) -> Mapping[str, Mapping[str, Cell]]:
    if len(row) < 2:
        return row
    tops = {name: _top([cells[name].mean for cells in row.values()]) for name in metrics}
    return {run: {name: _marked(cell, tops[name]) for name, cell in cells.items()} for run, cells in row.items()}


def _top(means: Sequence[float | None]) -> float | None:
    """The best of several means that differ in their printed digits."""
    digits = [round(mean, 3) for mean in means if mean is not None]
    return max(digits) if len(set(digits)) > 1 else None


def _marked(cell: Cell, top: float | None) -> Cell:
    best = cell.mean is not None and top is not None and round(cell.mean, 3) == top
    return Cell(cell.n, cell.mean, cell.sem, cell.low, cell.high, best)


def to_csv(made: Table) -> str:
    """One line a type and run, all digits."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(["type", "run", "metric", "n", "mean", "sem", "low", "high"])
    for kind, row in made.rows.items():
        for run, cells in row.items():
            for name, cell in cells.items():
                write.writerow([kind, run, name, cell.n, *_blank(cell.mean, cell.sem, cell.low, cell.high)])
    return out.getvalue()


def to_markdown(made: Table) -> str:
    """A table for a README, the best of a row in bold."""
    head = ["type", "n", *(f"{run} {_short(name)}" for run in made.runs for name in made.metrics)]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    lines += [[kind, made.n(kind), *_texts(made, kind, "**", "**")] for kind in made.rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def to_latex(made: Table) -> str:
    """A booktabs table with a multicolumn heading a run."""
    width = len(made.metrics)
    runs = " & ".join(f"\\multicolumn{{{width}}}{{c}}{{{_tex(run)}}}" for run in made.runs)
    names = " & ".join(_tex(_short(name)) for _ in made.runs for name in made.metrics)
    lines = [f"\\begin{{tabular}}{{lr{'r' * width * len(made.runs)}}}", "\\toprule", f" & & {runs} \\\\",
             f"type & $n$ & {names} \\\\", "\\midrule"]  # fmt: skip
    for kind in made.rows:
        if kind == OVERALL:
            lines.append("\\midrule")
        cells = " & ".join(_texts(made, kind, "\\textbf{", "}"))
        lines.append(f"{_tex(kind)} & {made.n(kind).replace(',', '{,}')} & {cells} \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _texts(made: Table, kind: str, before: str, after: str) -> list[str]:
    cells = [made.rows[kind][run][name] for run in made.runs for name in made.metrics]
    return [f"{before}{cell.text}{after}" if cell.best else cell.text for cell in cells]


def _short(name: str) -> str:
    return SHORT.get(name, name)


def _digits(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}".removeprefix("0")


def _blank(*values: float | None) -> list[float | str]:
    return ["" if value is None else value for value in values]


_TEX = {"\\": r"\textbackslash{}", **{letter: f"\\{letter}" for letter in "&%$#_{}"}, "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}"}  # fmt: skip


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in text)
