"""Chat spelling mended before the parse: apostrophes left out, a small "i", shouted words, and the way back."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

_NOT = "do does did is are was were have has had ca could would should wo ai need must"
_BE = "a an the been not so too really pretty very just only still my our like all time gonna going me your their in on"
_BEGIN = "love like rather say go be never have prefer recommend appreciate really hate need want suggest"
_DO = "be go have take get try see let make do call send bring never probably definitely just"
_INSIDE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.I), inserted)
    for pattern, inserted in (
        (r"\bi(?=m\b)", "'"),
        (r"\bi(?=ve\b)", "'"),
        (r"\b(?:you|they|we)(?=ve\b)", "'"),
        (r"\b(?:you|they)(?=re\b)", "'"),
        (r"\b(?:you|they|it)(?=ll\b)", "'"),
        (r"\b(?:he|she|that|what|there|who|where|how)(?=s\b)", "'"),
        (rf"\bit(?=s (?:{_BE.replace(' ', '|')})\b)", "'"),
        (r"\b(?:now|think|guess|cause|because|bc|cuz) it(?=s\b)", "'"),
        (rf"\bi(?=d (?:{_BEGIN.replace(' ', '|')})\b)", "'"),
        (rf"(?:^|[.,;!?] |\b(?:and|so|but|then) )i(?=ll (?:{_DO.replace(' ', '|')})\b)", "'"),
        (r"\ba(?=lot\b)", " "),
    )
)
_BARE_NOT = re.compile(rf"\b(?:{_NOT.replace(' ', '|')})(?=nt\b)", re.I)
_IS = re.compile(
    r"(?<=[a-z])(?<!\bit)(?<!\bhe)(?<!\bshe)(?<!\bthat)(?<!\bwhat)(?<!\bthere)(?<!\bwho)(?<!\blet)(?<!\bhere)'"
    r"(?=s (?:a|an|not|also|old|so|too|very|really|still|now|here|home|back|allergic|married|engaged|pregnant|vegan"
    r"|vegetarian|retired|diabetic|scared|afraid|terrified|moving|getting|turning|starting|working|living|learning"
    r"|planning|visiting|coming|going|into|from|at|in|on)\b)"
)
_ALONE = re.compile(r"(?<![\w'.])i(?=[\s,]|'(?:m|ve|ll|d)\b)")
_CALENDAR = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day(?=s?\b)"
    r"|\b(?:january|february|april|june|july|august|september|october|november|december)\b"
)
_SHOUTED = re.compile(r"(?<![\w'&.-])[A-Z]{2,}(?![\w'&.-])")
_LOUD = frozenset(
    "so very not never really too love hate all no yes always such this that every must need want and but or".split()
)


@dataclass(frozen=True)
class Mended:
    """The text to read, and the places in it where one character was put in."""

    text: str
    inserted: tuple[int, ...] = ()

    def back(self, span: tuple[int, int] | None) -> tuple[int, int] | None:
        """The span of the text as it was written."""
        if span is None or not self.inserted:
            return span
        start, end = (place - bisect_right(self.inserted, place - 1) for place in span)
        return start, max(end, start + 1)


def mend(text: str, known: frozenset[str] = frozenset()) -> Mended:
    """`text` with the apostrophes people leave out; shouted words of `known` in lower case.

    >>> mend("i dont think its a bug, im SURE", frozenset(["sure"])).text
    "I don't think it's a bug, I'm sure"
    """
    verbs = [found.start() for found in _IS.finditer(text)]
    text = _IS.sub(" ", text)
    places = sorted(
        {(place + 1, "i") for place in verbs}
        | {(found.end(), inserted) for pattern, inserted in _INSIDE for found in pattern.finditer(text)}
        | {(found.end() + 1, "'") for found in _BARE_NOT.finditer(text)}
    )
    pieces, last = [], 0
    for place, inserted in places:
        pieces += [text[last:place], inserted]
        last = place
    mended = "".join([*pieces, text[last:]])
    mended = _ALONE.sub("I", mended)
    mended = _CALENDAR.sub(lambda found: found.group().capitalize(), mended)
    mended = _SHOUTED.sub(lambda found: _lowered(found.group(), known), mended)
    return Mended(mended, tuple(place + number for number, (place, _) in enumerate(places)))


def _lowered(word: str, known: frozenset[str]) -> str:
    lower = word.lower()
    return lower if lower in _LOUD or (len(word) > 3 and lower in known) else word
