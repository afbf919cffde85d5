"""Ghost hits: questions that would have started from a node that was forgotten. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from memory_core.memory.turns import moment
from memory_core.retrievers.graph import GraphRetriever

if TYPE_CHECKING:
    from memory_core.forgetting.forgetting import Forgetting


@dataclass(frozen=True)
class Ghost:
    """A forgotten node that would have been a root at cosine `score`; `forgotten_by` is the pass to restore it from."""

    id: str
    title: str
    score: float
    entity: str
    forgotten_by: str


@dataclass(frozen=True)
class GhostHit:
    """A stored question, asked after a pass, whose roots would have been forgotten nodes."""

    question: str
    at: datetime
    ghosts: tuple[Ghost, ...]


def ghosts(memory: Forgetting, entities: Sequence[str], passes: frozenset[str] | None = None) -> tuple[Ghost, ...]:
    """Forgotten nodes among the roots that a question with these entities would have, had nothing been forgotten.

    `passes` limits them to nodes that these passes took.
    """
    graph, part = memory.graph, GraphRetriever.of(memory.settings)
    forgotten = np.array([by is not None and (passes is None or by in passes) for by in graph.forgotten_by], np.bool_)
    if not entities or not forgotten.any():
        return ()
    cosines = memory.outside.embed(memory.embedder, list(entities), "query") @ graph.vectors.values.T
    best = cosines.max(axis=0)
    floor = memory.embedder.floor if part.floor is None else part.floor
    near = np.flatnonzero((best >= floor) & graph.has_vector.values & (graph.live.values | forgotten))
    roots = near[np.lexsort((near, -best[near]))][: part.roots]
    return tuple(
        Ghost(
            graph.ids[row],
            graph.titles[row],
            float(best[row]),
            entities[int(cosines[:, row].argmax())],
            graph.forgotten_by[row] or "",
        )
        for row in roots.tolist()
        if forgotten[row]
    )


def ghosts_of(memory: Forgetting, question: str, passes: frozenset[str] | None = None) -> tuple[Ghost, ...]:
    """`ghosts` of a question; others write only while a model is asked."""
    return memory.outside.run(lambda: ghosts(memory, memory.entities(question), passes))


def ghost_hits(memory: Forgetting) -> list[GhostHit]:
    """Stored questions that hit nodes forgotten before they were asked, oldest first."""
    applied = [done for done in memory.passes() if done.left]
    hits = []
    for text, at in memory.store.query("SELECT text, at FROM question ORDER BY id"):
        before = frozenset(done.id for done in applied if done.at.timestamp() <= at)
        found = ghosts_of(memory, text, before) if before else ()
        if found:
            hits.append(GhostHit(text, moment(at), found))
    return hits
