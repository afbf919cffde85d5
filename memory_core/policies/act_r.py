"""ACT-R's base-level activation: frequency and recency of every single access."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from memory_core.protocols import Scores, ScoringView


@dataclass(frozen=True)
class ActR:
    """`B = ln Σ_j (t_j + 1)^-d`: t_j in hours since access j, decay d = .5; the creation counts as an access.

    Base-level learning (Anderson and Schooler 1991; Anderson et al. 2004, eq. 3), an hour added so that an access just
    now is finite. B has no bounds, so the score is its normalised rank (rank - 1/2) / n; `activation` gives B itself.

    >>> view = ScoringView.of(days=[1, 2], accessed=[(1, 0.5)])
    >>> ActR().activation(view, 0.0).round(4).tolist()  # ln 25^-.5; ln(49^-.5 + 13^-.5)
    [-1.6094, -0.867]
    """

    decay: float = field(default=0.5, metadata={"label": "Decay", "range": (0.05, 2.0)})

    def activation(self, view: ScoringView, at: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """B of all nodes, shape (n,), at `at` seconds since the epoch; an access in the future has age 0."""
        made = self._trace(at - view.created)
        accessed = np.bincount(view.access_rows, self._trace(at - view.access_times), len(view.ids))
        return np.log(made + accessed)

    def _trace(
        self, seconds: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.asarray((np.maximum(seconds, 0.0) / 3600.0 + 1.0) ** -self.decay, np.float64)

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Normalised ranks of the activation of all nodes at time `at`."""
        return Scores.ranked("activation", self.activation(view, at.timestamp()))
