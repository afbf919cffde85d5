"""Likes and dislikes, and what the speaker wants, plans or is able to do."""

from __future__ import annotations

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.grammar import lemma_of, objects, prepositions, subjects
from memory_core.extractors.embedded.phrases import head_label
from memory_core.extractors.embedded.reading import Token, conjuncts
from memory_core.extractors.embedded.said import asked, denial, own_subjects
from memory_core.extractors.embedded.scene import Scene

_NO_ENDS = ("ADP", "DET", "CCONJ", "PART", "PRON", "SCONJ", "AUX")
DEED_STOPS = frozenset(
    "before after because since so while when until once as if where which who that with during".split()
)


def intended(scene: Scene, verb: Token) -> bool:
    lemma = verb.lemma_.lower()
    chained = any(c.dep_ in ("xcomp", "ccomp") and c.pos_ in ("VERB", "AUX") for c in verb.children)
    return (
        (lemma in words.WANTING and (chained or lemma in ("plan", "want")))
        or (lemma == "go" and verb.tag_ == "VBG" and chained)
        or (lemma == "have" and any(c.dep_ == "xcomp" and c.tag_ == "VB" for c in verb.children))
        or (lemma in ("think", "consider", "save") and verb.tag_ == "VBG")
        or (lemma == "look" and verb.tag_ == "VBG" and chained)
    )


def preference(scene: Scene, verb: Token) -> None:
    lemma, denied = lemma_of(verb), bool(denial(verb))
    disliking = lemma in words.DISLIKING or lemma == "stand"
    if disliking and denied and lemma != "stand":
        return
    relationship = "dislikes" if disliking or denied else "prefers" if lemma == "prefer" else "likes"
    places = []
    for holder in scene.holders(verb):
        for target in objects(verb) or _fronted(scene, verb):
            named = scene.reading.named(target)
            place = scene.thing(target, "Artifact" if named else "Preference", "" if named else "Preference")
            places.append(scene.connect(holder, relationship, place, verb, target))
        for deed in (c for c in verb.children if c.pos_ == "VERB" and not own_subjects(c) and _liked_deed(verb, c)):
            for each in conjuncts(deed):
                places.append(scene.connect(holder, relationship, deed_node(scene, each, "Preference"), verb, each))
    scene.details(verb, next((p for p in places if p is not None), None))


def fan(scene: Scene, token: Token) -> None:
    """ "not a fan of cilantro", "huge fan of the show": a taste in a sentence without a verb."""
    if token.lemma_ != "fan" or token.dep_ != "ROOT" or scene.mine != words.FIRST_PERSON:
        return
    denied = any(c.lower_ in ("not", "never", "no") for c in token.children)
    for _, target in (pair for pair in prepositions(token) if pair[0] == "of"):
        place = scene.thing(target, "Preference", "" if scene.reading.named(target) else "Preference")
        scene.draft.edge(scene.speaker(), "dislikes" if denied else "likes", place, scene.reading.span(token, target))
        scene.reading.use(token, token)


def _liked_deed(verb: Token, deed: Token) -> bool:
    """ "hate running": a complement, whatever the parser hangs it on by."""
    return deed.dep_ in ("xcomp", "ccomp") or (deed.tag_ == "VBG" and deed.i == verb.i + 1)


def _fronted(scene: Scene, verb: Token) -> list[Token]:
    """ "Jazz I adore": the object before its subject."""
    own = own_subjects(verb)
    if not own or any(c.dep_ in ("xcomp", "ccomp") for c in verb.children):
        return []
    before = [t for t in verb.lefts if t.pos_ in ("NOUN", "PROPN") and t.i == own[-1].left_edge.i - 1]
    return [t for t in before if t not in own or len(own) > 1]


def deed_node(scene: Scene, verb: Token, label: str, bare: bool = False) -> int | None:
    """The node of an action itself: "learn Portuguese", "hiking in the mountains"."""
    subject = [] if bare else own_subjects(verb)
    kept = _deed_words(scene, verb, subject[0].left_edge.i if subject else verb.i)
    if not kept:
        return None
    scene.reading.use(kept[0], kept[-1])
    scene.told |= {t.i for t in kept if t.pos_ == "VERB"}
    return scene.draft.node(
        label, scene.reading.slice(kept[0], kept[-1]), scene.sentence(verb), scene.reading.span(kept[0], kept[-1])
    )


