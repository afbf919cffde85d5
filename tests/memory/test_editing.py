"""Pin, edit, delete, merge: each one entry of the history, each taken back, also after what came later."""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.errors import InputError
from memory_core.exporters import to_document
from memory_core.memory import Memory
from memory_core.schema import utc
from tests.fakes import BrokenEmbedder
from tests.memories import fake_memory
from tests.memory.test_memory import edges, titles

pytestmark = pytest.mark.usefixtures("kind")

AT = utc("2024-08-01")


def told() -> Memory:
    memory = fake_memory()
    memory.say("Person:Mira {job=nurse} | a friend -lives_in-> Location:Porto", at="2024-05-01")
    memory.say("Person:Mira -knows-> Person:Tom; Person:Tom -lives_in-> Location:Porto", at="2024-05-02")
    return memory


def node(memory: Memory, title: str) -> str:
    return next(memory.graph.ids[row] for row in memory.graph.live_rows() if memory.graph.titles[row] == title)


def last(memory: Memory, kind: str) -> str:
    return [change.id for change in memory.changes() if change.kind == kind][-1]


@pytest.mark.parametrize(
    "act",
    [
        lambda memory: memory.pin("n1", True, at=AT),
        lambda memory: memory.edit("n1", at=AT, title="Mira Solano", content="a colleague"),
        lambda memory: memory.edit("n1", at=AT, label="Concept", attributes={"age": 31, "glad": True}),
        lambda memory: memory.delete("n1", at=AT),
        lambda memory: memory.delete("e1", at=AT),
    ],
    ids=["pin", "edit title and content", "edit label and attributes", "delete a node", "delete an edge"],
)
def test_an_act_changes_the_memory_and_undo_gives_an_equal_export(act: Any) -> None:
    with told() as memory:
        before = to_document(memory)
        change = act(memory)
        assert to_document(memory) != before
        assert memory.changes()[-1].id == change
        done = memory.undo(change, at=AT)
        assert done["id"] == change
        assert to_document(memory) == before
        assert memory.changes()[-1].state == "undone"
        with pytest.raises(InputError, match="already undone"):
            memory.undo(change, at=AT)


def test_an_edited_node_is_found_by_its_new_words_and_after_undo_by_the_old() -> None:
    with told() as memory:
        change = memory.edit("n1", at=AT, title="Zuzana", content="a pilot")
        assert memory.graph.find_title("Person", "zuzana") == [0]
        assert memory.graph.find_title("Person", "Mira") == []
        near = memory.embedder.embed(["Person | Zuzana | a pilot", "Person | Mira | a friend"])
        assert memory.graph.cosines(near)[0, 0] == pytest.approx(1, abs=1e-3)
        memory.undo(change, at=AT)
        assert memory.graph.find_title("Person", "Mira") == [0]
        assert memory.graph.cosines(near)[1, 0] == pytest.approx(1, abs=1e-3)


def test_an_edit_counts_as_an_access_and_only_once_if_undone() -> None:
    with told() as memory:
        assert memory.graph.node("n1").accesses == 1
        change = memory.edit("n1", at=AT, content="a pilot")
        assert (memory.graph.node("n1").accesses, memory.graph.node("n1").last_access) == (2, AT)
        memory.undo(change, at=AT)
        assert memory.graph.node("n1").accesses == 1


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"title": " "}, "needs a title"),
        ({"label": "Animal"}, "one of the labels"),
        ({"title": "x" * 201}, "201 characters"),
        ({"content": "x" * 2001}, "2,001 characters"),
        ({"attributes": {"ratio": float("nan")}}, "ratio: nan is no number"),
        ({"title": "Mira"}, "Nothing was changed"),
    ],
)
def test_an_edit_that_cannot_stand_changes_nothing(fields: dict[str, Any], why: str) -> None:
    with told() as memory:
        before, revision = to_document(memory), memory.revision
        with pytest.raises(InputError, match=why):
            memory.edit("n1", at=AT, **fields)
        memory.embedder = BrokenEmbedder()
        assert memory.revision == revision
        memory.embedder = fake_memory().embedder
        assert to_document(memory) == before


def test_acts_on_what_is_not_there_are_refused_by_name() -> None:
    with told() as memory:
        memory.delete("n1", at=AT)
        for act in (
            memory.delete,
            lambda of, at: memory.pin(of, True, at=at),
            lambda of, at: memory.edit(of, at=at, title="x"),
        ):
            with pytest.raises(InputError, match="no live node n1"):
                act("n1", at=AT)
        with pytest.raises(InputError, match="no live edge e99"):
            memory.delete("e99", at=AT)
        with pytest.raises(InputError, match="no change c99"):
            memory.undo("c99", at=AT)


def test_a_deleted_node_is_gone_from_every_search_with_its_edges() -> None:
    with told() as memory:
        memory.delete(node(memory, "Mira"), at=AT)
        assert titles(memory) == ["Porto", "Tom"]
        assert list(edges(memory)) == ["Tom lives_in Porto"]
        assert memory.graph.degree.values[memory.graph.row_of[node(memory, "Porto")]] == 1
        assert "Mira" not in str(to_document(memory)["nodes"])
        assert memory.say("Person:Mira", at="2024-09-01").added[0].id not in ("n1", "n2", "n3")


