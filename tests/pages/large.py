"""A memory of any size in a second: synthetic nodes, edges, turns and citations, with vectors nobody had to compute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from memory_core.embedders.minilm import MiniLM
from memory_core.importers.memories import import_memory
from memory_core.memory import Memory
from memory_core.protocols import Floats, Kind
from tests.synthetic import memory_graph

_START = datetime(2024, 1, 1, tzinfo=UTC)


class QuickEmbedder:
    """Says it is the default embedder, so that the app opens what it made; its vectors are random by text."""

    id = MiniLM().id
    dim = MiniLM().dim
    match_threshold, floor, languages = 0.8, 0.3, ("en",)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") for text in texts]
        rows = [np.random.default_rng(seed).standard_normal(self.dim) for seed in seeds]
        vectors = np.asarray(rows, np.float32).reshape(-1, self.dim)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def document(n: int) -> dict[str, Any]:
    """An export of `n` nodes with as many turns, each node read from one."""
    nodes, edges = memory_graph(n)
    at = [(_START + timedelta(hours=place)).isoformat() for place in range(n)]
    return {
        "schema": 1,
        "embedder": {"id": QuickEmbedder.id, "dim": QuickEmbedder.dim},
        "nodes": {
            f"n{k + 1}": {
                "label": node.label, "title": node.title, "content": f"About {node.title}.", "attributes": {"place": k},
                "created_at": at[k], "turns_at_creation": k + 1, "pinned": False,
            }
            for k, node in enumerate(nodes)
        },
        "edges": {
            f"e{k + 1}": {
                "source": f"n{int(edge.source) + 1}", "target": f"n{int(edge.target) + 1}",
                "relationship": edge.relationship, "attributes": {},
            }
            for k, edge in enumerate(edges)
        },
        "turns": [
            {
                "id": f"t{k + 1}", "source_id": f"L:{k}", "session": f"L{k // 20}", "role": "user", "speaker": "User",
                "text": f"Today I thought about {node.title}.", "at": at[k], "position": k,
            }
            for k, node in enumerate(nodes)
        ],
        "provenance": [
            {"item": f"n{k + 1}", "turn": f"t{k + 1}", "start": 22, "stop": 22 + len(node.title)}
            for k, node in enumerate(nodes)
        ],
        "value_history": [],
        "access": [],
    }  # fmt: skip


def make_large(path: Path, n: int = 2000) -> None:
    """Write a memory of `n` nodes to `path`."""
    made = document(n)
    file = path.with_suffix(".json")
    file.write_text(json.dumps(made), "utf-8")
    with Memory.open(path, embedder=QuickEmbedder()) as memory:
        import_memory(memory, file)
    file.unlink()
