"""What somebody or something is: jobs, ages, places, allergies, favourites, qualities."""

from __future__ import annotations

from memory_core.extractors.embedded import nouns
from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.favourites import favourite
from memory_core.extractors.embedded.grammar import objects, prepositions, subjects
from memory_core.extractors.embedded.life import birthday
from memory_core.extractors.embedded.phrases import head_label
from memory_core.extractors.embedded.reading import Token, conjuncts
from memory_core.extractors.embedded.said import denial, own_subjects
from memory_core.extractors.embedded.scene import Scene
from memory_core.extractors.embedded.wants import deed_node


def copula(scene: Scene, verb: Token) -> None:
    denied = denial(verb)
    since = any(c.dep_ == "mark" and c.lower_ in ("since", "when", "as", "while") for c in verb.children)
    tokens = [t for t in subjects(verb) if t.i < verb.i or not own_subjects(verb) or own_subjects(verb)[0].i > verb.i]
    if any(c.dep_ == "expl" for c in verb.children):
        _there_is(scene, verb)
        return
    if tokens:
        birthday(scene, tokens[0], verb)
    if favourite(scene, verb, denied):
        return
    if scene.names_only and tokens and any(c.dep_ == "attr" and scene.reading.named(c) for c in verb.children):
        scene.thing(tokens[0], force=head_label(tokens[0].lemma_.lower()) or "Concept")
    if not denied and _named_role(scene, tokens, verb):
        return
    if not denied and (_thing_named(scene, tokens, verb) or _their_name(scene, tokens, verb)):
        return
    who = scene.holders(verb)
    if not who and any(t.lower_ in ("it", "this", "that") for t in tokens) and not denied and not scene.names_only:
        _it_is(scene, verb)
    for holder in who:
        person = scene.draft.nodes[holder].label == "Person"
        for token in (t for c in verb.children if c.dep_ in ("attr", "acomp", "oprd") for t in conjuncts(c)):
            if since and token.pos_ == "NOUN":
                continue
            if person:
                person_is(scene, holder, verb, token, denied)
            else:
                thing_is(scene, holder, verb, token, denied)
        for preposition, target in prepositions(verb):
            _is_at(scene, holder, preposition, target, denied, verb)
        for deed in (
            p for c in verb.children if c.dep_ == "prep" and c.lower_ == "into" for p in c.children if p.dep_ == "pcomp"
        ):
            place = deed_node(scene, deed, "Preference")
            scene.draft.edge(holder, "dislikes" if denied else "likes", place, scene.reading.span(deed))
        if not person and tokens:
            scene.draft.describe(holder, {} if denied else scene.circumstances(verb))
            if scene.reading.doc[tokens[0].i].pos_ != "PRON":
                scene.topic = holder
        scene.details(verb, holder if not person else scene.topic)


def _named_role(scene: Scene, tokens: list[Token], verb: Token) -> bool:
    """ "Her teacher is Ms. Abara": one person, whose role is the kind."""
    name = next((c for c in verb.children if c.dep_ == "attr" and scene.reading.named(c)), None)
    if name is None or len(tokens) != 1 or scene.reading.named(tokens[0]) or tokens[0].i in scene.places:
        return False
    lemma = tokens[0].lemma_.lower()
    owner = next((c for c in tokens[0].children if c.dep_ == "poss" and c.pos_ == "PRON"), None)
    if head_label(lemma) != "Person" or owner is None:
        return False
    place = scene.same(tokens[0], name)
    for holder in scene.who(owner) if not scene.is_mine(owner) else [scene.speaker()]:
        scene.draft.edge(holder, f"has_{lemma}", place, scene.reading.span(tokens[0], name))
    return True


def _thing_named(scene: Scene, tokens: list[Token], verb: Token) -> bool:
    """ "My phone is a Pixel 8": one thing, whose noun is the kind."""
    name = next((c for c in verb.children if c.dep_ == "attr" and scene.reading.named(c)), None)
    if name is None or len(tokens) != 1 or scene.reading.kind(tokens[0]) or scene.names_only:
        return False
    owned = any(c.dep_ == "poss" and scene.is_mine(c) for c in tokens[0].children)
    if not owned or head_label(tokens[0].lemma_.lower()) != "Artifact":
        return False
    place = scene.same(tokens[0], name)
    scene.draft.edge(scene.speaker(), "owns", place, scene.reading.span(tokens[0], name))
    scene.details(verb, place)
    return True


