"""Which of the nine labels a noun phrase takes: by its head noun, its name, and what the clause does with it."""

from __future__ import annotations

from memory_core.extractors.embedded import nouns
from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.given_names import given_names
from memory_core.extractors.embedded.phrases import head_label
from memory_core.extractors.embedded.places import places
from memory_core.extractors.embedded.reading import Reading, Token

_LANDMARKS = ("mount", "mt.", "lake", "loch", "port", "fort", "cape", "san", "santa", "isle", "camp")
_TITLES = ("dr", "dr.", "mr", "mr.", "mrs", "mrs.", "ms", "ms.", "prof", "prof.", "aunt", "uncle", "grandma", "grandpa")
_PLACING = ("in", "to", "from", "near", "around", "for", "via", "through")
_GUESSED = ("NAME", "PERSON", "ORG", "PRODUCT", "GPE", "LOC", "FAC", "EVENT", "NORP", "WORK_OF_ART")
_WORKING = frozenset("work volunteer intern job position role nurse engineer interview apply hire freelance".split())
_BUYING = frozenset("order buy purchase get grab".split())
_MAKING = frozenset("direct write publish release film compose record shoot".split())
_ENGAGED = frozenset("believe interest confide invest trust star play".split())
_STUDYING = frozenset("learn speak study teach know practice practise".split())
_EATING = frozenset("order eat cook crave get make have".split())
_BELONGING = frozenset("leave join quit found cofound".split())
_USING = frozenset(
    """use install download cancel stream subscribe uninstall log track switch upgrade update sync try delete learn
    own drive wear charge preorder binge play""".split()
)
_TALKING = frozenset(
    """say tell ask think laugh cry smile text promise admit insist want hope marry propose cook bake
    teach study snore phone email apologise apologize graduate retire agree love hate""".split()
)
_MEETING = frozenset(
    "meet marry hug invite text email phone thank date tell ask introduce babysit miss help teach visit".split()
)


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
    by_head = head_label(pieces[-1], named=True) if len(pieces) > 1 else ""
    group = by_head == "Organization" and kind not in ("TITLE", "WORK_OF_ART")
    if by_head and (group or kind not in ("PERSON", "TITLE", "WORK_OF_ART") or pieces[0] not in given_names()):
        return "Artifact" if kind in ("TITLE", "WORK_OF_ART") else by_head
    if kind in ("NAME", "PERSON", "PRODUCT", "GPE") and any(
        c.dep_ == "poss" and c.lower_ in ("my", "our", "your") for c in token.children
    ):
        return "Artifact"
    if kind in ("PERSON", "NAME", "ORG", "PRODUCT") and (_towards(token) or _is_place(token, kind)):
        return "Location"
    if kind in _GUESSED and (guessed := _mended(token, kind, pieces)):
        return guessed
    return words.NAMED.get(kind) or _by_context(token) or (default if default != "Concept" else "") or "Concept"


def _mended(token: Token, kind: str, pieces: list[str]) -> str:
    """The label of a name whose kind the small recogniser is known to guess: a given name, or what is done with it."""
    place = " ".join(pieces) in places()
    made = token.head.lemma_.lower() in _MAKING if token.dep_ == "nsubjpass" else False
    if made or " ".join(pieces) in nouns.LANGUAGES:
        return "Artifact" if made else "Skill" if token.head.lemma_.lower() in _STUDYING else "Concept"
    if token.dep_ == "pobj" and token.head.lower_ == "in" and kind in ("PERSON", "NAME") and len(pieces) <= 2:
        return "Location" if token.head.head.lemma_.lower() not in _ENGAGED else ""
    if token.dep_ == "pobj" and token.head.dep_ == "agent" and token.head.head.lemma_.lower() in _MAKING:
        return "Person"
    if len(pieces) <= 3 and pieces[0] in given_names() and not place and not _towards(token):
        return "Person" if len(pieces) == 1 or not head_label(pieces[-1], named=True) else ""
    sure = place or (len(pieces) > 1 and kind in ("PERSON", "GPE", "LOC", "FAC", "WORK_OF_ART"))
    return "" if sure else _by_deed(token, kind)


def _by_deed(token: Token, kind: str) -> str:
    owner = any(c.tag_ == "POS" for c in token.children)
    if owner and token.dep_ == "poss" and len(token.text.split()) == 1:
        return "Person"
    head, lemma = token.head, token.head.lemma_.lower()
    if token.dep_ == "conj" and head.pos_ == "PROPN":
        return _by_deed(head, kind)
    if token.dep_ in ("nsubj", "dative") and lemma in _TALKING:
        return "Person"
    if token.dep_ == "dobj" and kind == "NORP":
        return "Skill" if lemma in _STUDYING else "Artifact" if lemma in _EATING | _USING else ""
    if token.dep_ == "dobj" and lemma in _BELONGING:
        return "Organization"
    if token.dep_ == "dobj" and kind == "PERSON" and lemma in words.LIKING | words.DISLIKING:
        return "Artifact"
    if token.dep_ == "dobj":
        return "Artifact" if lemma in _USING else "Person" if lemma in _MEETING and kind == "NAME" else ""
    if token.dep_ == "pobj":
        above = head.head.lemma_.lower()
        if (head.lower_ in ("at", "for", "with") and above in _WORKING) or (head.lower_ == "from" and above in _BUYING):
            return "Organization"
        if head.lower_ in ("on", "to", "in", "with", "for") and above in _USING:
            return "Artifact"
        if head.lower_ == "with" and kind in ("NAME", "GPE"):
            return "Person"
    return ""


def _is_place(token: Token, kind: str) -> bool:
    """A known place; one that the recogniser takes for a person (Florence, Austin) only where a place would stand."""
    if token.text.lower() not in places():
        return False
    placed = token.dep_ == "pobj" and token.head.lower_ in _PLACING
    return placed or (kind in ("NAME", "ORG", "PRODUCT") and not _person_here(token)) or _no_person(token)


def _person_here(token: Token) -> bool:
    return token.text.lower() in given_names() and token.dep_ in ("nsubj", "appos", "dative", "conj")


def _no_person(token: Token) -> bool:
    return token.text.lower() not in given_names()


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
        if head.lower_ in ("in", "to", "from", "near", "around", "at"):
            return "Location"
        if head.lower_ in ("with", "by"):
            return "Person"
        return ""
    if token.dep_ in ("nsubj", "dative") and (head.pos_ == "VERB" or _is_of_people(head)):
        return "Person"
    return "Location" if head.lemma_ == "visit" else ""