def test_two_deletions_are_taken_back_in_any_order() -> None:
    for order in ((0, 1), (1, 0)):
        with told() as memory:
            before = to_document(memory)
            changes = [memory.delete(node(memory, title), at=AT) for title in ("Mira", "Porto")]
            memory.undo(changes[order[0]], at=AT)
            live = to_document(memory)
            assert all({edge["source"], edge["target"]} <= live["nodes"].keys() for edge in live["edges"].values())
            memory.undo(changes[order[1]], at=AT)
            assert to_document(memory) == before


def test_undo_keeps_what_was_changed_since() -> None:
    with told() as memory:
        first = memory.edit("n1", at=AT, title="Mira Solano", content="a colleague")
        memory.edit("n1", at=AT, content="a boss")
        done = memory.undo(first, at=AT)
        assert done["kept"] == 1
        assert (memory.graph.node("n1").title, memory.graph.node("n1").content) == ("Mira", "a boss")


def test_undo_of_a_deletion_keeps_what_was_said_since() -> None:
    with told() as memory:
        change = memory.delete("n1", at=AT)
        memory.say("Person:Tom {job=baker} -likes-> Concept:bread", at="2024-09-01")
        memory.undo(change, at=AT)
        assert {"Mira knows Tom", "Mira lives_in Porto", "Tom likes bread"} <= edges(memory).keys()
        assert dict(memory.graph.node(node(memory, "Tom")).attributes) == {"job": "baker"}


# -- merges ------------------------------------------------------------------------------------------------------------


def apart(memory: Memory, title: str) -> list[dict[str, Any]]:
    """What an export holds of every node of that title, ids left out."""
    document = to_document(memory)
    nodes = {
        name: {key: values[key] for key in ("label", "title", "content", "attributes", "created_at")}
        for name, values in document["nodes"].items()
    }
    names = [name for name in nodes if nodes[name]["title"] == title]
    ends = [
        {(nodes[edge["source"]]["title"], edge["relationship"], nodes[edge["target"]]["title"])
         for edge in document["edges"].values() if name in (edge["source"], edge["target"])}
        for name in names
    ]  # fmt: skip
    said = [
        [
            (entry["field"], entry["value"], entry["turn"])
            for entry in document["value_history"]
            if entry["item"] == name
        ]
        for name in names
    ]
    cited = [[entry["turn"] for entry in document["provenance"] if entry["item"] == name] for name in names]
    met = [[entry["at"] for entry in document["access"] if entry["node"] == name] for name in names]
    return [nodes[name] | {"edges": ends[place], "said": said[place], "cited": cited[place], "met": met[place]}
            for place, name in enumerate(names)]  # fmt: skip


def test_undo_of_a_merge_is_the_two_nodes_apart_as_if_they_had_never_met() -> None:
    with fake_memory() as memory, fake_memory() as never:
        memory.say("Person:Sam {mood=calm} | a dentist -lives_in-> Location:Leeds", at="2024-05-01")
        memory.say("Person:Sam {mood=wild,age=9} | a nephew -lives_in-> Location:Vigo", at="2024-05-02")
        assert titles(memory) == ["Sam", "Leeds", "Vigo"]
        memory.undo(last(memory, "merge"), at=AT)
        assert titles(memory).count("Sam") == 2

        never.say("Person:Sam {mood=calm} | a dentist -lives_in-> Location:Leeds", at="2024-05-01")
        never.edit("n1", at=AT, title="Sam the first")
        never.say("Person:Sam {mood=wild,age=9} | a nephew -lives_in-> Location:Vigo", at="2024-05-02")
        never.undo("c1", at=AT)
        assert apart(memory, "Sam") == apart(never, "Sam")


def test_undo_of_a_merge_after_later_turns_leaves_them_where_they_went() -> None:
    with fake_memory() as memory:
        memory.say("Person:Sam {mood=calm} | a dentist", at="2024-05-01")
        memory.say("Person:Sam {age=9} -likes-> Concept:kites", at="2024-05-02")
        merge = last(memory, "merge")
        memory.say("Person:Sam {pet=dog} -owns-> Artifact:drill", at="2024-05-03")
        memory.undo(merge, at=AT)
        one, other = apart(memory, "Sam")
        assert (one["edges"], one["cited"]) == ({("Sam", "owns", "drill")}, ["t1", "t3"])
        assert (other["edges"], other["cited"]) == ({("Sam", "likes", "kites")}, ["t2"])
        assert other["attributes"] == {"age": "9"}
        assert one["attributes"]["pet"] == "dog"


def test_every_undo_is_told_in_the_history_with_what_it_was() -> None:
    with told() as memory:
        memory.pin("n1", True, at=AT)
        memory.delete("n1", at=AT)
        memory.undo("c3", at=AT)
        told_ = [(change.id, change.kind, change.by, change.state) for change in memory.changes()]
        assert told_ == [("c1", "merge", "ingest", "applied"), ("c2", "merge", "ingest", "applied"),
                         ("c3", "pin", "user", "undone"), ("c4", "delete", "user", "applied")]  # fmt: skip
        assert memory.changes()[0].summary["title"] == "Mira"
        assert memory.changes()[2].summary == {"node": "n1", "title": "Mira"}
