"""What a judge model decided, read strictly from its reply."""

from __future__ import annotations

import re
from collections.abc import Iterator

_YES = frozenset({"yes", "correct", "true", "right"})
_GRADE = r"(?P<grade>yes|no|correct|incorrect|true|false|right|wrong)\b"
#: The question's own choice repeated ("yes or no", "CORRECT/INCORRECT") is no verdict.
_OFFER = re.compile(
    r"\b(?:yes|no|correct|incorrect|true|false)\s*(?:/|\||,?\s(?:or|and)\s)\s*(?:yes|no|correct|incorrect|true|false)\b"
)
#: The first word, unless it is a question ("Correct?"), names the gold ("Correct answer: …") or counts ("no mistakes").
_LEADING = re.compile(
    rf"^\W*(?:not\s+(?:\w+\s+)?)?{_GRADE}(?!\s*\?)(?!\s+(?:answer|response)\b)(?:(?<!\bno)|(?=\s*$|\s*\n|\s*[^\w\s]))"
)
#: A last sentence of one word, a labelled word, and "is (not) correct".
_ELSEWHERE = (
    re.compile(rf"[.!?:\n]\W{{0,20}}{_GRADE}\W{{0,20}}$"),
    re.compile(
        rf"(?:\b|_)(?:verdict|label|judge?ment|grade|result|decision|correct)\W{{0,4}}(?:[:=]|\bis\b)\W{{0,20}}{_GRADE}"
    ),
    re.compile(rf"^[^\w\n]{{0,20}}(?:final )?answer\W{{0,4}}[:=]\W{{0,20}}{_GRADE}", re.MULTILINE),
    re.compile(
        r"\b(?:is|are|was|were|be|being|seems|isn't|aren't|wasn't|considered)\s+(?:\w+\s+){0,3}"
        r"(?P<grade>correct|incorrect|wrong)\b(?!\s*\?)(?!\s+(?:answer|response))"
    ),
)
_NEGATED = re.compile(r"(?:\b(?:not|never|cannot|hardly|neither)|n't)\s+(?:\w+\s+){0,3}$")
_HEDGED = re.compile(r"\b(?:partially|partly|almost|nearly|mostly|somewhat|half)[\s-]+$")


def parse_verdict(reply: str) -> bool | None:
    """True or False; None when the reply gives no verdict or contradicts itself: the row is unjudged, not wrong.

    Words are read whole ("INCORRECT" holds "CORRECT", case MET-01), in any case and punctuation (MET-02), and only
    where a verdict stands. A leading "no" decides whatever follows; any other mixture, and "partially", decide nothing.

    >>> [parse_verdict(reply) for reply in ("CORRECT", "The answer is incorrect", "YES, it matches", "It depends.")]
    [True, False, True, None]
    """
    text = reply.rpartition("</think>")[2].casefold().replace("’", "'")
    text = _OFFER.sub(" ", text)
    leading = [_polarity(text, match) for match in _LEADING.finditer(text)]
    if leading == [False]:
        return False
    found = {*leading, *_verdicts(text)}
    return found.pop() if len(found) == 1 else None


def _verdicts(text: str) -> Iterator[bool | None]:
    for pattern in _ELSEWHERE:
        yield from (_polarity(text, match) for match in pattern.finditer(text))


def _polarity(text: str, match: re.Match[str]) -> bool | None:
    """What the matched word says with the words before it; None for half a verdict."""
    start = match.start("grade")
    before = text[max(0, start - 80) : start]
    if _HEDGED.search(before):
        return None
    return (match["grade"] in _YES) != bool(_NEGATED.search(before))
