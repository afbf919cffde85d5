"""What somebody or something does: an edge from the subject to its objects, the rest as attributes."""

from __future__ import annotations

import re

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.grammar import is_verbal, objects, prepositions
from memory_core.extractors.embedded.life import born, degree, habit, job
from memory_core.extractors.embedded.phrases import head_label
from memory_core.extractors.embedded.reading import Token, conjuncts
from memory_core.extractors.embedded.relations import LISTED, insisted, relation
from memory_core.extractors.embedded.said import denial
from memory_core.extractors.embedded.scene import Scene
from memory_core.extractors.embedded.wants import deed_node

_READING = frozenset("read reread finish binge rewatch stream".split())


_MISTAKEN_WORKS = ("NAME", "ORG", "GPE", "PERSON", "PRODUCT", "LOC", "FAC")
_SINGLE_VALUED = {
    "lives_in": "home",
    "moved_to": "home",
    "works_at": "employer",
    "works_as": "job",
    "promoted_to": "job",
    "married_to": "spouse",
}
_OWN_CHILDREN = {"girl": "daughter", "boy": "son"}
_TEACHING = frozenset(["teach", "study"])
_AGE = re.compile(r"(?:[1-9]|\d\d|1[01]\d)(?:\s|$)")
_ABOUT_ME = frozenset("invite owe marry hire teach visit call meet".split())


def action(scene: Scene, verb: Token) -> None:
    """Any other verb: an edge from the subject to its objects, the rest as attributes."""
    chain = [verb]
    while (deeper := next((c for c in chain[-1].children if c.dep_ == "xcomp" and is_verbal(c)), None)) is not None:
        chain.append(deeper)
    for each in chain:
        scene.reading.use(each, each)
    if _naming(scene, verb):
        return
    last, denied, who = chain[-1], denial(verb), scene.holders(verb)
    if last.lemma_ == "turn" and not denied and _birthday(scene, last, who):
        return
    if last.lemma_ == "bear" and not denied:
        born(scene, last, who)
    anchor = _deed(scene, chain, who, denied)
    employed = False
    for target in objects(last):
        if not denied and job(scene, last, who, target):
            employed = True
            continue
        place = _object(scene, chain, who, target, denied)
        anchor = anchor if anchor is not None else place
    for preposition, target in (*prepositions(last), *_taught_at(last)):
        if employed and preposition in ("at", "with", "as"):
            continue
        anchor = _prepositional(scene, chain, who, preposition, target, denied, anchor)
    if anchor is None and not denied:
        anchor = habit(scene, last, who)
    if anchor is None:
        anchor = _happening(scene, last, who, denied)
    _settle(scene, chain, who, anchor)


def _taught_at(verb: Token) -> list[tuple[str, Token]]:
    """ "She teaches physics at the Lyceum": the place is hers, not the subject's."""
    if verb.lemma_.lower() not in _TEACHING:
        return []
    return [pair for target in objects(verb) for pair in prepositions(target) if pair[0] in ("at", "in")]


def _naming(scene: Scene, verb: Token) -> bool:
    """ "The book is called Piranesi": the thing takes the name."""
    if verb.lemma_ not in ("call", "name", "title") or denial(verb):
        return False
    subject = next((c for c in verb.children if c.dep_ == "nsubjpass"), None)
    name = next((c for c in verb.children if c.dep_ in ("oprd", "attr", "dobj") and c.text[0].isupper()), None)
    return subject is not None and name is not None and scene.same(subject, name) is not None


def _deed(scene: Scene, chain: list[Token], who: list[int], denied: str) -> int | None:
    """ "I quit smoking": the deed is the object; so is a noun the parser took for a verb ("eat gluten")."""
    last, named = chain[-1], chain
    deed = next((c for c in last.children if c.i == last.i + 1 and c.pos_ == "VERB" and not is_verbal(c)), None)
    if deed is None and len(chain) > 1 and last.tag_ == "VBG" and not objects(last):
        dated = all(scene.reading.dated(target) for _, target in prepositions(last))
        deed, named = (last, chain[:-1]) if dated else (None, chain)
    if deed is None or deed.dep_ not in ("xcomp", "advcl"):
        return None
    place = deed_node(scene, deed, "Concept")
    for holder in who:
        scene.connect(holder, relation(named, "", denied, deed)[0], place, chain[0], deed)
    return place


