"""The importance score of P1 3.6: recency, frequency, centrality and turns, weighted."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import numpy as np

from memory_core.protocols import Scores, ScoringView, halved

_CENTRALITY = np.minimum(np.log1p(np.arange(11)) / np.log(11.0), 1.0)  # by degree: it is 1 from ten edges on


@dataclass(frozen=True)
class Importance:
    """Four terms in [0, 1]; weights are divided by their sum.

        recency    = 2^(-days since last access / 90)      frequency = ln(1 + c) / ln(1 + c_max + 1)
        centrality = min(ln(1 + d) / ln 11, 1)             turns     = 2^(-turns / 1000)

    `turns_from` counts turns since creation (the paper's text) or since the last access (the authors' code).

    >>> from datetime import UTC
    >>> view = ScoringView.of_one(days=90, accesses=0, degree=0, turns=1000)
    >>> round(float(Importance().score(view, datetime.fromtimestamp(0, UTC)).score[0]), 6)
    0.275
    """

    recency: float = field(default=0.35, metadata={"label": "Recency weight", "range": (0.0, 1.0)})
    frequency: float = field(default=0.25, metadata={"label": "Frequency weight", "range": (0.0, 1.0)})
    centrality: float = field(default=0.20, metadata={"label": "Centrality weight", "range": (0.0, 1.0)})
    turns: float = field(default=0.20, metadata={"label": "Turns weight", "range": (0.0, 1.0)})
    half_life: float = field(default=90.0, metadata={"label": "Recency half-life, days", "range": (1.0, 730.0)})
    turn_half_life: float = field(default=1000.0, metadata={"label": "Turns half-life", "range": (10.0, 10000.0)})
    turns_from: Literal["creation", "access"] = field(default="creation", metadata={"label": "Turns counted from"})

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Scores of all nodes at time `at`; an access in the future has age 0. Raises InputError on zero weights."""
        since = view.turns_at_creation if self.turns_from == "creation" else view.turns_at_access
        most = int(view.accesses.max(initial=0))
        terms = {
            "recency": (self.recency, halved(view.days_since(view.last_access, at), self.half_life)),
            "frequency": (self.frequency, np.log1p(view.accesses) / np.log(most + 2.0)),
            "centrality": (self.centrality, np.take(_CENTRALITY, view.degree, mode="clip")),
            "turns": (self.turns, halved(np.maximum(view.turn - since, 0), self.turn_half_life)),
        }
        return Scores.weighted(terms)
