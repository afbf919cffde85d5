"""What lives are made of, said in set phrases: marrying, a job got or sought, a habit, a birthday."""

from __future__ import annotations

import re

from memory_core.extractors.embedded.grammar import objects, prepositions, subjects
from memory_core.extractors.embedded.reading import Token, conjuncts
from memory_core.extractors.embedded.said import denial
from memory_core.extractors.embedded.scene import Scene

_JOBS = frozenset("job role position internship gig apprenticeship traineeship".split())
_GETTING = frozenset("get land start accept take find have begin secure score move relocate".split())
_SEEKING = frozenset(["apply", "interview"])
_LEAVING = frozenset("quit leave lose".split())
_NO_LONGER = {"apply": "applied_at", "interview": "interviewed_at"}
_DEGREES = frozenset("degree bachelor bachelors master masters diploma phd doctorate minor major ba bsc msc".split())
_ACTIVITIES: dict[str, str] = {
    "run": "running",
    "swim": "swimming",
    "jog": "jogging",
    "cycle": "cycling",
    "bike": "biking",
    "hike": "hiking",
    "row": "rowing",
    "ski": "skiing",
    "snowboard": "snowboarding",
    "climb": "climbing",
    "surf": "surfing",
    "skate": "skating",
    "dance": "dancing",
    "sing": "singing",
    "paint": "painting",
    "knit": "knitting",
    "sew": "sewing",
    "meditate": "meditation",
    "journal": "journaling",
    "garden": "gardening",
    "fish": "fishing",
    "camp": "camping",
    "sail": "sailing",
    "box": "boxing",
    "fence": "fencing",
    "draw": "drawing",
    "sculpt": "sculpting",
    "bowl": "bowling",
    "golf": "golf",
}
_DISTANCE = re.compile(r"^\d[\d.,]*\s?(?:k|km|kms|mi|m|miles?|laps?|minutes?|mins?|hours?)?\b", re.I)


def marriage(scene: Scene, verb: Token) -> bool:
    """ "Tom and I are getting married at Lake Como": the two are tied, and a wedding to come is an event."""
    word = next((t for t in (verb, *verb.children) if t.lower_ in ("married", "engaged", "marrying")), None)
    if (
        word is None
        or any(denial(t) for t in _forms(verb))
        or any(prep == "to" for prep, _ in (*prepositions(verb), *prepositions(word)))
    ):
        return False
    if objects(verb) or any(c.dep_ == "dobj" for c in word.children):
        return False
    who = list(dict.fromkeys(place for token in subjects(verb) for place in scene.who(token)))
    people = [place for place in who if scene.draft.nodes[place].label == "Person"]
    coming = word.lower_ != "engaged" and any(t.tag_ == "VBG" or t.lower_ in ("will", "'ll") for t in _forms(verb))
    if len(people) < 2 and not (coming and people):
        return False
    scene.reading.use(word, word)
    me = next((place for place in people if scene.draft.nodes[place].title == scene.me), people[0])
    for other in (place for place in people if place != me):
        married = not coming and word.lower_ == "married"
        scene.draft.edge(me, "married_to" if married else "engaged_to", other, scene.reading.span(word))
        if married:
            scene.draft.describe(me, {"spouse": scene.draft.nodes[other].title})
    if coming:
        _wedding(scene, verb, word, people)
    return True


def _forms(verb: Token) -> list[Token]:
    return [verb, *(c for c in verb.children if c.dep_ in ("aux", "auxpass", "xcomp"))]


def _wedding(scene: Scene, verb: Token, word: Token, people: list[int]) -> None:
    circumstances = scene.circumstances(verb) | scene.circumstances(word)
    event = scene.draft.node(
        "Event", "wedding", scene.sentence(verb), scene.reading.span(word), attributes=circumstances
    )
    for place in people:
        scene.draft.edge(place, "plans", event, scene.reading.span(word), circumstances)
    if event is not None:
        scene.topic = event
        for preposition, target in dict.fromkeys((*prepositions(verb), *prepositions(word))):
            scene.hang(event, preposition, target)
        scene.details(verb, event)


