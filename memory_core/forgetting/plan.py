"""The forgetting plan: everything a cut would take, found out without changing anything."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memory_core.errors import InputError
from memory_core.forgetting.cuts import Chosen, Cut, Mask, choose
from memory_core.forgetting.rules import load_rules, protected
from memory_core.forgetting.turns import leaving_turns
from memory_core.forgetting.where import Where
from memory_core.memory.scoring import Scoring
from memory_core.memory.turns import moment
from memory_core.policies import name_of, values_of
from memory_core.protocols import Doubles, Policy, Scores, ScoringView
from memory_core.schema import utc

TurnMode = Literal["keep", "with_nodes"]


@dataclass(frozen=True)
class ForgettingPlan:
    """What would be forgotten, and what decided it. `rows`, `scores` and `created` speak of the live nodes, in order.

    `id` is a hash of all that decides: the memory and its revision, policy, parameters, cut, selection, pins and rules,
    time and turn. The same memory and the same choices give the same id wherever they are made.
    """

    id: str
    memory: str
    revision: int
    policy: str
    parameters: Mapping[str, float | int | str]
    cut: Cut
    turns_mode: TurnMode
    where: str
    at: datetime
    turn: int
    idle_days: float | None
    node_ids: tuple[str, ...]
    scores: Scores
    created: Doubles
    fate: Mask  # True: goes
    held: Mask  # True: pinned or protected by a rule
    edges: tuple[str, ...]
    turns: tuple[str, ...]
    bytes_live: int
    bytes_live_freed: int
    edges_before: int
    turns_before: int
    gap: float | None = None

    @property
    def forgotten(self) -> tuple[str, ...]:
        """Ids of the nodes that go, worst first."""
        places = np.flatnonzero(self.fate)
        order = np.lexsort((-places, self.created[places], self.scores.score[places]))
        return tuple(self.node_ids[place] for place in places[order].tolist())

    @property
    def nodes_before(self) -> int:
        """Live nodes before the cut."""
        return len(self.node_ids)

    @property
    def everything(self) -> bool:
        """Whether nothing would be left; a page asks twice then."""
        return bool(len(self.fate)) and bool(self.fate.all())

    @property
    def nothing(self) -> bool:
        """Whether nothing would go."""
        return not self.fate.any()

    def to_json(self) -> dict[str, object]:
        """The plan as `forget --json` prints it."""
        return {
            "plan": self.id,
            "memory": self.memory,
            "revision": self.revision,
            "policy": self.policy,
            "parameters": dict(self.parameters),
            "cut": str(self.cut),
            "turns_mode": self.turns_mode,
            "where": self.where or None,
            "at": self.at.isoformat(),
            "turn": self.turn,
            "nodes_before": self.nodes_before,
            "edges_before": self.edges_before,
            "turns_before": self.turns_before,
            "forgotten": list(self.forgotten),
            "edges": len(self.edges),
            "turns": len(self.turns),
            "protected": int(self.held.sum()),
            "bytes_live": self.bytes_live,
            "bytes_live_freed": self.bytes_live_freed,
            "gap": self.gap,
            "ranks": self.scores.ranks,
            "warning": self.warning(),
        }

    def warning(self) -> str | None:
        """What a person should know before applying: that the cut takes everything or nothing, and why."""
        lowest = float(self.scores.score.min(initial=1.0))
        return warning(self.cut, self.nodes_before, int(self.fate.sum()), lowest)


def warning(cut: Cut, nodes: int, going: int, lowest: float) -> str | None:
    """What to say of a cut that takes all or none of `nodes`, of which the `lowest` is the least score."""
    if nodes and going == nodes:
        return f"This plan forgets all {nodes:,} nodes: nothing would be left."
    if going or not nodes:
        return None
    if cut.kind == "threshold":
        return f"This plan forgets nothing: the lowest score is {lowest:.4f}, the threshold {cut.value:g}."
    return "This plan forgets nothing."


def plan_forgetting(
    memory: Scoring,
    policy: Policy,
    *,
    threshold: float | None = None,
    keep: int | None = None,
    bytes: int | None = None,
    turns: TurnMode = "keep",
    where: str | Sequence[str] | Where | None = None,
    at: datetime | str | None = None,
    turn: int | None = None,
    idle_days: float | None = None,
) -> ForgettingPlan:
    """Score every live node once and choose what goes; changes nothing.

    `threshold` forgets scores below it, `keep` all but the top N nodes, `bytes` until the live memory fits (most summed
    score by density). `where` alone takes all it selects; with a cut only selected nodes may go. `turns="with_nodes"`
    lets a turn that the plan's nodes and edges cite leave when no live node or edge other than a speaker's node still
    cites it. `at` (default: the memory clock) and `turn` (default: turns stored) set the time scores are computed for;
    with `idle_days` a gap between two turns counts at most that many days. Raises InputError.
    """
    if turns not in ("keep", "with_nodes"):
        raise InputError(f"turns is {turns}; choose keep or with_nodes.")
    selection = where if isinstance(where, Where) else Where.parse(where) if where else None
    cut = Cut.of(threshold, keep, bytes, selection is not None)
    with memory.one_moment():
        return _plan(memory, policy, cut, turns, selection, at, turn, idle_days)


def _plan(
    memory: Scoring,
    policy: Policy,
    cut: Cut,
    mode: TurnMode,
    where: Where | None,
    at: datetime | str | None,
    turn: int | None,
    idle_days: float | None,
) -> ForgettingPlan:
    view, graph = memory.scoring_view(), memory.graph
    when = utc(at) if at is not None else moment(graph.clock or 0.0)
    now = view.turn if turn is None else turn
    scores = scored(memory, policy, replace(view, turn=now), when, idle_days)
    rows = graph.live_rows()
    held = protected(memory, load_rules(memory.store.meta("protect")))[rows]
    candidates = ~held if where is None else ~held & where.select(memory)[rows]
    live_bytes = memory.bytes_live()["total"]
    chosen = chosen_by(memory, cut, scores, view, candidates, live_bytes)
    fate = np.zeros(len(graph.ids), np.bool_)
    fate[rows] = chosen.forgotten
    edges = edges_going(memory, fate)
    gone = leaving_turns(memory, fate, edges) if mode == "with_nodes" else ()
    decided = {
        "memory": memory.fingerprint(), "policy": name_of(policy), "parameters": values_of(policy), "cut": str(cut),
        "turns": mode, "where": str(where or ""), "at": when.isoformat(), "turn": now, "idle_days": idle_days,
        "forgotten": hashlib.sha256(fate.tobytes()).hexdigest(),
    }  # fmt: skip
    return ForgettingPlan(
        id=hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()[:16],
        memory=memory.fingerprint(),
        revision=memory.revision,
        policy=name_of(policy),
        parameters=values_of(policy),
        cut=cut,
        turns_mode=mode,
        where=str(where or ""),
        at=when,
        turn=now,
        idle_days=idle_days,
        node_ids=view.ids,
        scores=scores,
        created=view.created,
        fate=chosen.forgotten,
        held=held,
        edges=tuple(graph.edge_ids[edge] for edge in edges.tolist()),
        turns=gone,
        bytes_live=live_bytes,
        bytes_live_freed=_freed(memory, fate, edges, gone, live_bytes),
        edges_before=graph.edge_count,
        turns_before=len(memory.source_turns()),
        gap=chosen.gap,
    )


def scored(memory: Scoring, policy: Policy, view: ScoringView, at: datetime, idle_days: float | None) -> Scores:
    """Scores of the live nodes; raises InputError when a policy breaks its contract."""
    if idle_days is not None:
        view, at = without_idle_time(memory, view, at, idle_days)
    scores = policy.score(view, at)
    if scores.score.shape != (len(view.ids),) or not np.isfinite(scores.score).all():
        raise InputError(f"Policy {name_of(policy)} gave a score that is no number: check its parameters.")
    return scores


def without_idle_time(
    memory: Scoring, view: ScoringView, at: datetime, idle_days: float
) -> tuple[ScoringView, datetime]:
    """The view and time on a clock on which a gap between two turns counts at most `idle_days`."""
    if not idle_days > 0:
        raise InputError(f"idle_days is {idle_days}; it must be above 0.")
    said = np.array([when for (when,) in memory.store.query("SELECT at FROM turn ORDER BY at")], np.float64)
    known = np.unique(np.append(said, at.timestamp()))
    lost = np.concatenate([[0.0], np.cumsum(np.maximum(np.diff(known) - 86400.0 * idle_days, 0.0))])

    def active(times: Doubles) -> Doubles:
        return np.asarray(times - lost[np.clip(np.searchsorted(known, times, side="right") - 1, 0, None)], np.float64)

    moved = replace(
        view,
        created=active(view.created),
        last_access=active(view.last_access),
        access_times=active(view.access_times),
    )
    return moved, moment(float(active(np.array([at.timestamp()]))[0]))


def edges_going(memory: Scoring, fate: Mask) -> NDArray[np.int64]:
    """Rows of the live edges that lose an end; `fate` (rows,) marks the node rows that go."""
    ends, live = memory.graph.ends.values, memory.graph.edge_live.values
    return np.flatnonzero(live & (fate[ends[:, 0]] | fate[ends[:, 1]]))


def chosen_by(
    memory: Scoring, cut: Cut, scores: Scores, view: ScoringView, candidates: Mask, live_bytes: int
) -> Chosen:
    """What a cut takes of `candidates` (n,) by these scores; `live_bytes` are those of the whole live memory."""
    if cut.kind != "bytes":
        return choose(cut, scores.score, view.created, candidates, view.created, 0.0)
    rows, edges = memory.graph.live_rows(), memory.graph.live_edges()
    sizes = memory.sizes()
    each = sizes.nodes.astype(np.float64)  # an edge weighs on both its ends, half and half
    for side in (0, 1):
        each += np.bincount(memory.graph.ends.values[edges, side], sizes.edges[edges] / 2, len(each))
    return choose(cut, scores.score, view.created, candidates, each[rows], live_bytes - float(each[rows].sum()))


def _freed(memory: Scoring, fate: Mask, edges: NDArray[np.int64], turns: Sequence[str], before: int) -> int:
    """`bytes_live` before minus after, to the byte."""
    sizes = memory.sizes()
    freed = int(sizes.nodes[fate].sum()) + int(sizes.edges[edges].sum())
    if not turns:
        return freed
    said = memory.store.query("SELECT sum(length(CAST(text AS BLOB))) FROM turn WHERE forgotten_by IS NULL")
    sizes_of = (
        "SELECT length(CAST(text AS BLOB)), length(vector) FROM turn LEFT JOIN turn_vector ON turn = id "
        "WHERE id IN ({})"
    )
    rows = memory.store.query_in(sizes_of, list(turns))
    words = sum(int(length) for length, _ in rows)
    total = int(said[0][0] or 0)
    return freed + words + sum(int(length or 0) for _, length in rows) + total // 2 - (total - words) // 2
