"""Another embedder for a memory as work in the background, and for a memory whose own embedder is nowhere to be had."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from pathlib import Path

from memory_core.embedders.absent import Absent
from memory_core.graph import Graph
from memory_core.jobs import Job, Worker
from memory_core.memory import Memory
from memory_core.memory.memory import DEFAULT_PATH
from memory_core.memory.reembedding import reembed
from memory_core.parts import default_embedder
from memory_core.prices import cost
from memory_core.protocols import Embedder
from memory_core.schema import LABELS, descriptor
from memory_core.store.opening import open_store
from memory_core.tokens import tokens_at_most


def start(worker: Worker, memory: Memory, embedder: Embedder, stop: threading.Event | None = None) -> Job:
    """Make every vector anew in the background; stopped, it goes on where it was when started again.

    `stop` is the event the embedder looks at. When it is done the memory, which all browsers share, holds the embedder
    with the key of the environment: that of `embedder` may be one person's.
    """

    def work(job: Job) -> int:
        def advance(done: int, total: int) -> None:
            job.total = total
            job.advance(steps=done - job.done)

        made = reembed(memory, embedder, advance)
        memory.adopt(default_embedder(embedder.id, embedder.dim))
        return made

    job = Job(f"Re-embedding with {embedder.id}", work, memory.graph.node_count, stop=stop or threading.Event())
    return worker.submit(job)


def estimate(memory: Memory, embedder: Embedder) -> tuple[int, float | None]:
    """Tokens and dollars at most of embedding every node with `embedder`; dollars None without a known price.

    >>> memory = Memory.open(":memory:")
    >>> estimate(memory, memory.embedder)
    (0, None)
    """
    tokens = memory.once("tokens to embed", lambda: _tokens(memory.graph))
    return tokens, cost(embedder.id, tokens)


def _tokens(graph: Graph) -> int:
    nodes = zip(graph.label.values.tolist(), graph.titles, graph.contents, strict=True)
    return sum(tokens_at_most(descriptor(LABELS[label], title, content)) for label, title, content in nodes)


def open_to_reembed(path: Path | str | None) -> Memory:
    """The memory, also when its embedder is unknown or missing here: it can then be given another, and nothing else.

    `path` as of `Memory.open`. Raises MemoryFileError.
    """
    path = path or os.environ.get("FORGETTING_LAB_MEMORY") or DEFAULT_PATH
    with closing(open_store(path, create=False)) as store:
        stored, dim = store.meta("embedder"), int(store.meta("dim", "0"))
    known = default_embedder(stored, dim)
    absent = Absent(stored, dim, "it is not known here")
    return Memory.open(path, create=False, embedder=known if known.id == stored or not stored else absent)
