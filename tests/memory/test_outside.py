"""A slow model makes only the one wait who asked it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from memory_core.exporters import to_document
from memory_core.memory import Memory, TurnReport
from memory_core.memory.reembedding import reembed
from memory_core.protocols import Floats, Kind, Retrieval
from memory_core.retrievers.hybrid import HybridRetriever
from memory_core.schema import utc
from tests.fakes import LetterEmbedder, SpelledExtractor
from tests.memories import fake_memory

LONG = 30.0  # seconds: never waited for


@dataclass
class Server:
    """Answers only when it may; `asked` is set as soon as a call waits."""

    may: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)
    calls: list[tuple[str, ...]] = field(default_factory=list)
    slow: str = ""  # calls that hold this word wait

    def wait(self, *texts: str) -> None:
        self.calls.append(texts)
        if self.slow and any(self.slow in text for text in texts):
            self.asked.set()
            assert self.may.wait(LONG)


@dataclass(frozen=True)
class SlowEmbedder(LetterEmbedder):
    server: Server = field(default_factory=Server, hash=False)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        self.server.wait(*texts)
        return super().embed(texts, kind)


@dataclass(frozen=True)
class SlowExtractor(SpelledExtractor):
    server: Server = field(default_factory=Server, hash=False)

    def entities(self, question: str) -> list[str]:
        self.server.wait(question)
        return super().entities(question)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def memory(server: Server) -> Iterator[Memory]:
    embedder = SlowEmbedder(match_threshold=0.9, server=server)
    with fake_memory(embedder=embedder, extractor=SlowExtractor(server=server)) as made:
        made.say("Person:Mira | She paints.; Person:Mira -lives_in-> Location:Porto", at="2024-05-01")
        yield made


def meanwhile(server: Server, word: str, slow: Callable[[], object], act: Callable[[], object]) -> Future[object]:
    """Start `slow`, which waits for the server over `word`; do `act` in another thread; let the server answer."""
    server.slow = word
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(slow)
        try:
            assert server.asked.wait(LONG)
            pool.submit(act).result(LONG)
            assert not waiting.done()
        finally:
            server.may.set()
    return waiting


def test_reading_and_writing_go_on_while_a_turn_is_embedded(memory: Memory, server: Server) -> None:
    def act() -> None:
        assert memory.retrieve("Where is Porto?").roots
        memory.pin("n1", True, at=utc("2024-05-02"))
        memory.say("Person:Otto", at="2024-05-02")

    meanwhile(server, "green tea", lambda: memory.say("Concept:green tea", at="2024-05-03"), act).result()
    assert memory.graph.titles == ["Mira", "Porto", "Otto", "green tea"]
    assert [turn.text for turn in memory.latest_turns(9)][-2:] == ["Person:Otto", "Concept:green tea"]


def test_a_turn_is_compared_with_the_memory_as_it_is_when_it_is_stored(memory: Memory, server: Server) -> None:
    """The other turn, stored in between, says of green tea what this one says: by then it is known, by its vector."""
    slow = meanwhile(
        server, "green tea", lambda: memory.say("Concept:green tea", at="2024-05-03"),
        lambda: memory.say("Concept:tea green", at="2024-05-02"),
    )  # fmt: skip
    report = slow.result()
    assert isinstance(report, TurnReport)
    assert [node.how for node in report.nodes] == ["cosine"]
    assert memory.graph.titles == ["Mira", "Porto", "tea green"]


def test_a_question_waits_for_its_model_alone(memory: Memory, server: Server) -> None:
    slow = meanwhile(
        server, "Mira", lambda: memory.retrieve("Who is Mira?"), lambda: memory.say("Person:Otto", at="2024-05-02")
    )
    found = slow.result()
    assert isinstance(found, Retrieval)
    assert [root.title for root in found.roots][:1] == ["Mira"]


def test_a_question_that_needs_vectors_of_turns_holds_nobody_up_while_they_are_made(
    memory: Memory, server: Server
) -> None:
    slow = meanwhile(
        server, "User:", lambda: memory.retrieve("Who is Mira?", HybridRetriever()), lambda: memory.pin(
            "n1", True, at=utc("2024-05-02"))
    )  # fmt: skip
    found = slow.result()
    assert isinstance(found, Retrieval)
    assert [turn.id for turn in found.turns] == ["t1"]
    assert len(memory.turn_vectors()[0]) == len(memory.turn_vectors()[1]) == 1


def test_a_question_kept_has_a_vector_of_the_embedder_there_is_by_then(memory: Memory, server: Server) -> None:
    """Of two questions whose vectors differ in length no score could be made."""
    found = memory.retrieve("Who is Mira?")
    wide = LetterEmbedder(id="wide", dim=40)
    meanwhile(
        server, "Mira?", lambda: memory.touch(found, utc("2024-05-03")), lambda: reembed(memory, wide)
    ).result()  # fmt: skip
    assert [len(blob) for (blob,) in memory.store.query("SELECT vector FROM question")] == [4 * 40]
    assert len(memory.scoring_view().similarity) == 2


def test_an_edit_waits_for_its_model_alone(memory: Memory, server: Server) -> None:
    slow = meanwhile(
        server, "Lisbon", lambda: memory.edit("n2", title="Lisbon", at=utc("2024-05-02")),
        lambda: memory.say("Person:Otto", at="2024-05-02"),
    )  # fmt: skip
    slow.result()
    assert memory.graph.titles == ["Mira", "Lisbon", "Otto"]


def test_each_text_is_embedded_once(memory: Memory, server: Server) -> None:
    server.calls.clear()
    memory.say("Person:Mira | She paints and sings.; Person:Bruno", at="2024-05-02")
    assert server.calls == [("Person | Bruno | ",), ("Person | Mira | She paints and sings.",)]


def test_what_is_stored_is_the_same_as_with_a_quick_embedder(memory: Memory) -> None:
    with fake_memory(embedder=LetterEmbedder(match_threshold=0.9)) as quick:
        quick.say("Person:Mira | She paints.; Person:Mira -lives_in-> Location:Porto", at="2024-05-01")
        for one in (quick, memory):
            one.say("Person:Mira | She sings.; Person:Bruno -knows-> Person:Mira", at="2024-05-02")
            one.edit("n2", title="Lisbon", at=utc("2024-05-03"))
        assert to_document(quick) == to_document(memory)
        assert quick.counters == memory.counters
