"""The chat's exchange: retrieve, answer, then remember; the app's own answers never become memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from memory_core.chat import Models, answers, exchange, question_in
from memory_core.errors import InputError, ProviderError
from memory_core.inspector import edge_card, node_card, pieces
from memory_core.memory import Memory
from memory_core.protocols import Answer, Readable, Retrieval
from memory_core.retrievers.graph import GraphRetriever
from memory_core.schema import Turn
from tests.fakes import LetterEmbedder, SpelledExtractor

AT = datetime(2024, 5, 1, 12, tzinfo=UTC)


class Echo:
    """Answers with the newest turn it was given, or as it is told."""

    def __init__(self, error: str = "") -> None:
        self.error, self.given = error, list[Turn]()

    def answer(self, question: str, retrieval: Retrieval, turns: Sequence[Turn]) -> Answer:
        self.given = list(turns)
        if self.error:
            raise ProviderError(self.error)
        return Answer(turns[-1].text, turns=(turns[-1].id,)) if turns else Answer(None, "nothing near")


@pytest.fixture
def memory() -> Memory:
    made = Memory.open(":memory:", embedder=LetterEmbedder(), extractor=SpelledExtractor())
    made.say("Person:Mira {job=baker} -lives_in-> Location:Porto", at=AT - timedelta(days=2))
    made.say("Person:Mira {job=pilot}", at=AT - timedelta(days=1))
    return made


def models(reader: Echo) -> Models:
    return Models(SpelledExtractor(), reader, GraphRetriever(floor=0.2))


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Where do I live?", "Where do I live?"),
        ("I moved. Where do I live? Tell me.", "Where do I live?"),
        ("do you remember my sister", "do you remember my sister"),
        ("remind me what Ana likes", "remind me what Ana likes"),
        ("¿Dónde vivo?", "¿Dónde vivo?"),
        ("我住在哪里？", "我住在哪里？"),
        ("When I was ten I lived in Rome.", ""),
        ("What a day!", ""),
        ("I like tea.", ""),
        ("My score was 3.5?? no, 4.5.", "My score was 3.5??"),
    ],
)
def test_what_counts_as_a_question(text: str, asked: str) -> None:
    assert question_in(text) == asked


def test_a_question_is_stored_after_it_was_answered(memory: Memory) -> None:
    reader = Echo()
    made = exchange(memory, "Where does Mira live?", models(reader), at=AT)
    assert "Where does Mira live?" not in [turn.text for turn in reader.given]
    assert memory.turn(made.report.turn).text == "Where does Mira live?"


def test_an_answer_is_kept_beside_its_turn_and_is_no_turn(memory: Memory) -> None:
    made = exchange(memory, "Where does Mira live?", models(Echo()), at=AT)
    assert memory.graph.turns == 3
    kept = answers(memory, [made.report.turn])[made.report.turn]
    assert kept == made.answered
    assert memory.search_turns("baker", 5) == memory.search_turns("baker", 5)
    assert {ranked.id for ranked in memory.search_turns("Mira", 9)} <= {"t1", "t2", "t3"}


def test_answering_marks_the_visited_nodes_once_and_asking_in_vain_marks_none(memory: Memory) -> None:
    before = {node: memory.graph.node(node).accesses for node in memory.graph.ids}
    visited = exchange(memory, "Where does Mira live?", models(Echo()), at=AT).answered.visited  # type: ignore[union-attr]
    assert visited
    for node, count in before.items():
        assert memory.graph.node(node).accesses == count + (node in visited)
    failing = exchange(memory, "Where does Mira live?", models(Echo("down")), at=AT).answered
    assert failing is not None
    assert failing.visited == ()


def test_a_reader_that_is_down_loses_no_turn(memory: Memory) -> None:
    made = exchange(memory, "Where does Mira live?", models(Echo("the server is down")), at=AT)
    assert made.answered is not None
    assert made.answered.text is None
    assert "the server is down" in made.answered.reason
    assert memory.turn(made.report.turn).text == "Where does Mira live?"


def test_a_statement_gets_no_answer(memory: Memory) -> None:
    made = exchange(memory, "Person:Otto -knows-> Person:Mira", models(Echo()), at=AT)
    assert made.answered is None
    assert [placed.title for placed in made.report.added] == ["Otto"]


@pytest.mark.parametrize("text", ["", "  \n", "\x00" * 30])
def test_what_cannot_be_a_turn_changes_nothing(memory: Memory, text: str) -> None:
    revision = memory.revision
    with pytest.raises(InputError):
        exchange(memory, text, models(Echo()), at=AT)
    assert memory.revision == revision


def test_a_card_tells_values_with_history_score_words_and_neighbours(memory: Memory) -> None:
    mira = memory.graph.ids[memory.graph.find_title("Person", "Mira")[0]]
    card = node_card(memory, mira)
    job = next(value for value in card.values if value.field == "job")
    assert (job.value, [said.value for said in job.earlier]) == ("pilot", ["baker"])
    assert [quote.turn.id for quote in card.quotes] == ["t2", "t1"], "newest first"
    assert [(link.edge.relationship, link.other.title, link.outgoing) for link in card.links] == [
        ("lives_in", "Porto", True)
    ]
    assert card.score == pytest.approx(sum(card.parts.values()))
    assert edge_card(memory, card.links[0].edge.id).target.title == "Porto"


def test_the_card_of_something_deleted_is_refused(memory: Memory) -> None:
    mira = memory.graph.ids[0]
    memory.delete(mira, at=AT)
    with pytest.raises(InputError, match="no live node"):
        node_card(memory, mira)


@pytest.mark.parametrize(
    ("spans", "marked"),
    [([(0, 2)], "ab"), ([(1, 3), (2, 4)], "bcd"), ([(4, 99)], "ef"), ([None], ""), ([(3, 3)], ""), ([(-5, 1)], "a")],
)
def test_marked_words_are_pieces_of_the_text(spans: list[tuple[int, int] | None], marked: str) -> None:
    cut = pieces("abcdef", spans)
    assert "".join(text for text, _ in cut) == "abcdef"
    assert "".join(text for text, inside in cut if inside) == marked


def test_nothing_is_written_while_an_answer_is_looked_for_and_others_write_while_a_model_is_asked(
    memory: Memory,
) -> None:
    others: dict[str, bool] = {}

    def may_write() -> bool:
        seen: list[bool] = []

        def look() -> None:
            seen.append(memory.lock.acquire(timeout=0.01))
            if seen[0]:
                memory.lock.release()

        other = threading.Thread(target=look)
        other.start()
        other.join()
        return seen[0]

    class Looking(GraphRetriever):
        def retrieve(self, memory: Readable, question: str) -> Retrieval:
            found = super().retrieve(memory, question)
            others["while it is looked for"] = may_write()
            return found

    class Reading(SpelledExtractor):
        def entities(self, question: str) -> list[str]:
            others["while a model is asked"] = may_write()
            return super().entities(question)

    made = exchange(memory, "Where does Mira live?", Models(Reading(), Echo(), Looking(floor=0.2)), at=AT)
    assert made.answered is not None
    assert made.answered.text
    assert others == {"while a model is asked": True, "while it is looked for": False}
