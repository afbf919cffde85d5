"""Vectors of turns are made while others work: nobody waits, and what others do meanwhile is not lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from memory_core.jobs import Worker
from memory_core.memory import Memory
from memory_core.parts import retriever
from memory_core.protocols import Floats, Kind
from memory_core.retrieval import turn_vectors
from tests.fakes import LetterEmbedder, SpelledExtractor
from tests.memories import fake_memory

MANY = turn_vectors.FEW + 20


class Slow(LetterEmbedder):
    """Waits within `embed` while told to, as one does that has thousands of texts to go."""

    go, begun, told = threading.Event(), threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        if Slow.told.is_set() and threading.current_thread().name.startswith("worker"):
            Slow.begun.set()
            assert Slow.go.wait(20)
        return super().embed(texts, kind)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    for event in (Slow.go, Slow.begun, Slow.told):
        event.clear()
    with Memory.open(tmp_path / "m.sqlite3", embedder=Slow(), extractor=SpelledExtractor()) as memory:
        for number in range(MANY):
            memory.say(f"Turn {number} is about kettles.", at="2024-05-01T10:00:00Z")
        yield memory
        Slow.go.set()


def test_others_read_and_write_while_vectors_are_made(memory: Memory) -> None:
    worker = Worker("m")
    Slow.told.set()
    job = turn_vectors.start(worker, memory)
    assert Slow.begun.wait(20)
    seen: list[str] = []
    other = threading.Thread(target=lambda: seen.append(memory.say("Mira is back.", at="2024-05-02T10:00:00Z").turn))
    other.start()
    other.join(10)
    assert seen == [f"t{MANY + 1}"], "a turn waited for the vectors of others"
    Slow.go.set()
    worker.close()
    assert job.finished
    ids, vectors = memory.turn_vectors()
    assert len(ids) == len(vectors) == MANY + 1


def test_a_question_meanwhile_is_answered_by_the_graph(memory: Memory) -> None:
    worker = Worker("m")
    Slow.told.set()
    assert turn_vectors.retriever_now(worker, memory) == retriever("graph", memory.settings)
    making = turn_vectors.latest(worker)
    assert making is not None
    Slow.go.set()
    while not making.finished:
        making.stop.wait(0.02)
    worker.close()
    assert turn_vectors.missing(memory) == 0
    assert turn_vectors.retriever_now(worker, memory) == retriever("hybrid", memory.settings)


def test_a_turn_that_another_process_stores_between_two_looks_waits_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fake_memory(tmp_path / "m.sqlite3") as one, fake_memory(tmp_path / "m.sqlite3") as other:
        one.say("Mira is back.", at="2024-05-01")
        one.turn_vectors()
        _ = other.revision
        one.say("Mira has left.", at="2024-05-02")
        with monkeypatch.context() as between:
            between.setattr(Memory, "revision", property(lambda memory: memory._revision))
            assert other.turn_columns().ids == ["t1"]
            ids, vectors = other.turn_vectors()
            assert len(ids) == len(vectors) == 1
        assert other.turn_columns().ids == ["t1", "t2"]
