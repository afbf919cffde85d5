"""Chance, seeded: what every policy has to beat."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from memory_core.protocols import Scores, ScoringView


@dataclass(frozen=True)
class Random:
    """A random order, the same for the same seed and number of nodes; scores are ranks (rank - 1/2) / n.

    >>> from datetime import UTC
    >>> view = ScoringView.of(days=[30, 90, 10])
    >>> sorted(Random(seed=3).score(view, datetime.fromtimestamp(0, UTC)).score.round(4).tolist())
    [0.1667, 0.5, 0.8333]
    """

    seed: int = field(default=0, metadata={"label": "Seed", "range": (0, 1_000_000)})

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Ranks of all nodes; only their number and the seed matter."""
        return Scores.ranked("chance", np.random.default_rng(self.seed).permutation(len(view.ids)))
