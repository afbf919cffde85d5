"""What was asked of a memory."""

from __future__ import annotations

from memory_core.memory import Memory


def last_question(memory: Memory) -> str:
    """The question that was answered last in the chat, empty when none was."""
    rows = memory.store.query("SELECT text FROM question ORDER BY id DESC LIMIT 1")
    return str(rows[0][0]) if rows else ""
