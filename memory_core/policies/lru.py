"""Least recently used: what was accessed longest ago goes first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory_core.protocols import Scores, ScoringView


@dataclass(frozen=True)
class LRU:
    """Normalised rank of the last access (of the creation when never accessed): (rank - 1/2) / n, ties share a rank.

    The classic cache policy (Denning 1968). It has no scale of its own, so its scores are ranks.

    >>> from datetime import UTC
    >>> view = ScoringView.of(days=[30, 90, 10])
    >>> LRU().score(view, datetime.fromtimestamp(0, UTC)).score.round(4).tolist()
    [0.5, 0.1667, 0.8333]
    """

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Ranks of all nodes; `at` does not matter."""
        return Scores.ranked("last access", view.last_access)
