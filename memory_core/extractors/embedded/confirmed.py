"""What an assistant's turn says in prose: facts of the user it confirms, and what it recommends."""

from __future__ import annotations

import re

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.actions import action
from memory_core.extractors.embedded.grammar import objects
from memory_core.extractors.embedded.phrases import head_label
from memory_core.extractors.embedded.reading import Token, conjuncts
from memory_core.extractors.embedded.said import own_subjects, stated
from memory_core.extractors.embedded.scene import Scene
from memory_core.extractors.embedded.states import copula
from memory_core.extractors.embedded.wants import preference

_CONFIRMS = re.compile(
    r"\b(?:since|given that|because|as) you|\byou(?:'ve| have)? (?:mentioned|said|told|shared|noted)"
    r"|\b(?:glad|great|happy|sorry|wonderful|nice) (?:to hear )?(?:that )?you",
    re.I,
)
_RECOMMENDING = ("recommend", "suggest")
_OFFERING = ("try", "visit", "check", "consider", "read", "watch", "see", "use", "explore")


def confirm(scene: Scene) -> None:
    """Facts of "you" in sentences that repeat what the user said; what the assistant recommends."""
    for sentence in scene.reading.doc.sents:
        if _CONFIRMS.search(sentence.text) and not sentence.text.rstrip().endswith("?"):
            _confirmed(scene, sentence)
        for verb in sentence:
            asked = sentence.text.rstrip().endswith("?")
            if verb.pos_ == "VERB" and not asked and (verb.lemma_.lower() in _RECOMMENDING or _offers(verb)):
                _recommended(scene, verb)
        congratulated = next((t for t in sentence if t.lower_ in ("congratulations", "congrats")), None)
        if congratulated is not None:
            _congratulated(scene, congratulated)


def _confirmed(scene: Scene, sentence: object) -> None:
    scene.mine = words.SECOND_PERSON
    for verb in sentence:  # type: ignore[attr-defined]
        if (
            verb.pos_ not in ("VERB", "AUX")
            or not any(s.lower_ == "you" for s in own_subjects(verb))
            or _reporting(verb)
        ):
            continue
        if _plain(verb) and (
            _given(verb) or stated(verb, scene.mine) or (verb.dep_ == "ccomp" and _reporting(verb.head))
        ):
            lemma = verb.lemma_.lower()
            read = (
                preference
                if lemma in words.LIKING | words.DISLIKING | words.PREFERRING
                else copula
                if lemma == "be"
                else action
            )
            read(scene, verb)
    scene.mine = frozenset(["your"])


def _reporting(verb: Token) -> bool:
    return verb.lemma_.lower() in ("mention", "say", "tell", "share", "note", "want", "ask", "need")


def _given(verb: Token) -> bool:
    """ "Since you are allergic to peanuts, I'd …": what the user is known to have said."""
    return verb.dep_ == "advcl" and any(c.dep_ == "mark" and c.lower_ in ("since", "because") for c in verb.children)


def _plain(verb: Token) -> bool:
    return not any(c.dep_ == "aux" and c.lower_ in words.HYPOTHETICAL_MODALS | {"will", "'ll"} for c in verb.children)


def _congratulated(scene: Scene, token: Token) -> None:
    scene.mine = words.SECOND_PERSON
    for target in (
        t
        for c in token.children
        if c.lower_ in ("on", "for")
        for o in c.children
        if o.dep_ == "pobj"
        for t in conjuncts(o)
    ):
        place = scene.thing(target, force=head_label(target.lemma_.lower()) or "Event")
        scene.draft.edge(scene.speaker() if place is not None else None, "has", place, scene.reading.span(target))
    scene.mine = frozenset(["your"])


def _offers(verb: Token) -> bool:
    """ "You could try X", "check out X": a modal with "you", or an imperative, and a name to try."""
    if verb.lemma_.lower() not in _OFFERING or not any(target.pos_ == "PROPN" for target in objects(verb)):
        return False
    modal = any(c.dep_ == "aux" and c.lower_ in ("could", "might", "should", "can", "may") for c in verb.children)
    subjects = [subject.lower_ for subject in own_subjects(verb)]
    return (modal and subjects == ["you"]) or (not subjects and verb.dep_ == "ROOT" and verb.tag_ in ("VB", "VBP"))


def _recommended(scene: Scene, verb: Token) -> None:
    if any(c.dep_ == "neg" for c in verb.children):
        return
    for target in objects(verb):
        place = scene.thing(target)
        if place is not None:
            assistant = scene.draft.node("Person", "Assistant", "The assistant of the conversation.", None, named=True)
            scene.draft.edge(assistant, "recommends", place, scene.reading.span(verb, target))
