"""What is drawn of a memory: what changed, what is looked at, what hangs together; never more than the cap."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_core.figures.memory_graph import find_nodes, memory_picture
from memory_core.memory import Memory
from tests.fakes import LetterEmbedder, SpelledExtractor
from tests.pages.large import QuickEmbedder, make_large

AT = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    path = tmp_path_factory.mktemp("large") / "large.sqlite3"
    make_large(path, 600)
    return Memory.open(path, embedder=QuickEmbedder())


def test_a_picture_never_holds_more_than_its_cap_and_says_of_how_many(large: Memory) -> None:
    picture = memory_picture(large, cap=50)
    assert (len(picture.nodes), picture.total) == (50, 600)


def test_what_is_looked_at_is_drawn_with_its_neighbours(large: Memory) -> None:
    graph = large.graph
    lonely = min(row for row in graph.live_rows().tolist() if graph.degree.values[row] == 1)
    drawn = {node.id for node in memory_picture(large, looked_at=[graph.ids[lonely], "gone"], cap=50).nodes}
    assert graph.ids[lonely] in drawn
    assert {graph.ids[other] for _, other in graph.neighbours(lonely)} <= drawn


def test_a_capped_picture_is_no_picture_of_dots(large: Memory) -> None:
    picture = memory_picture(large, cap=60)
    joined = {end for edge in picture.edges for end in (edge.source, edge.target)}
    assert len(joined) >= 0.9 * len(picture.nodes)


def test_new_and_merged_nodes_carry_the_turn_that_changed_them() -> None:
    memory = Memory.open(":memory:", embedder=LetterEmbedder(), extractor=SpelledExtractor())
    reports = [memory.say(text, at=AT) for text in ("Person:Ana -knows-> Person:Bo", "Person:Ana -likes-> Concept:Tea")]
    states = {node.title: (node.state, node.stamp) for node in memory_picture(memory, reports).nodes}
    assert states == {"Ana": ("merged", "t2"), "Bo": ("new", "t1"), "Tea": ("new", "t2")}


def test_parallel_edges_are_all_drawn_and_forgotten_nodes_are_not() -> None:
    memory = Memory.open(":memory:", embedder=LetterEmbedder(), extractor=SpelledExtractor())
    memory.say("Person:Alba -works_at-> Organization:Norte Air; Person:Alba -founded-> Organization:Norte Air", at=AT)
    assert sorted(edge.relationship for edge in memory_picture(memory).edges) == ["founded", "works_at"]
    memory.delete(memory.graph.ids[1], at=AT)
    assert [node.title for node in memory_picture(memory).nodes] == ["Alba"]


def test_find_puts_the_equal_title_first(large: Memory) -> None:
    title = large.graph.titles[7]
    assert find_nodes(large, title.upper())[0][2] == title
    assert find_nodes(large, "  ") == []
