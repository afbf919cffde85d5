"""The memory in RAM."""

from memory_core.graph.graph import Graph

__all__ = ["Graph"]
