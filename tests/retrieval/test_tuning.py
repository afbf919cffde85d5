"""Parameters that are set and saved, what is said before a result is read, and vectors made in the background."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pytest

from memory_core.errors import InputError
from memory_core.figures.walk_picture import walk_picture
from memory_core.jobs import Job, Worker
from memory_core.memory import Memory
from memory_core.parts import RETRIEVERS, retriever
from memory_core.retrieval import multilingual, turn_vectors
from memory_core.retrieval.concerns import concerns, language_concern, language_of
from memory_core.retrieval.questions import last_question
from memory_core.retrieval.remembering import Remembering
from memory_core.retrieval.tuning import knobs, read_values, save, tuned
from memory_core.retrievers.graph import GraphRetriever
from tests.fakes import LetterEmbedder
from tests.memories import fake_memory

AT = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with fake_memory() as made:
        made.say("Person:Mira -lives_in-> Location:Porto", at=AT)
        made.say("Location:Porto -lies_by-> Location:Atlantic", at=AT)
        yield made


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker("test")
    yield made
    made.close()


def finished(job: Job, worker: Worker) -> Job:
    end = Job("end", lambda job: None)
    worker.submit(end)
    while not end.finished:
        end.stop.wait(0.01)
    return job


@pytest.mark.parametrize("name", RETRIEVERS)
def test_every_parameter_has_a_label_and_a_range_around_its_default(memory: Memory, name: str) -> None:
    found = knobs(memory, name)
    assert found
    for knob in found:
        assert knob.label
        assert knob.low <= knob.default <= knob.high
        assert knob.value == knob.default


def test_what_is_not_changed_makes_the_saved_part(memory: Memory) -> None:
    for name in RETRIEVERS:
        assert tuned(memory, name, {}) == retriever(name, memory.settings)
    assert tuned(memory, "graph", {"hops": 0}) == GraphRetriever(hops=0)


def test_saved_values_are_used_and_defaults_leave_no_trace(memory: Memory) -> None:
    save(memory, "flat", {"k": 7})
    save(memory, "graph", {"floor": 0.25, "cap": 9})
    save(memory, "hybrid", {"words": 0.5, "k": 5})
    assert memory.settings.retrieve_parameters == {"flat": {"k": 7}, "hybrid": {"words": 0.5}}
    assert retriever("flat", memory.settings) == retriever("flat", memory.settings, 7)
    assert (memory.settings.floor, memory.settings.cap) == (0.25, 9)
    save(memory, "graph", {"floor": memory.embedder.floor})
    save(memory, "flat", {"k": 5})
    assert memory.settings.floor is None
    assert "flat" not in memory.settings.retrieve_parameters


@pytest.mark.parametrize("given", ["nothing=1", "hops=many", "hops=99", "hops=1.5", "cap"])
def test_a_wrong_value_is_named(memory: Memory, given: str) -> None:
    with pytest.raises(InputError, match=given.partition("=")[0]):
        read_values(memory, "graph", [given])
    assert read_values(memory, "graph", ["hops=1", "floor=0.2"]) == {"hops": 1, "floor": 0.2}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Where does my sister live?", "en"), ("Wo wohnt meine Schwester?", "de"), ("我姐姐住在哪里", "zh"),
        ("Где живет моя сестра?", "ru"), ("Mira", ""), ("", ""), ("Porto?", ""),
    ],
)  # fmt: skip
def test_languages_are_told_and_single_names_are_not_guessed(text: str, code: str) -> None:
    assert language_of(text) == code


def test_only_an_embedder_of_other_languages_is_a_concern() -> None:
    question = "Wo wohnt meine Schwester?"
    english = language_concern(LetterEmbedder(languages=("en",)), question)
    assert english is not None
    assert "German" in english.text
    assert language_concern(LetterEmbedder(languages=("*",)), question) is None
    assert language_concern(LetterEmbedder(languages=("en", "de")), question) is None


def abouts(memory: Memory, question: str, name: str = "graph") -> list[str]:
    return [
        one.about for one in concerns(memory, question, memory.retrieve(question, retriever(name, memory.settings)))
    ]


def test_each_empty_result_has_its_reason(memory: Memory) -> None:
    assert abouts(memory, "Where is Mira?") == []
    assert abouts(memory, "where is she?") == ["entities"]
    assert abouts(memory, "Where is Mira" + " x" * 1000) == ["length"]
    save(memory, "graph", {"floor": 1.0})
    assert abouts(memory, "is it Zzz?") == ["vector"], "no node holds a z: every cosine is 0"
    assert abouts(memory, "What is Mirz?") == ["floor"]
    assert abouts(memory, "Qq?", "bm25") == ["nothing"]
    with fake_memory() as empty:
        assert abouts(empty, "Where is Mira?") == ["memory"]


def test_the_picture_of_a_walk_has_a_ring_a_hop_and_shows_what_the_cap_cut(memory: Memory) -> None:
    found = memory.retrieve("Where is Mira?", GraphRetriever(roots=1, hops=2, cap=2))
    rings = {node.title: (node.hop, node.state) for node in walk_picture(memory, found).nodes}
    assert rings == {"Mira": (0, "root"), "Porto": (1, "stood"), "Atlantic": (2, "forgotten")}
    found = memory.retrieve("Where is Mira?", GraphRetriever(roots=1, hops=2, cap=1))
    picture = walk_picture(memory, found)
    assert {node.title: (node.hop, node.state) for node in picture.nodes} == {
        "Mira": (0, "root"), "Porto": (1, "forgotten"),
    }  # fmt: skip
    assert picture.total == 2


def test_missing_vectors_are_made_round_by_round_and_stopping_keeps_them(memory: Memory, worker: Worker) -> None:
    for number in range(140):
        memory.say(f"Hm {number}.", at=AT)
    assert turn_vectors.missing(memory) == 142
    revision = memory.revision
    stopped = turn_vectors.start(worker, memory)
    stopped.cancel()
    finished(stopped, worker)
    assert stopped.state == "cancelled"
    job = finished(turn_vectors.start(worker, memory), worker)
    assert (job.state, turn_vectors.missing(memory)) == ("done", 0)
    assert memory.revision == revision


def test_another_embedder_takes_over_in_the_background(memory: Memory, worker: Worker) -> None:
    other = LetterEmbedder(id="letters-2")
    job = finished(multilingual.start(worker, memory, other), worker)
    assert (job.state, job.result, memory.embedder.id) == ("done", 3, "letters-2")


def test_the_last_question_is_the_one_answered_last(memory: Memory) -> None:
    assert last_question(memory) == ""
    memory.ask("Where is Mira?", touch_at=AT)
    memory.ask("Where is Porto?")
    assert last_question(memory) == "Where is Mira?"


def test_a_remembering_embedder_embeds_each_text_once() -> None:
    asked: list[list[str]] = []

    class Counting(LetterEmbedder):
        def embed(self, texts, kind="document"):  # type: ignore[no-untyped-def]
            asked.append(list(texts))
            return super().embed(texts, kind)

    one = Remembering(Counting(), most=2)
    np.testing.assert_array_equal(one.embed(["a", "b", "a"]), LetterEmbedder().embed(["a", "b", "a"]))
    one.embed(["b", "c"])
    one.embed(["c", "b"])
    assert asked == [["a", "b"], ["c"]]
    assert one.embed([]).shape == (0, 26)