def _object(scene: Scene, chain: list[Token], who: list[int], target: Token, denied: str) -> int | None:
    name, label = relation(chain, "", denied, target)
    work = chain[-1].lemma_ in _READING and scene.reading.kind(target) in _MISTAKEN_WORKS
    tongue = label == "Skill" and scene.reading.kind(target) in ("NORP", "LANGUAGE")
    force = "Skill" if name == "has_skill" or tongue else "Artifact" if work else ""
    place = scene.thing(target, label, force, hang=chain[-1].lemma_.lower() not in _TEACHING)
    if name in ("has", "owns", "has_got", "got"):
        name = _having(scene, target, name)
    if place is None or (scene.is_mine(target) and chain[-1].lemma_ not in _ABOUT_ME):
        return None
    for holder in who:
        scene.connect(holder, name, place, chain[0], target)
        single_valued(scene, holder, name, place)
    return place


def _having(scene: Scene, target: Token, name: str) -> str:
    """ "I have two brothers, Kwame and Kofi": kin and pets say what they are."""
    before = target.doc[max(0, target.i - 12) : target.i + 1]
    group = [t for t in before if t.lemma_.lower() in words.KIN | words.PETS | _OWN_CHILDREN.keys()]
    lemma = _OWN_CHILDREN.get(group[-1].lemma_.lower(), group[-1].lemma_.lower()) if group else ""
    listed = [t for c in group[-1].children if c.dep_ == "appos" for t in conjuncts(c)] if group else []
    between = target.doc[group[-1].i + 1 : target.i] if group else []
    of_it = bool(group) and (
        group[-1].i == target.i
        or (scene.reading.named(target) and target in [*conjuncts(group[-1]), *listed])
        or (scene.reading.named(target) and all(_of_a_list(t) for t in between))
    )
    if not of_it:
        return name
    return "has_pet" if lemma in words.PETS else f"has_{words.KIN_NAMES.get(lemma, lemma)}"


def _of_a_list(token: Token) -> bool:
    return bool(token.is_punct or token.pos_ == "CCONJ" or token.text[0].isupper())


def _happening(scene: Scene, verb: Token, who: list[int], denied: str) -> int | None:
    """ "The car broke down": what happened is an attribute of the thing."""
    for holder in who:
        if scene.draft.nodes[holder].label != "Person":
            particle = next((f" {c.text}" for c in verb.children if c.dep_ == "prt"), "")
            if not denied:
                scene.draft.describe(holder, {scene.free(holder, "does"): verb.text + particle})
            return holder
    return None


def _settle(scene: Scene, chain: list[Token], who: list[int], anchor: int | None) -> None:
    last = chain[-1]
    if anchor is not None and scene.draft.nodes[anchor].label != "Person":
        scene.draft.describe(anchor, scene.circumstances(chain[0]) | scene.circumstances(last))
        scene.topic = anchor
    if anchor is not None and not who and last.lemma_ not in ("have", "get", "be") and not scene.names_only:
        scene.loose.append(("does", last.text))
    scene.details(last, anchor if anchor is not None else scene.topic)


