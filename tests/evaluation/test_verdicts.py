"""A judge's reply counts only where it plainly says so; a doubtful one is unjudged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.evaluation.verdicts import parse_verdict

YES = [
    "CORRECT",  # MET-01
    *("Yes.", "yes", "YES, it matches", "[[true]]", '"yes"', "**Yes**"),  # MET-02
    "The prediction is correct.",
    "The answer is correct because both say Porto.",
    "Both name Porto.\n\nYes",
    '{"label": "CORRECT"}',
    '```json\n{"verdict": "yes"}\n```',
    "No mistakes: the answer is correct.",
    "<think>It is wrong? No.</think>\nYes",
]
NO = [
    *("INCORRECT", "Incorrect.", "The answer is incorrect"),  # MET-01
    *("No.", "no - wrong city"),  # MET-02
    "Not correct.",
    "The response isn't correct.",
    "The response isn’t correct.",
    "It cannot be considered correct",
    "The answer is not at all correct",
    "No, the correct answer is Porto",
    "Incorrect. The correct answer is Porto.",
    "Correct? No.",
    "Is the answer correct? No.",
    "Verdict: INCORRECT",
    '{"is_correct": false}',
    "<think>Is it correct? Yes.</think>\nNo",
]
UNREADABLE = [
    *("", "It depends", "not sure", "1.", "Porto"),
    *("yes or no", "Yes/No", "CORRECT | INCORRECT", "Yes and no"),
    "The correct answer is Porto.",
    "The gold answer is yes.",
    "Correct answer: Porto. Model answer: Lisbon.",
    "Yes, but the date is wrong",
    "Partially correct",
    "The answer is almost correct.",
]


@pytest.mark.parametrize("reply", YES)
def test_met_01_met_02_a_plain_yes_is_true(reply: str) -> None:
    assert parse_verdict(reply) is True


@pytest.mark.parametrize("reply", NO)
def test_met_01_met_02_a_plain_no_is_false(reply: str) -> None:
    assert parse_verdict(reply) is False


@pytest.mark.parametrize("reply", UNREADABLE)
def test_anything_else_is_unjudged(reply: str) -> None:
    assert parse_verdict(reply) is None


@given(
    st.sampled_from(["yes", "no", "correct", "incorrect", "true", "false", "wrong"]),
    st.sampled_from([str.lower, str.upper, str.title]),
    st.sampled_from(["", ".", "!", '"', "**", "]]"]),
)
def test_case_and_punctuation_never_change_a_verdict(word: str, case: object, mark: str) -> None:
    assert parse_verdict(f"{mark}{case(word)}{mark}") is (word in ("yes", "correct", "true"))  # type: ignore[operator]
