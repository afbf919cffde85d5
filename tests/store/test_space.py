"""A memory takes no more of the disk than what it holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from memory_core.store.rows import RowChange, insert
from memory_core.store.sqlite import SqliteStore


def vectors(seed: int, count: int = 400, dim: int = 384) -> list[RowChange]:
    rows = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float16)
    return [insert("node_vector", node=f"n{place}", vector=row.tobytes()) for place, row in enumerate(rows)]


def test_a_vector_made_anew_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.sqlite3")
    store.commit(vectors(0), 0)
    pages = store.query("PRAGMA page_count")
    for seed in range(1, 4):
        store.commit(vectors(seed), seed)
    assert store.query("PRAGMA page_count") == pages
    assert store.query("PRAGMA freelist_count") == [(0,)]
    kept = dict(store.query("SELECT node, vector FROM node_vector"))
    assert kept == {change.key[0]: (change.after or {})["vector"] for change in vectors(3)}
    store.close()