def _deed_words(scene: Scene, verb: Token, start: int) -> list[Token]:
    """The words of a deed up to its first comma, date, reason or second deed; at most nine."""
    kept: list[Token] = []
    for token in verb.doc[start : verb.right_edge.i + 1]:
        stop = token.text in ",;:.!?()" or token.is_space or (token.text in "-–—" and token.whitespace_)
        date = (scene.reading.dated(token) and token.dep_ != "dobj") or token.lower_ in words.WHEN_WORDS
        other = token.lower_ in DEED_STOPS or (token.dep_ == "cc" and token.head.i == verb.i)
        if kept and (stop or date or other or len(kept) >= 9):
            break
        kept.append(token)
    while kept and kept[-1].dep_ != "prt" and (kept[-1].pos_ in _NO_ENDS or kept[-1].is_punct):
        kept.pop()
    return kept


def goal(scene: Scene, verb: Token) -> None:
    """Wants, plans, hopes and what "will" be done, as Goal nodes named by the deed."""
    me, denied = scene.speaker(), denial(verb)
    deeds = [
        c
        for c in verb.children
        if c.dep_ in ("xcomp", "ccomp") and c.pos_ in ("VERB", "AUX") and c.i > verb.i and c.tag_ in ("VB", "VBG")
    ]
    deeds += [
        p for c in verb.children if c.dep_ == "prep" for p in c.children if p.dep_ == "pcomp" and p.pos_ == "VERB"
    ]
    found = [
        (deed, deed_node(scene, deed, "Goal"))
        for each in deeds
        for deed in [each, *(t for t in conjuncts(each)[1:] if t.pos_ in ("VERB", "AUX") and not own_subjects(t))]
    ]
    if not deeds:
        targets = objects(verb) + [t for _, t in prepositions(verb)]
        found = [
            (t, scene.thing(t, "Goal", "" if head_label(t.lemma_.lower()) == "Event" else "Goal")) for t in targets
        ]
    for deed, place in found:
        if place is None:
            continue
        event = scene.draft.nodes[place].label == "Event"
        name = f"does_not_{verb.lemma_}" if denied else "plans" if event else "has_goal"
        scene.draft.edge(me, name, place, scene.reading.span(verb), scene.circumstances(verb))
        scene.draft.describe(place, {**scene.circumstances(verb), **scene.circumstances(deed)})
        _inside(scene, place, deed)
        scene.topic = place
        scene.details(deed, place)


def _inside(scene: Scene, place: int, deed: Token) -> None:
    """The names and events inside a goal, and what it ends with."""
    for token in deed.subtree:
        event = (
            token.pos_ == "NOUN"
            and head_label(token.lemma_.lower()) == "Event"
            and token.dep_ == "pobj"
            and token.i != deed.i
        )
        if event:
            other = scene.thing(token)
            scene.draft.edge(scene.speaker(), "plans", other, scene.reading.span(token))
        elif scene.reading.named(token) and scene.reading.kind(token) not in ("NORP", "LANGUAGE"):
            other = scene.thing(token)
            span = scene.draft.nodes[place].span
            if any((e.source, e.target) == (place, other) for e in scene.draft.edges):
                continue
            if span is not None and span[0] <= token.idx < span[1] and token.dep_ != "compound":
                scene.draft.edge(place, "involves", other, scene.reading.span(token))


def aim(scene: Scene, verb: Token) -> None:
    """ "My goal is to …", "My goals for the year: read more, …"."""
    deeds = (
        [c for c in verb.children if c.dep_ in ("xcomp", "ccomp", "advcl") and c.pos_ == "VERB"]
        if verb.lemma_ == "be"
        else [verb]
    )
    if denial(verb) or (verb.lemma_ != "be" and verb.tag_ not in ("VB", "VBP", "VBD")):
        return
    for deed in deeds:
        for each in (t for t in conjuncts(deed) if verb.lemma_ == "be" or t.i == verb.i):
            place = deed_node(scene, each, "Goal", bare=True)
            scene.draft.edge(scene.speaker(), "has_goal", place, scene.reading.span(each))
            scene.details(each, place)


def ability(scene: Scene, verb: Token) -> None:
    """ "I can play the accordion": a skill, though "can" states nothing else."""
    able = any(c.dep_ == "aux" and c.lower_ == "can" for c in verb.children) and not denial(verb) and not asked(verb)
    if (
        not able
        or verb.dep_ in ("advcl", "ccomp")
        or verb.lemma_ not in words.ABILITIES
        or any(c.dep_ == "advcl" for c in verb.children)
    ):
        return
    for holder in (
        place
        for t in subjects(verb)
        if scene.is_mine(t) or scene.reading.named(t) or t.i in scene.places
        for place in scene.who(t)
    ):
        targets = objects(verb)
        for target in targets:
            scene.draft.edge(holder, "has_skill", scene.thing(target, force="Skill"), scene.reading.span(verb, target))
        if not targets:
            scene.draft.edge(holder, "has_skill", deed_node(scene, verb, "Skill", bare=True), scene.reading.span(verb))
