"""Who and what a verb takes: subjects, objects, prepositions, and the name it gives a relationship."""

from __future__ import annotations

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.reading import Token, conjuncts
from memory_core.extractors.embedded.said import SUBJECTS, own_subjects

_AWAY = frozenset("back away out over home down up".split())


def subjects(verb: Token) -> list[Token]:
    """The subject tokens of a verb, its own or those of the verb it hangs on."""
    own = own_subjects(verb)
    if own:
        return [s for c in own for s in conjuncts(c)]
    if verb.dep_ in ("conj", "xcomp", "pcomp", "advcl") and verb.head.i != verb.i:
        above = next((t for t in verb.ancestors if t.pos_ in ("VERB", "AUX")), None)
        return subjects(above) if above is not None else []
    if verb.dep_ == "acl" and verb.head.dep_ == "attr" and verb.head.head.lemma_ == "be":
        return subjects(verb.head.head)
    if verb.dep_ == "acl" and verb.head.pos_ in ("NOUN", "PROPN"):
        return [verb.head]
    return []


def objects(verb: Token) -> list[Token]:
    found = [through(t) for c in verb.children if c.dep_ in ("dobj", "attr", "oprd") for t in conjuncts(c)]
    if not found and verb.pos_ == "VERB":
        odd = [
            c
            for c in verb.rights
            if c.dep_ in ("punct", "dep", "intj", "nsubj") and c.pos_ in ("NOUN", "PROPN") and c.text[0].isalnum()
        ]
        found = odd[:1]
    found += [
        t for each in found for c in each.children if c.dep_ == "appos" and c.pos_ == "PROPN" for t in conjuncts(c)[1:]
    ]
    if (
        not found
        and verb.dep_ == "relcl"
        and own_subjects(verb)
        and not any(t.tag_ in ("WDT", "WP") for t in own_subjects(verb))
    ):
        found = [verb.head]
    if not found and any(c.dep_ == "expl" for c in verb.children):
        found = [t for c in verb.children if c.dep_ in SUBJECTS for t in conjuncts(c)]
    return found


def through(token: Token) -> Token:
    """What "a bit of", "a couple of" counts."""
    if token.lemma_.lower() in words.VAGUE_NOUNS and not token.ent_type_:
        inner = [o for c in token.children if c.lower_ == "of" for o in c.children if o.dep_ == "pobj"]
        return inner[0] if inner else token
    return token


def prepositions(verb: Token) -> list[tuple[str, Token]]:
    dates = [c for p in verb.children if p.dep_ == "prep" for c in p.children if c.ent_type_ == "DATE"]
    lifted = [pair for date in dates for pair in prepositions(date)] if verb.pos_ == "VERB" else []
    inner = [(f"{a.lower_}_", p) for a in verb.children if a.lower_ in _AWAY for p in a.children if p.dep_ == "prep"]
    return lifted + [
        (before + child.lower_, target)
        for before, child in [*(("", c) for c in verb.children), *inner]
        if child.dep_ in ("prep", "agent", "dative")
        for c in child.children
        if c.dep_ == "pobj"
        for target in conjuncts(c)
    ]


def is_verbal(token: Token) -> bool:
    """Whether an open complement is a verb, and no noun the parser took for one."""
    return token.pos_ == "VERB" and (
        token.tag_ != "VB"
        or any(c.dep_ == "aux" for c in token.children)
        or token.head.lemma_ in ("help", "let", "make", "go")
    )


def lemma_of(verb: Token) -> str:
    """The lemma, mended where the small model is known to fail ("hates" is no hat)."""
    return (
        "hate"
        if verb.lower_.startswith("hat") and verb.lower_ in ("hate", "hates", "hated")
        else str(verb.lemma_.lower())
    )


def form_of(verb: Token) -> str:
    """The verb as a relationship: its past form as written, else the third person."""
    if verb.tag_ in ("VBD", "VBN") or verb.lower_ in words.PAST_FORMS:
        return str(verb.lower_)
    lemma = str(verb.lemma_.lower())
    irregular = {"have": "has", "be": "is", "go": "goes", "do": "does", "quit": "quit"}
    if lemma in irregular:
        return irregular[lemma]
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + ("es" if lemma.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
