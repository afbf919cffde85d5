"""What a person gives is looked at before anything is done with it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from memory_core.errors import EmbedderMismatchError, InputError
from memory_core.protocols import Embedder
from memory_core.schema import Turn, utc
from memory_core.store.contract import Store

MAX_TURN = 400_000  # characters
MAX_NAME = 1_000  # characters of a speaker, session or source id
MAX_QUESTION = 10_000
_LAST_YEAR = 9_000  # a time near the end of the calendar, rounded as a number, would no longer be one
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_turn(turn: Turn) -> Turn:
    """The turn, its time in UTC. Raises InputError for one that cannot be remembered: binary, not text, too long or of
    no usable time."""
    if len(turn.text) > MAX_TURN:
        raise InputError(f"The turn has {len(turn.text):,} characters; the most is {MAX_TURN:,}: split it.")
    control = sum(ord(letter) < 32 and letter not in "\t\n\r\f" for letter in turn.text)
    if "\x00" in turn.text or control > max(2, len(turn.text) // 20):
        raise InputError("The turn looks like binary data, not text: give its text instead.")
    names = (turn.speaker, turn.session, turn.source_id)
    if any("\x00" in name for name in names):
        raise InputError("A speaker, session or source id of the turn holds a NUL character: take it out.")
    if any(has_broken_letters(text) for text in (turn.text, *names)):
        raise InputError("The turn holds broken characters (half of a surrogate pair): save the text as UTF-8.")
    if max(map(len, names)) > MAX_NAME:
        raise InputError(f"A speaker, session or source id of the turn is longer than {MAX_NAME:,} characters.")
    return replace(turn, at=moment_given(turn.at))


def moment_given(at: datetime | str) -> datetime:
    """A time as a person gives it, in UTC. Raises InputError for one that is not ISO 8601 or of no usable year."""
    try:
        moment = utc(at)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{str(at)[:80]!r} is no ISO 8601 time such as 2025-06-01T12:00:00Z.") from error
    if moment.year > _LAST_YEAR:
        raise InputError(f"The year {moment.year} is beyond {_LAST_YEAR}, the last one that can be remembered.")
    return moment


def has_broken_letters(text: str) -> bool:
    """Whether the text holds half of a surrogate pair, which no file can."""
    return _SURROGATE.search(text) is not None


def check_question(question: str) -> str:
    """The question, shortened to what an embedder can read. Raises InputError when it is empty."""
    if not question.strip():
        raise InputError("The question is empty: ask something.")
    return _SURROGATE.sub(" ", question.replace("\x00", " "))[:MAX_QUESTION]


def check_embedder(store: Store, embedder: Embedder) -> None:
    """Raises EmbedderMismatchError when the vectors of a memory are another embedder's."""
    stored, dim = store.meta("embedder"), store.meta("dim")
    if stored and (stored, dim) != (embedder.id, str(embedder.dim)):
        raise EmbedderMismatchError(
            f"{store.place} was made with embedder {stored} ({dim} dimensions), not {embedder.id} ({embedder.dim}): "
            "open it with that one, or re-embed it: "
            f"python -m memory_core reembed --embedder embedded --memory {store.place}"
        )
