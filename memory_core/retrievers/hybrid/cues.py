"""What the words of a question say about the turns that answer it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_YOU_DID = re.compile(
    r"\bdid you\b|\byou(?:['’]d| had| have|['’]ve)? (?:\w+ly |also |just )?"
    r"(?:\w{2,}ed|told|said|gave|wrote|made|came|were|spoke|sent|showed|taught|found|chose)\b|\bremind me\b"
    r"|\b(?:our|last|previous|earlier|past) (?:\w+ )?(?:conversation|chat|discussion|talk)\b",
    re.IGNORECASE,
)
_ABOUT_ME = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|\bi['’]", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\bhow (?:many|much)\b|\btotal\b|\border of\b|\ball (?:the|of|my)\b|\b(?:in )?(?:what|which) order\b"
    r"|\bboth\b|\btimes\b|\bbetween\b|\baverage\b|\bcombined\b|\bwhich .* (?:first|last|most|more|least)\b"
    r"|\b(?:first|earlier|later|before|after)\b.*\bor\b",
    re.IGNORECASE,
)


def role_asked(question: str) -> int:
    """1 when the question is about what the assistant said, -1 about the user, 0 when it does not tell.

    >>> role_asked("Which museum did you recommend?"), role_asked("Where do I live?"), role_asked("Who is Mira?")
    (1, -1, 0)
    """
    if _YOU_DID.search(question):
        return 1
    return -1 if _ABOUT_ME.search(question) else 0


def asks_several(question: str) -> bool:
    """Whether the answer is likely put together from several turns: counts, sums, orders, comparisons.

    >>> asks_several("How many plants did I buy?"), asks_several("Where does Mira live?")
    (True, False)
    """
    return _SEVERAL.search(question) is not None


def speaker_named(question: str, speakers: Iterable[str]) -> str | None:
    """The speaker whose name comes first in the question, whole word; None without one.

    >>> speaker_named("What does Mira's brother Tom do?", ["Tom", "Mira"])
    'Mira'
    """
    text = question.casefold()
    places = {}
    for name in speakers:
        match = re.search(rf"\b{re.escape(name.casefold())}\b", text) if name else None
        if match and name.casefold() not in ("user", "assistant"):
            places[name] = match.start()
    return min(places, key=places.__getitem__) if places else None
