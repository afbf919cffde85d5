"""What the clauses of a turn say: who does, is, likes or wants what."""

from __future__ import annotations

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.phrases import head_label
from memory_core.extractors.embedded.reading import Token, conjuncts, own_clause
from memory_core.extractors.embedded.said import SUBJECTS, asked, denial, own_subjects, stated, wished
from memory_core.extractors.embedded.scene import Scene

_BECOMING = frozenset("become get feel seem look sound stay remain turn".split())
_DEED_STOPS = frozenset("before after because since so while when until once as if where which who that with during".split())


def walk(scene: Scene) -> None:
    """Reads every stated clause of the turn into the scene's draft."""
    for token in scene.reading.doc:
        if token.pos_ in ("VERB", "AUX") and token.dep_ not in ("aux", "auxpass", "amod", "compound") and not scene.reading.kind(token):
            if token.i in scene.told:
                continue
            if token.dep_ == "acl" and token.lemma_ in ("name", "call"):
                continue
            if not (token.dep_ == "xcomp" and token.head.pos_ in ("VERB", "AUX")) and stated(token, scene.mine):
                _clause(scene, token)
            else:
                _ability(scene, token)


def _ability(scene: Scene, verb: Token) -> None:
    """ "I can play the accordion": a skill, though "can" states nothing else."""
    able = any(c.dep_ == "aux" and c.lower_ == "can" for c in verb.children) and not denial(verb) and not asked(verb)
    if not able or verb.dep_ in ("advcl", "ccomp") or verb.lemma_ not in words.ABILITIES or any(c.dep_ == "advcl" for c in verb.children):
        return
    for holder in (place for t in subjects(verb) if scene.is_mine(t) or scene.reading.named(t) or t.i in scene.places for place in scene.who(t)):
        targets = objects(verb)
        for target in targets:
            scene.draft.edge(holder, "has_skill", scene.thing(target, force="Skill"), scene.reading.span(verb, target))
        if not targets:
            scene.draft.edge(holder, "has_skill", deed_node(scene, verb, "Skill", bare=True), scene.reading.span(verb))


def _clause(scene: Scene, verb: Token) -> None:
    lemma = _lemma(verb)
    scene.reading.use(verb, verb)
    doers = subjects(verb)
    if scene.names_only and any(t.lower_ in ("you", "i", "we") for t in doers):
        return
    if any(t.lemma_.lower() in words.AIMS and any(scene.is_mine(c) for c in t.children) for t in doers):
        aim(scene, verb)
    elif wished(verb) or (_intended(scene, verb) and (not doers or any(scene.is_mine(t) for t in doers))):
        goal(scene, verb)
    elif lemma == "be" or (lemma in _BECOMING and any(c.dep_ == "acomp" for c in verb.children)):
        copula(scene, verb)
    elif lemma in words.LIKING | words.DISLIKING | words.PREFERRING or (lemma == "stand" and denial(verb)):
        preference(scene, verb)
    else:
        action(scene, verb)


def subjects(verb: Token) -> list[Token]:
    """The subject tokens of a verb, its own or those of the verb it hangs on."""
    own = own_subjects(verb)
    if own:
        return [s for c in own for s in conjuncts(c)]
    if verb.dep_ in ("conj", "xcomp", "pcomp", "advcl") and verb.head.i != verb.i:
        above = next((t for t in verb.ancestors if t.pos_ in ("VERB", "AUX")), None)
        return subjects(above) if above is not None else []
    if verb.dep_ == "acl" and verb.head.pos_ in ("NOUN", "PROPN"):
        return [verb.head]
    return []