def _their_name(scene: Scene, tokens: list[Token], verb: Token) -> bool:
    """ "her name was Rosalind": the one just brought up without a name has one."""
    name = next((c for c in verb.children if c.dep_ in ("attr", "acomp", "oprd") and c.text[0].isupper()), None)
    named = len(tokens) == 1 and tokens[0].lemma_.lower() == "name"
    if name is None or not named or not any(c.lower_ in words.THIRD_PERSON for c in tokens[0].children):
        return False
    last = scene.people[-1] if scene.people else None
    if last is None:
        return scene.thing(name, force="Person") is not None
    if not scene.draft.nodes[last].title.startswith(f"{scene.me}'s "):
        return False
    scene.places[name.i] = last
    scene.draft.rename(last, name.text, scene.reading.span(name))
    return True


def _it_is(scene: Scene, verb: Token) -> None:
    """ "It's my parents' anniversary", "It was Matt Patterson": what is meant is named after the verb."""
    for token in (t for c in verb.children if c.dep_ == "attr" for t in conjuncts(c)):
        if scene.reading.named(token) or head_label(token.lemma_.lower()) == "Event":
            place = scene.thing(token)
            if place is not None:
                scene.topic = place
                scene.draft.describe(place, scene.circumstances(verb))
                for preposition, target in prepositions(verb):
                    scene.hang(place, preposition, target)
                scene.details(verb, place)


def used_to_be(scene: Scene, verb: Token) -> bool:
    """ "I used to be a teacher": a former job, or what somebody was."""
    be = next((c for c in verb.children if c.dep_ == "xcomp" and c.lemma_ == "be"), None)
    if verb.lemma_ != "use" or be is None or denial(verb):
        return False
    for target in (t for c in be.children if c.dep_ in ("attr", "acomp") for t in conjuncts(c)):
        work = target.lemma_.lower() in nouns.PEOPLE - nouns.NO_JOBS
        trait = _trait(scene, target)
        place = trait if trait is not None else scene.thing(target, "Concept", "Concept" if work else "")
        for holder in scene.holders(verb):
            span = scene.reading.span(verb, target)
            scene.draft.edge(holder, "worked_as" if work else "used_to_be", place, span, scene.circumstances(be))
        scene.details(be, place)
    return True


def _trait(scene: Scene, token: Token) -> int | None:
    if token.lower_ not in words.TRAITS:
        return None
    first = next((c for c in token.lefts if c.dep_ in ("npadvmod", "compound", "nmod")), token)
    span = scene.reading.span(first, token)
    scene.reading.use(first, token)
    return scene.draft.node("Concept", scene.reading.slice(first, token), scene.sentence(token), span)


def _there_is(scene: Scene, verb: Token) -> None:
    for token in objects(verb):
        place = None if denial(verb) else scene.thing(token)
        scene.details(verb, place)


def _is_at(scene: Scene, holder: int, preposition: str, target: Token, denied: str, verb: Token) -> None:
    if scene.reading.dated(target):
        scene.draft.describe(holder, {"is_not": target.text}) if denied else scene.describe_when(holder, target)
        return
    into, been = preposition == "into", preposition == "to" and verb.tag_ == "VBN"
    name = "likes" if into else "visited" if been else f"is_{preposition}"
    if denied:
        name = "dislikes" if into else "never_visited" if been else f"is_not_{preposition}"
    place = scene.thing(
        target, "Preference" if into else "Concept", "Preference" if into and not scene.reading.named(target) else ""
    )
    scene.draft.edge(holder, name, place, scene.reading.span(verb, target), scene.circumstances(verb))


