"""P1's design written straightforwardly: one JSON file, a scan of one numpy product a node, adjacency made anew for
each question, the whole file written at each save. Vectors are held as arrays, which is kinder than lists."""

from __future__ import annotations

import json
import math
import os
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from memory_core.evaluation.speed.given import Given

_THRESHOLD = 0.92  # P1 3.4
_FLOOR, _ROOTS, _HOPS, _CAP = 0.75, 5, 2, 15  # P1 3.5
_DAY = 86400.0


class Session:
    """The memory as one object in RAM and one JSON file."""

    def __init__(self, given: Given, work: Path) -> None:
        self.given, self.path = given, work / "memory.json"
        self.graph: dict[str, Any] = {}
        self.vectors: dict[str, Any] = {}

    def fill(self) -> None:
        """Build it in RAM and save once."""
        given = self.given
        nodes = {f"n{place}": self._node(given.node(place), place) for place in range(given.nodes)}
        edges = {f"e{place}": self._edge(given.edge(place)) for place in range(len(given.ends))}
        titles = {node["title"].lower(): name for name, node in nodes.items()}
        self.graph = {"nodes": nodes, "edges": edges, "title_index": titles, "turn": given.stored_turns}
        self.vectors = {f"n{place}": given.vectors[place].astype(np.float64) for place in range(given.nodes)}
        self._save()
        self.close()

    def _node(self, told: dict[str, Any], place: int) -> dict[str, Any]:
        turn = place // 3
        at = self.given.at(turn)
        return {"label": told["label"], "title": told["title"], "content": told["content"], "created_at": at,
                "attributes": told["attributes"], "last_accessed_at": at, "access_count": 0, "turns_at_creation": turn,
                "importance_score": 0.0}  # fmt: skip

    def _edge(self, told: dict[str, Any]) -> dict[str, Any]:
        return {"source": f"n{told['source']}", "target": f"n{told['target']}", "relationship": told["relationship"],
                "attributes": {}}  # fmt: skip

    def _save(self) -> None:
        vectors = {name: vector.tolist() for name, vector in self.vectors.items()}
        with self.path.open("w", encoding="utf-8") as file:
            json.dump({**self.graph, "vector_index": vectors}, file)
            file.flush()
            os.fsync(file.fileno())

    def open(self) -> None:
        """Read the file."""
        with self.path.open(encoding="utf-8") as file:
            self.graph = json.load(file)
        self.vectors = {name: np.array(vector) for name, vector in self.graph.pop("vector_index").items()}

    def close(self) -> None:
        """Forget what is in RAM."""
        self.graph, self.vectors = {}, {}

    def turn(self, number: int) -> dict[str, float]:
        """De-duplicate each node by title and scan, merge or add, then save; `scan` is all but the save."""
        started = time.perf_counter()
        told = self.given.turn(number)
        names = [self._place(node) for node in told["nodes"]]
        for edge in told["edges"]:
            ends = {"source": names[edge["source"]], "target": names[edge["target"]]}
            self.graph["edges"][f"e{len(self.graph['edges'])}"] = {**edge, **ends, "attributes": {}}
        scanned = time.perf_counter()
        self._save()
        return {"scan": 1000 * (scanned - started), "save": 1000 * (time.perf_counter() - scanned)}

    def _place(self, node: dict[str, Any]) -> str:
        vector = node["vector"].astype(np.float64)
        name = self.graph["title_index"].get(node["title"].lower())
        if name is None:
            score, nearest = max(self._scan(vector))
            name = nearest if score >= _THRESHOLD else None
        if name is not None:
            stored = self.graph["nodes"][name]
            stored["attributes"] = {**node["attributes"], **stored["attributes"]}
            stored["access_count"] += 1
            return str(name)
        name = f"n{len(self.graph['nodes'])}"
        self.graph["nodes"][name] = self._node(node, 3 * self.graph["turn"])
        self.graph["title_index"][node["title"].lower()] = name
        self.vectors[name] = vector
        return name

    def _scan(self, query: Any) -> list[tuple[float, str]]:
        norm = np.linalg.norm(query)
        return [(float(np.dot(query, vector) / (norm * np.linalg.norm(vector))), name)
                for name, vector in self.vectors.items()]  # fmt: skip

    def search(self, number: int) -> dict[str, Any]:
        """Scan, floor, five roots, adjacency, two hops."""
        scored = sorted(self._scan(self.given.queries[number].astype(np.float64)), reverse=True)[:_ROOTS]
        roots = [name for score, name in scored if score >= _FLOOR]
        adjacency: dict[str, list[str]] = {name: [] for name in self.graph["nodes"]}
        for edge in self.graph["edges"].values():
            adjacency[edge["source"]].append(edge["target"])
            adjacency[edge["target"]].append(edge["source"])
        return {"found": len(_walk(adjacency, roots))}

    def score(self) -> None:
        """P1 3.6 for every node, as a loop."""
        nodes, now, turn = self.graph["nodes"], self.given.at(self.graph["turn"]), self.graph["turn"]
        degree = dict.fromkeys(nodes, 0)
        for edge in self.graph["edges"].values():
            degree[edge["source"]] += 1
            degree[edge["target"]] += 1
        most = max(node["access_count"] for node in nodes.values())
        for name, node in nodes.items():
            recency = 2 ** (-(now - node["last_accessed_at"]) / _DAY / 90)
            frequency = math.log(1 + node["access_count"]) / math.log(1 + most + 1)
            centrality = min(math.log(1 + degree[name]) / math.log(11), 1.0)
            turns = 2 ** (-(turn - node["turns_at_creation"]) / 1000)
            node["importance_score"] = 0.35 * recency + 0.25 * frequency + 0.20 * centrality + 0.20 * turns

    def sizes(self) -> dict[str, int]:
        """The file: it holds nodes, edges, node vectors and the title index, no turns."""
        return {"graph": self.path.stat().st_size, "whole": self.path.stat().st_size}


def _walk(adjacency: dict[str, list[str]], roots: list[str]) -> list[str]:
    seen, queue = dict.fromkeys(roots, 0), deque(roots)
    while queue and len(seen) < _CAP:
        name = queue.popleft()
        for other in adjacency[name] if seen[name] < _HOPS else ():
            if other not in seen and len(seen) < _CAP:
                seen[other] = seen[name] + 1
                queue.append(other)
    return list(seen)
