"""What is found as text: one line a turn, node or edge, dated, newest first, whole lines within a token budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_core.graph import Graph
from memory_core.protocols import Line, Visit
from memory_core.schema import Edge, Node, Turn

CHARACTERS_A_TOKEN = 4  # what OpenAI's guide gives for English; an estimate, the same for every embedder and reader


def token_estimate(text: str) -> int:
    """About how many tokens a reader would count, the way every budget here does.

    >>> token_estimate("[2024-05-01] Mira: I moved to Porto.")
    9
    """
    return -(-len(text) // CHARACTERS_A_TOKEN)


def line_tokens(line: Line) -> int:
    """Tokens of a line with its line break."""
    return token_estimate(line.text) + 1


def within(lines: Iterable[Line], tokens: int) -> tuple[list[Line], int]:
    """The lines that fit the budget, in order, whole; and how many did not. A shorter line may fit after a long one.

    >>> kept, left_out = within([Line("a" * 40, "t1"), Line("b" * 400, "t2"), Line("c" * 8, "t3")], 20)
    >>> [line.item for line in kept], left_out
    (['t1', 't3'], 1)
    """
    kept: list[Line] = []
    left, left_out = tokens, 0
    for line in lines:
        cost = line_tokens(line)
        if cost <= left:
            kept.append(line)
            left -= cost
        else:
            left_out += 1
    return kept, left_out


def turn_lines(turns: Sequence[Turn]) -> tuple[Line, ...]:
    """Turns verbatim, in the order given."""
    return tuple(Line(turn_line(turn), turn.id, (turn.id,)) for turn in turns)


def turn_line(turn: Turn) -> str:
    """A turn as one line of context, dated."""
    return f"[{turn.at:%Y-%m-%d}] {turn.speaker or turn.role}: {turn.text}"


def graph_lines(
    graph: Graph, visits: Sequence[Visit], edges: Sequence[Edge], cited: dict[str, list[str]]
) -> tuple[Line, ...]:
    """P1's context: nodes in the order of the walk, then edges, those that no longer hold last."""
    nodes = [graph.node(visit.id) for visit in visits]
    written = [Line(node_line(node), node.id, tuple(cited.get(node.id, ()))) for node in nodes]
    seen: set[str] = set()
    for edge in sorted(edges, key=_ended):
        text = edge_line(graph, edge)
        if text not in seen:
            seen.add(text)
            written.append(Line(text, edge.id, tuple(cited.get(edge.id, ())), _ended(edge)))
    return tuple(written)


def node_line(node: Node) -> str:
    """A node as one line of context."""
    attributes = "; ".join(f"{key}: {value}" for key, value in node.attributes.items())
    return f"{node.label} | {node.title} | {node.content}" + (f" [{attributes}]" if attributes else "")


def edge_line(graph: Graph, edge: Edge) -> str:
    """An edge as one line of context; one that no longer holds says since when."""
    own = {key: value for key, value in edge.attributes.items() if key not in ("until", "superseded_by")}
    attributes = "; ".join(f"{key}: {value}" for key, value in own.items())
    ended = f" (until {edge.attributes['until']}, no longer current)" if _ended(edge) else ""
    source, target = (graph.titles[graph.row_of[end]] for end in (edge.source, edge.target))
    return f"{source} -- {edge.relationship} --> {target}" + (f" [{attributes}]" if attributes else "") + ended


def _ended(edge: Edge) -> bool:
    return "until" in edge.attributes
