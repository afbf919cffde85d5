"""Favourites: "my favourite film is X", and "my favourite colour used to be green, now it's teal"."""

from __future__ import annotations

import re

from memory_core.extractors.embedded.grammar import subjects
from memory_core.extractors.embedded.phrases import head_label
from memory_core.extractors.embedded.reading import Token, conjuncts
from memory_core.extractors.embedded.scene import Scene

_WORDS = frozenset(["favorite", "favourite", "fav", "fave"])
_NAMED_KINDS = ("Artifact", "Organization", "Person")
_CHANGED = re.compile(
    r"\bmy (fav(?:ou?rite|e)? [\w' ]{2,30}?) (?:used to be|was) ([^,.;!?\n]{2,40}?),?\s+"
    r"(?:but |and |though )?(?:now )?(?:it's|it is)(?: now)? ((?:(?! but | and )[^,.;!?\n]){2,40})",
    re.I,
)


def changed_favourites(scene: Scene) -> None:
    """The old one is no longer liked, the new one is; the clauses need not be read again."""
    for found in _CHANGED.finditer(scene.reading.text):
        for group, relationship in ((2, "used_to_like"), (3, "likes")):
            tokens = [t for t in scene.reading.doc if found.start(group) <= t.idx < found.end(group)]
            head = next((t for t in reversed(tokens) if t.pos_ in ("NOUN", "PROPN", "ADJ")), None)
            if head is None:
                continue
            named = scene.reading.named(head)
            place = scene.draft.node(
                "Artifact" if named else "Preference",
                found.group(group),
                found.group(),
                found.span(group),
                named=named,
                attributes={"favorite" if group == 3 else "used_to_be": found.group(1)},
            )
            scene.draft.edge(scene.speaker(), relationship, place, found.span(group), {"favorite": found.group(1)})
        inside = [t for t in scene.reading.doc if found.start() <= t.idx < found.end()]
        scene.told |= {t.i for t in inside}
        scene.reading.use(inside[0], inside[-1])


def favourite(scene: Scene, verb: Token, denied: str) -> bool:
    """ "My favourite film is X": the speaker likes X."""
    for subject in subjects(verb):
        adjectives = {c.lower_ for c in subject.children} | {subject.lower_}
        if adjectives & _WORDS and any(scene.is_mine(c) for c in subject.children) and not denied:
            for target in _named_by(verb):
                _liked(scene, subject, verb, target)
            return True
    return False


def _named_by(verb: Token) -> list[Token]:
    """What stands after "is": the first of what is coordinated."""
    after = (c for c in verb.children if c.dep_ in ("attr", "acomp") or (c.dep_ == "nsubj" and c.i > verb.i))
    return [t for c in after for t in conjuncts(c)[:1]]


def _liked(scene: Scene, subject: Token, verb: Token, target: Token) -> None:
    kind = head_label(subject.lemma_.lower())
    force = (kind if kind in _NAMED_KINDS else "") if scene.reading.named(target) else "Preference"
    place = scene.thing(target, "Artifact", force)
    if place is None and target.pos_ == "ADJ":  # "my favourite colour is green"
        place = scene.draft.node("Preference", target.text, scene.sentence(target), scene.reading.span(target))
    scene.reading.use(subject, subject)
    scene.draft.edge(scene.speaker(), "likes", place, scene.reading.span(verb, target), {"favorite": subject.text})
    if place is not None:
        scene.draft.describe(place, {"favorite": scene.text(subject)})
        scene.topic = place
        scene.details(verb, place)
