"""A memory graph as a picture: the data of the live view, a pyvis network, and one self-contained HTML page.

Titles and contents are what people and models wrote. They leave here only as JSON or escaped; the browser code turns
them into text, never into markup.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader
from pyvis.network import Network

from memory_core.errors import InputError, ModelFileError
from memory_core.figures import palette

State = Literal["stood", "new", "merged", "forgotten", "root"]
CAP = 400
_HERE = Path(__file__).parent / "browser"
_CONTENT = 400  # characters of a content a tooltip shows


@dataclass(frozen=True)
class GraphNode:
    """A node of a picture. `degree` counts its edges in the memory; `hop` is its distance from a root (all or none).

    `near` is the node a new one appears beside (its first neighbour when None). `stamp` names the change that gave the
    `state`, so that a second merge pulses again.
    """

    id: str
    label: str
    title: str
    content: str = ""
    degree: int = 0
    state: State = "stood"
    hop: int | None = None
    near: str | None = None
    stamp: str = ""


@dataclass(frozen=True)
class GraphEdge:
    """An edge of a picture, from node id `source` to node id `target`."""

    id: str
    source: str
    target: str
    relationship: str


def select(
    nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], cap: int = CAP, focus: str | None = None
) -> set[str]:
    """The ids of at most `cap` nodes worth drawing.

    Nodes that just changed and roots come first, then, with a `focus`, those nearest to it by edges, then the highest
    degree; ties by id.

    >>> chain = [GraphNode(name, "Person", name, degree=d) for name, d in [("a", 1), ("b", 2), ("c", 1)]]
    >>> sorted(select(chain, [GraphEdge("1", "a", "b", "knows"), GraphEdge("2", "b", "c", "knows")], cap=2))
    ['a', 'b']
    """
    if len(nodes) <= cap:
        return {node.id for node in nodes}
    distance = _distances(focus, edges) if focus is not None else {}
    far = len(distance) + 1

    def rank(node: GraphNode) -> tuple[bool, int, int, str]:
        changed = node.id == focus or node.state in ("new", "merged", "root")
        return (not changed, distance.get(node.id, far), -node.degree, node.id)

    return {node.id for node in sorted(nodes, key=rank)[:cap]}


def _distances(start: str, edges: Iterable[GraphEdge]) -> dict[str, int]:
    touching: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        touching[edge.source].append(edge.target)
        touching[edge.target].append(edge.source)
    distance, ring = {start: 0}, [start]
    while ring:
        ring = list(dict.fromkeys(other for node in ring for other in touching[node] if other not in distance))
        distance |= dict.fromkeys(ring, max(distance.values()) + 1)
    return distance


def live_data(
    nodes: Sequence[GraphNode],
    edges: Sequence[GraphEdge],
    cap: int = CAP,
    *,
    focus: str | None = None,
    total: int | None = None,
) -> dict[str, Any]:
    """What the live view draws, as JSON: at most `cap` nodes, the edges between them, the marks, and a count.

    `total` is the number of nodes of the memory when `nodes` is already a part of it. Edges that name a node not in
    `nodes` are left out and counted in `dangling`.

    >>> live_data([GraphNode("2024", "Goal", "Year goal")], [], total=8526)["text"]
    'showing 1 of 8,526 nodes, 0 edges'
    """
    unique = {node.id: node for node in nodes}
    chosen = select(list(unique.values()), edges, cap, focus)
    drawn = {edge.id: edge for edge in edges if edge.source in chosen and edge.target in chosen}
    whole = max(total or 0, len(unique))
    return {
        "nodes": [_trimmed(node) for node in unique.values() if node.id in chosen],
        "edges": [asdict(edge) for edge in drawn.values()],
        "marks": palette.data(),
        "shown": len(chosen),
        "total": whole,
        "dangling": sum(edge.source not in unique or edge.target not in unique for edge in edges),
        "text": _count_text(len(chosen), whole, len(drawn)),
        "focus": focus,
    }


def _trimmed(node: GraphNode) -> dict[str, Any]:
    whole = node.content
    return asdict(node) | {"content": whole if len(whole) <= _CONTENT else whole[:_CONTENT].rstrip() + "…"}


def _count_text(shown: int, whole: int, edges: int) -> str:
    of_edges = f"{edges:,} {'edge' if edges == 1 else 'edges'}"
    if shown < whole:
        return f"showing {shown:,} of {whole:,} nodes, {of_edges}"
    return f"{shown:,} {'node' if shown == 1 else 'nodes'}, {of_edges}"


def network(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], title: str = "Memory graph") -> Network:
    """The nodes and edges as a directed pyvis network, coloured and shaped by label; parallel edges are kept.

    Its `generate_html()` gives the self-contained page of `standalone_html`. Raises InputError when an edge names a
    node that is not there.
    """
    made = Network(height="600px", width="100%", directed=True, heading=title, cdn_resources="in_line")
    for node in {node.id: node for node in nodes}.values():
        mark = palette.mark(node.label)
        made.add_node(
            node.id,
            label=_one_line(node.title) or " ",
            shape=mark.shape,
            color={"background": mark.color, "border": mark.on_light},
            title=html.escape(f"{node.label}: {node.title}\n{node.content}"),
            size=8 + min(node.degree, 30) ** 0.5 * 2,
            node=asdict(node),
        )
    for edge in edges:
        if edge.source not in made.node_map or edge.target not in made.node_map:
            raise InputError(f"edge {edge.id!r} names a node that is not in the picture: give both, or leave it out")
        shown = edge.relationship.replace("_", " ")
        made.add_edge(edge.source, edge.target, id=edge.id, label=shown, title=html.escape(shown), edge=asdict(edge))
    made.templateEnv = Environment(loader=FileSystemLoader(_HERE), autoescape=False)
    made.path = "standalone.html"
    made.templateEnv.globals.update(marks=palette.data(), vis=vis_script, script=view_script, part=view_part)
    return made


def standalone_html(
    nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], title: str = "Memory graph", cap: int = 1000
) -> str:
    """One HTML page with picture, legend, search and tooltips that asks the network for nothing.

    At most `cap` nodes are drawn (those `select` takes), and the page says so; edges to others are left out.
    """
    chosen = select(nodes, edges, cap)
    drawn = [edge for edge in edges if edge.source in chosen and edge.target in chosen]
    made = network([node for node in nodes if node.id in chosen], drawn, title)
    made.templateEnv.globals["count"] = _count_text(len(chosen), len({node.id for node in nodes}), len(drawn))
    return str(made.generate_html())


def _one_line(words: str, most: int = 40) -> str:
    line = " ".join(words.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def vis_path() -> Path:
    """The vis-network build that the pyvis wheel carries. Raises ModelFileError when the wheel holds none."""
    spec = find_spec("pyvis")
    builds = sorted(Path(spec.origin).parent.glob("lib/vis-*/vis-network.min.js")) if spec and spec.origin else []
    if not builds:
        raise ModelFileError("the installed pyvis holds no vis-network: install pyvis 0.3.2 again")
    return builds[-1]


@cache
def vis_script() -> str:
    """vis-network as text, safe inside a script element."""
    return vis_path().read_text(encoding="utf-8").replace("</script", "<\\/script")


@cache
def view_script() -> str:
    """The browser code of the graph view: one module whose default export mounts and updates it."""
    return "\n".join(view_part(name) for name in ("graph.js", "controls.js", "draw.js", "layout.js", "shared.js"))


@cache
def map_script() -> str:
    """The browser code of the whole-memory map, a module like view_script."""
    return "\n".join(view_part(name) for name in ("map.js", "map_controls.js", "shared.js"))


@cache
def view_part(name: str) -> str:
    """A file of the browser code, as text."""
    return (_HERE / name).read_text(encoding="utf-8")
