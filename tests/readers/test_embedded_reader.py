"""The reader without a model: a sentence that was said, its turn and date, or that it is not in the memory."""

from __future__ import annotations

import pytest

from memory_core.protocols import Line, RankedTurn, Retrieval
from memory_core.readers.embedded import EmbeddedReader, sentences
from memory_core.schema import Turn, utc
from tests.fakes import LetterEmbedder

#: A sentence about tea is (1, 0), one about rain (0, 1); so is a question.
READER = EmbeddedReader(LetterEmbedder(fixed={"tea": (1, 0), "rain": (0, 1)}))


def turn(number: int, text: str, speaker: str = "Mira") -> Turn:
    return Turn("user", text, utc(f"2024-05-0{number}"), speaker, position=number, id=f"t{number}")


def found(*turns: Turn) -> Retrieval:
    return Retrieval("flat", "?", turns=tuple(RankedTurn(of.id, 1.0) for of in turns), lines=(Line("x", "n1"),))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I bought a cat", ["I bought a cat"]),
        ("- the best seat\n* a warm coat\n• the last boat", ["the best seat", "a warm coat", "the last boat"]),
        ("-5 degrees outside that night", ["-5 degrees outside that night"]),
        (
            "Version 2.5 works. Did it rain? Yes, a lot of rain fell!",
            ["Version 2.5 works.", "Yes, a lot of rain fell!"],
        ),
        ("ok. fine.", []),
        ("", []),
        ("x" * 50 + " y" * 400 + " word", [("x" * 50 + " y" * 400)[:300]]),
    ],
)
def test_sentences_are_kept_to_the_letter_and_questions_say_nothing(text: str, said: list[str]) -> None:
    assert sentences(text) == said


def test_the_answer_is_what_was_said_by_whom_and_when() -> None:
    turns = [turn(1, "Green tea tastes good. The rain never stops here.")]
    answer = READER.answer("Which tea?", found(*turns), turns)
    assert answer.text == "On 1 May 2024, Mira said: “Green tea tastes good.”"
    assert answer.turns == ("t1",)


def test_of_near_ties_the_newest_holds_whatever_the_order() -> None:
    turns = [turn(3, "Now black tea is best."), turn(1, "Only green tea is best.")]
    for order in (turns, turns[::-1]):
        assert READER.answer("tea?", found(*order), order).turns == ("t3",)


def test_below_the_floor_it_is_not_in_the_memory() -> None:
    turns = [turn(1, "The rain never stops here.")]
    answer = READER.answer("Which tea?", found(*turns), turns)
    assert answer.text is None
    assert answer.reason == "Not in memory: the nearest sentence has similarity 0.00, below 0.33."
    assert READER.answer("Which tea?", found(), []).reason.startswith("Not in memory: nothing stored")
