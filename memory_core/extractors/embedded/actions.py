"""What somebody or something does: an edge from the subject to its objects, the rest as attributes."""

from __future__ import annotations

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.grammar import is_verbal, objects, prepositions
from memory_core.extractors.embedded.phrases import head_label
from memory_core.extractors.embedded.reading import Token, conjuncts
from memory_core.extractors.embedded.relations import LISTED, insisted, relation
from memory_core.extractors.embedded.said import denial
from memory_core.extractors.embedded.scene import Scene
from memory_core.extractors.embedded.wants import deed_node

_READING = frozenset("read reread finish binge rewatch stream".split())


_ABOUT_ME = frozenset("invite owe marry hire teach visit call meet".split())


def action(scene: Scene, verb: Token) -> None:
    """Any other verb: an edge from the subject to its objects, the rest as attributes."""
    chain = [verb]
    while (deeper := next((c for c in chain[-1].children if c.dep_ == "xcomp" and is_verbal(c)), None)) is not None:
        chain.append(deeper)
        scene.reading.use(deeper, deeper)
    last, denied = chain[-1], denial(verb)
    who = scene.holders(verb)
    if last.lemma_ == "turn" and not denied and _birthday(scene, last, who):
        return
    anchor: int | None = None
    if (
        len(chain) > 1
        and last.tag_ == "VBG"
        and not objects(last)
        and all(scene.reading.dated(t) for _, t in prepositions(last))
    ):
        place = deed_node(scene, last, "Concept")
        for holder in who:
            anchor = scene.connect(holder, relation(chain[:-1], "", denied, last)[0], place, verb, last)
    for noun in (c for c in last.children if c.dep_ == "xcomp" and c.pos_ == "VERB" and not is_verbal(c)):
        place = deed_node(scene, noun, "Concept")
        for holder in who:
            anchor = scene.connect(holder, relation(chain, "", denied, noun)[0], place, verb, noun)
    for target in objects(last):
        for holder in who or [None]:
            name, label = relation(chain, "", denied, target)
            work = last.lemma_ in _READING and scene.reading.kind(target) in (
                "NAME",
                "ORG",
                "GPE",
                "PERSON",
                "PRODUCT",
                "LOC",
                "FAC",
            )
            place = scene.thing(target, label, "Skill" if name == "has_skill" else "Artifact" if work else "")
            if name in ("has", "owns", "has_got", "got") and target.lemma_.lower() in words.PETS:
                name = "has_pet"
            if place is not None and scene.is_mine(target) and last.lemma_ not in _ABOUT_ME:
                continue
            if holder is not None:
                place = scene.connect(holder, name, place, verb, target)
                single_valued(scene, holder, name, place)
            anchor = anchor if anchor is not None else place
    for preposition, target in prepositions(last):
        anchor = _prepositional(scene, chain, who, preposition, target, denied, anchor)
    for holder in who:
        if anchor is None and scene.draft.nodes[holder].label != "Person":
            anchor = holder
            if not denied:
                particle = next((f" {c.text}" for c in last.children if c.dep_ == "prt"), "")
                scene.draft.describe(holder, {scene.free(holder, "does"): last.text + particle})
    if anchor is not None:
        scene.draft.describe(anchor, scene.circumstances(verb) | scene.circumstances(last)) if scene.draft.nodes[
            anchor
        ].label != "Person" else None
        scene.topic = anchor if scene.draft.nodes[anchor].label != "Person" else scene.topic
    if (
        verb.pos_ == "VERB"
        and anchor is not None
        and not who
        and not scene.names_only
        and last.lemma_ not in ("have", "get")
    ):
        scene.loose.append(("does", last.text))
    scene.details(last, anchor if anchor is not None else scene.topic)


def _birthday(scene: Scene, verb: Token, who: list[int]) -> bool:
    """ "turned 32 on Friday": an age and an event."""
    number = next((c for c in verb.children if c.like_num and c.i > verb.i), None)
    people = [place for place in who if scene.draft.nodes[place].label == "Person"]
    if number is None or not people:
        return False
    scene.reading.use(number, number)
    for place in people:
        scene.draft.describe(place, {"age": number.text})
        title = f"{scene.draft.nodes[place].title}'s birthday"
        event = scene.draft.node("Event", title, scene.sentence(verb), scene.reading.span(verb, number), named=True)
        if event is not None:
            scene.draft.describe(event, {"age": number.text, **scene.circumstances(verb)})
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
    known = listed[0] in LISTED or scene.reading.named(target) or (event and preposition in ("at", "to", "for", "in"))
    if anchor is not None and not known:
        return anchor
    for holder in who:
        person = scene.draft.nodes[holder].label == "Person"
        if not person and not known:
            scene.hang(holder, f"{chain[-1].lemma_}_{preposition}", target)
            continue
        place = scene.thing(
            target, listed[1], insisted(chain[-1], preposition, listed), hang=listed[1] != "Concept" or not known
        )
        if listed[0] in ("works_as", "worked_as") and place is not None:
            _workplace(scene, holder, listed[0].replace("_as", "_at"), target)
        if anchor is not None and place is not None and scene.draft.nodes[anchor].label == "Event" and not event:
            scene.draft.edge(
                anchor,
                preposition if preposition not in ("in", "at") else "located_in",
                place,
                scene.reading.span(target),
            )
        elif place is not None:
            scene.connect(holder, listed[0], place, chain[0], target)
            single_valued(scene, holder, listed[0], place)
            anchor = anchor if anchor is not None else place
    return anchor


def _workplace(scene: Scene, who: int, name: str, job: Token) -> None:
    for preposition in (c for c in job.children if c.dep_ == "prep" and c.lower_ in ("at", "for", "with")):
        for target in (t for c in preposition.children if c.dep_ == "pobj" for t in conjuncts(c)):
            place = scene.thing(target, force="Organization")
            scene.draft.edge(who, name, place, scene.reading.span(job, target))
            single_valued(scene, who, name, place)


def single_valued(scene: Scene, holder: int, name: str, place: int | None) -> None:
    attribute = {
        "lives_in": "home", "moved_to": "home", "works_at": "employer", "works_as": "job", "married_to": "spouse"
    }.get(name)  # fmt: skip
    if place is not None and attribute:
        scene.draft.replace(holder, {attribute: scene.draft.nodes[place].title})