def _birthday(scene: Scene, verb: Token, who: list[int]) -> bool:
    """ "turned 32 on Friday": an age and an event."""
    number = next((c for c in verb.children if c.i > verb.i and _AGE.match(c.text)), None)
    people = [place for place in who if scene.draft.nodes[place].label == "Person"]
    if number is None or not people:
        return False
    scene.reading.use(number, number)
    age, when = number.text.partition(" ")[::2]
    for place in people:
        scene.draft.describe(place, {"age": age})
        scene.reading.kinds.pop(number.idx, None)
        title = f"{scene.draft.nodes[place].title}'s birthday"
        event = scene.draft.node("Event", title, scene.sentence(verb), scene.reading.span(verb, number), named=True)
        if event is not None:
            scene.draft.describe(event, {"age": age, "when": when, **scene.circumstances(verb)})
        scene.draft.edge(place, "turned", event, scene.reading.span(verb, number), scene.circumstances(verb))
    return True


def _prepositional(
    scene: Scene, chain: list[Token], who: list[int], preposition: str, target: Token, denied: str, anchor: int | None
) -> int | None:
    if scene.reading.dated(target) or scene.reading.kind(target) == "MONEY" or scene.is_amount(target):
        return anchor
    if (
        preposition == "with"
        and chain[-1].lemma_ in ("be", "get", "have", "come", "go")
        and anchor is None
        and target.i in scene.places
    ):
        return anchor
    listed = relation(chain, preposition, denied, target)
    event = target.pos_ == "NOUN" and head_label(target.lemma_.lower()) == "Event" and not scene.names_only
    mine = chain[-1].lemma_.lower() in _TEACHING and preposition in ("at", "in")
    known = (
        listed[0] in LISTED
        or scene.places.get(target.i) is not None
        or scene.reading.named(target)
        or (event and preposition in ("at", "to", "for", "in"))
    )
    if anchor is not None and not known:
        return anchor
    job(scene, chain[-1], [] if denied else who, target)
    if not denied:
        degree(scene, chain[-1], who, target)
    before = anchor
    for holder in who:
        person = scene.draft.nodes[holder].label == "Person"
        if not person and not known:
            scene.hang(holder, f"{chain[-1].lemma_}_{preposition}", target)
            continue
        place = scene.thing(
            target,
            listed[1],
            insisted(chain[-1], preposition, listed),
            hang=listed[0] not in ("works_as", "worked_as", "promoted_to"),
        )
        if listed[0] in ("works_as", "worked_as", "promoted_to") and place is not None:
            _workplace(scene, holder, "worked_at" if listed[0] == "worked_as" else "works_at", target)
        if before is not None and place is not None and not (event or mine) and _belongs(scene, before, preposition):
            where = preposition in ("in", "at", "near", "on")
            scene.draft.edge(before, "located_in" if where else preposition, place, scene.reading.span(target))
        elif place is not None:
            scene.connect(holder, listed[0], place, chain[0], target)
            single_valued(scene, holder, listed[0], place)
            anchor = anchor if anchor is not None else place
    return anchor


def _belongs(scene: Scene, anchor: int, preposition: str) -> bool:
    """Whether a preposition says more of the object than of the subject: an event with people, a house in a town."""
    label = scene.draft.nodes[anchor].label
    return label == "Event" or (label in ("Location", "Organization") and preposition in ("in", "at", "near", "on"))


def _workplace(scene: Scene, who: int, name: str, job: Token) -> None:
    for preposition in (c for c in job.children if c.dep_ == "prep" and c.lower_ in ("at", "for", "with")):
        for target in (t for c in preposition.children if c.dep_ == "pobj" for t in conjuncts(c)):
            place = scene.thing(target, force="Organization")
            scene.draft.edge(who, name, place, scene.reading.span(job, target))
            single_valued(scene, who, name, place)


def single_valued(scene: Scene, holder: int, name: str, place: int | None) -> None:
    if place is not None and name in ("lives_in", "moved_to") and not scene.draft.nodes[place].title[0].isupper():
        inside = next(
            (e.target for e in scene.draft.edges if (e.source, e.relationship) == (place, "located_in")), None
        )
        if inside is None:
            return
        scene.draft.edge(holder, name, inside, None)
        place = inside
    attribute = _SINGLE_VALUED.get(name)
    if place is not None and attribute:
        scene.draft.replace(holder, {attribute: scene.draft.nodes[place].title})
