"""Coverage counts what the evidence turns themselves wrote, and cannot be bought by storing whole sentences."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.evaluation.coverage import Coverage, StoredBy, coverage
from memory_core.evaluation.datasets import Question
from memory_core.schema import content_words

SAID = {
    "s:0": "I moved to Porto in 2021 with my sister Mira.",
    "s:1": "Mira loves the old tram.",
    "s:2": "And you?",
}
PORTO = StoredBy(True, titles=["Porto"], values=[2021], relationships=["moved_to"])


def ask(answer: str, *evidence: str, id: str = "q") -> Question:
    return Question(id, "?", answer, "single-session-user", "c", evidence)


def test_a_question_is_written_when_each_evidence_turn_is_cited() -> None:
    stored = {"s:0": PORTO, "s:1": StoredBy(cited=False, titles=["Mira"])}
    found = coverage([ask("Porto", "s:0", id="one"), ask("Porto", "s:0", "s:1", id="both")], SAID, stored)
    assert found.written == {"one": True, "both": False}
    assert found.write_coverage == 0.5


@pytest.mark.parametrize(
    ("answer", "stored"),
    [
        ("Porto", True),  # a title
        ("in 2021", True),  # an attribute's value, numbers too
        ("They moved there", True),  # a relationship split at its underscore; the others are stop words
        ("Mira", False),  # said, not stored
    ],
)
def test_an_answer_is_stored_by_titles_values_and_relationships(answer: str, stored: bool) -> None:
    found = coverage([ask(answer, "s:0")], SAID, {"s:0": PORTO})
    assert found.answered == {"q": stored}


@pytest.mark.parametrize("answer", ["Lisbon", "Porto and Lisbon", "", "no"])
def test_an_answer_that_is_not_said_word_for_word_or_has_no_content_words_is_not_counted(answer: str) -> None:
    found = coverage([ask(answer, "s:0")], SAID, {"s:0": PORTO})
    assert found.answered == {}
    assert math.isnan(found.answer_coverage)
    assert found.write_coverage == 1


def test_what_another_turn_stored_does_not_answer() -> None:
    assert coverage([ask("Porto", "s:0")], SAID, {"s:0": StoredBy(True), "s:1": PORTO}).answered == {"q": False}


def test_only_the_first_8_words_of_a_title_and_6_of_a_value_count() -> None:
    long = "one two three four five six seven eight nine"
    assert StoredBy(titles=[long]).words() == set(content_words("one two three four five six seven eight"))
    assert StoredBy(values=[long]).words() == set(content_words("one two three four five six"))


def test_the_stored_share_is_the_mean_over_turns_that_say_something() -> None:
    found = coverage([], SAID, {"s:0": PORTO})
    assert found.shares == (
        3 / 5,
        0.0,
    )  # moved, porto, 2021 of these, sister, mira; nothing of turn 1; turn 2 says nothing
    assert found.stored_share == pytest.approx(0.3)


def test_storing_the_whole_turn_shows_in_the_share() -> None:
    everything = {turn: StoredBy(True, titles=content_words(text)) for turn, text in SAID.items()}
    assert coverage([], SAID, everything).stored_share == 1


def test_coverages_of_several_memories_add_up() -> None:
    one, two = Coverage({"a": True}, {"a": True}, (0.5,)), Coverage({"b": False}, {}, (0.1,))
    both = one + two
    assert (both.write_coverage, both.answer_coverage, both.stored_share) == (0.5, 1, pytest.approx(0.3))


def test_a_question_without_evidence_is_refused() -> None:
    with pytest.raises(ValueError, match="question q has no evidence"):
        coverage([ask("Porto")], SAID, {})


@given(st.lists(st.sampled_from(["Porto", "Mira", "sister", "old tram", "Lisbon"])))
def test_storing_more_never_lowers_coverage(titles: list[str]) -> None:
    questions = [ask("Porto", "s:0", id="1"), ask("Mira", "s:1", id="2"), ask("sister Mira", "s:0", "s:1", id="3")]
    found = [coverage(questions, SAID, {"s:0": StoredBy(True, titles[:n])}) for n in range(len(titles) + 1)]
    for less, more in pairwise(found):
        assert less.answer_coverage <= more.answer_coverage
        assert less.stored_share <= more.stored_share