def holders(scene: Scene, verb: Token) -> list[int]:
    """The nodes of the subjects; the speaker for a clause like "Took a trip to Rome"."""
    tokens = subjects(verb)
    if any(t.tag_ in ("WDT", "WP") for t in tokens) and verb.dep_ == "relcl":
        tokens = [verb.head]
    if not tokens and verb.dep_ in ("ROOT", "ccomp", "parataxis") and verb.tag_ in ("VBD", "VBN", "VBG") and scene.mine == words.FIRST_PERSON:
        me = scene.speaker()
        return [] if me is None else [me]
    return [place for token in tokens for place in scene.who(token)]


def objects(verb: Token) -> list[Token]:
    found = [_through(t) for c in verb.children if c.dep_ in ("dobj", "attr", "oprd") for t in conjuncts(c)]
    if not found and verb.pos_ == "VERB":
        odd = [c for c in verb.rights if c.dep_ in ("punct", "dep", "intj", "nsubj") and c.pos_ in ("NOUN", "PROPN") and c.text[0].isalnum()]
        found = odd[:1]
    found += [t for each in found for c in each.children if c.dep_ == "appos" and c.pos_ == "PROPN" for t in conjuncts(c)[1:]]
    if not found and verb.dep_ == "relcl" and own_subjects(verb) and not any(t.tag_ in ("WDT", "WP") for t in own_subjects(verb)):
        found = [verb.head]
    if not found and any(c.dep_ == "expl" for c in verb.children):
        found = [t for c in verb.children if c.dep_ in SUBJECTS for t in conjuncts(c)]
    return found


def _through(token: Token) -> Token:
    """What "a bit of", "a couple of" counts."""
    if token.lemma_.lower() in words.VAGUE_NOUNS and not token.ent_type_:
        inner = [o for c in token.children if c.lower_ == "of" for o in c.children if o.dep_ == "pobj"]
        return inner[0] if inner else token
    return token


def prepositions(verb: Token) -> list[tuple[str, Token]]:
    inner = [(f"{a.lower_}_", p) for a in verb.children if a.lower_ in _AWAY for p in a.children if p.dep_ == "prep"]
    return [
        (before + child.lower_, target)
        for before, child in [*(("", c) for c in verb.children), *inner]
        if child.dep_ in ("prep", "agent", "dative")
        for c in child.children
        if c.dep_ == "pobj"
        for target in conjuncts(c)
    ]


def _intended(scene: Scene, verb: Token) -> bool:
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
    lemma, denied = _lemma(verb), bool(denial(verb))
    disliking = lemma in words.DISLIKING or lemma == "stand"
    if disliking and denied and lemma != "stand":
        return
    relationship = "dislikes" if disliking or denied else "prefers" if lemma == "prefer" else "likes"
    places = []
    for holder in holders(scene, verb):
        for target in objects(verb):
            named = scene.reading.named(target)
            place = scene.thing(target, "Artifact" if named else "Preference", "" if named else "Preference")
            places.append(_connect(scene, holder, relationship, place, verb, target))
        for deed in (c for c in verb.children if c.dep_ in ("xcomp", "ccomp") and c.pos_ == "VERB" and not own_subjects(c)):
            for each in conjuncts(deed):
                places.append(_connect(scene, holder, relationship, deed_node(scene, each, "Preference"), verb, each))
    scene.details(verb, next((p for p in places if p is not None), None))


def deed_node(scene: Scene, verb: Token, label: str, bare: bool = False) -> int | None:
    """The node of an action itself: "learn Portuguese", "hiking in the mountains"."""
    subject = [] if bare else own_subjects(verb)
    start = subject[0].left_edge.i if subject else verb.i
    kept: list[Token] = []
    for token in verb.doc[start : verb.right_edge.i + 1]:
        date = scene.reading.dated(token) and token.dep_ != "dobj"
        if kept and (token.text in ",;:.!?()\n" or (token.text in "-–—" and token.whitespace_) or token.lower_ in _DEED_STOPS or len(kept) >= 9 or date or token.is_space or (token.dep_ == "cc" and token.head.i == verb.i)):
            break
        kept.append(token)
    while kept and (kept[-1].pos_ in ("ADP", "DET", "CCONJ", "PART", "PRON", "SCONJ", "AUX") or kept[-1].is_punct) and kept[-1].dep_ != "prt":
        kept.pop()
    if not kept:
        return None
    scene.reading.use(kept[0], kept[-1])
    scene.told |= {t.i for t in kept if t.pos_ == "VERB"}
    return scene.draft.node(
        label, scene.reading.slice(kept[0], kept[-1]), scene.sentence(verb), scene.reading.span(kept[0], kept[-1])
    )


