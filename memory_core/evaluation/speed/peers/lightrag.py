"""LightRAG with its default files: nano-vectordb for vectors, networkx as GraphML; embedder and tokens are stubs."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from memory_core.evaluation.speed.given import Given

_NODES_A_CHUNK = 3


class _Words:
    """A token a word: counting them costs nothing."""

    def encode(self, content: str) -> list[int]:
        return [0] * len(content.split())

    def decode(self, tokens: Sequence[int]) -> str:
        return " ".join("word" for _ in tokens)


class _Stubs:
    """The vectors that go with the texts, and no model; LightRAG copies its settings, of which these stay one."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.known: dict[str, Any] = {given.question(row): given.queries[row] for row in range(given.searches)}
        for number in range(given.turns):
            self.known.update((node["content"], node["vector"]) for node in given.turn(number)["nodes"])

    def __deepcopy__(self, memo: object) -> _Stubs:
        return self

    async def embed(self, texts: list[str], **options: Any) -> Any:
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Any:
        """The vector of an entity by its description; relations and chunks get any stored one."""
        found = self.known.get(text.rpartition("\n")[2])
        return self.given.vectors[zlib.crc32(text.encode()) % self.given.nodes] if found is None else found

    async def model(self, *texts: Any, **options: Any) -> str:
        raise RuntimeError("No model is asked in a measurement.")


class Session:
    """One working folder."""

    def __init__(self, given: Given, work: Path) -> None:
        self.given, self.work = given, work
        self.runner = asyncio.Runner()
        self.rag: Any = None
        self.stubs = _Stubs(given)

    def open(self) -> None:
        """From the files to what can be asked."""
        from lightrag import LightRAG
        from lightrag.kg.shared_storage import initialize_share_data
        from lightrag.utils import EmbeddingFunc, Tokenizer

        embedding = EmbeddingFunc(embedding_dim=self.given.dim, max_token_size=8192, func=self.stubs.embed)
        initialize_share_data()
        self.rag = LightRAG(
            working_dir=str(self.work), embedding_func=embedding, embedding_batch_num=2000,
            llm_model_func=self.stubs.model, tokenizer=Tokenizer("words", _Words()),
            vector_db_storage_cls_kwargs={"cosine_better_than_threshold": 0.2},
        )  # fmt: skip
        self.runner.run(self.rag.initialize_storages())

    def close(self) -> None:
        """Let go of the files."""
        from lightrag.kg.shared_storage import finalize_share_data

        self.runner.run(self.rag.finalize_storages())
        finalize_share_data()
        self.rag = None

    def fill(self) -> None:
        """All in one insertion, which writes each file once."""
        nodes = [self.given.node(place) for place in range(self.given.nodes)]
        own = {node["content"]: self.given.vectors[place] for place, node in enumerate(nodes)}
        self.stubs.known |= own
        self.open()
        turns = [_chunk(self.given.text(turn), f"s{turn}") for turn in range(self.given.stored_turns)]
        entities = [_entity(node, f"s{place // _NODES_A_CHUNK}") for place, node in enumerate(nodes)]
        edges = (self.given.edge(place) for place in range(len(self.given.ends)))
        relations = [
            _relation(edge, nodes, f"s{max(edge['source'], edge['target']) // _NODES_A_CHUNK}") for edge in edges
        ]
        custom = {"chunks": turns, "entities": entities, "relationships": relations}
        self.runner.run(self.rag.ainsert_custom_kg(custom))
        self.close()
        for content in own:
            del self.stubs.known[content]

    def turn(self, number: int) -> None:
        """One chunk with its entities and relations, written when the call returns."""
        told, source = self.given.turn(number), f"timed{number}"
        custom = {
            "chunks": [_chunk(told["text"], source)],
            "entities": [_entity(node, source) for node in told["nodes"]],
            "relationships": [_relation(edge, told["nodes"], source) for edge in told["edges"]],
        }
        self.runner.run(self.rag.ainsert_custom_kg(custom))

    def search(self, number: int) -> dict[str, Any]:
        """Local mode: five entities, their relations and chunks."""
        from lightrag import QueryParam

        asked = self.given.question(number)
        how = QueryParam(mode="local", top_k=5, ll_keywords=[asked], enable_rerank=False)
        found = self.runner.run(self.rag.aquery_data(asked, how))
        return {"found": len(found["data"]["entities"])}

    def sizes(self) -> dict[str, int]:
        """Entities with their vectors and the graph; `whole` has the vectors of relations and chunks as well."""
        own = ("vdb_entities.json", "graph_chunk_entity_relation.graphml")
        whole = sum(path.stat().st_size for path in self.work.iterdir() if path.suffix in (".json", ".graphml"))
        return {"graph": sum((self.work / name).stat().st_size for name in own), "whole": whole}


def _chunk(text: str, source: str) -> dict[str, Any]:
    return {"content": text, "source_id": source}


def _entity(node: dict[str, Any], source: str) -> dict[str, Any]:
    return {"entity_name": node["title"], "entity_type": node["label"], "description": node["content"],
            "source_id": source}  # fmt: skip


def _relation(edge: dict[str, Any], nodes: Sequence[dict[str, Any]], source: str) -> dict[str, Any]:
    return {"src_id": nodes[edge["source"]]["title"], "tgt_id": nodes[edge["target"]]["title"], "weight": 1.0,
            "description": edge["relationship"], "keywords": edge["relationship"], "source_id": source}  # fmt: skip
