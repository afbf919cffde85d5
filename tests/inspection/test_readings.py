"""A turn read again: the difference is seen first, kept exactly as seen, and taken back exactly."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from time import sleep
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.errors import InputError
from memory_core.exporters import to_document
from memory_core.inspection import readings
from memory_core.inspection.lines import turn_lines
from memory_core.inspection.readings import Trials, compare_readings, stored_reading, try_turn
from memory_core.jobs import Worker
from memory_core.memory import Memory
from memory_core.policies.importance import Importance
from memory_core.schema import Extraction, FoundEdge, FoundNode, Turn, utc
from tests.fakes import SpelledExtractor
from tests.memories import fake_memory

AT = utc("2024-08-01")


@dataclass(frozen=True)
class Otherwise(SpelledExtractor):
    """Reads these words, whatever the turn says."""

    id: str = "otherwise-1"
    words: str = ""

    def extract(self, turn: Turn) -> Extraction:
        return super().extract(replace(turn, text=self.words))


def told() -> Memory:
    memory = fake_memory()
    memory.say("Person:Mira {job=nurse} -lives_in-> Location:Porto", at="2024-05-01")
    memory.say("Person:Mira {job=pilot} -knows-> Person:Tom; Person:Tom -lives_in-> Location:Porto", at="2024-05-02")
    memory.say("Person:Tom {age=40} -lives_in-> Location:Ghent", at="2024-05-03")
    return memory


def test_the_difference_is_shown_and_nothing_is_stored() -> None:
    with told() as memory:
        before = to_document(memory)
        trial = try_turn(memory, "t2", Otherwise(words="Person:Mira -knows-> Concept:Tom; Person:Ann"))
        assert trial.readings.both == ("Mira", "Tom", "Mira knows Tom")
        assert trial.readings.relabelled == ("Tom: Person / Concept",)
        assert trial.readings.only_a == ("Porto (Location)", "Tom lives_in Porto")
        assert trial.readings.only_b == ("Ann (Person)",)
        assert trial.readings.agreement == 3 / 6
        assert to_document(memory) == before


def test_a_reading_that_is_kept_takes_the_place_of_the_old_one_and_undo_brings_it_back() -> None:
    with told() as memory:
        before, attempts = to_document(memory), memory.attempts("t2")
        change, _ = memory.reread("t2", Otherwise(words="Person:Mira -knows-> Person:Ann").extract(memory.turn("t2")), at=AT)  # noqa: E501  # fmt: skip
        titles = {node["title"]: node for node in to_document(memory)["nodes"].values()}
        assert titles["Mira"]["attributes"] == {"job": "nurse"}, "what only this turn had said of the job is gone"
        assert "Ann" in titles
        assert "Tom" in titles, "another turn speaks of Tom too"
        said = {(edge["relationship"], edge["source"]) for edge in to_document(memory)["edges"].values()}
        assert len(said) == 3
        memory.undo(change, at=AT)
        assert to_document(memory) == before
        assert memory.attempts("t2") == attempts


def test_an_edge_that_the_old_reading_had_ended_holds_again() -> None:
    with fake_memory() as memory:
        memory.say("Person:Elena -lives_in-> Location:Osaka", at="2023-03-01")
        memory.say("Person:Elena -lives_in-> Location:Berlin", at="2023-09-01")
        assert "until" in memory.graph.edge("e1").attributes
        memory.reread("t2", Extraction("empty"), at=AT)
        assert memory.graph.edge("e1").attributes == {}
        assert not memory.graph.is_live("e2")


def test_what_a_person_edited_or_pinned_stays() -> None:
    with told() as memory:
        memory.pin("n3", True, at=AT)
        memory.edit("n1", at=AT, attributes={"job": "captain"})
        memory.reread("t2", Extraction("empty"), at=AT)
        assert memory.graph.is_live("n3")
        assert memory.graph.node("n1").attributes == {"job": "captain"}


def test_all_failed_turns_are_read_again_in_the_background_and_kept() -> None:
    with fake_memory(extractor=SpelledExtractor(fails=True)) as memory:
        for day in (1, 2):
            memory.say(f"Person:Mira{day}", at=f"2024-05-0{day}")
        failed = [line.id for line in turn_lines(memory) if line.failed]
        worker = Worker("test")
        job = readings.start(worker, memory, failed, SpelledExtractor())
        while not job.finished:
            sleep(0.01)
        worker.close()
        trials = job.result
        assert isinstance(trials, Trials)
        assert memory.graph.node_count == 0
        changes, problems = readings.keep(memory, trials, failed)
        assert (len(changes), problems) == (2, [])
        assert memory.statuses() == {"ok": 2}


def test_a_reading_that_failed_never_takes_the_place_of_another() -> None:
    with told() as memory:
        trials = Trials("x", [try_turn(memory, "t1", SpelledExtractor(fails=True))])
        before = to_document(memory)
        changes, problems = readings.keep(memory, trials, ["t1"])
        assert changes == []
        assert problems == ["t1: failed, the server is down"]
        assert to_document(memory) == before


def facts(document: dict[str, Any]) -> Counter[tuple[Any, ...]]:
    """Everything a memory states, without the ids of edges."""
    nodes = [("node", node_id, node["title"], str(node["attributes"])) for node_id, node in document["nodes"].items()]
    edges = [
        ("edge", edge["source"], edge["relationship"], edge["target"], edge["attributes"].get("until"))
        for edge in document["edges"].values()
    ]
    return Counter([*nodes, *edges])


@pytest.mark.parametrize("turn", ["t1", "t2", "t3"])
def test_reading_again_by_the_same_extractor_states_the_same(turn: str) -> None:
    with told() as memory:
        before = to_document(memory)
        memory.reread(turn, SpelledExtractor().extract(memory.turn(turn)), at=AT)
        after = to_document(memory)
        assert facts(after) == facts(before)
        assert len(after["provenance"]) == len(before["provenance"])
        assert len(after["access"]) == len(before["access"])


def test_a_stored_attempt_is_a_reading_again() -> None:
    with told() as memory:
        stored = stored_reading(memory.attempts("t1")[0])
        assert [node.title for node in stored.nodes] == ["Mira", "Porto"]
        assert stored.edges == (FoundEdge(0, 1, "lives_in"),)
        same = compare_readings(stored, SpelledExtractor().extract(memory.turn("t1")))
        assert same.agreement == 1.0
        assert compare_readings(Extraction("empty"), Extraction("empty")).agreement is None
        assert compare_readings(stored, Extraction("ok", (FoundNode("Person", "the Mira", ""),))).both == ("Mira",)


WORDS = st.tuples(
    st.sampled_from("ABC"), st.sampled_from(["knows", "lives_in", "likes", "dislikes"]), st.sampled_from("ABD")
)


@given(st.lists(WORDS, min_size=1, max_size=6), st.integers(0, 5), st.lists(WORDS, max_size=3))
@settings(max_examples=40, deadline=None)
def test_any_reading_leaves_a_whole_memory_and_is_taken_back_exactly(
    said: list[tuple[str, str, str]], at: int, again: list[tuple[str, str, str]]
) -> None:
    def spelled(statements: list[tuple[str, str, str]], n: int) -> str:
        return "; ".join(f"Person:{a}a {{n={n}}} | no {n} -{relation}-> Person:{b}a" for a, relation, b in statements)

    with fake_memory() as memory:
        for day, statement in enumerate(said, 1):
            memory.say(spelled([statement], day), at=f"2024-05-{day:02}")
        turn = memory.turn(f"t{at % len(said) + 1}")
        before, attempts = to_document(memory), memory.attempts(turn.id)
        change, report = memory.reread(turn.id, Otherwise(words=spelled(again, 9)).extract(turn), at=AT)
        after = to_document(memory)
        assert all(edge[end] in after["nodes"] for edge in after["edges"].values() for end in ("source", "target"))
        assert {node.id for node in report.nodes} <= after["nodes"].keys()
        cited = {entry["item"] for entry in after["provenance"]}
        assert cited == {*after["nodes"], *after["edges"]}, "everything live rests on a turn"
        memory.undo(change, at=AT)
        assert to_document(memory) == before
        assert memory.attempts(turn.id) == attempts


def test_a_turn_that_was_forgotten_is_not_read_again() -> None:
    with told() as memory:
        memory.apply(memory.plan(Importance(), keep=0, turns="with_nodes"))
        with pytest.raises(InputError, match="undo that"):
            memory.reread("t3", Extraction("empty"), at=AT)
