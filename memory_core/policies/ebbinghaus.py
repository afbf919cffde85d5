"""Ebbinghaus' curve of forgetting, slowed by every access."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from memory_core.protocols import Scores, ScoringView


@dataclass(frozen=True)
class Ebbinghaus:
    """Retention `e^(-t / S)`: t in days since the last access, strength `S = 1 + c`, c accesses.

    The curve as MemoryBank uses it (Zhong et al. 2023, section 2.3), where each recall adds one to S. It falls fast:
    a node never accessed has .37 after a day. `strength` and `gain` stretch it.

    >>> from datetime import UTC
    >>> view = ScoringView.of_one(days=2, accesses=1, degree=0, turns=0)
    >>> round(float(Ebbinghaus().score(view, datetime.fromtimestamp(0, UTC)).score[0]), 4)  # e^-1
    0.3679
    """

    strength: float = field(default=1.0, metadata={"label": "Strength without access, days", "range": (0.1, 365.0)})
    gain: float = field(default=1.0, metadata={"label": "Strength an access adds, days", "range": (0.0, 365.0)})

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Retention of all nodes at time `at`; an access in the future has age 0."""
        days = view.days_since(view.last_access, at)
        retention = np.exp(-days / (self.strength + self.gain * view.accesses))
        return Scores(retention, {"retention": retention})
