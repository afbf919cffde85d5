"""What is made by looking through a whole memory: once a revision, without holding anybody up; a large one's in the
background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from memory_core.jobs import Job
from memory_core.memory import Memory

Made = TypeVar("Made")
LARGE = 40_000  # nodes; fewer are looked through while one waits
_made: WeakKeyDictionary[Memory, dict[str, tuple[int, Any]]] = WeakKeyDictionary()
_jobs: WeakKeyDictionary[Memory, dict[str, Job]] = WeakKeyDictionary()
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
    moment ago, and the work on what is not: one job at a time, begun here."""
    revision = memory.revision
    with _lock:
        known = _made.setdefault(memory, {}).get(name)
        there: Made | None = known[1] if known else None
        if memory.graph.node_count > LARGE and (known is None or known[0] != revision):
            job = _jobs.setdefault(memory, {}).get(name)
            if job is None or (job.state == "done" and there is not None):
                job = _jobs[memory][name] = Job(
                    f"Looking through {memory.graph.node_count:,} nodes", lambda _: ask(memory)
                )
                threading.Thread(target=job.run, name=name, daemon=True).start()
            return there, job
    return ask(memory), None
