"""What a noun phrase is called, and the label of its head noun."""

from __future__ import annotations

from memory_core.extractors.embedded import nouns
from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.naming import common_words
from memory_core.extractors.embedded.reading import Reading, Token

_INSIDE = frozenset("compound amod nmod nummod npadvmod advmod quantmod".split())


def nameable(reading: Reading, token: Token) -> bool:
    """Whether a token can head a node: a name or a noun that means something by itself."""
    if reading.dated(token) or reading.kind(token) == "MONEY":
        return False
    if reading.named(token):
        return True
    unknown = token.dep_ == "dobj" and token.pos_ == "ADJ" and token.lower_ not in common_words("adj", "adv", "verb")
    if (
        not (unknown or token.pos_ in ("NOUN", "PROPN", "X"))
        or not token.text[0].isalnum()
        or token.lower_ in words.FILLER
    ):
        return False
    if token.lemma_.lower() in words.VAGUE_NOUNS:
        return any(
            c.dep_ in ("compound", "poss") and c.pos_ in ("NOUN", "PROPN") and c.lemma_.lower() not in words.VAGUE_NOUNS
            for c in token.lefts
        )
    return True


def phrase(reading: Reading, token: Token, tails: tuple[str, ...] = ("of",)) -> tuple[Token, Token]:
    """First and last token of the noun phrase of `token` without article, possessive and weak adjectives."""
    if reading.kind(token) and reading.kind(token) != "NORP":
        return token, token
    first = token
    for child in reversed(list(token.lefts)):
        if child.dep_ == "poss" and child.pos_ in ("NOUN", "PROPN"):
            first = child.left_edge if reading.named(child) else child
        if child.dep_ == "punct" and child.text in "-–":
            continue
        if child.dep_ not in _INSIDE or reading.dated(child) or child.left_edge.is_space:
            break
        first = child.left_edge
    while first.i < token.i and _weak(first):
        first = first.nbor(1)
    return first, _tail(reading, token, tails)


def _weak(first: Token) -> bool:
    hyphen = first.i + 1 < len(first.doc) and first.nbor(1).text == "-"
    if first.like_num or first.pos_ == "NUM":
        return not hyphen and bool(first.whitespace_) and (not first.text[-1].isalpha() or first.text.isalpha())
    return (
        first.lower_ in words.WEAK_ADJECTIVES or first.is_punct or (first.pos_ in ("DET", "PRON", "ADV") and not hyphen)
    )


def _tail(reading: Reading, token: Token, tails: tuple[str, ...]) -> Token:
    last = token
    for child in token.rights:
        if child.dep_ == "prep" and child.lower_ in tails and child.i == last.i + 1:
            target = next((c for c in child.children if c.dep_ == "pobj"), None)
            if target is None or reading.dated(target) or target.pos_ == "PRON":
                break
            reach = _tail(reading, target, ("of",))
            if reach.i - token.i > 6:
                break
            last = reach
    return last


def head_label(lemma: str, named: bool = False) -> str:
    """The label of a head noun by its class, "" when it is in none; a named school is an organization.

    >>> head_label("wedding"), head_label("school"), head_label("school", named=True), head_label("idea")
    ('Event', 'Location', 'Organization', '')
    """
    if named and lemma in nouns.NAMED_GROUPS:
        return "Organization"
    return next((label for label, held in nouns.CLASSES if lemma in held or lemma.removesuffix("s") in held), "")
