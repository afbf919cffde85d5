"""FadeMem's fading strength: two layers, each with its own shape of decay, slowed by importance."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from memory_core.protocols import Doubles, Scores, ScoringView


@dataclass(frozen=True)
class FadeMem:
    """Strength `v = exp(-λ days^β)` since creation, `λ = λ_base exp(-μ I)`, β = .8 if I >= .7 (long-term), else 1.2.

    `I = (rel + f / (1 + f) + e^(-δ days)) / 3`: rel = the largest cosine to the last 10 questions, at least 0; f =
    Σ_j e^(-κ days since access j), the creation not counted. From *FadeMem: Biologically-Inspired Forgetting for
    Efficient Agent Memory* (arXiv 2601.18642, section 2.1 and its code's settings): λ_base = .1 a day, μ = 1, the two
    β and the threshold .7, so that at I = 0 half is left after 11.25 days in the long-term and 5.02 in the short-term
    layer. Equal weights and δ = κ = .1 a day are ours. Left out, because a score has no state: the strength an access
    adds, the hysteresis between the layers, and fusion.

    >>> fading = FadeMem()
    >>> [round(float(fading.strength(np.array([days]), np.zeros(1), np.array([long]))[0]), 3)
    ...  for days, long in ((11.25, True), (5.02, False))]
    [0.5, 0.5]
    """

    rate: float = field(default=0.1, metadata={"label": "Decay a day λ", "range": (0.001, 1.0)})
    mu: float = field(default=1.0, metadata={"label": "Slowed by importance μ", "range": (0.0, 10.0)})
    promote: float = field(default=0.7, metadata={"label": "Long-term from importance", "range": (0.0, 1.0)})
    beta_long: float = field(default=0.8, metadata={"label": "Shape β, long-term", "range": (0.1, 2.0)})
    beta_short: float = field(default=1.2, metadata={"label": "Shape β, short-term", "range": (0.1, 2.0)})
    delta: float = field(default=0.1, metadata={"label": "Decay of I's terms a day δ, κ", "range": (0.0, 1.0)})

    def importance(self, view: ScoringView, at: datetime) -> Doubles:
        """I of all nodes, shape (n,), in [0, 1]."""
        recency = np.exp(-self.delta * view.days_since(view.created, at))
        fresh = np.exp(-self.delta * view.days_since(view.access_times, at))
        rate = np.bincount(view.access_rows, fresh, len(view.ids))
        return np.asarray((np.clip(view.similarity, 0.0, 1.0) + rate / (1.0 + rate) + recency) / 3.0, np.float64)

    def strength(
        self, days: Doubles, importance: Doubles, long_term: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    ) -> Doubles:
        """v after `days`, shape (n,)."""
        beta = np.where(long_term, self.beta_long, self.beta_short)
        return np.asarray(np.exp(-self.rate * np.exp(-self.mu * importance) * days**beta), np.float64)

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Strength of all nodes at time `at`; a creation in the future has age 0."""
        importance = self.importance(view, at)
        strength = self.strength(view.days_since(view.created, at), importance, importance >= self.promote)
        return Scores(strength, {"strength": strength})
