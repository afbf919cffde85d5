"""Vectors of turns made in the background, so that the first look at a large memory does not wait for all of them."""

from __future__ import annotations

from memory_core.errors import Cancelled
from memory_core.jobs import Job, Worker
from memory_core.memory import Memory

NAME = "Turn vectors"
FEW = 150  # this many are made while one waits, in a second or so
_PAUSE = 0.02  # seconds between two rounds, in which others may look at the memory


class _Enough(Cancelled):
    """One round of vectors was made and kept."""


def missing(memory: Memory) -> int:
    """Live turns without a stored vector."""
    rows = memory.store.query(
        "SELECT count(*) FROM turn LEFT JOIN turn_vector ON turn = id WHERE vector IS NULL AND forgotten_by IS NULL"
    )
    return int(rows[0][0])


def start(worker: Worker, memory: Memory) -> Job:
    """Make what is missing, round by round; stopping keeps what was made."""

    def work(job: Job) -> int:
        while (left := missing(memory)) and not memory.store.read_only:
            try:
                memory.turn_vectors(_one_round)
            except _Enough:
                job.advance(steps=left - missing(memory))
        memory.turn_vectors()
        return job.total

    return worker.submit(Job(NAME, work, missing(memory), delay=_PAUSE))


def latest(worker: Worker) -> Job | None:
    """The job that was started last on this memory."""
    return next((job for job in reversed(worker.jobs) if job.name == NAME), None)


def _one_round(done: int, total: int) -> None:
    if done < total:
        raise _Enough("one round")
