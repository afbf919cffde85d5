"""The parse of a turn, with names and dates joined into one token each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.model import model
from memory_core.extractors.embedded.naming import joined_spans

Token = Any  # spacy.tokens.Token: spaCy ships no usable types for it
Doc = Any


_WEEKDAY = re.compile(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)")


@dataclass
class Reading:
    """A parsed text; `kinds` maps the first character of a joined name or date to what it is."""

    doc: Doc
    text: str
    kinds: dict[int, str] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)

    def kind(self, token: Token) -> str:
        return self.kinds.get(token.idx, "")

    def named(self, token: Token) -> bool:
        return self.kind(token) in words.NAMED

    def dated(self, token: Token) -> bool:
        if _WEEKDAY.fullmatch(token.text):
            return token.dep_ not in ("compound", "amod", "nmod")
        if token.dep_ == "pobj" and _DAY.fullmatch(token.text) and token.head.lower_ in ("on", "until", "by", "since"):
            return True
        year = token.dep_ == "pobj" and token.is_digit and len(token.text) == 4 and token.text[:2] in ("19", "20")
        return year or (self.kind(token) in words.WHEN and token.dep_ not in ("compound", "amod", "nummod", "nmod"))

    def slice(self, first: Token, last: Token) -> str:
        return self.text[first.idx : last.idx + len(last.text)]

    def use(self, first: Token, last: Token) -> None:
        """Marks the words as told already, so that no detail repeats them."""
        self.used |= set(range(first.i, last.i + 1))

    def span(self, first: Token, last: Token | None = None) -> tuple[int, int]:
        last = first if last is None else last
        return first.idx, last.idx + len(last.text)


def read(text: str, breaks: frozenset[int] = frozenset()) -> Reading:
    """Parses `text`; a sentence starts at every character in `breaks`; names and dates become one token each."""
    nlp = model()
    doc = nlp.make_doc(text)
    for token in doc:
        if token.idx in breaks and token.i:
            token.is_sent_start = True
    for _, pipe in nlp.pipeline:
        doc = pipe(doc)
    spans = joined_spans(doc, text)
    reading = Reading(doc, text, {span.start_char: kind for span, kind in spans if kind})
    with doc.retokenize() as retokenizer:
        for span, _ in spans:
            if len(span) > 1:
                retokenizer.merge(span, attrs={"LEMMA": span.text.lower()})
    return reading


def conjuncts(token: Token) -> list[Token]:
    """The token and all that is coordinated with it."""
    found = [token]
    for child in token.children:
        if child.dep_ == "conj":
            found += conjuncts(child)
    return found


_CLAUSES = ("conj", "advcl", "relcl", "ccomp", "parataxis")


def infinitive(verb: Token) -> bool:
    """Whether the verb stands as "to …"."""
    return bool(verb.tag_ == "VB") and any(c.dep_ == "aux" and c.lower_ == "to" for c in verb.children)


def own_clause(verb: Token) -> list[Token]:
    """The tokens under a verb, without its coordinated, adverbial and relative clauses."""
    found, stack = [], [verb]
    while stack:
        token = stack.pop()
        found.append(token)
        stack += [c for c in token.children if c.pos_ not in ("VERB", "AUX") or c.dep_ not in _CLAUSES or infinitive(c)]
    return sorted(found, key=lambda t: t.i)
