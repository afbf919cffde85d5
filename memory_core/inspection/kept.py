"""What is made by looking through a whole memory: once a revision, without holding anybody up; a large one's in the
background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

from memory_core.jobs import Job
from memory_core.memory import Memory

Made = TypeVar("Made")
LARGE = 40_000  # nodes; fewer are looked through while one waits
_made: WeakKeyDictionary[Memory, dict[str, tuple[int, Any]]] = WeakKeyDictionary()
_jobs: WeakKeyDictionary[Memory, dict[str, tuple[int, Job]]] = WeakKeyDictionary()
_lock = threading.Lock()


def kept(memory: Memory, name: str, make: Callable[[Memory], Made]) -> Made:
    """What `make` gives, made once a revision; the memory's lock is free meanwhile."""
    revision = memory.revision
    with _lock:
        known = _made.setdefault(memory, {}).get(name)
    if known is not None and known[0] == revision:
        there: Made = known[1]
        return there
    made = make(memory)
    with _lock:
        _made[memory][name] = revision, made
    return made


def at_hand(memory: Memory, name: str, ask: Callable[[Memory], Made]) -> tuple[Made | None, Job | None]:
    """What `ask` gives, where `ask` keeps its result under `name`; of a large memory what is known, perhaps of a
    moment ago, and the work on what is not: one job at a time, begun here. One that failed is begun again when the
    memory is another one."""
    revision = memory.revision
    with _lock:
        known = _made.setdefault(memory, {}).get(name)
        there: Made | None = known[1] if known else None
        if memory.graph.node_count > LARGE and (known is None or known[0] != revision):
            begun, job = _jobs.setdefault(memory, {}).get(name, (-1, None))
            if job is None or (job.finished and (begun != revision or (job.state == "done" and there is not None))):
                job = _begun(memory, name, ask)
                _jobs[memory][name] = revision, job
            return there, job
    return ask(memory), None


def _begun(memory: Memory, name: str, ask: Callable[[Memory], Made]) -> Job:
    of = ref(memory)  # the job is kept with the memory: it must not keep it

    def work(_: Job) -> None:
        if (there := of()) is not None:
            ask(there)

    job = Job(f"Looking through {memory.graph.node_count:,} nodes", work)
    threading.Thread(target=job.run, name=name, daemon=True).start()
    return job
