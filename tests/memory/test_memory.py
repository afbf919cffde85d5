"""What a memory promises about turns, merges, history, provenance and failure."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memory_core.errors import Cancelled, EmbedderMismatchError, InputError, KnownTurnError
from memory_core.exporters import to_document
from memory_core.ingestion import ingest
from memory_core.memory import Memory
from memory_core.schema import Extraction, FoundNode, Turn, utc
from memory_core.settings import Settings
from tests.fakes import BrokenEmbedder, LetterEmbedder, SpelledExtractor
from tests.memories import SPELLED, fake_memory
from tests.stores import FILES_ONLY

pytestmark = pytest.mark.usefixtures("kind")


def titles(memory: Memory) -> list[str]:
    return [memory.graph.titles[row] for row in memory.graph.live_rows()]


def history(memory: Memory, item: str, field: str) -> list[tuple[object, bool]]:
    return [(said.value, said.current) for said in memory.history_of(item) if said.field == field]


def edges(memory: Memory) -> dict[str, dict[str, object]]:
    graph = memory.graph
    found = [graph.edge(graph.edge_ids[row]) for row in graph.live_edges()]
    return {
        f"{graph.node(edge.source).title} {edge.relationship} {graph.node(edge.target).title}": dict(edge.attributes)
        for edge in found
    }


# -- a turn ------------------------------------------------------------------------------------------------------------


def test_a_turn_becomes_nodes_edges_and_their_provenance_in_one_revision() -> None:
    with fake_memory() as memory:
        report = memory.say("Person:Mira {age=31} | a nurse -lives_in-> Location:Porto", at="2024-05-01T12:00:00+02:00")
        assert memory.revision == 1
        assert [(node.id, node.how, node.title) for node in report.added] == [
            ("n1", "new", "Mira"),
            ("n2", "new", "Porto"),
        ]
        assert [(edge.relationship, edge.new) for edge in report.edges] == [("lives_in", True)]
        mira = memory.graph.node("n1")
        assert (mira.label, mira.content, dict(mira.attributes), mira.degree) == ("Person", "a nurse", {"age": "31"}, 1)
        assert mira.created_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
        assert (mira.turns_at_creation, mira.accesses, mira.last_access) == (1, 0, None)
        assert memory.clock == mira.created_at
        turn = memory.turn("t1")
        spans = {citation.item: citation.span for item in ("n1", "n2") for citation in memory.citations(item)}
        assert {turn.text[slice(*span)] for span in spans.values() if span} == {"Mira", "Porto"}
        assert memory.cited_turns(["n1", "e1"]) == {"n1": ["t1"], "e1": ["t1"]}
        assert memory.citing_items(["t1"]) == {"t1": ["e1", "n1", "n2"]}


def test_meeting_a_node_again_is_an_access_at_the_turns_time_and_number() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira", at="2024-05-01")
        memory.say("nothing", at="2024-05-02")
        report = memory.say("Person:mira ", at="2024-05-03")
        assert [(node.id, node.how, node.similarity) for node in report.merged] == [("n1", "title", 1.0)]
        node = memory.graph.node("n1")
        assert (node.accesses, node.last_access) == (1, utc("2024-05-03"))
        assert memory.graph.turns_at_access.values.tolist() == [3]
        assert [citation.turn for citation in memory.citations("n1")] == ["t1", "t3"]


def test_a_title_match_does_not_ask_the_embedder() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira", at="2024-05-01")
        memory.embedder = BrokenEmbedder()
        assert memory.say("Person:MIRA", at="2024-05-02").merged[0].how == "title"


def test_the_nearest_of_its_label_above_the_threshold_is_the_same_thing() -> None:
    fixed = {"cello": (1, 0), "violoncello": (0.97, 0.2431), "viola": (0.9, 0.4359)}
    embedder = LetterEmbedder(fixed={f"| {word} |": vector for word, vector in fixed.items()}, match_threshold=0.95)
    with fake_memory(embedder=embedder) as memory:
        memory.say("Artifact:cello; Skill:violoncello", at="2024-05-01")
        report = memory.say("Artifact:violoncello; Artifact:viola", at="2024-05-02")
        assert [(node.id, node.how, round(node.similarity, 2)) for node in report.nodes] == [
            ("n1", "cosine", 0.97), ("n3", "new", 0.0)]  # fmt: skip
        assert titles(memory) == ["cello", "violoncello", "viola"]
        assert history(memory, "n1", "title") == [("violoncello", False)]


def test_eight_near_nodes_of_other_labels_do_not_hide_the_match() -> None:
    words = [f"tea {letter}" for letter in "abcdefghij"]
    embedder = LetterEmbedder(fixed={f"| {word} |": (1, 0) for word in words}, match_threshold=0.95)
    with fake_memory(embedder=embedder) as memory:
        memory.say("; ".join(f"Concept:{word}" for word in words[:-2]), at="2024-05-01")
        memory.say("Artifact:tea i", at="2024-05-02")
        assert memory.say("Artifact:tea j", at="2024-05-03").nodes[0].id == "n9"


# -- merging -----------------------------------------------------------------------------------------------------------


def test_the_newest_value_wins_and_the_old_one_goes_to_the_history() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira {mood=calm,job=nurse} | at work", at="2024-05-01")
        memory.say("Person:Mira {mood=glad} | on holiday", at="2024-05-02")
        node = memory.graph.node("n1")
        assert (dict(node.attributes), node.content) == ({"mood": "glad", "job": "nurse"}, "on holiday")
        assert history(memory, "n1", "attributes.mood") == [("calm", False), ("glad", True)]
        assert history(memory, "n1", "content") == [("at work", False), ("on holiday", True)]
        near = memory.embedder.embed(["Person | Mira | on holiday"])
        assert memory.graph.cosines(near)[0, 0] == pytest.approx(1, abs=1e-3)


def test_merge_first_keeps_what_was_said_first_as_the_paper_does() -> None:
    with fake_memory() as memory:
        memory.change_settings(Settings(merge="first"))
        memory.say("Person:Mira {mood=calm} | at work", at="2024-05-01")
        memory.say("Person:Mira {mood=glad,age=3} | on holiday", at="2024-05-02")
        node = memory.graph.node("n1")
        assert (dict(node.attributes), node.content) == ({"mood": "calm", "age": "3"}, "at work")
        assert history(memory, "n1", "attributes.mood") == [("calm", True), ("glad", False)]


def test_a_value_that_arrives_late_but_is_older_goes_straight_to_the_history() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira {mood=glad} | on holiday", at="2024-05-02")
        memory.say("Person:Mira {mood=calm,age=3} | at work", at="2024-05-01")
        node = memory.graph.node("n1")
        assert (dict(node.attributes), node.content) == ({"mood": "glad", "age": "3"}, "on holiday")
        assert history(memory, "n1", "attributes.mood") == [("calm", False), ("glad", True)]
        assert memory.clock == utc("2024-05-02")


def test_of_two_values_of_one_moment_the_later_turn_holds() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira {mood=glad}", at="2024-05-02")
        memory.say("Person:Mira {mood=calm}", at="2024-05-02")
        assert dict(memory.graph.node("n1").attributes) == {"mood": "calm"}


def test_a_value_that_comes_back_holds_once() -> None:
    with fake_memory() as memory:
        for day, mood in enumerate(("calm", "glad", "calm"), 1):
            memory.say(f"Person:Mira {{mood={mood}}}", at=f"2024-05-0{day}")
        assert history(memory, "n1", "attributes.mood") == [("calm", False), ("glad", False), ("calm", True)]


def test_two_found_nodes_that_are_one_stored_node_both_leave_their_values() -> None:
    same = LetterEmbedder(fixed={"| Mira Solano |": (1, 0), "| Solano, Mira |": (1, 0), "| Mira S. |": (1, 0)})
    with fake_memory(embedder=replace(same, match_threshold=0.9)) as memory:
        memory.say("Person:Mira Solano {job=nurse}", at="2024-05-01")
        report = memory.say(
            "Person:Solano, Mira {mood=glad}; Person:Mira S. {pet=cat} -knows-> Person:Solano, Mira", at="2024-05-02"
        )
        assert [node.id for node in report.nodes] == ["n1", "n1"]
        assert dict(memory.graph.node("n1").attributes) == {"job": "nurse", "mood": "glad", "pet": "cat"}
        assert [drop.reason for drop in report.extraction.drops] == [
            "Mira S. - knows - Solano, Mira: both ends are the same stored node"]  # fmt: skip
        assert report.extraction.status == "repaired"
        assert memory.graph.node("n1").accesses == 1


def test_an_edge_said_again_is_the_same_edge_with_one_more_turn() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira -likes-> Preference:tea", at="2024-05-01")
        report = memory.say("Person:Mira -likes-> Preference:tea", at="2024-05-02")
        assert [edge.new for edge in report.edges] == [False]
        assert memory.cited_turns(["e1"]) == {"e1": ["t1", "t2"]}
        assert memory.say("Person:Mira -drinks-> Preference:tea", at="2024-05-02").edges[0].new


# -- what ends an edge -------------------------------------------------------------------------------------------------


def test_a_new_home_ends_the_old_one_and_both_stay_readable() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira -lives_in-> Location:Porto", at="2024-05-01")
        memory.say("Person:Mira -moved_to-> Location:Lisbon", at="2024-06-01")
        assert edges(memory) == {
            "Mira lives_in Porto": {"until": "2024-06-01", "superseded_by": "e2"},
            "Mira moved_to Lisbon": {},
        }
        memory.say("Person:Mira -lives_in-> Location:Porto", at="2024-07-01")
        assert memory.graph.edge_count == 3
        assert dict(memory.graph.edge("e2").attributes) == {"until": "2024-07-01", "superseded_by": "e3"}


def test_a_home_told_late_is_the_one_that_ended() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira -lives_in-> Location:Lisbon", at="2024-06-01")
        memory.say("Person:Mira -lives_in-> Location:Porto", at="2024-05-01")
        assert edges(memory) == {
            "Mira lives_in Lisbon": {},
            "Mira lives_in Porto": {"until": "2024-06-01", "superseded_by": "e1"},
        }


def test_of_several_that_came_after_a_late_one_the_first_ended_it() -> None:
    with fake_memory() as memory:
        memory.say(
            "Person:Mira -works_at-> Organization:Bank; Person:Mira -joined-> Organization:Cafe", at="2024-06-01"
        )
        memory.say("Person:Mira -works_at-> Organization:Bank", at="2024-08-01")
        memory.say("Person:Mira -works_at-> Organization:Zoo", at="2024-05-01")
        assert edges(memory)["Mira works_at Zoo"] == {"until": "2024-06-01", "superseded_by": "e1"}


def test_a_dislike_ends_the_like_of_the_same_thing_and_of_nothing_else() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira -likes-> Concept:tea; Person:Mira -likes-> Concept:coffee", at="2024-05-01")
        memory.say("Person:Mira -dislikes-> Concept:tea", at="2024-06-01")
        assert edges(memory) == {
            "Mira likes tea": {"until": "2024-06-01", "superseded_by": "e3"},
            "Mira likes coffee": {},
            "Mira dislikes tea": {},
        }


def test_a_dislike_ends_the_like_that_polarity_kept_apart() -> None:
    fixed = {"| dark roast |": (1, 0), "| roast, dark |": (1, 0)}
    with fake_memory(embedder=LetterEmbedder(fixed=fixed, match_threshold=0.9)) as memory:
        memory.say("Person:Mira -likes-> Preference:dark roast | Mira likes it", at="2024-05-01")
        report = memory.say("Person:Mira -dislikes-> Preference:roast, dark | Mira dislikes it", at="2024-06-01")
        assert [held.reason for held in report.nodes[1].held] == ["opposite polarity"]
        assert edges(memory)["Mira likes dark roast"] == {"until": "2024-06-01", "superseded_by": "e2"}


# -- one name, two people ----------------------------------------------------------------------------------------------


def test_one_name_with_facts_that_conflict_is_two_people_put_up_for_merging() -> None:
    with fake_memory() as memory:
        memory.say("Person:Sam Ortiz {age=52,city=Leeds} | a dentist", at="2024-05-01")
        report = memory.say("Person:Sam Ortiz {age=9,city=Vigo} | a nephew", at="2024-05-02")
        assert titles(memory) == ["Sam Ortiz", "Sam Ortiz"]
        assert "home Leeds / Vigo, age 52 / 9" in report.nodes[0].held[0].reason
        assert memory.store.query("SELECT a, b, kind, state FROM pair") == [("n1", "n2", "homonym", "open")]
        assert [dict(memory.graph.node(node).attributes)["age"] for node in ("n1", "n2")] == ["52", "9"]


def test_guards_off_merges_as_the_paper_does_and_loses_no_value() -> None:
    with fake_memory() as memory:
        memory.change_settings(Settings(guards="off"))
        memory.say("Person:Sam Ortiz {age=52,city=Leeds}", at="2024-05-01")
        memory.say("Person:Sam Ortiz {age=9,city=Vigo}", at="2024-05-02")
        assert titles(memory) == ["Sam Ortiz"]
        assert history(memory, "n1", "attributes.age") == [("52", False), ("9", True)]


def test_an_age_that_grows_with_the_years_is_no_second_person() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira {age=30}", at="2020-05-01")
        memory.say("Person:Mira {age=34}", at="2024-05-01")
        memory.say("Person:Mira {age=35}", at="2025-05-01")
        memory.say("Person:Mira {age=32}", at="2022-05-01")
        assert titles(memory) == ["Mira"]
        assert dict(memory.graph.node("n1").attributes) == {"age": "35"}
        assert [value for value, _ in history(memory, "n1", "attributes.age")] == ["30", "32", "34", "35"]


def test_the_one_who_speaks_is_never_split_and_never_a_merge_to_undo() -> None:
    with fake_memory() as memory:
        memory.say("Person:Ana {age=52,city=Leeds} | who speaks", at="2024-05-01", speaker="Ana")
        memory.say("Person:Ana {age=9,city=Vigo} | something else", at="2024-05-02", speaker="Ana")
        assert titles(memory) == ["Ana"]
        assert memory.graph.node("n1").content == "who speaks"
        assert memory.changes() == []
        assert memory.speakers() == {"Ana", "User"}


# -- failure keeps the turn --------------------------------------------------------------------------------------------


def test_a_failed_extraction_keeps_the_turn_and_can_be_retried_once() -> None:
    with fake_memory(extractor=SpelledExtractor(fails=True)) as memory:
        report = memory.say("Person:Mira", at="2024-05-01")
        memory.say("Person:Tom", at="2024-05-02")
        assert (report.extraction.status, report.extraction.reason) == ("failed", "the server is down")
        assert memory.statuses() == {"failed": 2}
        assert memory.stats()["turns"] == 2
        assert [turn.id for turn in memory.search_turns("Mira", 5)] == ["t1"]
        assert memory.retry("t1", SPELLED).added[0].title == "Mira"
        assert memory.statuses() == {"failed": 1, "ok": 1}
        assert memory.graph.turns_at_creation.values.tolist() == [1]
        assert memory.graph.node("n1").created_at == utc("2024-05-01")
        assert [attempt.status for attempt in memory.attempts("t1")] == ["failed", "ok"]
        with pytest.raises(InputError, match="t1 was read already"):
            memory.retry("t1", SPELLED)
        assert memory.retry("t2").extraction.status == "failed"


def test_an_embedder_that_is_down_keeps_the_turn_and_wastes_no_id() -> None:
    with fake_memory(embedder=BrokenEmbedder()) as memory:
        report = memory.say("Person:Mira -knows-> Person:Tom", at="2024-05-01")
        assert report.extraction.status == "failed"
        assert "embedding server does not answer" in report.extraction.reason
        assert (memory.graph.ids, memory.stats()["turns"]) == ([], 1)
        memory.embedder = LetterEmbedder()
        assert [node.id for node in memory.retry("t1").added] == ["n1", "n2"]
        assert memory.revision == 2


def test_a_value_no_file_can_hold_is_dropped_with_its_reason() -> None:
    with fake_memory() as memory:
        turn = Turn("user", "the ratio", utc("2024-05-01"), "User")
        odd = Extraction("ok", (FoundNode("Artifact", "camera", "", {"ratio": float("inf"), "colour": "red"}),))
        report = memory.remember(turn, odd)
        assert report.extraction.status == "repaired"
        assert "ratio: inf is no number" in report.extraction.drops[0].reason
        counted = FoundNode("Artifact", "camera", "", {"mm": np.float32(50), "shots": np.int64(3)})  # type: ignore[dict-item]
        memory.remember(turn, Extraction("ok", (counted,)))
        assert dict(memory.graph.node("n1").attributes) == {"colour": "red", "mm": 50.0, "shots": 3}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" \n", "is empty"),
        ("a" * 400_001, "has 400,001 characters"),
        ("MZ\x00\x01", "binary data"),
        ("\x01\x02\x03 word", "binary data"),
        ("half \ud83d", "broken characters"),
    ],
)
def test_a_turn_that_cannot_be_text_is_refused_in_one_line(text: str, why: str) -> None:
    with fake_memory() as memory:
        with pytest.raises(InputError, match=why):
            memory.say(text, at="2024-05-01")
        assert memory.revision == 0


@pytest.mark.parametrize("part", ["speaker", "session", "source_id"])
def test_a_name_that_no_server_can_hold_is_refused(part: str) -> None:
    turn = Turn("user", "hello", utc("2024-05-01"), **{part: "a\x00b"})  # type: ignore[arg-type]
    with fake_memory() as memory, pytest.raises(InputError, match="NUL character"):
        memory.add(turn)


@pytest.mark.parametrize(
    "at", ["yesterday", "", "2024-13-01", "9999-12-31T23:59:59.999999", "0001-01-01T00:00:00+05:00"]
)
def test_a_time_that_is_none_is_refused(at: str) -> None:
    with fake_memory() as memory:
        with pytest.raises(InputError, match=r"time such as|is beyond"):
            memory.say("hello", at=at)
        assert memory.revision == 0


def test_a_time_without_zone_is_utc_wherever_the_machine_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        with fake_memory() as memory:
            memory.add(Turn("user", "Person:Mira", datetime(2024, 5, 1, 12), "User"))
            assert memory.turn("t1").at == datetime(2024, 5, 1, 12, tzinfo=UTC)
            memory.pin("n1", True, at=datetime(2024, 5, 2, 12))
            assert memory.changes()[0].at == datetime(2024, 5, 2, 12, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("title", ["👩‍👩‍👧 家", "مرحبا بالعالم", "Zoe\u0308", "ﬁne", "İstanbul", "a\u200db"])
def test_any_script_is_kept_to_the_letter_and_found_in_any_form(title: str) -> None:
    import unicodedata

    with fake_memory() as memory:
        memory.say(f"Person:{title}", at="2024-05-01")
        assert titles(memory) == [title]
        for form in ("NFC", "NFD"):
            memory.say(f"Person:{unicodedata.normalize(form, title)}", at="2024-05-02")
        assert titles(memory) == [title]
        assert title in memory.turn("t1").text


def test_a_long_turn_is_remembered_verbatim() -> None:
    with fake_memory() as memory:
        text = "Person:Mira; " + "lots of words " * 14_000
        memory.say(text, at="2024-05-01")
        assert memory.turn("t1").text == text


# -- looking and asking ------------------------------------------------------------------------------------------------


def test_looking_changes_nothing() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira -lives_in-> Location:Porto", at="2024-05-01")
        before, revision = to_document(memory), memory.revision
        memory.ask("Where does Mira live?")
        memory.stats(), memory.changes(), memory.history_of("n1"), memory.attempts("t1"), memory.statuses()
        memory.turn_vectors()
        assert memory.revision == revision
        assert to_document(memory) == before


def test_an_answer_in_the_chat_marks_what_it_visited() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira -lives_in-> Location:Porto", at="2024-05-01")
        asked = memory.ask("Where does Mira live?", touch_at=utc("2024-06-01"))
        assert asked.touched == ("n1", "n2")
        assert memory.graph.node("n2").last_access == utc("2024-06-01")
        assert memory.store.query("SELECT text FROM question") == [("Where does Mira live?",)]


def test_an_empty_question_is_refused_and_an_odd_one_is_not() -> None:
    with fake_memory() as memory:
        with pytest.raises(InputError, match="question is empty"):
            memory.ask("  ")
        memory.say("Person:Mira", at="2024-05-01")
        for question in ("\ud83d?", "a\x00b", '"; DROP TABLE turn; --', "NEAR(", "x" * 50_000, "؟؟؟"):
            memory.ask(question)


@FILES_ONLY
def test_another_embedders_memory_is_refused_with_both_names(tmp_path: Path) -> None:
    """Case DED-11."""
    path = tmp_path / "m.sqlite3"
    with fake_memory(path, embedder=LetterEmbedder(id="nomic-embed-text", dim=768)) as memory:
        memory.say("Person:Mira; Person:Tom; Person:Ana", at="2024-05-01")
    before = path.read_bytes()
    with pytest.raises(EmbedderMismatchError) as error:
        fake_memory(path, embedder=LetterEmbedder(id="text-embedding-3-small", dim=1536))
    for word in ("nomic-embed-text", "768", "text-embedding-3-small", "1536", "re-embed"):
        assert word in str(error.value)
    assert path.read_bytes() == before


# -- ingestion ---------------------------------------------------------------------------------------------------------

TALK = [
    Turn("user", f"Person:Friend{number % 7} {{mood=m{number}}} -lives_in-> Location:Town{number % 4}",
         utc(f"2024-05-{1 + number // 10:02d}T10:{number % 10:02d}:00Z"), "User", f"s{number // 10}", f"D{number}")
    for number in range(60)
]  # fmt: skip


def test_ingesting_twice_into_two_new_memories_gives_equal_exports() -> None:
    with fake_memory() as one, fake_memory() as other:
        ingest(one, TALK)
        ingest(other, TALK, workers=3)
        assert to_document(one) == to_document(other)


def test_a_stopped_ingestion_is_resumed_by_asking_again() -> None:
    stop = iter([*[False] * 22, True])

    def advance(message: str) -> None:
        if next(stop, False):
            raise Cancelled("stopped")

    with fake_memory() as memory, fake_memory() as whole:
        with pytest.raises(Cancelled):
            ingest(memory, TALK, advance=advance)
        assert memory.stats()["turns"] == 23
        done = ingest(memory, TALK)
        assert (done.turns, done.skipped) == (37, 23)
        ingest(whole, TALK)
        assert to_document(memory) == to_document(whole)


def test_a_turn_that_cannot_be_stored_is_named_and_the_rest_goes_on() -> None:
    with fake_memory() as memory:
        bad = replace(TALK[1], text="\x00\x01")
        done = ingest(memory, [TALK[0], bad, TALK[2]])
        assert (done.turns, done.problems) == (
            2,
            ["s0 D1: The turn looks like binary data, not text: give its text instead."],
        )


def test_a_turn_is_remembered_once_by_session_and_source() -> None:
    with fake_memory() as memory:
        memory.add(TALK[0])
        with pytest.raises(KnownTurnError, match="D0"):
            memory.add(TALK[0])
        memory.add(replace(TALK[0], session="another"))
        assert memory.stats()["turns"] == 2
