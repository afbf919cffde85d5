"""What takes a large memory long is made once, beside, and never holds a turn up."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from weakref import ref

import pytest

from memory_core.errors import InputError
from memory_core.inspection import kept
from memory_core.jobs import Job
from memory_core.memory import Memory
from tests.fakes import LetterEmbedder, SpelledExtractor
from tests.memories import fake_memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path / "m.sqlite3", embedder=LetterEmbedder(), extractor=SpelledExtractor())
    memory.say("Person:Mira", at="2024-05-01")
    return memory


def test_it_is_made_once_a_revision_and_turns_are_stored_meanwhile(memory: Memory) -> None:
    made: list[int] = []

    def make(of: Memory) -> int:
        other = threading.Thread(target=lambda: of.say("Person:Tom", at="2024-05-02"))
        other.start()
        other.join(10)
        made.append(of.graph.node_count)
        return len(made)

    assert kept.kept(memory, "count", make) == 1
    assert made == [2], "a turn waited"
    assert kept.kept(memory, "count", make) == 2, "the memory is another one since"


def test_of_a_large_memory_it_is_made_in_the_background(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "LARGE", 0)
    go = threading.Event()

    def slow(of: Memory) -> str:
        assert go.wait(10)
        return "seen"

    def ask(of: Memory) -> str:
        return kept.kept(of, "slow", slow)

    there, job = kept.at_hand(memory, "slow", ask)
    assert there is None
    assert job is not None
    assert kept.at_hand(memory, "slow", ask)[1] is job, "begun once"
    go.set()
    while not job.finished:
        job.stop.wait(0.01)
    assert kept.at_hand(memory, "slow", ask) == ("seen", None)
    memory.say("Person:Tom", at="2024-05-02")
    there, again = kept.at_hand(memory, "slow", ask)
    assert there == "seen", "what was seen a moment ago stands until there is more"
    assert again is not None
    assert again is not job


def until(job: Job) -> None:
    while not job.finished:
        job.stop.wait(0.01)


def test_what_failed_is_begun_again_when_the_memory_is_another(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "LARGE", 0)

    def ask(of: Memory) -> str:
        raise InputError("The server is away.")

    _, job = kept.at_hand(memory, "failing", ask)
    assert job is not None
    until(job)
    assert kept.at_hand(memory, "failing", ask)[1] is job, "the reason stays to be seen"
    memory.say("Person:Tom", at="2024-05-02")
    again = kept.at_hand(memory, "failing", ask)[1]
    assert again is not job
    assert again is not None
    until(again)


def test_a_memory_that_is_let_go_is_not_held_by_what_was_made_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "LARGE", 0)
    memory = fake_memory(tmp_path / "other.sqlite3")
    memory.say("Person:Mira", at="2024-05-01")
    _, job = kept.at_hand(memory, "count", lambda of: kept.kept(of, "count", lambda it: it.graph.node_count))
    assert job is not None
    until(job)
    there = ref(memory)
    memory.close()
    del memory
    for _ in range(100):  # the job's thread may still be on its way out
        gc.collect()
        if there() is None:
            break
        job.stop.wait(0.01)
    assert there() is None
