"""From a plan to row changes and back: a forgetting pass marks rows, its undo unmarks them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_core.forgetting.plan import ForgettingPlan
from memory_core.memory.scoring import Scoring
from memory_core.schema import LABELS
from memory_core.store.rows import RowChange, insert, update

#: Kinds of change that mark rows as forgotten, so that undo and purge apply to them.
PASSES = ("forget", "delete")


@dataclass(frozen=True)
class Pass:
    """One forgetting pass as `history` shows it; `state` is applied, undone or purged.

    `nodes`, `edges` and `turns` count what it took, `left` the nodes that it still holds forgotten."""

    id: str
    at: datetime
    policy: str
    parameters: dict[str, object]
    nodes: int
    edges: int
    turns: int
    state: str
    left: int
    by: str
    summary: dict[str, object]

    def to_json(self) -> dict[str, object]:
        """The pass as `history --json` prints it."""
        return {
            "id": self.id, "at": self.at.isoformat(), "policy": self.policy, "parameters": self.parameters,
            "nodes": self.nodes, "edges": self.edges, "turns": self.turns, "state": self.state, "left": self.left,
            "by": self.by, **{key: self.summary.get(key) for key in ("plan", "cut", "where", "bytes_live_freed")},
        }  # fmt: skip


def marks(plan: ForgettingPlan, by: str) -> list[RowChange]:
    """Every row the plan takes, marked with the id of the pass."""
    before, after = {"forgotten_by": None}, {"forgotten_by": by}
    return [
        update(table, item, before, after)
        for table, items in (("node", plan.forgotten), ("edge", plan.edges), ("turn", plan.turns))
        for item in items
    ]


def summary(plan: ForgettingPlan) -> dict[str, object]:
    """What is kept of a plan in the history."""
    return {
        "plan": plan.id, "policy": plan.policy, "parameters": dict(plan.parameters), "cut": str(plan.cut),
        "turns_mode": plan.turns_mode, "where": plan.where, "as_of": plan.at.isoformat(), "turn": plan.turn,
        "nodes": int(plan.fate.sum()), "edges": len(plan.edges), "turns": len(plan.turns),
        "bytes_live_freed": plan.bytes_live_freed,
    }  # fmt: skip


def restoring(memory: Scoring, change: str, nodes: Sequence[str] | None = None) -> list[RowChange]:
    """Changes that bring back what a pass took, or of it only some `nodes` with the edges that then have both ends.

    An edge whose other end is still forgotten waits for the pass that took that end. A turn that left comes back with
    what was read from it.
    """
    graph = memory.graph
    rows = [row for row, by in enumerate(graph.forgotten_by) if by == change]
    if nodes is not None:
        wanted = set(nodes)
        rows = [row for row in rows if graph.ids[row] in wanted]
    back = set(rows)
    changes = [update("node", graph.ids[row], {"forgotten_by": change}, {"forgotten_by": None}) for row in rows]
    items = [graph.ids[row] for row in rows]
    for edge in _edges_of(memory, change, back, whole=nodes is None):
        waits = next((by for end in graph.ends.values[edge].tolist()
                      if end not in back and (by := graph.forgotten_by[end]) is not None), None)  # fmt: skip
        if waits != change:
            before = {"forgotten_by": graph.edge_forgotten_by[edge]}
            changes.append(update("edge", graph.edge_ids[edge], before, {"forgotten_by": waits}))
        if waits is None:
            items.append(graph.edge_ids[edge])
    return changes + _turns_back(memory, change, items, whole=nodes is None) + _twins(memory, rows)


def _edges_of(memory: Scoring, change: str, back: set[int], *, whole: bool) -> Iterable[int]:
    by = memory.graph.edge_forgotten_by
    if whole:
        return [edge for edge, of in enumerate(by) if of == change]
    return sorted({edge for row in back for edge in memory.graph.incident[row] if by[edge] == change})


def _turns_back(memory: Scoring, change: str, items: Sequence[str], *, whole: bool) -> list[RowChange]:
    speakers = {memory.graph.ids[row] for row in memory.speaker_rows().tolist()}
    marked = dict(memory.store.query_in(_FORGOTTEN_TURNS, [item for item in items if item not in speakers]))
    if whole:
        marked |= dict(memory.store.query("SELECT id, forgotten_by FROM turn WHERE forgotten_by = ?", change))
    return [update("turn", turn, {"forgotten_by": by}, {"forgotten_by": None}) for turn, by in sorted(marked.items())]


def _twins(memory: Scoring, rows: Sequence[int]) -> list[RowChange]:
    """Pairs to look at: what came back stands beside a live node of the same label and title."""
    graph, pairs = memory.graph, []
    for row in rows:
        for twin in graph.find_title(LABELS[graph.label.values[row]], graph.titles[row]):
            pairs.append(
                insert("pair", id=memory.counters.take("pair"), a=graph.ids[row], b=graph.ids[twin], kind="restored",
                       reason="same label and title, said again after it was forgotten", similarity=1.0, state="open")
            )  # fmt: skip
    return pairs


_FORGOTTEN_TURNS = """
    SELECT turn.id, forgotten_by FROM provenance JOIN turn ON turn.id = provenance.turn
    WHERE item IN ({}) AND forgotten_by IS NOT NULL"""
