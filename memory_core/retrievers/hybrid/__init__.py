"""Hybrid, ours: a sum of explainable terms over every turn, the facts of the graph, and a token budget.

    score = words · share of the question's words (BM25, read with the neighbouring turns)
          + dense · cosine + graph · share of a walk that starts at the nodes nearest to the question
          + role, dates, speaker: what the question says about who said it and when
          + statement · how much the turn states

One setting for every data set. What each term brings is measured by `bench retrieval`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from memory_core.context import line_tokens, turn_lines, within
from memory_core.graph.turn_columns import Neighbourhood, TurnColumns
from memory_core.protocols import Line, RankedTurn, Readable, Retrieval
from memory_core.retrievers.hybrid.choosing import spread
from memory_core.retrievers.hybrid.cues import asks_several
from memory_core.retrievers.hybrid.facts import Facts, fact_lines, find_facts
from memory_core.retrievers.hybrid.terms import Terms, cue_terms, said_terms

_TERMS = ("words", "dense", "graph", "role", "dates", "speaker", "statement")
_FACTS = 12  # nodes of the graph in the context
_FACT_TOKENS = 1 / 3  # share of the budget that facts may take


def _weight(label: str, default: float, high: float) -> float:
    made: float = field(default=default, metadata={"label": label, "range": (0.0, high)})
    return made


@dataclass(frozen=True)
class HybridRetriever:
    """At most `k` turns and what fits `tokens`; the weights are those of the terms above.

    `sessions`: what a turn costs the others of its session when the question asks for several things. `asked_at`:
    whence "two weeks ago" counts back; None is the memory clock.
    """

    k: int = field(default=10, metadata={"label": "turns", "range": (1, 50)})
    tokens: int = field(default=1200, metadata={"label": "token budget", "range": (100, 8000)})
    words: float = _weight("words", 1.0, 2.0)
    dense: float = _weight("similarity", 0.3, 2.0)
    graph: float = _weight("graph walk", 0.2, 1.0)
    role: float = _weight("who: role", 0.4, 1.0)
    dates: float = _weight("when", 0.3, 1.0)
    speaker: float = _weight("who: speaker", 0.04, 0.5)
    statement: float = _weight("statements", 0.2, 1.0)
    sessions: float = _weight("several sessions", 0.05, 0.5)
    neighbours: float = _weight("neighbouring turns", 0.7, 1.0)
    asked_at: datetime | None = None

    def retrieve(self, memory: Readable, question: str) -> Retrieval:
        """Turns best first with the terms of their scores, facts newest first, whole lines within the budget."""
        memory.turn_vectors()
        columns = memory.turn_columns()
        vector = memory.embed_query([question])[0]
        started = time.perf_counter()
        said = said_terms(columns, question, vector, Neighbourhood(weight=self.neighbours))
        scored = time.perf_counter()
        approximate = memory.graph.search.approximate
        facts = find_facts(memory, vector, memory.embedder.floor, _FACTS)
        walked = time.perf_counter()
        terms = {**said, **cue_terms(columns, question, self._now(memory)), "graph": facts.turns}
        ranked = self._ranked(columns, question, terms, memory.embedder.floor)
        chosen = time.perf_counter()
        lines, left_out = self._context(memory, facts, ranked)
        done = time.perf_counter()
        return Retrieval(
            retriever="hybrid",
            question=question,
            candidates=facts.candidates,
            floor=memory.embedder.floor,
            approximate=approximate,
            roots=facts.roots,
            nodes=facts.visits,
            edges=tuple(edge.id for edge in facts.edges),
            turns=ranked,
            lines=lines,
            left_out=left_out,
            ms={
                "score": 1000 * (scored - started),
                "walk": 1000 * (walked - scored),
                "choose": 1000 * (chosen - walked),
                "context": 1000 * (done - chosen),
            },
        )

    def _now(self, memory: Readable) -> datetime:
        return self.asked_at or datetime.fromtimestamp(memory.graph.clock or 0.0, UTC)

    def _ranked(self, columns: TurnColumns, question: str, terms: Terms, floor: float) -> tuple[RankedTurn, ...]:
        """The best turns that something points to: a cue alone brings none."""
        weights = {name: getattr(self, name) for name in _TERMS}
        scores = sum((weight * terms[name] for name, weight in weights.items()), np.zeros(len(columns)))
        found = (terms["words"] > 0) | (terms["dense"] >= floor) | (terms["graph"] > 0)
        penalty = self.sessions if asks_several(question) else 0.0
        places = spread(np.where(found, scores, -np.inf), columns.session.values, penalty, self.k)
        parts = [{name: float(weight * terms[name][place]) for name, weight in weights.items()} for place in places]
        return tuple(_turn(columns.ids[place], own) for place, own in zip(places, parts, strict=True))

    def _context(self, memory: Readable, facts: Facts, ranked: Sequence[RankedTurn]) -> tuple[tuple[Line, ...], int]:
        told, facts_out = within(fact_lines(memory, facts), int(self.tokens * _FACT_TOKENS))
        left = self.tokens - sum(line_tokens(line) for line in told)
        verbatim, turns_out = within(turn_lines(memory.turns([turn.id for turn in ranked])), left)
        return (*told, *verbatim), facts_out + turns_out


def _turn(turn: str, parts: dict[str, float]) -> RankedTurn:
    leading = max(("words", "dense", "graph"), key=lambda name: parts[name])
    return RankedTurn(turn, sum(parts.values()), leading, {name: part for name, part in parts.items() if part})