def person_is(scene: Scene, who: int, verb: Token, token: Token, denied: str) -> None:
    """ "I'm a nurse", "Ana is allergic to nuts", "I'm 32"."""
    lemma = token.lemma_.lower()
    age = next((t for t in token.subtree if t.like_num or scene.reading.dated(t)), None)
    if (
        age is not None
        and not denied
        and ((token.like_num and lemma != "one") or lemma in ("old", "year") or "year" in token.text)
    ):
        scene.draft.describe(who, {"age": age.text})
        scene.reading.use(age, age)
        return
    if lemma in words.KIN and any(c.dep_ == "poss" and scene.is_mine(c) for c in token.children):
        if not denied:
            scene.draft.edge(
                scene.speaker(), f"has_{words.KIN_NAMES.get(lemma, lemma)}", who, scene.reading.span(token)
            )
            scene.places[token.i] = who
        return
    if not denied and scene.draft.nodes[who].title == scene.me and _own_name(scene, token):
        scene.draft.describe(who, {"name": scene.reading.slice(token.left_edge, token)})
        scene.reading.use(token.left_edge, token)
        scene.places[token.i] = who
        return
    if token.pos_ in ("NOUN", "PROPN") and lemma != "fan":
        work = lemma in nouns.PEOPLE - nouns.NO_JOBS
        name = "works_as" if work else "is_a"
        place = scene.thing(token, "Concept", "Concept" if work else "", hang=not work)
        no = "does_not_work_as" if work else "is_not_a"
        scene.draft.edge(who, no if denied else name, place, scene.reading.span(verb, token))
        if work and not denied and place is not None:
            scene.draft.describe(who, {"job": scene.draft.nodes[place].title})
    elif (lemma in words.TRAITS or token.lower_ in words.TRAITS) and not any(c.lower_ == "to" for c in token.children):
        place = _trait(scene, token)
        scene.draft.edge(who, "is_not" if denied else "is_a", place, scene.reading.span(verb, token))
    elif token.pos_ == "ADJ" and scene.draft.nodes[who].title != scene.me:
        scene.draft.describe(who, {"is_not" if denied else "is": scene.text(token)})
    for child in token.children:
        if lemma == "allergic" and child.dep_ == "xcomp":  # "allergic to shellfish": taken for a verb
            for target in conjuncts(child):
                place = scene.draft.node("Concept", target.text, scene.sentence(token), scene.reading.span(target))
                scene.draft.edge(
                    who, "is_not_allergic_to" if denied else "allergic_to", place, scene.reading.span(target)
                )
        for target in (
            t for c in child.children if child.dep_ == "prep" and c.dep_ in ("pobj", "pcomp") for t in conjuncts(c)
        ):
            _adjective(scene, who, verb, token, child, target, denied)


def _own_name(scene: Scene, token: Token) -> bool:
    """ "I'm Mara Quill": the speaker's name, not a thing the speaker is."""
    bare = not any(c.dep_ in ("det", "poss", "prep") for c in token.children)
    bare = bare and len(conjuncts(token)) == 1
    return token.pos_ == "PROPN" and bare and scene.reading.kind(token) in ("PERSON", "NAME", "ORG")


def _adjective(
    scene: Scene, who: int, verb: Token, token: Token, preposition: Token, target: Token, denied: str
) -> None:
    """ "good at chess", "allergic to nuts", "a nurse at Mercy"."""
    lemma = token.lower_ if token.pos_ == "VERB" else token.lemma_.lower()
    label, name = "Concept", f"is_not_{lemma}_{preposition.lower_}" if denied else f"{lemma}_{preposition.lower_}"
    if lemma in words.SKILL_ADJECTIVES and preposition.lower_ in ("at", "in", "with"):
        label, name = "Skill", "lacks_skill" if denied else "has_skill"
    elif lemma in words.LIKING_ADJECTIVES or lemma == "fan":
        label, name = "Preference", "dislikes" if denied else "likes"
    elif token.pos_ == "NOUN" and preposition.lower_ in ("at", "for", "with") and head_label(lemma) == "Person":
        label, name = "Organization", "does_not_work_at" if denied else "works_at"
    elif token.pos_ in ("NOUN", "PROPN"):
        return
    if scene.reading.dated(target) or (target.pos_ in ("VERB", "AUX") and own_subjects(target)):
        return
    force = (
        label
        if label in ("Organization", "Skill") or (label in ("Skill", "Preference") and not scene.reading.named(target))
        else ""
    )
    place = deed_node(scene, target, label) if target.pos_ == "VERB" else scene.thing(target, label, force)
    scene.draft.edge(who, name, place, scene.reading.span(verb, target), scene.circumstances(verb))
    if place is not None:
        scene.topic = place
        attribute = {"works_at": "employer", "married_to": "spouse"}.get(name)
        if attribute:
            scene.draft.describe(who, {attribute: scene.draft.nodes[place].title})


def thing_is(scene: Scene, holder: int, verb: Token, token: Token, denied: str) -> None:
    """ "The bike is blue", "the wedding is in June"."""
    span = scene.reading.span(verb, token) if verb.i < token.i else None
    if scene.reading.named(token):
        scene.draft.edge(holder, "is_not" if denied else "is", scene.thing(token), span)
    elif scene.reading.dated(token):
        scene.describe_when(holder, token)
    else:
        name = "is_not" if denied else "is"
        noun = token.pos_ in ("NOUN", "PROPN")
        text = scene.text(token) if noun else scene.reading.slice(token.left_edge, token)
        scene.reading.use(token.left_edge if not noun else token, token)
        scene.draft.describe(holder, {scene.free(holder, name): text})
    for child in token.children:
        for target in (t for c in child.children if child.dep_ == "prep" and c.dep_ == "pobj" for t in conjuncts(c)):
            quality = f"{token.lower_}_" if token.pos_ in ("ADJ", "VERB") else ""
            scene.hang(holder, f"{quality}{child.lower_}", target)