def goal(scene: Scene, verb: Token) -> None:
    """Wants, plans, hopes and what "will" be done, as Goal nodes named by the deed."""
    me, denied = scene.speaker(), denial(verb)
    deeds = [c for c in verb.children if c.dep_ in ("xcomp", "ccomp") and c.pos_ in ("VERB", "AUX") and c.i > verb.i and c.tag_ in ("VB", "VBG")]
    deeds += [p for c in verb.children if c.dep_ == "prep" for p in c.children if p.dep_ == "pcomp" and p.pos_ == "VERB"]
    found = [(deed, deed_node(scene, deed, "Goal")) for each in deeds for deed in [each, *(t for t in conjuncts(each)[1:] if not own_subjects(t))]]
    if not deeds:
        targets = objects(verb) + [t for _, t in prepositions(verb)]
        found = [(t, scene.thing(t, "Goal", "" if head_label(t.lemma_.lower()) == "Event" else "Goal")) for t in targets]
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
        event = token.pos_ == "NOUN" and head_label(token.lemma_.lower()) == "Event" and token.dep_ == "pobj" and token.i != deed.i
        if event:
            other = scene.thing(token)
            scene.draft.edge(scene.speaker(), "plans", other, scene.reading.span(token))
        elif scene.reading.named(token) and scene.reading.kind(token) not in ("NORP", "LANGUAGE"):
            other = scene.thing(token)
            span = scene.draft.nodes[place].span
            if span is not None and span[0] <= token.idx < span[1] and token.dep_ != "compound":
                scene.draft.edge(place, "involves", other, scene.reading.span(token))


def aim(scene: Scene, verb: Token) -> None:
    """ "My goal is to …", "My goals for the year: read more, …"."""
    deeds = [c for c in verb.children if c.dep_ in ("xcomp", "ccomp", "advcl") and c.pos_ == "VERB"] if verb.lemma_ == "be" else [verb]
    if denial(verb) or (verb.lemma_ != "be" and verb.tag_ not in ("VB", "VBP", "VBD")):
        return
    for deed in deeds:
        for each in (t for t in conjuncts(deed) if verb.lemma_ == "be" or t.i == verb.i):
            place = deed_node(scene, each, "Goal", bare=True)
            scene.draft.edge(scene.speaker(), "has_goal", place, scene.reading.span(each))
            scene.details(each, place)


def copula(scene: Scene, verb: Token) -> None:
    denied = denial(verb)
    since = any(c.dep_ == "mark" and c.lower_ in ("since", "when", "as", "while") for c in verb.children)
    tokens = [t for t in subjects(verb) if t.i < verb.i or not own_subjects(verb) or own_subjects(verb)[0].i > verb.i]
    if any(c.dep_ == "expl" for c in verb.children):
        _there_is(scene, verb)
        return
    if _favourite(scene, tokens, verb, denied):
        return
    if scene.names_only and tokens and any(c.dep_ == "attr" and scene.reading.named(c) for c in verb.children):
        scene.thing(tokens[0], force=head_label(tokens[0].lemma_.lower()) or "Concept")
    for holder in holders(scene, verb):
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
        for deed in (p for c in verb.children if c.dep_ == "prep" and c.lower_ == "into" for p in c.children if p.dep_ == "pcomp"):
            place = deed_node(scene, deed, "Preference")
            scene.draft.edge(holder, "dislikes" if denied else "likes", place, scene.reading.span(deed))
        if not person:
            scene.draft.describe(holder, scene.circumstances(verb))
            if scene.reading.doc[tokens[0].i].pos_ != "PRON":
                scene.topic = holder
        scene.details(verb, holder if not person else scene.topic)


