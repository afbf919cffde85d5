"""Least frequently used: what was mentioned and asked for least goes first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory_core.protocols import Scores, ScoringView


@dataclass(frozen=True)
class LFU:
    """Normalised rank of the access count: (rank - 1/2) / n, ties share a rank. It has no scale, so scores are ranks.

    >>> from datetime import UTC
    >>> view = ScoringView.of(days=[1, 1, 1], accesses=[4, 0, 9])
    >>> LFU().score(view, datetime.fromtimestamp(0, UTC)).score.round(4).tolist()
    [0.5, 0.1667, 0.8333]
    """

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Ranks of all nodes; `at` does not matter."""
        return Scores.ranked("accesses", view.accesses)
