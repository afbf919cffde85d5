"""Question by question: what one run got right and another wrong, with everything both had in hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.evaluation.results.reading import Row, Run

OUTCOMES = ("A right, B wrong", "B right, A wrong", "both right", "both wrong")
RIGHT = 0.5  # a verdict is 0 or 1; of a share, at least half counts as right


@dataclass(frozen=True)
class Pair:
    """One question both runs answered and `metric` measured; `a` and `b` are its values."""

    id: str
    type: str
    question: str
    a: float
    b: float
    row_a: Row
    row_b: Row

    @property
    def outcome(self) -> str:
        """One of OUTCOMES."""
        right_a, right_b = self.a >= RIGHT, self.b >= RIGHT
        if right_a == right_b:
            return "both right" if right_a else "both wrong"
        return "A right, B wrong" if right_a else "B right, A wrong"

    @property
    def expected(self) -> str:
        """The expected answer, from either run."""
        return self.row_a.ground_truth or self.row_b.ground_truth or ""

    @property
    def evidence(self) -> list[str]:
        """Source ids of the turns that hold the answer."""
        found = self.row_a.other.get("evidence") or self.row_b.other.get("evidence") or []
        return [str(turn) for turn in found] if isinstance(found, list) else [str(found)]


def pairs(a: Run, b: Run, metric: str) -> list[Pair]:
    """The questions both runs have the metric of, in A's order."""
    theirs = {row.id: row for row in b.answered if metric in row.figures}
    return [
        Pair(row.id, row.type or theirs[row.id].type, _question(row, theirs[row.id]), row.figures[metric],
             theirs[row.id].figures[metric], row, theirs[row.id])
        for row in a.answered
        if metric in row.figures and row.id in theirs
    ]  # fmt: skip


def _question(a: Row, b: Row) -> str:
    return str(a.other.get("question") or b.other.get("question") or "")


def counted(found: Sequence[Pair]) -> dict[str, int]:
    """Outcome -> how many questions."""
    return {outcome: sum(pair.outcome == outcome for pair in found) for outcome in OUTCOMES}


def to_csv(found: Sequence[Pair], metric: str) -> str:
    """One line a question; cells a spreadsheet would run as formulas get a quote in front."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(["question_id", "question_type", "outcome", f"{metric}_a", f"{metric}_b", "question", "expected",
                    "answer_a", "answer_b"])  # fmt: skip
    for pair in found:
        texts = (pair.question, pair.expected, pair.row_a.predicted or "", pair.row_b.predicted or "")
        write.writerow([pair.id, pair.type, pair.outcome, pair.a, pair.b, *(_safe(text) for text in texts)])
    return out.getvalue()


def _safe(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