def job(scene: Scene, verb: Token, who: list[int], target: Token) -> bool:
    """ "I got a job at Colruyt as an analyst", "she applied for a role at Adyen": where, and as what."""
    lemma = verb.lemma_.lower()
    if target.lemma_.lower() not in _JOBS or lemma not in _GETTING | _SEEKING | _LEAVING:
        return False
    around = [pair for pair in (*prepositions(target), *prepositions(verb)) if pair[1].i > target.i]
    found = False
    for preposition, named in around:
        if preposition in ("at", "with") and not scene.reading.dated(named):
            name = "works_at" if lemma in _GETTING else _NO_LONGER.get(lemma, "worked_at")
            label, attribute = "Organization", "employer"
        elif preposition == "as" and lemma in _GETTING:
            name, label, attribute = "works_as", "Concept", "job"
        else:
            continue
        place = scene.thing(named, force=label)
        for holder in who:
            scene.connect(holder, name, place, verb, named)
            if place is not None and lemma in _GETTING:
                scene.draft.replace(holder, {attribute: scene.draft.nodes[place].title})
        found = found or place is not None
    return found and lemma not in _SEEKING


def degree(scene: Scene, verb: Token, who: list[int], target: Token) -> None:
    """ "graduated with a degree in philosophy": what was studied."""
    if target.lemma_.lower() in _DEGREES:
        for preposition, field in prepositions(target):
            if preposition == "in" and not scene.reading.dated(field):
                for holder in who:
                    scene.connect(holder, "studied", scene.thing(field), verb, field)


def habit(scene: Scene, verb: Token, who: list[int]) -> int | None:
    """ "I run 5k every morning": the activity is a skill that is practised."""
    skill = _ACTIVITIES.get(verb.lemma_.lower())
    if skill is None or denial(verb) or verb.tag_ not in ("VBP", "VBZ", "VB"):
        return None
    far = [t for t in objects(verb) if _DISTANCE.match(scene.reading.slice(t.left_edge, t))]
    if len(far) < len(objects(verb)):
        return None
    people = [place for place in who if scene.draft.nodes[place].label == "Person"]
    place = scene.draft.node("Skill", skill, scene.sentence(verb), scene.reading.span(verb)) if people else None
    for holder in people:
        scene.draft.edge(holder, "practices", place, scene.reading.span(verb), scene.circumstances(verb))
    for token in far:
        if place is not None:
            scene.draft.describe(place, {"distance": _distance(scene, token)})
        scene.reading.use(token.left_edge, token)
    return place


def _distance(scene: Scene, token: Token) -> str:
    found = _DISTANCE.match(scene.reading.slice(token.left_edge, token))
    return found.group() if found else ""


def born(scene: Scene, verb: Token, who: list[int]) -> None:
    """ "I was born on March 3, 1990 in Oslo": the day is the birthday."""
    for preposition, target in prepositions(verb):
        if scene.reading.dated(target):
            scene.reading.use(target, target)
            for holder in who:
                scene.draft.describe(holder, {"birthday" if preposition == "on" else "born": target.text})


def birthday(scene: Scene, subject: Token, verb: Token) -> None:
    """ "My birthday is on March 3rd", "Ana's birthday is in May": an attribute of the person too."""
    if subject.lemma_.lower() not in ("birthday", "bday", "b-day") or denial(verb):
        return
    owner = next((c for c in subject.children if c.dep_ == "poss"), None)
    inside = [t for c in verb.children if c.dep_ in ("attr", "npadvmod", "acomp") for t in conjuncts(c)]
    dates = [t for t in (*inside, *(t for _, t in prepositions(verb))) if scene.reading.dated(t)]
    if owner is None or not dates:
        return
    for holder in scene.who(owner):
        if scene.draft.nodes[holder].label == "Person":
            scene.draft.describe(holder, {"birthday": dates[0].text})
