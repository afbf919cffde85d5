"""How near the engine is to what the machine can do: one pass over the matrix, one fsync, the bytes of the vectors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from memory_core.dedup import Matcher
from memory_core.errors import MemoryFileError
from memory_core.memory import Memory
from memory_core.protocols import Floats
from memory_core.schema import FoundNode
from memory_core.store.contract import Store
from memory_core.walk import breadth_first, edges_among

if TYPE_CHECKING:
    from memory_core.evaluation.speed.given import Given

ROUNDS = 40
#: What is compared in size stands first: nodes, edges, node vectors and their indexes.
PARTS: dict[str, tuple[str, ...]] = {
    "nodes": ("node",),
    "edges": ("edge",),
    "node vectors": ("node_vector",),
    "indexes of these": ("sqlite_autoindex_node_1", "sqlite_autoindex_edge_1", "sqlite_autoindex_node_vector_1"),
    "turns": ("turn", "turn_source", "sqlite_autoindex_turn_1"),
    "turn vectors": ("turn_vector", "sqlite_autoindex_turn_vector_1"),
    "full-text index": tuple(f"turn_text_{part}" for part in ("data", "idx", "content", "docsize", "config")),
    "replies": ("extraction", "extraction_turn"),
    "citations": ("provenance", "provenance_turn"),
    "history": ("value_history", "value_history_item", "change", "sqlite_autoindex_change_1",
                "sqlite_autoindex_change_2", "access", "access_node"),
}  # fmt: skip
GRAPH_PARTS = tuple(PARTS)[:4]


def parts_on_disk(store: Store) -> dict[str, int]:
    """Bytes of the pages of each part; `rest` is all else, so that the sum is the whole file."""
    try:
        pages = dict(store.query("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"))
    except MemoryFileError:  # an SQLite without that table: add up what the rows hold
        pages = _held(store)
    parts = {name: sum(int(pages.pop(one, 0)) for one in held) for name, held in PARTS.items()}
    free = int(store.query("PRAGMA freelist_count")[0][0]) * int(store.query("PRAGMA page_size")[0][0])
    return parts | {"rest": sum(int(size) for size in pages.values()) + free}


def _held(store: Store) -> dict[str, int]:
    """Bytes of the values of each table; what indexes take is not known then, and left out."""
    held = {}
    for (table,) in store.query("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"):
        columns = [row[1] for row in store.query(f"PRAGMA table_info({table})")]
        lengths = " + ".join(f"coalesce(length(CAST({column} AS BLOB)), 0)" for column in columns)
        held[str(table)] = int(store.query(f"SELECT coalesce(sum({lengths}), 0) FROM {table}")[0][0])
    return held


def limit(
    memory: Memory, given: Given, commits: Sequence[float], logged: Sequence[int], beside: Path
) -> dict[str, float]:
    """Medians over interleaved rounds. The pass is numpy's product of the float32 matrix and a query, by BLAS or in one
    thread, whichever is faster here. BLAS has rounds of its own behind the others: its threads go on spinning for a
    while after each product, and would take the second core from whatever follows.

    `commits` and `logged` are milliseconds and bytes of the timed turns' commits; `fsync_ms` writes as many bytes
    into the folder `beside`.
    """
    graph = memory.graph
    six = np.asarray(given.brought[:6], np.float32)
    nodes = [FoundNode(node["label"], node["title"], node["content"]) for node in given.turn(0)["nodes"]]
    roots = [graph.ids[row] for row, _ in graph.nearest(np.asarray(given.queries[:1]), 5)[0]]
    reached = [visit.id for visit in breadth_first(graph, roots, 2, 15)[0]]
    queries = [np.array(query) for query in islice(cycle(given.queries), ROUNDS)]
    taken = milliseconds(_acts(memory, query, six, nodes, roots, reached) for query in queries)
    taken |= milliseconds({"pass_blas": partial(np.matmul, graph.vectors.values, query)} for query in queries)
    found = {name: median(times) for name, times in taken.items()}
    grown = [size for size in logged if size > 0]
    size = int(median(grown)) if grown else 4096
    one = min(found["pass_blas"], found["pass_one_thread"])
    return {
        "pass_ms": one,
        **{f"{name}_ms": ms for name, ms in found.items()},
        "retrieval_passes": found["top5"] / one,
        "dedup_passes": found["dedup"] / one,
        "commit_ms": median(commits),
        "commit_bytes": size,
        "fsync_ms": fsync_ms(beside, size),
    }


def _acts(
    memory: Memory, query: Floats, six: Floats, nodes: Sequence[FoundNode], roots: list[str], reached: list[str]
) -> dict[str, Callable[[], object]]:
    """What one round times."""
    graph = memory.graph
    return {
        "pass_one_thread": lambda: np.vecdot(graph.vectors.values, query),
        "top5": lambda: graph.nearest(query[None], 5),
        "dedup": lambda: _deduplicate(memory, six, nodes),
        "two_hops": lambda: breadth_first(graph, roots, 2, 15),
        "edges_among": lambda: edges_among(graph, reached),
    }


def milliseconds(rounds: Iterable[dict[str, Callable[[], object]]]) -> dict[str, list[float]]:
    """How long each act took in each round; the acts of one round follow each other."""
    taken: dict[str, list[float]] = {}
    for acts in rounds:
        for name, act in acts.items():
            started = time.perf_counter()
            act()
            taken.setdefault(name, []).append(1000 * (time.perf_counter() - started))
    return taken


def fsync_ms(folder: Path, size: int) -> float:
    """The median time to append `size` bytes to a file and have them on the disk."""
    path = folder / "probe"
    block, taken = os.urandom(size), []
    with path.open("wb", buffering=0) as file:
        for _ in range(ROUNDS):
            started = time.perf_counter()
            file.write(block)
            os.fdatasync(file.fileno())
            taken.append(1000 * (time.perf_counter() - started))
    path.unlink()
    return median(taken)


def _deduplicate(memory: Memory, six: Floats, nodes: Sequence[FoundNode]) -> None:
    """What a turn does to find whether six nodes are stored already, by cosine."""
    matcher = Matcher(memory.embedder.match_threshold)
    for node, near in zip(nodes, memory.graph.above(six, matcher.threshold), strict=True):
        matcher.by_cosine(memory.graph, node, near)
