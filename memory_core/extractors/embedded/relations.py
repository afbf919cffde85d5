"""The vocabulary of relationships: what a chain of verbs with a preposition is called, denied or not."""

from __future__ import annotations

from memory_core.extractors.embedded import nouns
from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.grammar import form_of, lemma_of
from memory_core.extractors.embedded.reading import Token

LISTED = frozenset(name for name, _ in words.RELATIONS.values())
_PAST = frozenset(
    "read watched bought ordered sold visited went_to attended cooked baked painted adopted met met_with joined".split()
)
_GIVING = frozenset("lend give send show tell sell teach loan hand offer introduce propose".split())
_TYPED = frozenset(
    """promoted_to works_as worked_as lives_in works_at starts_at teaches_at moved_to born_in grew_up_in lived_in
    worked_at met_with used_to_live_in""".split()
)
_STATES = {
    "live": "lived",
    "work": "worked",
    "study": "studied",
    "reside": "lived",
    "volunteer": "volunteered",
    "drive": "drove",
}


def insisted(verb: Token, preposition: str, listed: tuple[str, str]) -> str:
    """The label the context insists on, whatever the name recogniser thinks."""
    if preposition == "to" and verb.lemma_ in _GIVING:
        return "Person"
    return listed[1] if listed[0].removeprefix("no_longer_").removeprefix("does_not_") in _TYPED else ""


def _is_skill(verb: Token, lemma: str, target: Token) -> bool:
    present = verb.tag_ in ("VBP", "VBZ", "VB")
    taught = target.lemma_.lower() in nouns.SKILLS | nouns.INSTRUMENTS or (lemma == "know" and target.pos_ == "PROPN")
    return present and (lemma == "speak" or (lemma in ("play", "know") and taught))


def relation(chain: list[Token], preposition: str, denied: str, target: Token) -> tuple[str, str]:
    """The relationship a chain of verbs sets, and the label its object takes when nothing else says."""
    first, last = chain[0], chain[-1]
    particle = next((c.lower_ for c in last.children if c.dep_ == "prt"), "")
    lemma = "_".join(filter(None, [lemma_of(last), particle]))
    listed = words.RELATIONS.get((lemma, preposition))
    label = listed[1] if listed else "Concept"
    if label == "Person" and target.pos_ != "PROPN":
        label = "Concept"
    vague = next(
        (
            c.lemma_.lower()
            for c in last.children
            if preposition and c.dep_ == "dobj" and c.pos_ == "NOUN" and c.lemma_.lower() in words.VAGUE_NOUNS
        ),
        "",
    )
    particle = "_".join(filter(None, [particle, vague]))
    if len(chain) == 1 and not denied and not preposition and _is_skill(last, lemma, target):
        return "has_skill", "Skill"
    if first.lemma_ == "use" and len(chain) > 1 and first.tag_ in ("VBD", "VBN"):
        return "_".join(filter(None, ["used_to", lemma, preposition])), label
    if len(chain) > 1:
        pieces = [form_of(first)]
        for deeper in chain[1:]:
            pieces += ["to"] * any(c.dep_ == "aux" and c.lower_ == "to" for c in deeper.children) + [deeper.lower_]
        name = "_".join(filter(None, [*pieces, particle, preposition]))
        bare = "_".join(filter(None, [first.lemma_.lower(), *pieces[1:], particle, preposition]))
    else:
        name = listed[0] if listed else "_".join(filter(None, [form_of(last), particle, preposition]))
        if listed and last.tag_ in ("VBG", "VBP", "VBZ", "VB") and name in _PAST:
            name = "_".join(filter(None, [form_of(last), particle, preposition]))
        if listed and last.tag_ == "VBD" and lemma in _STATES:
            name = f"{_STATES[lemma]}_{listed[0].partition('_')[2]}".rstrip("_")
        if any(c.dep_ == "aux" and c.lower_ in ("will", "'ll") for c in last.children):
            name = "_".join(filter(None, ["will", lemma, preposition]))
        bare = "_".join(filter(None, [lemma, preposition]))
    if not denied:
        return name, label
    auxiliary = "did" if first.tag_ == "VBD" or any(c.lower_ == "did" for c in first.children) else "does"
    perfect = any(c.dep_ == "aux" and c.lemma_ == "have" for c in first.children)
    if denied == "never":
        return "_".join(
            filter(None, ["never", form_of(first), *([] if len(chain) == 1 else pieces[1:]), particle, preposition])
        ), label
    if denied == "not" and perfect and len(chain) == 1:
        return "_".join(filter(None, ["has_not", form_of(last), particle, preposition])), label
    prefix = {"not": f"{auxiliary}_not", "cannot": "cannot"}.get(denied)
    return (f"{prefix}_{bare}" if prefix else f"{denied}_{name}"), label
