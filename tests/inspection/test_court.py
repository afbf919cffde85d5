"""The merge court: pairs with their guards, verdicts that draw the threshold, merges made and taken back exactly."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.errors import InputError
from memory_core.exporters import to_document
from memory_core.inspection.court import chains, merges, pairs, side
from memory_core.inspection.verdicts import Verdict, levels, suggested, verdict_chart, verdicts
from memory_core.memory import Memory
from memory_core.schema import utc
from tests.fakes import LetterEmbedder
from tests.memories import fake_memory

AT = utc("2024-08-01")


def told() -> Memory:
    """Two spellings of one landlord, below the threshold; each with edges, one of them to the other."""
    memory = fake_memory()
    memory.say("Person:John Doering {phone=12} | Landlord. -lives_in-> Location:Graz", at="2024-05-01")
    memory.say("Person:John T. Doering {phone=13} | The landlord. -lives_in-> Location:Graz", at="2024-05-02")
    memory.say("Person:John T. Doering -owns-> Artifact:Boiler; Person:John Doering -knows-> Person:John T. Doering",
               at="2024-05-03")  # fmt: skip
    return memory


def test_merging_by_hand_leaves_one_node_all_edges_and_nothing_dangling_and_undo_is_exact() -> None:  # DED-08
    with told() as memory:
        before = to_document(memory)
        found = memory.preview_merge("n1", "n3")
        assert (found.edges, found.folded, found.loops, found.turns) == (1, 1, 1, 2)
        assert to_document(memory) == before, "a preview changes nothing"
        change = memory.merge("n1", "n3", at=AT)
        after = to_document(memory)
        assert [node["title"] for node in after["nodes"].values()] == ["John Doering", "Graz", "Boiler"]
        assert after["nodes"]["n1"]["attributes"] == {"phone": "13"}, "the newest value holds"
        assert {edge["source"] for edge in after["edges"].values()} == {"n1"}
        assert all(edge["source"] in after["nodes"] and edge["target"] in after["nodes"] for edge in after["edges"].values())  # noqa: E501  # fmt: skip
        assert {entry["turn"] for entry in after["provenance"] if entry["item"] == "n1"} == {"t1", "t2", "t3"}
        assert [said.value for said in memory.history_of("n1") if said.field == "attributes.phone"] == ["12", "13"]
        assert "John T. Doering" in [said.value for said in memory.history_of("n1") if said.field == "title"]
        assert memory.graph.find_title("Person", "John T. Doering") == []
        assert memory.changes()[-1].id == change
        memory.undo(change, at=AT)
        assert to_document(memory) == before
        assert not [pair for pair in memory.pairs() if pair["kind"] == "by hand"]


def test_a_preview_counts_live_edges_alone() -> None:
    with told() as memory:
        for edge in [memory.graph.edge(of) for of in memory.graph.edge_ids]:
            if edge.relationship in ("owns", "knows"):
                memory.delete(edge.id, at=AT)
        found = memory.preview_merge("n1", "n3")
        assert (found.edges, found.folded, found.loops) == (0, 1, 0)


def test_later_turns_find_the_merged_node_and_undo_keeps_what_came_since() -> None:
    with told() as memory:
        change = memory.merge("n1", "n3", at=AT)
        memory.say("Person:John Doering -likes-> Artifact:Tea", at="2024-09-01")
        memory.undo(change, at=AT)
        assert memory.graph.is_live("n3")
        document = to_document(memory)
        assert len([edge for edge in document["edges"].values() if edge["relationship"] == "likes"]) == 1


STATEMENTS = st.lists(
    st.tuples(st.sampled_from("ABC"), st.sampled_from(["knows", "likes"]), st.sampled_from("ABD")),
    min_size=2,
    max_size=8,
)


@given(STATEMENTS)
@settings(max_examples=15, deadline=None)
def test_any_merge_is_taken_back_exactly(said: list[tuple[str, str, str]]) -> None:
    with fake_memory() as memory:
        for day, (a, relation, b) in enumerate(said, 1):
            memory.say(f"Person:{a}a {{n={day}}} -{relation}-> Person:{b}a", at=f"2024-05-{day:02}")
        nodes = list(to_document(memory)["nodes"])
        before = to_document(memory)
        if len(nodes) > 1:
            change = memory.merge(nodes[0], nodes[1], at=AT)
            merged = to_document(memory)
            assert len(merged["nodes"]) == len(nodes) - 1
            assert all(edge[end] in merged["nodes"] for edge in merged["edges"].values() for end in ("source", "target"))  # noqa: E501  # fmt: skip
            assert all(edge["source"] != edge["target"] for edge in merged["edges"].values())
            memory.undo(change, at=AT)
        assert to_document(memory) == before


def test_what_cannot_be_merged_is_said() -> None:
    with told() as memory:
        with pytest.raises(InputError, match="itself"):
            memory.merge("n1", "n1", at=AT)
        with pytest.raises(InputError, match="no live node"):
            memory.merge("n1", "n99", at=AT)
        with pytest.raises(InputError, match="no verdict"):
            memory.judge("n1", "n3", "perhaps", similarity=0.5)


def test_pairs_near_the_threshold_come_with_their_guards() -> None:
    with fake_memory() as memory:
        memory.say("Artifact:KX-1603 | Router.; Artifact:KX-1605 | Router.; Artifact:Quartz bowl", at="2024-05-01")
        (pair,) = pairs(memory)
        assert pair.titles == ("KX-1603", "KX-1605")
        assert pair.guard == "different numbers: 1603 / 1605"
        assert pair.verdict == "open"
        assert side(memory, pair.a).quotes[0].turn.id == "t1"


def test_homonyms_are_put_up_first_and_a_verdict_is_kept() -> None:  # DED-04
    with fake_memory() as memory:
        memory.say("Person:Sam Ortiz {age=52,city=Leeds} | The user's dentist.", at="2024-05-01")
        memory.say("Person:Sam Ortiz {age=9,city=Vigo} | The user's nephew.", at="2024-05-02")
        first = pairs(memory)[0]
        assert first.kind == "homonym"
        assert "52 / 9" in first.guard
        memory.judge(first.a, first.b, "different", similarity=1.0)
        memory.judge(first.b, first.a, "unsure", similarity=1.0)
        again = [pair for pair in pairs(memory) if {pair.a, pair.b} == {first.a, first.b}]
        assert [pair.verdict for pair in again] == ["unsure"], "one verdict a pair, the last one"


def test_a_merge_made_is_split_exactly_and_then_counts_as_two_things() -> None:
    embedder = LetterEmbedder(match_threshold=0.9, fixed={"Kaveh": (1, 0), "Kavé": (0.95, 0.3122)})
    with fake_memory(embedder=embedder) as memory:
        memory.say("Concept:Kaveh", at="2024-05-01")
        memory.say("Concept:Kavé", at="2024-05-02")
        (made,) = merges(memory)
        assert (made.found, made.how, round(made.similarity, 2)) == ("Kavé", "cosine", 0.95)
        memory.undo(made.change, at=AT)
        assert sorted(node["title"] for node in to_document(memory)["nodes"].values()) == ["Kaveh", "Kavé"]
        assert merges(memory)[0].split
        assert [one.same for one in verdicts(pairs(memory), merges(memory))] == [False]


def test_a_node_that_grew_by_a_chain_is_flagged() -> None:
    near = {"Concept | ash": (1, 0, 0), "Concept | bog": (0.92, 0.392, 0), "Concept | cup": (0.69, 0.724, 0)}
    embedder = LetterEmbedder(match_threshold=0.9, fixed=near)
    with fake_memory(embedder=embedder) as memory:
        memory.say("Concept:ash", at="2024-05-01")
        memory.say("Concept:bog", at="2024-05-02")
        memory.say("Concept:cup", at="2024-05-03")
        assert [merge.found for merge in merges(memory)] == ["bog"]
        cup = memory.graph.ids[memory.graph.find_title("Concept", "cup")[0]]
        memory.merge("n1", cup, at=AT)  # cup is near bog, which is ash by now
        (chain,) = chains(memory)
        assert set(chain.titles) == {"ash", "bog", "cup"}
        assert set(chain.far) == {"ash", "cup"}
        assert chain.cosine < 0.9


ANSWERS = (
    [Verdict(0.95, True)] * 4 + [Verdict(0.85, True)] * 4 + [Verdict(0.80, False)] * 4 + [Verdict(0.97, False, True)]
)


def test_precision_and_recall_against_the_threshold() -> None:
    by = {level.threshold: level for level in levels(ANSWERS)}
    assert (by[0.5].precision, by[0.5].recall, by[0.5].merged) == (8 / 12, 1.0, 12)
    assert (by[0.82].precision, by[0.82].recall) == (1.0, 1.0)
    assert (by[0.9].precision, by[0.9].recall) == (1.0, 0.5)
    assert by[0.99].precision is None
    without = {level.threshold: level for level in levels(ANSWERS, guards=False)}
    assert without[0.9].precision == 4 / 5


def test_a_threshold_is_suggested_from_enough_answers_only() -> None:
    best = suggested(ANSWERS)
    assert best is not None
    assert best.threshold == 0.84
    assert suggested(ANSWERS[:6]) is None
    assert suggested([Verdict(0.9, True)] * 20) is None
    assert "Suggested: 0.84" in verdict_chart(ANSWERS, 0.9).alt


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.booleans()), max_size=30))
def test_recall_falls_as_the_threshold_rises(given: list[tuple[float, bool, bool]]) -> None:
    found = levels([Verdict(*one) for one in given])
    recalls = [level.recall for level in found if level.recall is not None]
    assert recalls == sorted(recalls, reverse=True)
    assert all(0 <= level.f <= 1 for level in found)


def test_like_titles_and_one_title_under_two_labels_are_put_up_however_far_their_vectors_are() -> None:
    with fake_memory() as memory:
        memory.say(
            "Person:Katarina Holm | ab; Person:Catarina Holm | yz; Concept:Porto; Location:Porto", at="2024-05-01"
        )
        found = {pair.kind: pair for pair in pairs(memory)}
        assert found["title"].titles == ("Katarina Holm", "Catarina Holm")
        assert found["labels"].label == "Concept / Location"
        memory.judge(found["labels"].a, found["labels"].b, "same", similarity=1.0, kind="labels")
        assert verdicts(pairs(memory), []) == [], "labels are no question of the threshold"
        change = memory.merge(found["labels"].b, found["labels"].a, at=AT)
        assert memory.graph.find_title("Location", "Porto")
        assert not memory.graph.find_title("Concept", "Porto")
        memory.undo(change, at=AT)
