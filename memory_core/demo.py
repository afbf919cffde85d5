"""The demo memory: a written conversation over two years, remembered at the first start while the person watches."""

from __future__ import annotations

from pathlib import Path

from memory_core.importers.transcripts import read_transcript
from memory_core.memories import Memories, OpenMemory
from memory_core.replay import start
from memory_core.schema import Turn

NAME = "demo"
FILE = Path(__file__).parent.parent / "data" / "demo.jsonl"


def demo_turns() -> tuple[Turn, ...]:
    """The turns of the demo conversation. Raises InputError when the file is missing."""
    return read_transcript(FILE).conversations[0].turns


def make_demo(memories: Memories) -> OpenMemory:
    """Create the demo memory and begin to fill it in the background; it can be used at once.

    Raises InputError when there is one already, MemoryFileError when the folder cannot be written.
    """
    turns = demo_turns()
    opened = memories.create(NAME)
    opened.replay = start(opened.worker, opened.memory, FILE.name, turns, each=opened.recent.append)
    return opened
