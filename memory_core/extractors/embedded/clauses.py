"""Walks the clauses of a turn and sends each stated one to the kind it is."""

from __future__ import annotations

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.actions import action
from memory_core.extractors.embedded.grammar import lemma_of, subjects
from memory_core.extractors.embedded.life import marriage
from memory_core.extractors.embedded.reading import Token
from memory_core.extractors.embedded.said import denial, stated, wished
from memory_core.extractors.embedded.scene import Scene
from memory_core.extractors.embedded.states import copula, used_to_be
from memory_core.extractors.embedded.wants import ability, aim, fan, goal, intended, preference

_BECOMING = frozenset("become get feel seem look sound stay remain turn".split())


def walk(scene: Scene) -> None:
    """Reads every stated clause of the turn into the scene's draft."""
    for token in scene.reading.doc:
        fan(scene, token)
        if (
            token.pos_ in ("VERB", "AUX")
            and token.dep_ not in ("aux", "auxpass", "amod", "compound")
            and not scene.reading.kind(token)
        ):
            if token.i in scene.told:
                continue
            if token.dep_ == "acl" and token.lemma_ in ("name", "call"):
                continue
            if not (token.dep_ == "xcomp" and token.head.pos_ in ("VERB", "AUX")) and stated(token, scene.mine):
                _clause(scene, token)
            else:
                ability(scene, token)


def _clause(scene: Scene, verb: Token) -> None:
    lemma = lemma_of(verb)
    scene.reading.use(verb, verb)
    doers = subjects(verb)
    if scene.names_only and any(t.lower_ in ("you", "i", "we") for t in doers):
        return
    if marriage(scene, verb) or used_to_be(scene, verb):
        return
    if any(t.lemma_.lower() in words.AIMS and any(scene.is_mine(c) for c in t.children) for t in doers):
        aim(scene, verb)
    elif wished(verb) or (intended(scene, verb) and (not doers or any(scene.is_mine(t) for t in doers))):
        goal(scene, verb)
    elif lemma == "be" or (lemma in _BECOMING and any(c.dep_ == "acomp" for c in verb.children)):
        copula(scene, verb)
    elif lemma in words.LIKING | words.DISLIKING | words.PREFERRING or (lemma == "stand" and denial(verb)):
        preference(scene, verb)
    else:
        action(scene, verb)
