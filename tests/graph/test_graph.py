"""The memory in RAM: whatever happens, it is what a fresh load of the file would give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import astuple
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.errors import InputError
from memory_core.graph import Graph
from memory_core.memory import Memory
from memory_core.store.rows import RowChange, insert, update
from tests.fakes import LetterEmbedder
from tests.memories import fake_memory


def node(
    name: str, label: str = "Person", title: str = "", vector: tuple[float, ...] | None = (1, 0)
) -> list[RowChange]:
    rows = [insert("node", id=name, label=label, title=title or name, content="", attributes="{}", created=0.0,
                   turns_at_creation=1, pinned=0, forgotten_by=None)]  # fmt: skip
    return rows if vector is None else [*rows, insert("node_vector", node=name, vector=np.float16(vector).tobytes())]


def edge(name: str, source: str, target: str, relationship: str = "knows") -> RowChange:
    return insert("edge", id=name, source=source, target=target, relationship=relationship, attributes="{}",
                  forgotten_by=None)  # fmt: skip


def forget(table: str, name: str, by: str | None = "c1") -> RowChange:
    return update(table, name, {"forgotten_by": None if by else "c1"}, {"forgotten_by": by})


def graph_of(*changes: RowChange, dim: int = 2) -> Graph:
    graph = Graph(dim)
    graph.apply(changes)
    return graph


@pytest.fixture
def family() -> Graph:
    """a - b - c, a - c twice, and d alone."""
    return graph_of(
        *node("a"), *node("b"), *node("c"), *node("d"),
        edge("e1", "a", "b"), edge("e2", "b", "c"), edge("e3", "a", "c"), edge("e4", "c", "a", "likes"),
    )  # fmt: skip


def degrees(graph: Graph) -> dict[str, int]:
    return dict(zip(graph.ids, graph.degree.values.tolist(), strict=True))


# -- one thing at a time -----------------------------------------------------------------------------------------------


def test_degree_counts_live_edges(family: Graph) -> None:
    assert degrees(family) == {"a": 3, "b": 2, "c": 3, "d": 0}
    family.apply([forget("edge", "e1")])
    assert degrees(family) == {"a": 2, "b": 1, "c": 3, "d": 0}
    family.apply([forget("edge", "e1", None)])
    assert degrees(family) == {"a": 3, "b": 2, "c": 3, "d": 0}


def test_neighbours_are_live_at_both_ends_in_the_order_of_storing(family: Graph) -> None:
    assert family.neighbours(0) == [(0, 1), (2, 2), (3, 2)]
    family.apply([forget("node", "c"), forget("edge", "e1")])
    assert family.neighbours(0) == []
    assert family.node_count == 3


def test_edges_are_found_by_their_ends_and_by_what_they_say(family: Graph) -> None:
    assert family.between(0, 2) == [2]
    assert family.between(2, 0) == [3]
    assert family.outgoing(0, "knows") == [0, 2]
    family.apply([forget("edge", "e3")])
    assert family.between(0, 2) == []
    assert family.outgoing(0, "knows") == [0]


def test_a_loop_is_one_edge_of_its_node() -> None:
    graph = graph_of(*node("a"), edge("e1", "a", "a"))
    assert degrees(graph) == {"a": 1}
    assert graph.neighbours(0) == [(0, 0)]


def test_titles_are_found_as_people_read_them() -> None:
    graph = graph_of(*node("n1", "Location", "New York"), *node("n2", "Concept", "new york"),
                     *node("n3", "Location", "NEW  YORK"), *node("n4", "Person", "Zoë"))  # fmt: skip
    assert graph.find_title("Location", " new   york ") == [0, 2]
    assert graph.find_title("Person", "Zoe\u0308") == [3]
    assert graph.find_title("Skill", "New York") == []
    graph.apply([forget("node", "n1")])
    assert graph.find_title("Location", "New York") == [2]
    graph.apply([update("node", "n4", {"title": "Zoë", "label": "Person"}, {"title": "New York", "label": "Location"})])
    assert graph.find_title("Person", "Zoë") == []
    assert graph.find_title("Location", "New York") == [2, 3]


def test_the_nearest_are_live_and_the_oldest_wins_a_tie() -> None:
    graph = graph_of(*node("a", vector=(0, 1)), *node("b"), *node("c"), *node("d"), *node("e", vector=None))
    assert graph.nearest(np.float32([[1, 0]]), 2) == [[(1, 1.0), (2, 1.0)]]
    graph.apply([forget("node", "b")])
    assert graph.nearest(np.float32([[1, 0], [0, 1]]), 9) == [
        [(2, 1.0), (3, 1.0), (0, 0.0)],
        [(0, 1.0), (2, 0.0), (3, 0.0)],
    ]
    assert graph.nearest(np.float32([[1, 0]]), 0) == [[]]
    assert Graph(2).nearest(np.float32([[1, 0]]), 5) == [[]]


def test_growing_keeps_every_row() -> None:
    names = [f"n{place}" for place in range(1000)]
    graph = graph_of(*(row for place, name in enumerate(names) for row in node(name, vector=(place / 1024, 1))))
    assert graph.ids == names
    assert graph.vectors.values.shape == (1000, 2)
    assert graph.vectors.values[:, 0].tolist() == [float(np.float16(place / 1024)) for place in range(1000)]


def test_the_last_access_is_the_latest_whenever_it_is_told() -> None:
    told = [(5.0, 2), (9.0, 4), (9.0, 3), (1.0, 9)]
    rows = [insert("access", id=id, node="a", at=at, turn=turn, kind="merge") for id, (at, turn) in enumerate(told)]
    graph = graph_of(*node("a"), *rows)
    assert graph.accesses.values.tolist() == [4]
    assert graph.last_access.values.tolist() == [9.0]
    assert graph.turns_at_access.values.tolist() == [4]


# -- any sequence ------------------------------------------------------------------------------------------------------

NAMES = ("Mira", "Tom", "Porto", "porto", "cello")
LABELS = ("Person", "Location", "Preference")
ITEM = st.builds(
    "{}:{} {{{}={}}} | {}".format, st.sampled_from(LABELS), st.sampled_from(NAMES),
    st.sampled_from(["home", "age", "mood"]), st.integers(1, 3), st.sampled_from(["", "likes it", "not it"]),
)  # fmt: skip
SAID = st.one_of(ITEM, st.builds("{} -{}-> {}".format, ITEM, st.sampled_from(["likes", "dislikes", "lives_in"]), ITEM))
ACT = st.tuples(st.sampled_from(["say", "say", "pin", "edit", "delete", "delete edge", "undo", "touch"]), SAID,
                st.integers(0, 30), st.integers(-3, 3))  # fmt: skip


def run(memory: Memory, acts: list[tuple[str, str, int, int]]) -> Iterator[None]:
    at = datetime(2024, 1, 1, tzinfo=UTC)
    for act, said, number, days in acts:
        at += timedelta(days=days)
        graph = memory.graph
        item = graph.ids[number % len(graph.ids)] if graph.ids else ""
        with suppress(InputError):
            match act:
                case "say":
                    memory.say(said, at=at)
                case "pin":
                    memory.pin(item, number % 2 == 0, at=at)
                case "edit":
                    memory.edit(item, at=at, title=NAMES[number % 5], content=f"edited {number}")
                case "delete":
                    memory.delete(item, at=at)
                case "delete edge":
                    memory.delete(graph.edge_ids[number % len(graph.edge_ids)] if graph.edge_ids else "", at=at)
                case "undo":
                    memory.undo(f"c{number % 8 + 1}", at=at)
                case "touch":
                    memory.ask("Mira", touch_at=at)
        yield


def state(graph: Graph) -> dict[str, object]:
    """All that can be seen of a graph."""
    columns = ("label", "created", "last_access", "accesses", "turns_at_creation", "turns_at_access", "degree", "live",
               "pinned", "vectors", "has_vector", "ends", "edge_live")  # fmt: skip
    lists = ("ids", "titles", "contents", "attributes", "forgotten_by", "edge_ids", "relationships", "edge_attributes",
             "edge_forgotten_by", "row_of", "edge_row", "turns", "clock")  # fmt: skip
    found = {(label, name): graph.find_title(label, name) for label in LABELS for name in NAMES}
    said = {(row, name): graph.outgoing(row, name) for row in range(len(graph.ids)) for name in ("likes", "lives_in")}
    return (
        {name: repr(getattr(graph, name).values.tolist()) for name in columns}
        | {name: getattr(graph, name) for name in lists}
        | {
            "found": found,
            "said": said,
            "count": (graph.node_count, graph.edge_count),
            "incident": list(graph.incident),
        }
    )


@given(acts=st.lists(ACT, min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_after_any_sequence_of_acts_it_equals_a_fresh_load(acts: list[tuple[str, str, int, int]]) -> None:
    with fake_memory(embedder=LetterEmbedder(match_threshold=0.9)) as memory:
        for _ in run(memory, acts):
            memory.sizes()  # what is counted now must be counted anew when it changes
        followed, sizes = state(memory.graph), memory._sizes()
        memory._load()
        assert state(memory.graph) == followed
        assert [sizes.nodes.tolist(), sizes.edges.tolist()] == [each.tolist() for each in astuple(memory._sizes())]
        graph = memory.graph
        live = [edge for edge in range(len(graph.edge_ids)) if graph.edge_live.values[edge]]
        assert all(graph.live.values[graph.ends.values[edge]].all() for edge in live), "an edge hangs in the air"
        ends = [end for edge in live for end in set(graph.ends.values[edge].tolist())]
        assert graph.degree.values.tolist() == [ends.count(row) for row in range(len(graph.ids))]
