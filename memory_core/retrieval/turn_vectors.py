"""Vectors of turns made in the background, so that the first look at a large memory does not wait for all of them."""

from __future__ import annotations

from memory_core.chat import best_retriever
from memory_core.jobs import Job, Worker
from memory_core.memory import Memory
from memory_core.parts import retriever
from memory_core.protocols import Retriever

NAME = "Turn vectors"
FEW = 150  # this many are made while one waits, in a second or so
_PAUSE = 0.02  # seconds between two chunks, in which others may look at the memory


def missing(memory: Memory) -> int:
    """Live turns without a stored vector."""
    rows = memory.store.query(
        "SELECT count(*) FROM turn LEFT JOIN turn_vector ON turn = id WHERE vector IS NULL AND forgotten_by IS NULL"
    )
    return int(rows[0][0])


def start(worker: Worker, memory: Memory) -> Job:
    """Make what is missing, chunk by chunk; stopping keeps what was made."""

    def work(job: Job) -> int:
        def advance(done: int, total: int) -> None:
            job.total = total
            job.advance(steps=done - job.done)

        memory.turn_vectors(advance)
        return job.total

    return worker.submit(Job(NAME, work, missing(memory), delay=_PAUSE))


def latest(worker: Worker) -> Job | None:
    """The job that was started last on this memory."""
    return worker.latest(NAME)


def retriever_now(worker: Worker, memory: Memory) -> Retriever:
    """The chat's best retriever; the graph's while many turns still lack their vectors, whose making is started here
    unless somebody stopped it."""
    if memory.store.read_only or missing(memory) <= FEW:
        return best_retriever(memory.settings)
    if latest(worker) is None:
        start(worker, memory)
    return retriever("graph", memory.settings)
