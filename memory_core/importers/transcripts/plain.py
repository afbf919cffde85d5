"""Plain text: a line `role: words` starts a turn, the lines after it belong to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_core.importers.transcripts.values import INTERNAL_ROLES, ROLES, Conversation, Reading

_ROLE_WORDS = "|".join(sorted((*ROLES, *INTERNAL_ROLES), key=len, reverse=True))
_OPENING = re.compile(rf"\s*(?:\*\*|#+\s*)?({_ROLE_WORDS})\s*(?:\*\*)?\s*:(?:\*\*)?\s?(.*)", re.IGNORECASE)


def looks_plain(text: str) -> bool:
    """Whether some line of the text starts with a role and a colon.

    >>> looks_plain("User: hello"), looks_plain("Dear diary: hello")
    (True, False)
    """
    return any(_OPENING.fullmatch(line) for line in text.splitlines())


def plain(text: str, reading: Reading, name: str) -> list[Conversation]:
    """One conversation of one session; the times are the reading's, a minute a turn; names are `name:place, from 0`."""
    turns = []
    for index, (line, role, words) in enumerate(_blocks(text, reading)):
        place = f"{name}:{index}"
        turn = reading.turn(f"line {line}", role, words, reading.start, session=name, source_id=place)
        turns += [reading.dated(turn)] if turn else []
    return [reading.conversation(name, [turns])]


def _blocks(text: str, reading: Reading) -> Iterator[tuple[int, str, str]]:
    """Line number, role and words of each turn; words before the first role are a problem."""
    start, role, lines = 1, "", list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        opening = _OPENING.fullmatch(line)
        if opening is None:
            lines.append(line)
            continue
        yield from _block(start, role, lines, reading)
        start, role, lines = number, opening[1], [opening[2]]
    yield from _block(start, role, lines, reading)


def _block(start: int, role: str, lines: list[str], reading: Reading) -> Iterator[tuple[int, str, str]]:
    words = "\n".join(lines).strip()
    if role:
        yield start, role, words
    elif words:
        end = start + len(lines) - 1
        reading.problems.append(f"lines {start} to {end}: words before the first `role:` line were left out.")
