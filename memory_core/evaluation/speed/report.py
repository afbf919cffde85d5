"""The JSON of `bench speed`: a row a system, ratios of the others to ours, and how near ours is to the limit."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from memory_core.evaluation.speed.limit import GRAPH_PARTS
from memory_core.evaluation.speed.race import Lane, Race
from memory_core.evaluation.speed.systems import OURS

Row = dict[str, Any]
_RATIOS = {
    "turn": "turn_ms",
    "retrieval": "retrieval_ms",
    "open": "open_ms",
    "size": "graph_bytes",
    "scoring": "scoring_ms",
}
SCAN = "paper, scan part only"


def report(race: Race, lanes: Sequence[Lane]) -> Row:
    """`systems`, `ratios` (theirs / ours, of those filled to the same number of nodes), `limit` and `conditions`."""
    systems: dict[str, Row] = {}
    for lane in lanes:
        systems[lane.system.name] = _row(lane)
        if scan := lane.median("turn", "scan"):
            systems[SCAN] = {"turn_ms": scan, "n": lane.nodes, "note": "The turn above without writing the file."}
    ours = systems[OURS]
    ratios = {name: _ratios(row, ours) for name, row in systems.items() if name != OURS and row["n"] == ours["n"]}
    first = next(lane for lane in lanes if lane.system.name == OURS)
    return {
        "nodes": race.nodes, "dim": race.dim, "turns": race.turns, "searches": race.searches, "seed": race.seed,
        "systems": systems, "ratios": {name: found for name, found in ratios.items() if found},
        "limit": _limit(race, first), "conditions": conditions(),
    }  # fmt: skip


def _row(lane: Lane) -> Row:
    sizes: Row = (lane.told.get("sizes") or [{}])[-1]
    row: Row = {
        "turn_ms": lane.median("turn"), "retrieval_ms": lane.median("search"), "open_ms": opening(lane),
        "graph_bytes": sizes.get("graph"), "scoring_ms": lane.median("score"), "n": lane.nodes,
        "version": lane.version, "turns": len(lane.each("turn")), "searches": len(lane.each("search")),
        "found": lane.median("search", "found"),
        "fill_s": round(sum(lane.each("fill")) / 1000, 1), "disk_bytes": sizes.get("whole"), "note": lane.system.note,
    }  # fmt: skip
    if lane.failed:
        row["failed"] = lane.failed
    return row


def opening(lane: Lane) -> float | None:
    """Of the openings after the first, which also pays for imports."""
    times = sorted(lane.each("open")[1:])
    return round(times[len(times) // 2], 3) if times else None


def _ratios(row: Row, ours: Row) -> dict[str, float]:
    pairs = {name: (row.get(key), ours.get(key)) for name, key in _RATIOS.items()}
    return {name: round(theirs / own, 3) for name, (theirs, own) in pairs.items() if theirs and own}


def _limit(race: Race, lane: Lane) -> Row:
    """Raises PeerError's reason through `failed` only: without ours there is nothing to compare."""
    if "limit" not in lane.told or "sizes" not in lane.told:
        return {"failed": lane.failed}
    sizes, found = lane.told["sizes"][-1], lane.told["limit"][-1]
    vectors = lane.nodes * race.dim * 2  # float16
    return {
        **{name: round(value, 4) for name, value in found.items() if name != "ms"},
        "whole_retrieval_ms": lane.median("search", "whole"),
        "open_ms": opening(lane),
        "matched_a_turn": lane.median("turn", "matched"),
        "view_ms": lane.median("score", "view"),
        "size_ratio": round(sizes["graph"] / vectors, 3),
        "whole_ratio": round(sizes["whole"] / vectors, 3),
        "vector_bytes": vectors,
        "disk": sizes["parts"],
        "compared": list(GRAPH_PARTS),
    }


def conditions() -> Row:
    """What the figures depend on: machine, interpreter, numpy and the kernel of its BLAS."""
    _ = np.ones((8, 8), np.float32) @ np.ones(8, np.float32)  # loads the BLAS
    blas = [f"{one['internal_api']} {one.get('version')} {one.get('architecture', '')}".strip()
            for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"]  # fmt: skip
    threads = [int(one["num_threads"]) for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"]
    return {
        "cpu": _cpu(), "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 2), "python": platform.python_version(), "sqlite": sqlite3.sqlite_version,
        "numpy": np.__version__, "blas": blas, "blas_threads": max(threads, default=1), "system": sys.platform,
    }  # fmt: skip


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
