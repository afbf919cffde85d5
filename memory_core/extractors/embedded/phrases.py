"""What a noun phrase is called and which of the nine labels it takes."""

from __future__ import annotations

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.places import places
from memory_core.extractors.embedded.reading import Reading, Token

_INSIDE = frozenset("compound amod nmod nummod npadvmod advmod quantmod".split())
_LANDMARKS = ("mount", "mt.", "lake", "port", "fort", "cape", "san", "santa", "isle", "camp")
_TITLES = ("dr", "dr.", "mr", "mr.", "mrs", "mrs.", "ms", "ms.", "prof", "prof.", "aunt", "uncle", "grandma", "grandpa")


def nameable(reading: Reading, token: Token) -> bool:
    """Whether a token can head a node: a name or a noun that means something by itself."""
    if reading.dated(token) or reading.kind(token) == "MONEY":
        return False
    if reading.named(token):
        return True
    if token.pos_ not in ("NOUN", "PROPN", "X") or not token.text[0].isalnum() or token.lower_ in words.FILLER:
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


_PLACING = ("in", "to", "from", "near", "around", "for", "via", "through")


def label_of(reading: Reading, token: Token, default: str = "Concept") -> str:
    """One of the nine labels: by the head noun, the kind of a name or the context, else `default`."""
    kind = reading.kind(token)
    if not kind:
        return head_label(token.lemma_.lower()) or default
    pieces = token.text.lower().split()
    if pieces[0] in _TITLES:
        return "Person"
    if len(pieces) > 1 and pieces[0] in _LANDMARKS:
        return "Location"
    if (
        len(pieces) > 1
        and kind not in ("PERSON", "TITLE", "WORK_OF_ART")
        and (by_head := head_label(pieces[-1], named=True))
    ):
        return by_head
    if kind in ("NAME", "PERSON", "PRODUCT", "GPE") and any(
        c.dep_ == "poss" and c.lower_ in ("my", "our", "your") for c in token.children
    ):
        return "Artifact"
    if kind in ("PERSON", "NAME", "ORG", "PRODUCT") and (_towards(token) or _is_place(token, kind)):
        return "Location"
    owner = any(c.tag_ == "POS" for c in token.children)
    if owner and kind in ("NAME", "ORG", "GPE", "PERSON", "PRODUCT") and len(pieces) == 1 and token.dep_ == "poss":
        return "Person"
    return words.NAMED.get(kind) or _by_context(token) or (default if default != "Concept" else "") or "Concept"


def _is_place(token: Token, kind: str) -> bool:
    """A known place; one that the recogniser takes for a person (Florence, Austin) only where a place would stand."""
    if token.text.lower() not in places():
        return False
    return kind in ("NAME", "ORG", "PRODUCT") or (token.dep_ == "pobj" and token.head.lower_ in _PLACING)


def _towards(token: Token) -> bool:
    """ "the train to Braga", "living in Tromsø": a place, whatever the recogniser says."""
    if token.dep_ != "pobj" or token.head.lower_ not in ("to", "in", "from", "near", "around"):
        return False
    return token.head.head.lemma_.lower() in words.TRAVEL


def _is_of_people(verb: Token) -> bool:
    """Whether a form of "be" says something only people are: a job, a relation, married, allergic."""
    found = [c for c in verb.children if c.dep_ in ("attr", "acomp")]
    return any(c.lower_ in words.OF_PEOPLE or head_label(c.lemma_.lower()) == "Person" for c in found)


def _by_context(token: Token) -> str:
    head = token.head
    if token.dep_ == "pobj":
        governor = head.head.lemma_.lower()
        if head.lower_ in ("at", "for") and governor in (
            "work",
            "volunteer",
            "intern",
            "job",
            "position",
            "nurse",
            "engineer",
        ):
            return "Organization"
        if head.lower_ in ("in", "to", "from", "near", "around", "at"):
            return "Location"
        if head.lower_ in ("with", "by"):
            return "Person"
        return ""
    if token.dep_ in ("nsubj", "dative") and (head.pos_ == "VERB" or _is_of_people(head)):
        return "Person"
    return "Location" if head.lemma_ == "visit" else ""


def head_label(lemma: str, named: bool = False) -> str:
    """The label of a head noun by its class, "" when it is in none; a named school is an organization.

    >>> head_label("wedding"), head_label("school"), head_label("school", named=True), head_label("idea")
    ('Event', 'Location', 'Organization', '')
    """
    if named and lemma in words.NAMED_GROUPS:
        return "Organization"
    return next((label for label, nouns in words.CLASSES if lemma in nouns or lemma.removesuffix("s") in nouns), "")
