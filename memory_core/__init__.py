"""Graph-based long-term memory with forgetting that is planned, looked at, then applied."""

from memory_core.memory import Memory
from memory_core.schema import Turn

__all__ = ["Memory", "Turn"]
