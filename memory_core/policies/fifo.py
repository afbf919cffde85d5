"""First in, first out: what was said first goes first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory_core.protocols import Scores, ScoringView


@dataclass(frozen=True)
class FIFO:
    """Normalised rank of the creation: (rank - 1/2) / n, ties share a rank. It has no scale, so scores are ranks.

    >>> from datetime import UTC
    >>> view = ScoringView.of(days=[30, 90, 10])
    >>> FIFO().score(view, datetime.fromtimestamp(0, UTC)).score.round(4).tolist()
    [0.5, 0.1667, 0.8333]
    """

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Ranks of all nodes; `at` does not matter."""
        return Scores.ranked("creation", view.created)
