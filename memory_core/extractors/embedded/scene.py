"""What a turn has brought up so far: the speaker, the people and things named, and what "she" or "it" would mean."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.draft import Draft
from memory_core.extractors.embedded.phrases import head_label, label_of, nameable, phrase
from memory_core.extractors.embedded.reading import Reading, Token, conjuncts, own_clause
from memory_core.schema import Scalar, content_words

VALUE_WORDS = 6
DETAILS = 4
_TAILS = {"Event": ("of", "to", "for", "about"), "Goal": ("of", "for", "in", "to", "with"), "Preference": ("of", "for", "in", "with", "over")}
_PLACES = ("in", "at", "on", "near")


@dataclass
class Scene:
    """`me` is the title of the speaker, `mine` the words that mean the speaker; `places` maps tokens to nodes."""

    reading: Reading
    draft: Draft
    me: str
    mine: frozenset[str] = words.FIRST_PERSON
    places: dict[int, int | None] = field(default_factory=dict)
    owned: list[tuple[int, Token]] = field(default_factory=list)
    people: list[int] = field(default_factory=list)
    topic: int | None = None
    names_only: bool = False
    told: set[int] = field(default_factory=set)
    loose: list[tuple[str, str]] = field(default_factory=list)

    def speaker(self) -> int | None:
        return self.draft.node("Person", self.me, f"{self.me} takes part in the conversation.", None, named=True)

    def sentence(self, token: Token) -> str:
        return str(token.sent.text).strip()

    def is_mine(self, token: Token) -> bool:
        return token.lower_ in self.mine

    def who(self, token: Token) -> list[int]:
        """The nodes a subject stands for; several for "they", none for a pronoun without a past."""
        if token.lower_ in ("they", "them") and len(self.people) > 1:
            return self.people[-2:]
        if token.lower_ in words.VAGUE_SUBJECTS | {"they", "them"}:
            return [] if self.topic is None else [self.topic]
        place = self.thing(token)
        return [] if place is None else [place]

    def thing(self, token: Token, default: str = "Concept", force: str = "", hang: bool = True) -> int | None:
        """The node of a noun phrase or a name; None for dates, amounts, empty nouns and pronouns without a past."""
        if token.i in self.places:
            return self.places[token.i]
        if self.is_mine(token):
            return self.speaker()
        if token.pos_ == "PRON" and not self.reading.named(token):
            return self._meant(token, default, force)
        if not nameable(self.reading, token) or self.is_amount(token) or (self.names_only and not force and not self.reading.named(token) and not self._yours(token)):
            return None
        named = next((c for c in token.children if c.dep_ == "appos" and self.reading.named(c)), None)
        if named is not None and not self.reading.named(token):
            place = self._named_thing(token, named, default, force)
        else:
            place = self._new(token, default, force)
        self.places[token.i] = place
        if place is not None:
            self._note(token, place, hang)
        return place

    def _yours(self, token: Token) -> bool:
        return any(c.dep_ == "poss" and self.is_mine(c) for c in token.children) and head_label(token.lemma_.lower()) in ("Artifact", "Event")

    def _meant(self, token: Token, default: str, force: str) -> int | None:
        lower = token.lower_
        if lower in words.THIRD_PERSON - {"they", "them", "their", "theirs"}:
            return self.people[-1] if self.people else None
        if lower in ("it", "them", "that", "this", "those", "these") and force:
            plural = lower in ("them", "those", "these")
            before = [t for t in self.reading.doc[max(0, token.i - 40) : token.i] if t.pos_ == "NOUN" and (t.tag_ == "NNS") == plural]
            found = [t for t in before if nameable(self.reading, t) and t.dep_ in ("dobj", "pobj", "nsubj", "attr")]
            return self.thing(found[-1], default, force) if found else self.topic
        return None

    def _new(self, token: Token, default: str, force: str) -> int | None:
        label = force or label_of(self.reading, token, default)
        named = self.reading.named(token)
        first, last = phrase(self.reading, token, _TAILS.get(label, ("of",)))
        self.reading.use(first, last)
        return self.draft.node(
            label,
            self.reading.slice(first, last),
            self.sentence(token),
            self.reading.span(first, last),
            named=named,
            attributes=self._numbers(token),
        )

    def _named_thing(self, token: Token, named: Token, default: str, force: str) -> int | None:
        lemma = token.lemma_.lower()
        label = force or ("Person" if lemma in words.PETS else head_label(lemma)) or label_of(self.reading, named, default)
        kind = self.text(token)
        places = [self.thing(each, default, label) for each in conjuncts(named)]
        for place in (p for p in places if p is not None):
            self.draft.describe(place, {"kind": kind})
        return places[0]

    def _note(self, token: Token, place: int, hang: bool) -> None:
        """Keeps who and what was brought up, and reads what hangs on the noun: owner, places, dates, details."""
        if self.draft.nodes[place].label == "Person" and place not in self.people[-1:]:
            self.people.append(place)
        if any(c.dep_ == "poss" and self.is_mine(c) for c in token.children):
            self.owned.append((place, token))
        for child in token.rights:
            if hang and child.dep_ == "prep" and not self.reading.kind(token):
                for target in (t for c in child.children if c.dep_ == "pobj" for t in conjuncts(c)):
                    self.hang(place, child.lower_, target)

    def hang(self, place: int, preposition: str, target: Token) -> None:
        """A preposition on a thing: an edge to a name, else an attribute."""
        if self.reading.dated(target):
            self.describe_when(place, target)
        elif self.reading.named(target):
            other = self.thing(target)
            where = preposition in _PLACES and other is not None and self.draft.nodes[other].label in ("Location", "Organization")
            self.draft.edge(place, "located_in" if where else preposition, other, self.reading.span(target))
        elif target.i not in self.reading.used and target.pos_ != "PRON":
            self.draft.describe(place, {preposition: self.text(target)})

    def describe_when(self, place: int, target: Token) -> None:
        self.reading.use(target, target)
        self.draft.describe(place, {"when": target.text})

    def text(self, token: Token) -> str:
        first, last = phrase(self.reading, token, ("of", "for", "to", "in", "with"))
        self.reading.use(first, last)
        return self.reading.slice(first, last)

    def _numbers(self, token: Token) -> dict[str, Scalar]:
        found: dict[str, Scalar] = {}
        for child in token.lefts:
            if child.dep_ == "nummod" and not self.reading.kind(child) and child.i not in self.reading.used:
                found["count"] = self.reading.slice(child.left_edge, child)
                self.reading.use(child.left_edge, child)
        for child in token.subtree:
            if self.reading.kind(child) == "MONEY":
                found["amount"] = self._money(child)
        return found

    def _money(self, token: Token) -> str:
        before = self.reading.text[max(0, token.idx - 1) : token.idx]
        self.reading.use(token, token)
        return before + str(token.text) if before in ("$", "€", "£") else str(token.text)

    def is_amount(self, token: Token) -> bool:
        """ "799 euros": an amount, not a thing."""
        return token.lemma_.lower() in words.CURRENCIES and any(c.dep_ == "nummod" for c in token.children)

    def circumstances(self, verb: Token, near: Token | None = None) -> dict[str, Scalar]:
        """When and for how much, verbatim, from the verb's own clause; of several dates the one beside `near`."""
        clause = own_clause(verb)
        dates = [t for t in clause if self.reading.dated(t) or (t.dep_ in ("advmod", "npadvmod") and t.lower_ in words.WHEN_WORDS)]
        if near is not None and len(dates) > 1:
            dates = [min(dates, key=lambda t: abs(t.i - near.i) + (4 if t.i < near.i else 0))]
        money = [t for t in clause if self.reading.kind(t) == "MONEY"]
        sums = [t for t in clause if self.is_amount(t)]
        every = [t for t in clause if t.dep_ == "npadvmod" and any(c.lower_ in ("every", "each") for c in t.children)]
        texts = [t.text for t in dates] + [self.reading.slice(t.left_edge, t) for t in every if t not in dates]
        for token in every:
            self.reading.use(token.left_edge, token)
        found: dict[str, Scalar] = {}
        if texts:
            found["when"] = ", ".join(dict.fromkeys(texts))
        if money:
            found["amount"] = self._money(money[0])
        elif sums:
            found["amount"] = self.reading.slice(sums[0].left_edge, sums[0])
            self.reading.use(sums[0].left_edge, sums[0])
        for token in dates:
            self.reading.use(token, token)
        return found

    def details(self, verb: Token, place: int | None) -> None:
        """What the clause says beyond its names: runs of unused words, verbatim, as attributes of `place`."""
        found = list(leftovers(self.reading, verb))[:DETAILS]
        if place is None or self.draft.nodes[place].title == self.me:
            self.loose += [] if self.names_only else found
            return
        if len(self.draft.nodes[place].attributes) > 2 * DETAILS:
            return
        for name, text in found:
            self.draft.describe(place, {self.free(place, name): text})

    def free(self, place: int, name: str) -> str:
        taken = self.draft.nodes[place].attributes
        return next(n for n in (name, *(f"{name}_{k}" for k in range(2, 99))) if n not in taken)

    def settle(self) -> None:
        """At the end of a turn: details without a home go to the topic; what the speaker owns is tied to the speaker."""
        home = self.topic if self.topic is not None else next((k for k, n in enumerate(self.draft.nodes) if n.title != self.me), None)
        if home is not None:
            for name, text in self.loose[: 2 * DETAILS]:
                self.draft.describe(home, {self.free(home, name): text})
        for place, token in self.owned:
            relationship = {"Artifact": "owns", "Event": "has_event", "Location": "has", "Goal": "has_goal"}.get(self.draft.nodes[place].label)
            me = self.speaker() if relationship else None
            if relationship and me is not None and not any({e.source, e.target} == {me, place} for e in self.draft.edges):
                self.draft.edge(me, relationship, place, self.reading.span(token))


