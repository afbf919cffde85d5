"""What every retriever promises; the classes are found by scanning the folder, so a new one is held to it at once."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass

import numpy as np
import pytest

import memory_core.retrievers
from memory_core.errors import InputError
from memory_core.exporters import to_document
from memory_core.memory import Memory
from memory_core.protocols import Retriever
from memory_core.store.rows import insert, update
from tests.fakes import LetterEmbedder
from tests.memories import fake_memory

SAID = (
    ("user", "Person:Mira {job=nurse} | a sister -lives_in-> Location:Porto"),
    ("assistant", "Try the bakery near the harbor in Porto."),
    ("user", "Person:Mira -lives_in-> Location:Braga"),
    ("user", "I bought a red bicycle last week."),
    ("user", "12345 67890"),
    ("user", "Моя сестра живёт в Порту."),
)
QUESTIONS = {
    "one word": "Porto",
    "no word": "?!",
    "digits only": "12345 678",
    "nothing stored": "zzz qqq",
    "another language": "Где живёт моя сестра?",
    "ten thousand letters": "where does Mira live " * 476,
    "operators": 'NEAR("Porto" Mira) AND -OR * ^ : {text} (',
    "quotes": """' OR 1=1 -- "Mira" '' "" “Porto”""",
    "half a pair": "Mira \ud83d Porto",
    "a null": "Mira\x00Porto",
}


def retrievers() -> list[type]:
    """Every class with a `retrieve` method, defined in a module of the folder."""
    found = []
    for module in pkgutil.iter_modules(memory_core.retrievers.__path__):
        made = importlib.import_module(f"memory_core.retrievers.{module.name}")
        found += [
            kind
            for _, kind in inspect.getmembers(made, inspect.isclass)
            if kind.__module__ == made.__name__ and hasattr(kind, "retrieve")
        ]
    return found


@pytest.fixture(params=retrievers(), ids=lambda kind: kind.__name__)
def part(request: pytest.FixtureRequest) -> Retriever:
    made: Retriever = request.param()
    return made


@pytest.fixture
def memory() -> Iterator[Memory]:
    with fake_memory() as memory:
        for day, (role, text) in enumerate(SAID, start=1):
            memory.say(text, role=role, at=f"2024-05-{day:02}T10:00:00Z", session=f"s{day // 3}")
        yield memory


def test_the_folder_holds_the_four_of_the_design() -> None:
    names = {kind.__name__ for kind in retrievers()}
    assert {"GraphRetriever", "FlatRetriever", "BM25Retriever", "HybridRetriever"} <= names
    assert all(is_dataclass(kind) and kind.__dataclass_params__.frozen for kind in retrievers())


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_any_question_gets_an_answer_without_a_warning(part: Retriever, memory: Memory, question: str) -> None:
    with np.errstate(all="raise"):
        found = memory.retrieve(question, part)
    assert all(np.isfinite(turn.score) for turn in found.turns)
    assert len({turn.id for turn in found.turns}) == len(found.turns)
    assert len({visit.id for visit in found.nodes}) == len(found.nodes)


@pytest.mark.parametrize("question", ["", "  \n\t"])
def test_an_empty_question_is_refused_in_one_line(part: Retriever, memory: Memory, question: str) -> None:
    with pytest.raises(InputError, match=r"^The question is empty[^\n]*$"):
        memory.retrieve(question, part)


@pytest.mark.parametrize("question", ["Where does my sister live?", *QUESTIONS.values()])
def test_an_empty_memory_brings_nothing(part: Retriever, question: str) -> None:
    with fake_memory() as memory:
        found = memory.retrieve(question, part)
    assert (found.turns, found.nodes, found.roots, found.lines, found.context) == ((), (), (), (), "")


def test_the_same_question_brings_the_same(part: Retriever, memory: Memory) -> None:
    first, second = (memory.retrieve("Where does Mira live?", part) for _ in range(2))
    assert first.turns == second.turns
    assert first.nodes == second.nodes
    assert first.context == second.context


def test_looking_changes_nothing(part: Retriever, memory: Memory) -> None:
    memory.turn_vectors()
    before = (memory.revision, to_document(memory), memory.graph.accesses.values.tolist())
    for question in QUESTIONS.values():
        memory.retrieve(question, part)
    assert (memory.revision, to_document(memory), memory.graph.accesses.values.tolist()) == before


def test_no_forgotten_node_comes_back(part: Retriever, memory: Memory) -> None:
    gone = memory.graph.ids[memory.graph.find_title("Person", "Mira")[0]]
    memory.delete(gone, at=memory.clock)
    found = memory.retrieve("Where does Mira live? Porto, Braga", part)
    assert gone not in {visit.id for visit in found.nodes} | {root.id for root in found.candidates}
    assert gone not in {line.item for line in found.lines}


def test_no_forgotten_turn_comes_back_until_it_is_restored(part: Retriever, memory: Memory) -> None:
    brought = memory.retrieve("Where does Mira live? Porto", part).turns[0].id
    memory.commit([update("turn", brought, {"forgotten_by": None}, {"forgotten_by": "c9"})])
    found = memory.retrieve("Where does Mira live? Porto", part)
    assert brought not in {turn.id for turn in found.turns} | {turn for line in found.lines for turn in line.turns}
    memory.commit([update("turn", brought, {"forgotten_by": "c9"}, {"forgotten_by": None})])
    assert memory.retrieve("Where does Mira live? Porto", part).turns[0].id == brought


def test_a_graph_without_turns_can_be_asked(part: Retriever) -> None:
    with fake_memory() as memory:
        memory.commit(
            [
                insert(
                    "node", id="n1", label="Location", title="Porto", content="A town.", attributes="{}", created=0.0,
                    turns_at_creation=0, pinned=0, forgotten_by=None,
                ),
                insert("node_vector", node="n1", vector=LetterEmbedder().embed(["Porto"])[0].tobytes()),
            ]
        )  # fmt: skip
        found = memory.retrieve("Porto", part)
    assert found.turns == ()
    assert {visit.id for visit in found.nodes} <= {"n1"}


def test_a_turn_said_after_the_first_question_is_found(part: Retriever, memory: Memory) -> None:
    memory.retrieve("Who is Quentin?", part)
    turn = memory.say("Person:Quentin -lives_in-> Location:Quito", at="2024-06-01T10:00:00Z").turn
    assert turn in {found.id for found in memory.retrieve("Who is Quentin in Quito?", part).turns}
