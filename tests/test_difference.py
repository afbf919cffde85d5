"""Two memories compared: added, gone, changed; the same memory has no difference, and swapped it is turned round."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_core.__main__ import main
from memory_core.difference import Difference, difference
from memory_core.exporters import export, to_document
from memory_core.schema import utc
from tests.memories import fake_memory

AT = utc("2024-08-01")


def test_before_and_after_a_few_acts() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira {job=nurse} -lives_in-> Location:Porto; Artifact:Cello", at="2024-05-01")
        before = to_document(memory)
        memory.say("Person:Mira {job=pilot} -knows-> Person:Tom", at="2024-05-02")
        memory.delete("n3", at=AT)
        memory.edit("n2", at=AT, title="Oporto")
        found = difference(before, to_document(memory))
    assert found.nodes.added == ("Tom (Person)",)
    assert found.nodes.gone == ("Cello (Artifact)",)
    assert [(one.item, one.fields) for one in found.nodes.changed] == [
        ("Mira (Person)", (("attributes", {"job": "nurse"}, {"job": "pilot"}),)),
        ("Oporto (Location)", (("title", "Porto", "Oporto"),)),
    ]
    assert found.edges.added == ("Mira knows Tom",)
    assert found.edges.same == 1, "an edge follows its node to another title"
    assert found.turns.added == ("t2: Person:Mira {job=pilot} -knows-> Person:Tom",)


def test_two_readings_of_one_conversation_match_by_title_whatever_their_ids() -> None:
    with fake_memory() as one, fake_memory() as other:
        one.say("Person:Mira -lives_in-> Location:Porto", at="2024-05-01")
        other.say("Concept:Tea; Location:porto; Concept:Mira", at="2024-05-01")
        found = difference(to_document(one), to_document(other))
    assert found.nodes.added == ("Tea (Concept)",)
    assert found.nodes.gone == ()
    assert {change.item: [name for name, *_ in change.fields] for change in found.nodes.changed} == {
        "porto (Location)": ["title"],
        "Mira (Concept)": ["label"],
    }
    assert found.edges.gone == ("Mira lives_in Porto",)


STATEMENTS = st.lists(
    st.tuples(st.sampled_from("ABC"), st.sampled_from(["knows", "likes"]), st.sampled_from("ABD")), max_size=6
)


@example([], [("B", "likes", "A"), ("A", "knows", "B"), ("A", "likes", "B")])
@given(STATEMENTS, STATEMENTS)
@settings(max_examples=15, deadline=None)
def test_swapped_it_is_turned_round(first: list[tuple[str, str, str]], second: list[tuple[str, str, str]]) -> None:
    documents = []
    for said in (first, second):
        with fake_memory() as memory:
            for a, relation, b in said:
                memory.say(f"Person:{a}a -{relation}-> Person:{b}a", at="2024-05-01")
            documents.append(to_document(memory))
    there, back = difference(*documents), difference(*reversed(documents))
    assert (there.nodes.added, there.edges.added) == (back.nodes.gone, back.edges.gone)
    assert there.nodes.same == back.nodes.same
    same = difference(documents[0], documents[0])
    assert not any(part.added or part.gone or part.changed for part in (same.nodes, same.edges, same.turns))
    assert isinstance(same, Difference)


def test_the_command_reads_memories_and_exports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, file = tmp_path / "m.sqlite3", tmp_path / "before.json"
    assert main(["ingest", "data/demo.jsonl", "--limit", "3", "--json", f"--memory={path}"]) == 0
    capsys.readouterr()
    from memory_core.memory import Memory

    with Memory.open(path) as memory:
        export(memory, file)
        memory.delete("n2", at=AT)
    assert main(["diff", str(file), str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["nodes"]["gone"]) == 1
    assert found["turns"]["same"] == 3
    assert main(["diff", str(tmp_path / "none.json"), str(path)]) == 1
    assert "check the path" in capsys.readouterr().err
