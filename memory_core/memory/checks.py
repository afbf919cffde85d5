"""What a person gives is looked at before anything is done with it."""

from __future__ import annotations

from memory_core.errors import InputError
from memory_core.schema import Turn

MAX_TURN = 400_000  # characters
MAX_QUESTION = 10_000


def check_turn(turn: Turn) -> None:
    """Raise InputError for a turn that cannot be remembered: empty, binary, not text, or too long."""
    if not turn.text.strip():
        raise InputError("The turn is empty: write something to remember.")
    if len(turn.text) > MAX_TURN:
        raise InputError(f"The turn has {len(turn.text):,} characters; the most is {MAX_TURN:,}: split it.")
    control = sum(ord(letter) < 32 and letter not in "\t\n\r\f" for letter in turn.text)
    if "\x00" in turn.text or control > len(turn.text) // 20:
        raise InputError("The turn looks like binary data, not text: give its text instead.")
    if any("\ud800" <= letter <= "\udfff" for letter in turn.text):
        raise InputError("The turn holds broken characters (half of a surrogate pair): save the text as UTF-8.")


def check_question(question: str) -> str:
    """The question, shortened to what an embedder can read. Raises InputError when it is empty."""
    if not question.strip():
        raise InputError("The question is empty: ask something.")
    return question.replace("\x00", " ")[:MAX_QUESTION]
