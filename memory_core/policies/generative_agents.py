"""The retrieval score of generative agents, used for keeping."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from memory_core.protocols import Doubles, Scores, ScoringView


@dataclass(frozen=True)
class GenerativeAgents:
    """The mean of recency, importance and relevance, each min-max scaled over the memory.

    recency = .995^hours since the last access; importance = attribute `poignancy` / 10, .5 without; relevance = the
    largest cosine to the last 10 questions, at least 0 (Park et al. 2023, section 4.1, all weights 1). A term that is
    the same for every node has nothing to scale and stays as it is.

    >>> from datetime import UTC
    >>> view = ScoringView.of(days=[0, 1, 365], accesses=[0, 0, 0])
    >>> scores = GenerativeAgents().score(view, datetime.fromtimestamp(0, UTC))
    >>> scores.score.round(4).tolist()  # (1 + .5 + 0) / 3; .995^24 = .8867; (0 + .5 + 0) / 3
    [0.5, 0.4622, 0.1667]
    """

    recency: float = field(default=1.0, metadata={"label": "Recency weight", "range": (0.0, 1.0)})
    importance: float = field(default=1.0, metadata={"label": "Importance weight", "range": (0.0, 1.0)})
    relevance: float = field(default=1.0, metadata={"label": "Relevance weight", "range": (0.0, 1.0)})
    decay: float = field(default=0.995, metadata={"label": "Recency kept an hour", "range": (0.9, 0.99999)})

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Scores of all nodes at time `at`; an access in the future has age 0. Raises InputError on zero weights."""
        hours = 24.0 * view.days_since(view.last_access, at)
        poignancy = np.clip(np.where(np.isnan(view.poignancy), 5.0, view.poignancy) / 10.0, 0.0, 1.0)
        terms = {
            "recency": (self.recency, _scaled(self.decay**hours)),
            "importance": (self.importance, _scaled(poignancy)),
            "relevance": (self.relevance, _scaled(np.clip(view.similarity, 0.0, 1.0))),
        }
        return Scores.weighted(terms)


def _scaled(values: Doubles) -> Doubles:
    low, high = values.min(initial=1.0), values.max(initial=0.0)
    return (values - low) / (high - low) if high > low else values
