"""A memory on a server, asked and cut where it lives."""

from memory_core.in_database.memory import InDatabase

__all__ = ["InDatabase"]
