"""Kin, friends and pets: "my sister Ana", "my friend", "a cat named Miso", "my dog's name is Rex"."""

from __future__ import annotations

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.given_names import given_names
from memory_core.extractors.embedded.labels import label_of
from memory_core.extractors.embedded.phrases import head_label
from memory_core.extractors.embedded.reading import Token, conjuncts
from memory_core.extractors.embedded.said import asked, denial
from memory_core.extractors.embedded.scene import Scene


def read_people(scene: Scene) -> None:
    """Adds the relatives, friends and pets of the speaker with a `has_…` edge, and whatever is called by a name."""
    for token in scene.reading.doc:
        lemma = token.lemma_.lower()
        following = token.nbor(1).lower_ if token.i + 1 < len(token.doc) else ""
        if (
            (lemma == "ex" and following in words.KIN)
            or token.pos_ not in ("NOUN", "PROPN")
            or (scene.reading.kind(token) and token.text not in words.CALLED_KIN)
            or token.i in scene.places
            or (
                token.dep_ == "attr"
                and token.head.lemma_ == "be"
                and (denial(token.head) or _of_somebody(scene, token))
            )
        ):
            continue
        related = lemma.removeprefix("ex-") in words.KIN | words.PETS
        if _called_kin(token):
            _relative(scene, token, lemma, None)
            continue
        name = _name(scene, token) if related else _called(scene, token)
        if related and _mine(scene, token) and (name is not None or not asked(token)):
            _relative(scene, token, lemma, name)
        elif name is not None and related and _theirs(scene, token, lemma, name):
            continue
        elif (name is not None and related and any(c.dep_ == "poss" for c in name.children)) or (
            name is not None and _called(scene, token) is not None and (lemma in words.PETS or head_label(lemma))
        ):
            _named_one(scene, token, lemma, name)


def _of_somebody(scene: Scene, token: Token) -> bool:
    """ "Tom came by, he's my cousin": said of the one already named."""
    pronoun = any(c.lower_ in ("he", "she") for c in token.head.children if c.dep_ == "nsubj")
    return pronoun and any(_is_person(scene, t) for t in scene.reading.doc[: token.i])


def _called_kin(token: Token) -> bool:
    """ "Mum called", "mom made pie": the speaker's own, without saying so."""
    bare = not any(c.dep_ in ("poss", "det", "amod", "compound", "nummod") for c in token.children)
    written = token.text in words.CALLED_KIN and token.pos_ == "PROPN"
    spoken = token.text.capitalize() in words.CALLED_KIN and token.dep_ in ("nsubj", "dobj", "pobj", "dative", "conj")
    return bare and (written or (spoken and token.tag_ in ("NN", "NNP")))


def _mine(scene: Scene, token: Token) -> bool:
    owners = [c for c in token.children if c.dep_ == "poss"]
    if not owners and token.dep_ in ("compound", "nmod", "appos", "amod"):
        owners = [c for c in token.head.children if c.dep_ == "poss" and c.i < token.i]
    before = token.nbor(-1) if token.i else token
    return any(scene.is_mine(c) for c in owners) or (before.tag_ == "PRP$" and scene.is_mine(before))


def _called(scene: Scene, token: Token) -> Token | None:
    for clause in (c for c in token.children if c.dep_ == "acl" and c.lemma_ in ("name", "call")):
        for child in clause.children:
            if child.dep_ in ("oprd", "dobj", "attr", "ccomp", "xcomp") and child.text[0].isupper():
                return child
    return None


def _name(scene: Scene, token: Token) -> Token | None:
    reading = scene.reading
    if token.dep_ in ("compound", "nmod") and token.head.text[0].isupper() and not token.head.is_sent_start:
        return token.head
    for child in token.children:
        if child.dep_ == "appos" and (reading.named(child) or child.pos_ == "PROPN"):
            return child
    following = token.nbor(1) if token.i + 1 < len(token.doc) else None
    if (
        following is not None
        and following.text in (",", "(")
        and token.i + 2 < len(token.doc)
        and token.nbor(2).dep_ == "appos"
    ):
        following = token.nbor(2)
    if following is not None and reading.named(following) and reading.kind(following) not in ("NORP", "GPE"):
        return following
    if (
        following is not None
        and following.text == "'s"
        and token.i + 2 < len(token.doc)
        and token.nbor(2).lemma_ == "name"
    ):
        scene.places[token.nbor(2).i] = None
        return next(
            (c for c in token.nbor(2).head.children if c.dep_ in ("attr", "acomp", "oprd") and c.text[0].isupper()),
            None,
        )
    called = _called(scene, token)
    if called is not None:
        return called
    if token.dep_ in ("nsubj", "attr") and token.head.lemma_ == "be" and token.lemma_.lower() in words.PETS | words.KIN:
        names = (c for c in token.head.children if c.dep_ in ("attr", "nsubj") and c is not token)
        return next((c for c in names if _nameable(scene, c)), None)
    return None


