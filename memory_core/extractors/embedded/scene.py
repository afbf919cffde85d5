"""What a turn has brought up so far: the speaker, the people and things named, and what "she" or "it" would mean."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.draft import Draft
from memory_core.extractors.embedded.grammar import subjects
from memory_core.extractors.embedded.labels import label_of
from memory_core.extractors.embedded.leftovers import leftovers
from memory_core.extractors.embedded.phrases import head_label, nameable, phrase
from memory_core.extractors.embedded.reading import Reading, Token, conjuncts, own_clause
from memory_core.extractors.embedded.said import felt
from memory_core.schema import Scalar

DETAILS = 4
_TAILS = {
    "Event": ("of", "to", "for", "about"),
    "Goal": ("of", "for", "in", "to", "with"),
    "Preference": ("of", "for", "in", "with", "over"),
}
_PLACES = ("in", "at", "on", "near")


@dataclass
class Scene:
    """`me` is the title of the speaker, `mine` the words that mean the speaker; `places` maps tokens to nodes."""

    reading: Reading
    draft: Draft
    me: str
    mine: frozenset[str] = words.FIRST_PERSON
    places: dict[int, int | None] = field(default_factory=dict)
    groups: dict[int, list[int | None]] = field(default_factory=dict)
    owned: list[tuple[int, Token]] = field(default_factory=list)
    people: list[int] = field(default_factory=list)
    topic: int | None = None
    names_only: bool = False
    told: set[int] = field(default_factory=set)
    loose: list[tuple[str, str]] = field(default_factory=list)

    def speaker(self) -> int | None:
        return self.draft.node("Person", self.me, f"{self.me} takes part in the conversation.", None, named=True)

    def holders(self, verb: Token) -> list[int]:
        """The nodes of the subjects; the speaker for a clause like "Took a trip to Rome"."""
        tokens = subjects(verb)
        if any(t.tag_ in ("WDT", "WP") for t in tokens) and verb.dep_ == "relcl":
            tokens = [verb.head]
            if verb.head.lower_ == "one" and verb.head.dep_ == "attr":  # "Otis is the one who drums"
                tokens = subjects(verb.head.head)
        past = verb.tag_ in ("VBD", "VBN", "VBG") or verb.lower_ in words.PAST_FORMS
        bare = not tokens and verb.dep_ in ("ROOT", "ccomp", "parataxis") and (past or felt(verb))
        if bare and self.mine == words.FIRST_PERSON:
            me = self.speaker()
            return [] if me is None else [me]
        return [place for token in tokens for place in self.who(token)]

    def connect(self, holder: int, name: str, place: int | None, verb: Token, target: Token) -> int | None:
        """An edge with the clause's circumstances; the thing becomes what "it" means next."""
        if place is None or place == holder:
            return None
        first, last = (verb, target) if verb.i < target.i else (target, verb)
        circumstances = self.circumstances(verb, target)
        self.draft.edge(holder, name, place, self.reading.span(first, last), circumstances)
        if self.draft.nodes[place].label != "Person":
            self.draft.describe(place, circumstances)
            self.topic = place
        elif self.draft.nodes[holder].label != "Person":
            self.topic = holder
        return place

    def sentence(self, token: Token) -> str:
        return str(token.sent.text).strip()

    def is_mine(self, token: Token) -> bool:
        return token.lower_ in self.mine

    def who(self, token: Token) -> list[int]:
        """The nodes a subject stands for; several for "they", none for a pronoun without a past."""
        if token.i in self.groups:
            return [place for place in self.groups[token.i] if place is not None]
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
        if (
            not nameable(self.reading, token)
            or self.is_amount(token)
            or (self.names_only and not force and not self.reading.named(token) and not self._yours(token))
        ):
            return None
        named = next((c for c in token.children if c.dep_ == "appos" and self.reading.named(c)), None)
        wished = named is not None and head_label(token.lemma_.lower()) == "Event" and token.i + 1 < named.i
        if named is not None and not wished and not self.reading.named(token):
            place = self._named_thing(token, named, default, force)
        else:
            place = self._new(token, default, force)
        self.places[token.i] = place
        if place is not None:
            self._note(token, place, hang)
        return place

    def _yours(self, token: Token) -> bool:
        label = head_label(token.lemma_.lower())
        owners = [c for c in token.children if c.dep_ == "poss"]
        theirs = label == "Event" and any(c.lower_ in words.THIRD_PERSON or self.reading.named(c) for c in owners)
        return theirs or (label in ("Artifact", "Event") and any(self.is_mine(c) for c in owners))

    def same(self, token: Token, name: Token) -> int | None:
        """One node for a noun and the name it is given, the noun kept as its kind."""
        lemma = token.lemma_.lower()
        place = self.thing(name, force="Person" if lemma in words.PETS | words.KIN else head_label(lemma))
        self.places[token.i] = place
        if place is not None:
            self.draft.describe(place, {"kind": self.text(token)})
            self.topic = place
        return place

    def _meant(self, token: Token, default: str, force: str) -> int | None:
        lower = token.lower_
        if lower in words.THIRD_PERSON - {"they", "them", "their", "theirs"}:
            return self.people[-1] if self.people else None
        if lower in ("it", "them", "that", "this", "those", "these") and force:
            plural = lower in ("them", "those", "these")
            before = [
                t
                for t in self.reading.doc[max(0, token.i - 40) : token.i]
                if t.pos_ == "NOUN" and (t.tag_ == "NNS") == plural
            ]
            found = [t for t in before if nameable(self.reading, t) and t.dep_ in ("dobj", "pobj", "nsubj", "attr")]
            return self.thing(found[-1], default, force) if found else self.topic
        return None

    def _new(self, token: Token, default: str, force: str) -> int | None:
        label = force or label_of(self.reading, token, default)
        named = self.reading.named(token)
        first, last = phrase(self.reading, token, _TAILS.get(label, ("of",)))
        beside = next(
            (c for c in token.children if c.i == token.i + 1 and c.dep_ == "appos" and c.text.islower()), None
        )
        if named and beside is not None and beside.is_alpha:  # "an IKEA bookshelf", read as two names for one thing
            last, label = beside, force or head_label(beside.lower_) or "Artifact"
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
        label = (
            force or ("Person" if lemma in words.PETS else head_label(lemma)) or label_of(self.reading, named, default)
        )
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
            span = self.draft.nodes[place].span
            if preposition == "of" and span is not None and span[0] <= target.idx < span[1]:
                return
            where = (
                preposition in _PLACES
                and other is not None
                and self.draft.nodes[other].label in ("Location", "Organization")
            )
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
        dates = [
            t
            for t in clause
            if self.reading.dated(t) or (t.dep_ in ("advmod", "npadvmod") and t.lower_ in words.WHEN_WORDS)
        ]
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
        """The end of a turn: details without a home go to the topic, what the speaker owns is tied to the speaker."""
        home = (
            self.topic
            if self.topic is not None
            else next((k for k, n in enumerate(self.draft.nodes) if n.title != self.me), None)
        )
        if home is not None:
            for name, text in self.loose[: 2 * DETAILS]:
                self.draft.describe(home, {self.free(home, name): text})
        for place, token in self.owned:
            relationship = {"Artifact": "owns", "Event": "has_event", "Location": "has", "Goal": "has_goal"}.get(
                self.draft.nodes[place].label
            )
            me = self.speaker() if relationship else None
            if (
                relationship
                and me is not None
                and not any({e.source, e.target} == {me, place} for e in self.draft.edges)
            ):
                self.draft.edge(me, relationship, place, self.reading.span(token))