def _there_is(scene: Scene, verb: Token) -> None:
    for token in objects(verb):
        place = None if denial(verb) else scene.thing(token)
        scene.details(verb, place)


def _favourite(scene: Scene, tokens: list[Token], verb: Token, denied: str) -> bool:
    """ "My favourite film is X": the speaker likes X."""
    for subject in tokens:
        adjectives = {c.lower_ for c in subject.children} | {subject.lower_}
        if adjectives & {"favorite", "favourite"} and any(scene.is_mine(c) for c in subject.children) and not denied:
            for target in (t for c in verb.children if c.dep_ in ("attr", "acomp") or (c.dep_ == "nsubj" and c.i > verb.i) for t in conjuncts(c)[:1]):
                place = scene.thing(target, "Artifact", "" if scene.reading.named(target) else "Preference")
                scene.reading.use(subject, subject)
                scene.draft.edge(scene.speaker(), "likes", place, scene.reading.span(verb, target), {"favorite": subject.text})
                if place is not None:
                    scene.draft.describe(place, {"favorite": scene.text(subject)})
                    scene.topic = place
                    scene.details(verb, place)
            return True
    return False


def _is_at(scene: Scene, holder: int, preposition: str, target: Token, denied: str, verb: Token) -> None:
    if scene.reading.dated(target):
        scene.describe_when(holder, target)
        return
    into, been = preposition == "into", preposition == "to" and verb.tag_ == "VBN"
    name = "likes" if into else "visited" if been else f"is_{preposition}"
    if denied:
        name = "dislikes" if into else "never_visited" if been else f"is_not_{preposition}"
    place = scene.thing(target, "Preference" if into else "Concept", "Preference" if into and not scene.reading.named(target) else "")
    scene.draft.edge(holder, name, place, scene.reading.span(verb, target), scene.circumstances(verb))


def person_is(scene: Scene, who: int, verb: Token, token: Token, denied: str) -> None:
    """ "I'm a nurse", "Ana is allergic to nuts", "I'm 32"."""
    lemma = token.lemma_.lower()
    age = next((t for t in token.subtree if t.like_num or scene.reading.dated(t)), None)
    if age is not None and not denied and (token.like_num or lemma in ("old", "year") or "year" in token.text):
        scene.draft.describe(who, {"age": age.text})
        scene.reading.use(age, age)
        return
    if lemma in words.KIN and any(c.dep_ == "poss" and scene.is_mine(c) for c in token.children):
        if not denied:
            scene.draft.edge(scene.speaker(), f"has_{words.KIN_NAMES.get(lemma, lemma)}", who, scene.reading.span(token))
            scene.places[token.i] = who
        return
    if token.pos_ in ("NOUN", "PROPN") and lemma != "fan":
        work = head_label(lemma) == "Person" and lemma not in words.KIN
        name = "works_as" if work else "is_a"
        place = scene.thing(token, "Concept", "Concept" if work else "", hang=not work)
        scene.draft.edge(who, f"is_not_{name.removeprefix('is_')}" if denied else name, place, scene.reading.span(verb, token))
        if work and not denied and place is not None:
            scene.draft.describe(who, {"job": scene.draft.nodes[place].title})
    elif token.pos_ == "ADJ" and scene.draft.nodes[who].title != scene.me:
        scene.draft.describe(who, {"is_not" if denied else "is": scene.text(token)})
    for child in token.children:
        for target in (t for c in child.children if child.dep_ == "prep" and c.dep_ in ("pobj", "pcomp") for t in conjuncts(c)):
            _adjective(scene, who, verb, token, child, target, denied)