def _nameable(scene: Scene, token: Token) -> bool:
    """A name, or a given name that the tagger takes for a noun because the sentence starts with it."""
    if scene.reading.named(token):
        return scene.reading.kind(token) not in ("NORP", "TITLE")
    return bool(token.text[0].isupper()) and token.lower_ in given_names() and not any(token.lefts)


def _relative(scene: Scene, token: Token, lemma: str, name: Token | None) -> None:
    pet = lemma in words.PETS
    former = any(c.lower_ in ("ex", "former", "ex-") for c in token.lefts) or lemma.startswith("ex-")
    lemma = lemma.removeprefix("ex-")
    relation = words.KIN_NAMES.get(lemma, lemma)
    tie = "has_pet" if pet else f"{'had' if former else 'has'}_{relation}"
    noun = token.lower_ if token.tag_ == "NNS" else relation
    title = name.text if name is not None else f"{scene.me}'s {noun}"
    count = next((c.text for c in token.children if c.dep_ == "nummod"), "")
    key = "kind" if pet else "relation"
    place = scene.draft.node(
        "Person",
        title,
        f"{title}: {scene.me}'s {noun}. {scene.sentence(token)}",
        scene.reading.span(name if name is not None else token),
        named=True,
        attributes={key: scene.reading.slice(token, token) if pet else relation, "count": count},
    )
    _keep(scene, token, name, place, pet)
    me = scene.speaker()
    scene.draft.edge(me, tie, place, scene.reading.span(token))
    if relation in words.SPOUSES and not former and name is not None and me is not None:
        scene.draft.describe(me, {"spouse": title})
    if token.tag_ == "NNS" and name is not None:
        _others(scene, token, name, tie, {key: relation})


def _theirs(scene: Scene, token: Token, lemma: str, name: Token) -> bool:
    """ "Marta and her boyfriend Chris", "Priya's boyfriend Leo": a tie between the two."""
    owner = next((c for c in token.children if c.dep_ == "poss"), None)
    if owner is None or not _nameable(scene, name):
        return False
    if owner.lower_ in ("his", "her"):
        owner = next((t for t in reversed(scene.reading.doc[: owner.i]) if _is_person(scene, t)), None)
    if owner is None or not _is_person(scene, owner):
        return False
    pet = lemma in words.PETS
    relation = words.KIN_NAMES.get(lemma, lemma)
    holder = scene.thing(owner, force="Person")
    span = scene.reading.span(name)
    place = scene.draft.node("Person", name.text, scene.sentence(token), span, named=True, attributes={"kind": lemma})
    _keep(scene, token, name, place, pet)
    scene.draft.edge(holder, "has_pet" if pet else f"has_{relation}", place, scene.reading.span(token))
    return True


def _is_person(scene: Scene, token: Token) -> bool:
    place = scene.places.get(token.i)
    if place is not None:
        return scene.draft.nodes[place].label == "Person"
    return scene.reading.named(token) and label_of(scene.reading, token) == "Person"


def _others(scene: Scene, token: Token, name: Token, relationship: str, attributes: dict[str, str]) -> None:
    """ "two kids, Leo and Mia": the second is a child too."""
    for other in (t for t in conjuncts(name) if t is not name and t.i not in scene.places and t.text[0].isupper()):
        span = scene.reading.span(other)
        place = scene.draft.node("Person", other.text, scene.sentence(token), span, named=True, attributes=attributes)
        scene.places[other.i] = place
        scene.draft.edge(scene.speaker(), relationship, place, span)
        scene.people += [] if place is None else [place]
        scene.groups[token.i] = [*scene.groups.get(token.i, [scene.places[name.i]]), place]


def _named_one(scene: Scene, token: Token, lemma: str, name: Token) -> None:
    """A pet or person called by name: the clause says whose it is."""
    pet = lemma in words.PETS
    label = "Person" if pet or lemma in words.KIN else head_label(lemma)
    place = scene.draft.node(
        label, name.text, scene.sentence(token), scene.reading.span(name), named=True, attributes={"kind": lemma}
    )
    _keep(scene, token, name, place, pet)


def _keep(scene: Scene, token: Token, name: Token | None, place: int | None, pet: bool) -> None:
    for child in token.lefts:
        scene.reading.use(child.left_edge, child)
    for each in (token, name):
        if each is not None:
            scene.places[each.i] = place
            scene.reading.use(each, each)
    if place is not None:
        scene.people.append(place)
