"""Fewest edges first: a node is worth what hangs on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory_core.protocols import Scores, ScoringView


@dataclass(frozen=True)
class Degree:
    """Normalised rank of the degree (live edges): (rank - 1/2) / n, ties share a rank. Scores are ranks.

    >>> from datetime import UTC
    >>> view = ScoringView.of(days=[1, 1, 1], degree=[2, 0, 7])
    >>> Degree().score(view, datetime.fromtimestamp(0, UTC)).score.round(4).tolist()
    [0.5, 0.1667, 0.8333]
    """

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Ranks of all nodes; `at` does not matter."""
        return Scores.ranked("degree", view.degree)
