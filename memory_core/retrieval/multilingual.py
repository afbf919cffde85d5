"""The multilingual embedder for a memory whose questions come in other languages, in the background."""

from __future__ import annotations

from memory_core.embedders.use import MultilingualUSE
from memory_core.jobs import Job, Worker
from memory_core.memory import Memory
from memory_core.memory.reembedding import reembed
from memory_core.protocols import Embedder

NAME = "Re-embedding"


def start(worker: Worker, memory: Memory, embedder: Embedder | None = None) -> Job:
    """Make every vector anew; the memory answers with the old ones until all are there, and stopping loses nothing."""

    def work(job: Job) -> int:
        def advance(done: int, total: int) -> None:
            job.total = total
            job.advance(steps=done - job.done)

        return reembed(memory, embedder or MultilingualUSE(), advance)

    return worker.submit(Job(NAME, work, memory.graph.node_count))


def latest(worker: Worker) -> Job | None:
    """The one that was started last on this memory."""
    return worker.latest(NAME)
