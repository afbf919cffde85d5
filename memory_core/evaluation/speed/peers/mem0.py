"""mem0 with its own local qdrant and SQLite history; embedder and model are stubs, nothing is sent anywhere."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_core.evaluation.speed.given import Given

_USER = "user"
_BATCH = 1000


class _Embedder:
    """The vectors that go with the texts."""

    def __init__(self) -> None:
        self.known: dict[str, list[float]] = {}

    def embed(self, text: str, action: str = "") -> list[float]:
        for part in (text, text.removeprefix("user: ").rstrip("\n")):  # messages come with their role in front
            if part in self.known:
                return self.known[part]
        raise KeyError(text[:100])

    def embed_batch(self, texts: Sequence[str], action: str = "") -> list[list[float]]:
        return [self.embed(text) for text in texts]


class _Model:
    """Answers every extraction with the facts of the turn at hand."""

    reply = ""

    def generate_response(self, messages: Any, **options: Any) -> str:
        return self.reply


class Session:
    """One memory of one user."""

    def __init__(self, given: Given, work: Path) -> None:
        self.given, self.work = given, work
        self.embedder, self.model, self.memory = _Embedder(), _Model(), None  # type: Any, Any, Any
        for number in range(given.turns):
            turn = given.turn(number)
            self.embedder.known[turn["text"]] = turn["nodes"][0]["vector"].tolist()
            self.embedder.known.update((_fact(node), node["vector"].tolist()) for node in turn["nodes"])
        for number in range(given.searches):
            self.embedder.known[given.question(number)] = given.queries[number].tolist()

    def open(self) -> None:
        """From the files to a memory that can be asked."""
        from mem0 import Memory

        store = {"path": str(self.work / "qdrant"), "embedding_model_dims": self.given.dim, "on_disk": True}
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "llm": {"provider": "openai", "config": {"api_key": "none"}},
                "embedder": {"provider": "openai", "config": {"api_key": "none"}},
                "history_db_path": str(self.work / "history.db"),
            }
        )
        self.memory.embedding_model, self.memory.llm = self.embedder, self.model

    def close(self) -> None:
        """Let go of the files."""
        self.memory.vector_store.client.close()
        self.memory.close()
        self.memory = None

    def fill(self) -> None:
        """Points straight into its vector store, a thousand at a time, and their history; qdrant commits each point
        apart, so the disk is not waited for meanwhile."""
        self.open()
        local = self.memory.vector_store.client._client.collections[self.memory.collection_name]
        local.storage.storage.execute("PRAGMA synchronous = OFF")
        for start in range(0, self.given.nodes, _BATCH):
            places = range(start, min(start + _BATCH, self.given.nodes))
            facts = [_fact(self.given.node(place)) for place in places]
            ids = [str(uuid.UUID(int=place + 1)) for place in places]
            vectors = self.given.vectors[start : places.stop].tolist()
            self.memory.vector_store.insert(vectors=vectors, ids=ids, payloads=[_payload(fact) for fact in facts])
            self.memory.db.batch_add_history(
                [
                    {"memory_id": of, "old_memory": None, "new_memory": fact, "event": "ADD", "created_at": _now(),
                     "is_deleted": 0}
                    for of, fact in zip(ids, facts, strict=True)
                ]
            )  # fmt: skip
        self.close()

    def turn(self, number: int) -> dict[str, float]:
        """One add(), its six facts told by the stub."""
        told = self.given.turn(number)
        self.model.reply = json.dumps({"memory": [{"text": _fact(node)} for node in told["nodes"]]})
        added = self.memory.add([{"role": "user", "content": told["text"]}], user_id=_USER)
        return {"nodes": len(added["results"])}

    def search(self, number: int) -> dict[str, Any]:
        """One search()."""
        found = self.memory.search(self.given.question(number), filters={"user_id": _USER}, top_k=5)
        return {"found": len(found["results"])}

    def sizes(self) -> dict[str, int]:
        """The vector store with its payloads; `whole` has the history and the messages as well."""
        graph = sum(path.stat().st_size for path in (self.work / "qdrant").rglob("*") if path.is_file())
        return {"graph": graph, "whole": graph + (self.work / "history.db").stat().st_size}


def _fact(node: dict[str, Any]) -> str:
    return f"{node['label']} | {node['title']} | {node['content']}"


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _payload(fact: str) -> dict[str, Any]:
    """What add() stores with a fact."""
    return {"user_id": _USER, "data": fact, "text_lemmatized": fact, "hash": hashlib.md5(fact.encode()).hexdigest(),
            "created_at": _now(), "updated_at": _now()}  # fmt: skip
