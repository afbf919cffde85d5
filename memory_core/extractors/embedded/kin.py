"""Kin, friends and pets: "my sister Ana", "my friend", "a cat named Miso", "my dog's name is Rex"."""

from __future__ import annotations

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.clauses import Clauses
from memory_core.extractors.embedded.reading import Token


def read_people(clauses: Clauses) -> None:
    """Adds a Person for every relative or pet of the speaker that the turn does not only ask about."""
    for token in clauses.reading.doc:
        lemma = token.lemma_.lower()
        if lemma in words.KIN | words.PETS and not clauses.reading.kind(token) and (owned := _owner(clauses, token)):
            _relative(clauses, token, lemma, owned == "mine")


def _owner(clauses: Clauses, token: Token) -> str:
    if clauses.asked(token) and _name(clauses, token) is None:
        return ""
    owners = [c for c in token.children if c.dep_ == "poss"]
    if not owners and token.dep_ == "compound":
        owners = [c for c in token.head.children if c.dep_ == "poss" and c.i < token.i]
    if any(c.lower_ in clauses.mine for c in owners):
        return "mine"
    return "named" if not owners and _called(clauses, token) is not None and token.lemma_.lower() in words.PETS else ""


def _called(clauses: Clauses, token: Token) -> Token | None:
    for clause in (c for c in token.children if c.dep_ == "acl" and c.lemma_ in ("name", "call")):
        for child in clause.children:
            if child.dep_ in ("oprd", "dobj", "attr", "ccomp") and (clauses.reading.named(child) or child.text[0].isupper()):
                return child
    return None


def _name(clauses: Clauses, token: Token) -> Token | None:
    reading = clauses.reading
    if token.dep_ == "compound" and token.head.text[0].isupper():
        return token.head
    for child in token.children:
        if child.dep_ in ("appos",) and (reading.named(child) or child.pos_ == "PROPN"):
            return child
    following = token.nbor(1) if token.i + 1 < len(token.doc) else None
    if following is not None and reading.named(following) and following.dep_ not in ("pobj", "dobj"):
        return following
    called = _called(clauses, token)
    if called is not None:
        return called
    if token.dep_ == "nsubj" and token.head.lemma_ == "be":
        for child in token.head.children:
            if child.dep_ == "attr" and reading.kind(child) in ("PERSON", "NAME") :
                return child
    return None


def _relative(clauses: Clauses, token: Token, lemma: str, mine: bool) -> None:
    draft, name = clauses.draft, _name(clauses, token)
    title = name.text if name is not None else f"{clauses.me}'s {lemma}"
    span = clauses.reading.span(name if name is not None else token)
    place = draft.node(
        "Person", title, f"{title} is {clauses.me}'s {lemma}. {clauses.sentence(token)}", span, named=True, attributes={"relation": lemma}
    )
    clauses.places[token.i] = place
    if name is not None:
        clauses.places[name.i] = place
    clauses.person = place
    me = clauses.speaker()
    draft.edge(me, f"has_{lemma}", place, clauses.reading.span(token))
    if lemma in words.SPOUSES and name is not None and me is not None:
        draft.describe(me, {"spouse": title})