def _adjective(scene: Scene, who: int, verb: Token, token: Token, preposition: Token, target: Token, denied: str) -> None:
    """ "good at chess", "allergic to nuts", "a nurse at Mercy"."""
    lemma = token.lower_ if token.pos_ == "VERB" else token.lemma_.lower()
    label, name = "Concept", f"is_not_{lemma}_{preposition.lower_}" if denied else f"{lemma}_{preposition.lower_}"
    if lemma in words.SKILL_ADJECTIVES and preposition.lower_ in ("at", "in", "with"):
        label, name = "Skill", "lacks_skill" if denied else "has_skill"
    elif lemma in words.LIKING_ADJECTIVES or lemma == "fan":
        label, name = "Preference", "dislikes" if denied else "likes"
    elif token.pos_ == "NOUN" and preposition.lower_ in ("at", "for", "with") and head_label(lemma) == "Person":
        label, name = "Organization", "does_not_work_at" if denied else "works_at"
    if scene.reading.dated(target) or (target.pos_ in ("VERB", "AUX") and own_subjects(target)):
        return
    force = label if label in ("Organization", "Skill") or (label in ("Skill", "Preference") and not scene.reading.named(target)) else ""
    place = deed_node(scene, target, label) if target.pos_ == "VERB" else scene.thing(target, label, force)
    scene.draft.edge(who, name, place, scene.reading.span(verb, target), scene.circumstances(verb))
    if place is not None:
        scene.topic = place
        if name == "works_at":
            scene.draft.describe(who, {"employer": scene.draft.nodes[place].title})


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
            scene.hang(holder, child.lower_, target)


def action(scene: Scene, verb: Token) -> None:
    """Any other verb: an edge from the subject to its objects, the rest as attributes."""
    chain = [verb]
    while (deeper := next((c for c in chain[-1].children if c.dep_ == "xcomp" and _verbal(c)), None)) is not None:
        chain.append(deeper)
        scene.reading.use(deeper, deeper)
    last, denied = chain[-1], denial(verb)
    who = holders(scene, verb)
    if last.lemma_ == "turn" and not denied and _birthday(scene, last, who):
        return
    anchor: int | None = None
    if len(chain) > 1 and last.tag_ == "VBG" and not objects(last) and all(scene.reading.dated(t) for _, t in prepositions(last)):
        place = deed_node(scene, last, "Concept")
        for holder in who:
            anchor = _connect(scene, holder, relation(chain[:-1], "", denied, last)[0], place, verb, last)
    for noun in (c for c in last.children if c.dep_ == "xcomp" and c.pos_ == "VERB" and not _verbal(c)):
        place = deed_node(scene, noun, "Concept")
        for holder in who:
            anchor = _connect(scene, holder, relation(chain, "", denied, noun)[0], place, verb, noun)
    for target in objects(last):
        for holder in who or [None]:
            name, label = relation(chain, "", denied, target)
            work = last.lemma_ in _READING and scene.reading.kind(target) in ("NAME", "ORG", "GPE", "PERSON", "PRODUCT", "LOC", "FAC")
            place = scene.thing(target, label, "Skill" if name == "has_skill" else "Artifact" if work else "")
            if name in ("has", "owns", "has_got", "got") and target.lemma_.lower() in words.PETS:
                name = "has_pet"
            if place is not None and scene.is_mine(target) and last.lemma_ not in _ABOUT_ME:
                continue
            if holder is not None:
                place = _connect(scene, holder, name, place, verb, target)
                _single_valued(scene, holder, name, place)
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
        scene.draft.describe(anchor, scene.circumstances(verb) | scene.circumstances(last)) if scene.draft.nodes[anchor].label != "Person" else None
        scene.topic = anchor if scene.draft.nodes[anchor].label != "Person" else scene.topic
    if verb.pos_ == "VERB" and anchor is not None and not who and not scene.names_only and last.lemma_ not in ("have", "get"):
        scene.loose.append(("does", last.text))
    scene.details(last, anchor if anchor is not None else scene.topic)


