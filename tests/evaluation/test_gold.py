"""An extraction is scored against gold one to one; an optional item never helps and never hurts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.errors import FormatError
from memory_core.evaluation.gold import (
    Counts,
    GoldEdge,
    GoldNode,
    GoldTurn,
    extraction_figures,
    read_gold,
    score_extraction,
    title_key,
)
from memory_core.importers.transcripts import START
from memory_core.schema import Extraction, FoundEdge, FoundNode, Turn

DATA = Path(__file__).parents[2] / "data"
TURN = Turn("user", "I moved from Lisbon to Porto with my sister.", START)


def gold(nodes: list[GoldNode], edges: list[GoldEdge] = [], negated: list[GoldEdge] = []) -> GoldTurn:  # noqa: B006
    return GoldTurn("g", TURN, tuple(nodes), tuple(edges), tuple(negated))


def found(*nodes: tuple[str, str], edges: tuple[tuple[int, int, str], ...] = ()) -> Extraction:
    read = tuple(FoundNode(label, title, "") for label, title in nodes)
    return Extraction("ok", read, tuple(FoundEdge(*edge) for edge in edges))


PORTO, LISBON = GoldNode("Location", "Porto"), GoldNode("Location", "Lisbon", optional=True)
SISTER = GoldNode("Person", "Sister", aliases=("Mira",))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Name of the Wind", "name of the wind"),
        ("my sister", "Sister"),
        ("running shoes", "Running  Shoe"),
        ("Mira's garden", "mira garden"),
        ("Ｐｏｒｔｏ", "Porto"),
        ("cafe\u0301", "café"),
    ],
)
def test_titles_that_differ_in_dress_are_equal(one: str, other: str) -> None:
    assert title_key(one) == title_key(other)


@pytest.mark.parametrize(
    ("one", "other"), [("glass", "glas"), ("bus", "bu"), ("A", ""), ("C++", "C"), ("theatre", "atre")]
)
def test_other_titles_stay_apart(one: str, other: str) -> None:
    assert title_key(one) != title_key(other)


class TestNodes:
    def test_title_and_label_are_counted_apart(self) -> None:
        counts = score_extraction(
            gold([PORTO, SISTER]), found(("Concept", "porto"), ("Person", "Mira"), ("Event", "Move"))
        )
        assert (counts.nodes_gold, counts.nodes_found, counts.nodes_matched, counts.labels_right) == (2, 3, 2, 1)
        assert (counts.missed, counts.extra) == ((), ("Move",))

    def test_each_found_node_matches_once(self) -> None:
        counts = score_extraction(gold([PORTO]), found(("Concept", "Porto"), ("Location", "the Porto")))
        assert (counts.nodes_found, counts.nodes_matched, counts.labels_right) == (2, 1, 1)

    def test_an_optional_node_counts_neither_way(self) -> None:
        with_it = score_extraction(gold([PORTO, LISBON]), found(("Location", "Porto"), ("Location", "Lisbon")))
        without = score_extraction(gold([PORTO, LISBON]), found(("Location", "Porto")))
        assert with_it == without == Counts(1, 1, 1, 1)

    def test_aliases_never_cost_a_match_that_was_possible(self) -> None:
        either = GoldNode("Person", "Mira", aliases=("Sister",))
        only = GoldNode("Person", "Sister")
        assert (
            score_extraction(gold([either, only]), found(("Person", "Sister"), ("Person", "Mira"))).nodes_matched == 2
        )

    def test_nothing_read_from_nothing_to_read_is_no_error(self) -> None:
        assert score_extraction(gold([]), found()) == Counts()


class TestEdges:
    def test_both_ends_must_match_and_the_relationship_is_counted_apart(self) -> None:
        wanted = gold([SISTER, PORTO], [GoldEdge("Sister", "lives_in", "Porto", aliases=("moved_to",))])
        for relationship, right in (("Lives in", 1), ("moved-to", 1), ("likes", 0)):
            counts = score_extraction(
                wanted, found(("Person", "Mira"), ("Location", "Porto"), edges=((0, 1, relationship),))
            )
            assert (counts.edges_gold, counts.edges_found, counts.edges_matched) == (1, 1, 1)
            assert counts.relationships_right == right

    def test_the_other_direction_is_another_edge(self) -> None:
        wanted = gold([SISTER, PORTO], [GoldEdge("Sister", "lives_in", "Porto")])
        counts = score_extraction(wanted, found(("Person", "Mira"), ("Location", "Porto"), edges=((1, 0, "lives_in"),)))
        assert (counts.edges_matched, counts.missed, counts.extra) == (
            0,
            ("Sister lives_in Porto",),
            ("Porto lives_in Mira",),
        )

    def test_of_two_edges_between_the_same_ends_the_right_one_matches(self) -> None:
        wanted = gold([SISTER, PORTO], [GoldEdge("Sister", "lives_in", "Porto")])
        read = found(("Person", "Sister"), ("Location", "Porto"), edges=((0, 1, "likes"), (0, 1, "lives_in")))
        counts = score_extraction(wanted, read)
        assert (counts.edges_found, counts.edges_matched, counts.relationships_right) == (2, 1, 1)

    def test_a_denied_fact_read_as_true_is_counted(self) -> None:
        wanted = gold([SISTER, LISBON], negated=[GoldEdge("Sister", "lives_in", "Lisbon")])
        ends = (("Person", "Mira"), ("Location", "Lisbon"))
        assert score_extraction(wanted, found(*ends, edges=((0, 1, "lives_in"),))).negated_as_true == 1
        assert score_extraction(wanted, found(*ends, edges=((0, 1, "lived_in"),))).negated_as_true == 0


class TestFigures:
    def test_figures_are_ratios_of_sums_with_intervals_beside_them(self) -> None:
        figures = cast(dict[str, Any], extraction_figures([Counts(2, 3, 2, 1), Counts(2, 1, 0, 0, 1, 2, 1, 0, 1)]))
        assert figures["n"] == 2
        nodes, edges = figures["nodes"], figures["edges"]
        assert (nodes["precision"], nodes["recall"], nodes["f1"], nodes["label_accuracy"]) == (0.5, 0.5, 0.5, 0.5)
        assert (edges["precision"], edges["recall"], edges["relationship_accuracy"]) == (0.5, 1, 0)
        assert edges["f1"] == pytest.approx(2 / 3)
        assert figures["negated_as_true"] == 1
        assert nodes["precision_ci"] == [0, pytest.approx(2 / 3)]

    def test_without_anything_to_count_figures_are_none_and_valid_json(self) -> None:
        figures = extraction_figures([Counts(), Counts()])
        assert cast(dict[str, Any], figures["edges"])["f1"] is None
        json.dumps(figures, allow_nan=False)

    @given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")))
    def test_matched_is_what_both_have(self, wanted: set[str], read: set[str]) -> None:
        nodes = [GoldNode("Concept", title * 4) for title in sorted(wanted)]
        counts = score_extraction(gold(nodes), found(*(("Concept", title * 4) for title in sorted(read))))
        assert counts.nodes_matched == counts.labels_right == len(wanted & read)
        assert (counts.nodes_gold, counts.nodes_found) == (len(wanted), len(read))


GOOD: dict[str, Any] = {
    "id": "g1",
    "turn": {"role": "user", "speaker": "User", "text": "I live in Porto."},
    "nodes": [{"label": "Location", "title": "Porto"}],
    "edges": [],
    "negated": [],
}


class TestFiles:
    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"id": ""}, "id is missing or empty"),
            ({"turn": None}, "turn is no object"),
            ({"turn": {"role": "system", "text": "x"}}, "role 'system'"),
            ({"nodes": {}}, "nodes is no list"),
            ({"nodes": [{"label": "City", "title": "Porto"}]}, "label 'City' is none of the nine"),
            ({"nodes": [{"label": "Location"}]}, "title is missing"),
            ({"nodes": [{"label": "Location", "title": "Porto", "optional": "yes"}]}, "optional must be true or false"),
            ({"nodes": [{"label": "Location", "title": "Porto", "aliases": "Oporto"}]}, "aliases is no list"),
            ({"edges": [{"source": "User", "target": "Porto"}]}, "relationship is missing"),
            ({"negated": ["no"]}, "an edge is no object"),
            ({"id": "g0"}, "'g0' stands there twice"),
        ],
    )
    def test_an_error_names_the_line(self, change: dict[str, Any], reason: str) -> None:
        data = "\n".join(json.dumps(row) for row in ({**GOOD, "id": "g0"}, {**GOOD, **change}))
        with pytest.raises(FormatError, match=f"line 2: .*{reason}"):
            read_gold(data.encode())

    def test_a_broken_line_is_an_error_too(self) -> None:
        with pytest.raises(FormatError, match="line 2: not JSON"):
            read_gold(json.dumps(GOOD).encode() + b"\n{oops\n")

    def test_aliases_and_optional_may_be_absent(self) -> None:
        (turn,) = read_gold(json.dumps(GOOD).encode())
        assert turn.nodes == (GoldNode("Location", "Porto"),)
        assert (turn.turn.text, turn.turn.speaker) == ("I live in Porto.", "User")

    def test_the_gold_set_that_ships_is_whole_and_scores_itself_perfectly(self) -> None:
        turns = read_gold(DATA / "gold.jsonl")
        assert len(turns) >= 30
        figures = cast(dict[str, Any], extraction_figures([score_extraction(turn, _ideal(turn)) for turn in turns]))
        assert figures["negated_as_true"] == 0
        for part, accuracy in (("nodes", "label_accuracy"), ("edges", "relationship_accuracy")):
            assert figures[part]["f1"] == figures[part][accuracy] == 1


def _ideal(turn: GoldTurn) -> Extraction:
    """The extraction that holds the required items of the gold and nothing else, its edges' ends added as nodes."""
    nodes = [FoundNode(node.label, node.title, "") for node in turn.nodes]
    place = {title_key(name): n for n, node in enumerate(turn.nodes) for name in (node.title, *node.aliases)}
    kept = [edge for edge in turn.edges if not edge.optional]
    edges = tuple(FoundEdge(place[title_key(e.source)], place[title_key(e.target)], e.relationship) for e in kept)
    return Extraction("ok", tuple(nodes), edges)
