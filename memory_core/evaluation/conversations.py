"""The memory a benchmark question is asked of, among the memories a person can look at."""

from __future__ import annotations

import re

from memory_core.errors import InputError
from memory_core.evaluation.datasets import Benchmark, Question
from memory_core.evaluation.ingested import open_benchmark
from memory_core.memories import Memories, OpenMemory
from memory_core.memory import Memory
from memory_core.replay import start


def holds(memory: Memory, question: Question) -> bool:
    """Whether the memory ever held a turn of the question's evidence; without evidence, any turn at all."""
    if not question.evidence:
        return memory.graph.turns > 0
    marks = ",".join("?" * len(question.evidence))
    return bool(memory.store.query(f"SELECT 1 FROM turn WHERE source_id IN ({marks}) LIMIT 1", *question.evidence))


def memory_name(benchmark: Benchmark, conversation: str) -> str:
    """The name of the memory of one conversation.

    >>> memory_name(Benchmark("locomo dev", "locomo", "3f2a", (), ()), "conv-26")
    'locomo-dev-conv-26'
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", f"{benchmark.name}-{conversation}")[-64:].strip("-")


def open_conversation(memories: Memories, benchmark: Benchmark, conversation: str) -> OpenMemory:
    """The memory of one conversation: the one made before, a copy of the ingested one, else remembered from now on.

    Raises InputError when the benchmark has no such conversation, MemoryFileError.
    """
    said = next((one for one in benchmark.conversations if one.id == conversation), None)
    if said is None:
        raise InputError(f"{benchmark.name} has no conversation {conversation}.")
    name = memory_name(benchmark, conversation)
    if name in memories.names():
        return memories.open(name)
    ingested = open_benchmark(benchmark).path(said)
    if ingested.exists():
        with Memory.open(ingested, create=False) as memory:
            memories.copy_in(memory, name)
        return memories.open(name)
    opened = memories.create(name)
    opened.replay = start(opened.worker, opened.memory, f"{benchmark.name} {conversation}", said.turns)
    return opened