def _verbal(token: Token) -> bool:
    """Whether an open complement is a verb, and no noun the parser took for one."""
    return token.pos_ == "VERB" and (token.tag_ != "VB" or any(c.dep_ == "aux" for c in token.children) or token.head.lemma_ in ("help", "let", "make", "go"))


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
    if preposition == "with" and chain[-1].lemma_ in ("be", "get", "have", "come", "go") and anchor is None and target.i in scene.places:
        return anchor
    listed = relation(chain, preposition, denied, target)
    event = target.pos_ == "NOUN" and head_label(target.lemma_.lower()) == "Event" and not scene.names_only
    known = listed[0] in _LISTED or scene.reading.named(target) or (event and preposition in ("at", "to", "for", "in"))
    if anchor is not None and not known:
        return anchor
    for holder in who:
        person = scene.draft.nodes[holder].label == "Person"
        if not person and not known:
            scene.hang(holder, f"{chain[-1].lemma_}_{preposition}", target)
            continue
        place = scene.thing(target, listed[1], _forced(chain[-1], preposition, listed), hang=listed[1] != "Concept" or not known)
        if listed[0] in ("works_as", "worked_as") and place is not None:
            _workplace(scene, holder, listed[0].replace("_as", "_at"), target)
        if anchor is not None and place is not None and scene.draft.nodes[anchor].label == "Event" and not event:
            scene.draft.edge(anchor, preposition if preposition not in ("in", "at") else "located_in", place, scene.reading.span(target))
        elif place is not None:
            _connect(scene, holder, listed[0], place, chain[0], target)
            _single_valued(scene, holder, listed[0], place)
            anchor = anchor if anchor is not None else place
    return anchor


_LISTED = frozenset(name for name, _ in words.RELATIONS.values())
_PAST = frozenset(
    "read watched bought ordered sold visited went_to attended cooked baked painted adopted met met_with joined".split()
)
_READING = frozenset("read reread finish binge rewatch stream".split())
_AWAY = frozenset("back away out over home down up".split())
_GIVING = frozenset("lend give send show tell sell teach loan hand offer introduce propose".split())
_TYPED = frozenset("works_as worked_as lives_in works_at starts_at teaches_at moved_to born_in grew_up_in lived_in worked_at met_with used_to_live_in".split())
_ABOUT_ME = frozenset("invite owe marry hire teach visit call meet".split())
_STATES = {"live": "lived", "work": "worked", "study": "studied", "reside": "lived", "volunteer": "volunteered", "drive": "drove"}
_SKILLS = {("play", ""), ("speak", ""), ("know", "")}


def _forced(verb: Token, preposition: str, listed: tuple[str, str]) -> str:
    """The label the context insists on, whatever the name recogniser thinks."""
    if preposition == "to" and verb.lemma_ in _GIVING:
        return "Person"
    return listed[1] if listed[0].removeprefix("no_longer_").removeprefix("does_not_") in _TYPED else ""


def _workplace(scene: Scene, who: int, name: str, job: Token) -> None:
    for preposition in (c for c in job.children if c.dep_ == "prep" and c.lower_ in ("at", "for", "with")):
        for target in (t for c in preposition.children if c.dep_ == "pobj" for t in conjuncts(c)):
            place = scene.thing(target, force="Organization")
            scene.draft.edge(who, name, place, scene.reading.span(job, target))
            _single_valued(scene, who, name, place)


