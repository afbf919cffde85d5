"""Adaptive budgeted forgetting (P2, eqs. 2 to 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import numpy as np

from memory_core.protocols import Scores, ScoringView, halved


@dataclass(frozen=True)
class Budgeted:
    """`I = a exp(-λ days) + b F + g S`, the weights divided by their sum.

    days since insertion (or the last access), λ = ln 2 / half-life; F = ln(1 + c) / ln(1 + c_max + 1), c accesses;
    S = the largest cosine to the last 10 questions stored in the memory, at least 0. P2 gives no values: a = b = g =
    1/3 and a half-life of 90 days are ours. P2 cuts to a budget, so use it with `keep` or `bytes`.

    >>> from datetime import UTC
    >>> view = ScoringView.of_one(days=90, accesses=0, degree=0, turns=0)
    >>> round(float(Budgeted().score(view, datetime.fromtimestamp(0, UTC)).score[0]), 4)  # 1/3 of 1/2
    0.1667
    """

    recency: float = field(default=1 / 3, metadata={"label": "Recency weight a", "range": (0.0, 1.0)})
    frequency: float = field(default=1 / 3, metadata={"label": "Frequency weight b", "range": (0.0, 1.0)})
    similarity: float = field(default=1 / 3, metadata={"label": "Similarity weight g", "range": (0.0, 1.0)})
    half_life: float = field(default=90.0, metadata={"label": "Half-life, days", "range": (1.0, 730.0)})
    since: Literal["insertion", "access"] = field(default="insertion", metadata={"label": "Days counted since"})

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Scores of all nodes at time `at`. Raises InputError on zero weights."""
        days = view.days_since(view.created if self.since == "insertion" else view.last_access, at)
        most = int(view.accesses.max(initial=0))
        terms = {
            "recency": (self.recency, halved(days, self.half_life)),
            "frequency": (self.frequency, np.log1p(view.accesses) / np.log(most + 2.0)),
            "similarity": (self.similarity, np.clip(view.similarity, 0.0, 1.0)),
        }
        return Scores.weighted(terms)
