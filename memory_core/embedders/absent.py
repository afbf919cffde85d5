"""An embedder that cannot be had here, so that a memory made with it can be looked at, and given another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.errors import ProviderError
from memory_core.protocols import Floats, Kind


@dataclass(frozen=True)
class Absent:
    """Has the id and dimension a memory names, and embeds nothing: `reason` says what is missing."""

    id: str
    dim: int
    reason: str
    match_threshold: float = 0.80
    floor: float = 0.30
    languages: tuple[str, ...] = ("*",)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Raises ProviderError."""
        raise ProviderError(f"The embedder {self.id} of this memory cannot be used: {self.reason}")
