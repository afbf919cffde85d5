"""A walk as rings by hop: the roots in the middle, each node on the ring of its distance, what the cap cut dashed."""

from __future__ import annotations

from collections.abc import Mapping

from memory_core.figures.memory_graph import Picture
from memory_core.figures.network import GraphEdge, GraphNode, State
from memory_core.memory import Memory
from memory_core.protocols import Retrieval
from memory_core.schema import Node
from memory_core.walk import edges_among

CUT_SHOWN = 25  # nodes that the cap left out and the picture shows all the same


def walk_picture(memory: Memory, found: Retrieval) -> Picture:
    """Roots, visited nodes and the first of those the cap cut, with every live edge between them.

    `total` counts them and the others the cap cut, of whom a walk names the first hundred (`walk.CAPPED`).
    """
    with memory.lock:
        graph = memory.graph
        visited = {visit.id: visit.hop for visit in found.nodes if graph.is_live(visit.id)}
        cut = _cut_hops(memory, [node for node in found.capped if graph.is_live(node)][:CUT_SHOWN], visited)
        near = {visit.id: _cosine(found, visit.id) for visit in found.nodes}
        nodes = [
            _drawn(graph.node(node), hop, "root" if hop == 0 else "stood", near[node]) for node, hop in visited.items()
        ]
        nodes += [_drawn(graph.node(node), hop, "forgotten", "cut by the cap") for node, hop in cut.items()]
        edges = [
            GraphEdge(edge.id, edge.source, edge.target, edge.relationship)
            for edge in edges_among(graph, [*visited, *cut])
            if edge.source in visited or edge.target in visited
        ]
        return Picture(tuple(nodes), tuple(edges), len(found.nodes) + len(found.capped))


def _cut_hops(memory: Memory, cut: list[str], visited: Mapping[str, int]) -> dict[str, int]:
    graph = memory.graph
    hops = {}
    for node in cut:
        beside = [visited.get(graph.ids[other]) for _, other in graph.neighbours(graph.row_of[node])]
        hops[node] = 1 + min((hop for hop in beside if hop is not None), default=max(visited.values(), default=0))
    return hops


def _cosine(found: Retrieval, node: str) -> str:
    return next((f"root, cosine {root.score:.2f}" for root in found.roots if root.id == node), "")


def _drawn(node: Node, hop: int, state: State, why: str) -> GraphNode:
    content = ". ".join(filter(None, [why.capitalize(), node.content]))
    return GraphNode(node.id, node.label, node.title, content, node.degree, state, hop)
