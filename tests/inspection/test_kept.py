"""What takes a large memory long is made once, beside, and never holds a turn up."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from memory_core.inspection import kept
from memory_core.memory import Memory
from tests.fakes import LetterEmbedder, SpelledExtractor


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
