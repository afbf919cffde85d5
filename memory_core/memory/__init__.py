"""`Memory`, the one object pages and commands hold."""

from memory_core.memory.asking import Asked
from memory_core.memory.memory import Memory
from memory_core.memory.reports import Placed, PlacedEdge, TurnReport

__all__ = ["Asked", "Memory", "Placed", "PlacedEdge", "TurnReport"]
