"""Where each evidence turn of a question was found, or at which step of the retrieval it was lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

from memory_core.evaluation.side_by_side import rests_on
from memory_core.memory import Memory
from memory_core.protocols import Retrieval, Retriever, Root
from memory_core.schema import Turn

#: The steps at which a turn can be lost, in the order of a retrieval.
STAGES = (
    "not stored", "forgotten", "never written", "below the floor", "cut at the roots", "beyond the hops",
    "cut by the cap", "older turn of its node", "below the first k", "over the budget",
)  # fmt: skip
_DEEP = 200  # places of a ranking looked at for a turn that is not among the first k


@dataclass(frozen=True)
class Fate:
    """What became of one evidence turn: its place in the ranking from 1, or the stage of `STAGES` it was lost at.

    `turn` is None when no live turn has that source id; `in_context` tells whether a line of the context rests on it.
    """

    source_id: str
    turn: Turn | None
    place: int | None
    in_context: bool
    lost: str = ""
    why: str = ""

    @property
    def found(self) -> bool:
        """Whether the retriever brought it."""
        return not self.lost


def fates(memory: Memory, found: Retrieval, part: Retriever, evidence: Sequence[str]) -> list[Fate]:
    """One fate for each evidence turn (source ids), in the order given. `part` is the retriever that made `found`."""

    def look() -> list[Fate]:
        ids = memory.source_turns()
        turns = {turn.id: turn for turn in memory.turns([ids[name] for name in evidence if name in ids])}
        places = {turn.id: place for place, turn in enumerate(found.turns, start=1)}
        told = rests_on(found.lines)
        made = []
        for name in evidence:
            turn = turns.get(ids.get(name, ""))
            if turn is None:
                made.append(Fate(name, None, None, False, *_gone(memory, name)))
            elif turn.id in places:
                lost = ("", "") if turn.id in told else ("over the budget", "its line did not fit the token budget")
                made.append(Fate(name, turn, places[turn.id], turn.id in told, *lost))
            else:
                lost = (
                    _walked(memory, found, part, turn.id)
                    if found.retriever == "graph"
                    else _ranked(memory, found, part, turn.id)
                )
                made.append(Fate(name, turn, None, turn.id in told, *lost))
        return made

    return memory.outside.run(look)


def _gone(memory: Memory, source_id: str) -> tuple[str, str]:
    rows = memory.store.query("SELECT forgotten_by FROM turn WHERE source_id = ?", source_id)
    if rows:
        return "forgotten", f"the turn left with pass {rows[0][0]}"
    return "not stored", "this memory holds no turn of that name"


def _walked(memory: Memory, found: Retrieval, part: Retriever, turn: str) -> tuple[str, str]:
    """The furthest that any node read from the turn came."""
    graph = memory.graph
    cited = memory.store.query("SELECT item FROM provenance WHERE turn = ? ORDER BY item", turn)
    items = [str(item) for (item,) in cited]
    if not items:
        return "never written", "nothing was read from this turn"
    nodes = {node for item in items for node in _ends(memory, item) if graph.is_live(node)}
    if not any(graph.is_live(item) for item in items) or not nodes:
        return "forgotten", "what was read from it is forgotten or deleted"
    speakers = {graph.ids[row] for row in memory.speaker_rows().tolist()}
    nodes = nodes - speakers or nodes  # a speaker's node is read from every turn and says nothing about one
    visited = [visit.id for visit in found.nodes if visit.id in nodes]
    if visited:
        return "older turn of its node", f"{_title(memory, visited[0])} was visited; three newer turns speak of it"
    hops = _hops(memory, found, nodes)
    if hops is not None and hops <= getattr(part, "hops", 0):  # `capped` names only the first that were left out
        return "cut by the cap", f"{hops} hops from the nearest root, after the {len(found.nodes)} nodes of the cap"
    best = _best(memory, found, nodes)
    if best is not None and best.score >= found.floor and found.roots:
        return "cut at the roots", f"{best.title} has cosine {best.score:.2f}; {len(found.roots)} others have more"
    near = f"{best.title} has cosine {best.score:.2f}, the floor is {found.floor:.2f}" if best else "nothing to compare"
    if hops is not None:
        return "beyond the hops", f"{hops} hops from the nearest root; {near}"
    return "below the floor", near


def _ends(memory: Memory, item: str) -> tuple[str, ...]:
    if item in memory.graph.row_of:
        return (item,)
    if item not in memory.graph.edge_row:
        return ()
    edge = memory.graph.edge(item)
    return (edge.source, edge.target)


def _title(memory: Memory, node: str) -> str:
    return memory.graph.titles[memory.graph.row_of[node]]


def _best(memory: Memory, found: Retrieval, nodes: set[str]) -> Root | None:
    """Of these nodes the one nearest to an entity of the question."""
    if not found.entities:
        return None
    graph, order = memory.graph, sorted(nodes)
    rows = np.array([graph.row_of[node] for node in order], np.int64)
    cosines = graph.cosines(memory.embed_query(list(found.entities)))[:, rows].max(axis=0)
    best = int(np.argmax(cosines))
    return Root(order[best], graph.titles[rows[best]], float(cosines[best]))


def _hops(memory: Memory, found: Retrieval, nodes: set[str]) -> int | None:
    """Edges from the nearest root to the nearest of these nodes; None when no path leads there."""
    row_of = memory.graph.row_of
    roots = [row_of[root.id] for root in found.roots]
    if not roots:
        return None
    far = dijkstra(memory.walks().steps, directed=False, indices=roots, unweighted=True, min_only=True)
    nearest = float(far[[row_of[node] for node in nodes]].min())
    return int(nearest) if np.isfinite(nearest) else None


def _ranked(memory: Memory, found: Retrieval, part: Retriever, turn: str) -> tuple[str, str]:
    made: Any = part
    if "k" not in {one.name for one in fields(made)}:
        return "below the first k", "not among the turns brought"
    deeper = memory.retrieve(found.question, replace(made, k=max(_DEEP, made.k)))
    place = next((place for place, one in enumerate(deeper.turns, start=1) if one.id == turn), None)
    if place is not None:
        return "below the first k", f"ranked {place}, only {made.k} are brought"
    if found.retriever == "bm25" and len(deeper.turns) < _DEEP:
        return "below the first k", "it shares no word with the question"
    return "below the first k", f"not among the first {len(deeper.turns)}"