def relation(chain: list[Token], preposition: str, denied: str, target: Token) -> tuple[str, str]:
    """The relationship a chain of verbs sets, and the label its object takes when nothing else says."""
    first, last = chain[0], chain[-1]
    particle = next((c.lower_ for c in last.children if c.dep_ == "prt"), "")
    lemma = "_".join(filter(None, [_lemma(last), particle]))
    listed = words.RELATIONS.get((lemma, preposition))
    label = listed[1] if listed else "Concept"
    if label == "Person" and target.pos_ != "PROPN":
        label = "Concept"
    vague = next((c.lemma_.lower() for c in last.children if preposition and c.dep_ == "dobj" and c.pos_ == "NOUN" and c.lemma_.lower() in words.VAGUE_NOUNS), "")
    particle = "_".join(filter(None, [particle, vague]))
    if (lemma, preposition) in _SKILLS and len(chain) == 1 and not denied and last.tag_ in ("VBP", "VBZ", "VB"):
        if lemma == "speak" or (target.lemma_.lower() in words.SKILLS | words.INSTRUMENTS) or (lemma == "know" and target.pos_ == "PROPN"):
            return "has_skill", "Skill"
    if first.lemma_ == "use" and len(chain) > 1 and first.tag_ in ("VBD", "VBN"):
        return "_".join(filter(None, ["used_to", lemma, preposition])), label
    if len(chain) > 1:
        pieces = [_form(first)]
        for deeper in chain[1:]:
            pieces += ["to"] * any(c.dep_ == "aux" and c.lower_ == "to" for c in deeper.children) + [deeper.lower_]
        name = "_".join(filter(None, [*pieces, particle, preposition]))
        bare = "_".join(filter(None, [first.lemma_.lower(), *pieces[1:], particle, preposition]))
    else:
        name = listed[0] if listed else "_".join(filter(None, [_form(last), particle, preposition]))
        if listed and last.tag_ in ("VBG", "VBP", "VBZ", "VB") and name in _PAST:
            name = "_".join(filter(None, [_form(last), particle, preposition]))
        if listed and last.tag_ == "VBD" and lemma in _STATES:
            name = f"{_STATES[lemma]}_{listed[0].partition('_')[2]}".rstrip("_")
        if any(c.dep_ == "aux" and c.lower_ in ("will", "'ll") for c in last.children):
            name = "_".join(filter(None, ["will", lemma, preposition]))
        bare = "_".join(filter(None, [lemma, preposition]))
    if not denied:
        return name, label
    auxiliary = "did" if first.tag_ == "VBD" or any(c.lower_ == "did" for c in first.children) else "does"
    prefix = {"not": f"{auxiliary}_not", "cannot": "cannot"}.get(denied)
    return (f"{prefix}_{bare}" if prefix else f"{denied}_{name}"), label


def _connect(scene: Scene, holder: int, name: str, place: int | None, verb: Token, target: Token) -> int | None:
    if place is None or place == holder:
        return None
    first, last = (verb, target) if verb.i < target.i else (target, verb)
    scene.draft.edge(holder, name, place, scene.reading.span(first, last), scene.circumstances(verb, target))
    if scene.draft.nodes[place].label != "Person":
        scene.draft.describe(place, scene.circumstances(verb, target))
        scene.topic = place
    return place


def _single_valued(scene: Scene, holder: int, name: str, place: int | None) -> None:
    attribute = {
        "lives_in": "home", "moved_to": "home", "works_at": "employer", "works_as": "job", "married_to": "spouse"
    }.get(name)  # fmt: skip
    if place is not None and attribute:
        scene.draft.replace(holder, {attribute: scene.draft.nodes[place].title})


def _lemma(verb: Token) -> str:
    """The lemma, mended where the small model is known to fail ("hates" is no hat)."""
    return "hate" if verb.lower_.startswith("hat") and verb.lower_ in ("hate", "hates", "hated") else str(verb.lemma_.lower())


def _form(verb: Token) -> str:
    """The verb as a relationship: its past form as written, else the third person."""
    if verb.tag_ in ("VBD", "VBN"):
        return str(verb.lower_)
    lemma = str(verb.lemma_.lower())
    irregular = {"have": "has", "be": "is", "go": "goes", "do": "does"}
    if lemma in irregular:
        return irregular[lemma]
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + ("es" if lemma.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
