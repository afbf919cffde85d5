"""Graphiti on kuzu; embedder and model are stubs, nothing is sent anywhere."""

from __future__ import annotations

import asyncio
import gc
import json
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_core.evaluation.speed.given import Given

_GROUP = "bench"
_NODE = """CREATE (:Entity {uuid: $uuid, name: $name, group_id: $of, labels: $labels, created_at: $at,
    name_embedding: $vector, summary: $summary, attributes: '{}'})"""
_EDGE = """MATCH (a:Entity {uuid: $source}), (b:Entity {uuid: $target})
    CREATE (a)-[:RELATES_TO]->(:RelatesToNode_ {uuid: $uuid, group_id: $of, created_at: $at, name: $name,
    fact: $fact, fact_embedding: $vector, episodes: [], valid_at: $at, attributes: '{}'})-[:RELATES_TO]->(b)"""


class Session:
    """One kuzu database."""

    def __init__(self, given: Given, work: Path) -> None:
        self.given, self.path = given, work / "kuzu"
        self.runner = asyncio.Runner()
        self.graphiti: Any = None
        self.known: dict[str, Any] = {given.question(row): given.queries[row] for row in range(given.searches)}
        for number in range(given.turns):
            self.known.update((node["title"], node["vector"]) for node in given.turn(number)["nodes"])

    def vector(self, text: str) -> list[float]:
        """Of a name or a question; a fact gets any stored one."""
        found = self.known.get(text)
        row = self.given.vectors[zlib.crc32(text.encode()) % self.given.nodes] if found is None else found
        return [float(value) for value in row]

    def open(self) -> None:
        """From the file to what can be asked."""
        from graphiti_core import Graphiti
        from graphiti_core.driver.kuzu_driver import KuzuDriver

        driver = KuzuDriver(db=str(self.path))
        model, embedder, encoder = _stubs(self)
        self.graphiti = Graphiti(graph_driver=driver, llm_client=model, embedder=embedder, cross_encoder=encoder)

    def close(self) -> None:
        """Let go of the file: its driver leaves that to the collector."""
        driver, self.graphiti = self.graphiti.driver, None
        driver.client.close()
        driver.db.close()
        gc.collect()

    def fill(self) -> None:
        """Nodes and edges by prepared statements in one transaction, then its full-text indexes."""
        import kuzu
        from graphiti_core.driver.driver import GraphProvider
        from graphiti_core.graph_queries import get_fulltext_indices

        self.open()
        connection = kuzu.Connection(self.graphiti.driver.db)
        connection.execute("BEGIN TRANSACTION")
        nodes = [self.given.node(place) for place in range(self.given.nodes)]
        create = connection.prepare(_NODE)
        for place, node in enumerate(nodes):
            connection.execute(create, self._node(node, place))
        create = connection.prepare(_EDGE)
        for place in range(len(self.given.ends)):
            connection.execute(create, self._edge(self.given.edge(place), nodes, place))
        connection.execute("COMMIT")
        for query in get_fulltext_indices(GraphProvider.KUZU):
            connection.execute(query)
        connection.close()
        self.close()

    def _node(self, node: dict[str, Any], place: int) -> dict[str, Any]:
        return {"uuid": f"n{place}", "name": node["title"], "of": _GROUP, "labels": ["Entity", node["label"]],
                "at": self._at(place), "vector": self.given.vectors[place].tolist(),
                "summary": node["content"]}  # fmt: skip

    def _edge(self, edge: dict[str, Any], nodes: Sequence[dict[str, Any]], place: int) -> dict[str, Any]:
        fact = f"{nodes[edge['source']]['title']} {edge['relationship']} {nodes[edge['target']]['title']}"
        return {"uuid": f"e{place}", "source": f"n{edge['source']}", "target": f"n{edge['target']}", "of": _GROUP,
                "at": self._at(edge["source"]), "name": edge["relationship"], "fact": fact,
                "vector": self.vector(fact)}  # fmt: skip

    def _at(self, place: int) -> datetime:
        return datetime.fromtimestamp(self.given.at(place // 3), UTC)

    def turn(self, number: int) -> None:
        """Three triplets, so that each of the six nodes is resolved once."""
        from graphiti_core.edges import EntityEdge
        from graphiti_core.nodes import EntityNode

        at = datetime.fromtimestamp(self.given.at(self.given.stored_turns + number), UTC)
        nodes = [
            EntityNode(name=node["title"], group_id=_GROUP, labels=[node["label"]], summary=node["content"],
                       created_at=at, name_embedding=self.vector(node["title"]))
            for node in self.given.turn(number)["nodes"]
        ]  # fmt: skip
        for source, target in zip(nodes[::2], nodes[1::2], strict=True):
            edge = EntityEdge(
                group_id=_GROUP, source_node_uuid=source.uuid, target_node_uuid=target.uuid, created_at=at,
                name="knows", fact=f"{source.name} knows {target.name}", valid_at=at,
            )  # fmt: skip
            self.runner.run(self.graphiti.add_triplet(source, edge, target))

    def search(self, number: int) -> dict[str, Any]:
        """Its own hybrid search over facts."""
        found = self.runner.run(self.graphiti.search(self.given.question(number), group_ids=[_GROUP], num_results=5))
        return {"found": len(found)}

    def sizes(self) -> dict[str, int]:
        """The database: nodes and facts, each with vectors, and full-text indexes."""
        whole = sum(path.stat().st_size for path in self.path.parent.glob(f"{self.path.name}*") if path.is_file())
        whole += sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())
        return {"graph": whole, "whole": whole}


def _stubs(session: Session) -> tuple[Any, Any, Any]:
    """A model that finds nothing to resolve, an embedder that knows the vectors, a reranker that keeps the order."""
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client.client import LLMClient

    class Model(LLMClient):  # type: ignore[misc]
        async def _generate_response(
            self, messages: Any, response_model: Any = None, *more: Any, **options: Any
        ) -> Any:
            fields = response_model.model_json_schema()["properties"] if response_model else {}
            empty = {"array": [], "string": "", "integer": 0, "boolean": False, "object": {}}
            return json.loads(json.dumps({name: empty.get(of.get("type", "")) for name, of in fields.items()}))

    class Embedder(EmbedderClient):  # type: ignore[misc]
        async def create(self, input_data: Any) -> list[float]:
            return session.vector(input_data if isinstance(input_data, str) else input_data[0])

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return [session.vector(text) for text in input_data_list]

    class Encoder(CrossEncoderClient):  # type: ignore[misc]
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            return [(passage, 1.0) for passage in passages]

    return Model(None), Embedder(), Encoder()
