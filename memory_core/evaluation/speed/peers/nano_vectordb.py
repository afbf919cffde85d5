"""nano-vectordb: one float32 matrix scanned by numpy, one JSON file written whole at each save. No edges."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from memory_core.evaluation.speed.given import Given

_THRESHOLD = 0.92


class Session:
    """One database in one file."""

    def __init__(self, given: Given, work: Path) -> None:
        self.given, self.path = given, work / "nano.json"
        self.database: Any = None

    def fill(self) -> None:
        """One upsert, one save."""
        self.open()
        nodes = (self._row(f"n{place}", self.given.node(place)) for place in range(self.given.nodes))
        vectors = np.asarray(self.given.vectors)
        self.database.upsert([{**node, "__vector__": vectors[place]} for place, node in enumerate(nodes)])
        self.database.save()
        self.close()

    def _row(self, name: str, node: dict[str, Any]) -> dict[str, Any]:
        return {"__id__": name, **{key: value for key, value in node.items() if key != "vector"}}

    def open(self) -> None:
        """Read the file."""
        from nano_vectordb import NanoVectorDB

        self.database = NanoVectorDB(self.given.dim, storage_file=str(self.path))

    def close(self) -> None:
        """Forget what is in RAM."""
        self.database = None

    def turn(self, number: int) -> None:
        """Six queries, one upsert, one save."""
        rows = []
        for place, node in enumerate(self.given.turn(number)["nodes"]):
            vector = np.array(node["vector"])
            found = self.database.query(vector, top_k=1, better_than_threshold=_THRESHOLD)
            name = found[0]["__id__"] if found else f"t{number}-{place}"
            rows.append({**self._row(name, node), "__vector__": vector})
        self.database.upsert(rows)
        self.database.save()

    def search(self, number: int) -> dict[str, Any]:
        """The five nearest; there are no edges to walk."""
        return {"found": len(self.database.query(np.array(self.given.queries[number]), top_k=5))}

    def sizes(self) -> dict[str, int]:
        """The file."""
        return {"graph": self.path.stat().st_size, "whole": self.path.stat().st_size}
