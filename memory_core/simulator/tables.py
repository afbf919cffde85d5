"""The rows the page shows of a plan: who goes, who stays last, with the parts of the score."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from memory_core.forgetting import ForgettingPlan
from memory_core.graph import Graph
from memory_core.memory import Memory
from memory_core.schema import LABELS

#: Which rows: those that go, worst first; those that go, best first; those that stay, lowest first.
Which = Literal["first", "last", "stay"]
PART_INKS = ("#1f6fd0", "#f0960a", "#0e8a7b", "#a463c9", "#c2447f", "#5f646d")
FIRST = 200


@dataclass(frozen=True)
class Row:
    """One node of a plan."""

    id: str
    label: str
    title: str
    score: float
    parts: dict[str, float]
    created: datetime
    accessed: datetime | None
    accesses: int
    degree: int
    turn: int


def rows(memory: Memory, plan: ForgettingPlan, which: Which = "first", limit: int = FIRST) -> list[Row]:
    """At most `limit` rows, in order."""
    graph, live = memory.graph, memory.graph.live_rows()
    return [_row(graph, plan, place, int(live[place])) for place in _order(plan, which)[:limit].tolist()]


def _order(plan: ForgettingPlan, which: Which) -> NDArray[np.int64]:
    places = np.flatnonzero(~plan.fate if which == "stay" else plan.fate)
    order = places[np.lexsort((-places, plan.created[places], plan.scores.score[places]))]
    return order[::-1] if which == "last" else order


def _row(graph: Graph, plan: ForgettingPlan, place: int, row: int) -> Row:
    accessed = float(graph.last_access.values[row])
    return Row(
        id=graph.ids[row],
        label=LABELS[graph.label.values[row]],
        title=graph.titles[row],
        score=float(plan.scores.score[place]),
        parts={name: float(part[place]) for name, part in plan.scores.parts.items()},
        created=datetime.fromtimestamp(float(plan.created[place]), UTC),
        accessed=None if np.isnan(accessed) else datetime.fromtimestamp(accessed, UTC),
        accesses=int(graph.accesses.values[row]),
        degree=int(graph.degree.values[row]),
        turn=int(graph.turns_at_creation.values[row]),
    )


def as_csv(memory: Memory, plan: ForgettingPlan, which: Which = "first") -> str:
    """Every row, with the parts of the score, as CSV; cells a spreadsheet would run as formulas get a quote."""
    out = io.StringIO()
    table = csv.writer(out)
    names = list(plan.scores.parts)
    table.writerow(["id", "label", "title", "score", *names, "created", "last_access", "accesses", "edges"])
    for row in rows(memory, plan, which, limit=plan.nodes_before):
        title = f"'{row.title}" if row.title[:1] in "=+-@\t\r" else row.title
        seen = row.accessed.isoformat() if row.accessed else ""
        table.writerow([row.id, row.label, title, f"{row.score:.6f}", *(f"{row.parts[name]:.6f}" for name in names),
                        row.created.isoformat(), seen, row.accesses, row.degree])  # fmt: skip
    return out.getvalue()


def stacked(parts: Sequence[float], whole: float = 1.0) -> str:
    """The parts of a score side by side as a picture, `whole` filling it; for a table's picture column."""
    at, bars = 0.0, ""
    for place, part in enumerate(parts):
        width = 100 * max(part, 0.0) / whole
        bars += f"<rect x='{at:.1f}' width='{width:.1f}' height='9' fill='{PART_INKS[place % len(PART_INKS)]}'/>"
        at += width
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' width='200' height='18' viewBox='0 0 100 9'>{bars}</svg>"
    return "data:image/svg+xml," + quote(svg, safe="/:='<> ")