def leftovers(reading: Reading, verb: Token) -> list[tuple[str, str]]:
    """Runs of unused content words in the clause of a verb, each at most `VALUE_WORDS` words, named by what opens it."""
    runs: list[list[Token]] = [[]]
    for token in own_clause(verb):
        words_in = [t for t in runs[-1] if not t.is_punct]
        broken = runs[-1] and (token.i != runs[-1][-1].i + 1 or len(words_in) >= VALUE_WORDS)
        if token.i in reading.used or token.is_space or token.text in ",;:.!()" or token.dep_ in ("cc", "intj", *_SKIPPED):
            broken = True
        elif not broken:
            runs[-1].append(token)
            continue
        if broken and runs[-1]:
            runs.append([])
        if token.i not in reading.used and not token.is_space and token.text not in ",;:.!()" and token.dep_ not in ("cc", "intj", *_SKIPPED):
            runs[-1].append(token)
    found = []
    for run in runs:
        name = _name_of(run[0], verb) if run else ""
        run = _trimmed(run)
        if run and set(content_words(reading.slice(run[0], run[-1]))) - words.FILLER:
            found.append((name, reading.slice(run[0], run[-1])))
            reading.use(run[0], run[-1])
    return found


def _trimmed(run: list[Token]) -> list[Token]:
    while run and (run[0].pos_ in ("DET", "PRON", "PART", "SCONJ", "PUNCT") or run[0].lower_ in words.EMPTY_OPENERS or (run[0].pos_ == "ADP" and run[0].dep_ != "prt")):
        run = run[1:]
    while run and run[-1].pos_ in ("DET", "PRON", "PART", "SCONJ", "PUNCT", "ADP", "CCONJ", "AUX"):
        run = run[:-1]
    return run


_SKIPPED = ("nsubj", "nsubjpass", "expl", "aux", "auxpass", "mark", "neg")


def _name_of(first: Token, verb: Token) -> str:
    if first.dep_ in ("prep", "agent") or first.pos_ == "ADP":
        return str(first.lower_)
    if first.i == verb.i or first.pos_ in ("VERB", "AUX"):
        return "does"
    return "how" if first.pos_ in ("ADV", "ADJ") else "detail"
