"""What the clauses of a turn say: who does what to what, with its date, amount and place, never what is asked or supposed."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.draft import Draft
from memory_core.extractors.embedded.reading import (
    Reading,
    Token,
    conjuncts,
    label_of,
    noun_label,
    own_clause,
    phrase,
    when_words,
)
from memory_core.schema import Scalar

SUBJECTS = ("nsubj", "nsubjpass", "csubj")


@dataclass
class Clauses:
    """Walks the clauses of one turn; `me` is the title of the speaker, `mine` the words that mean the speaker."""

    reading: Reading
    draft: Draft
    me: str
    mine: frozenset[str] = words.FIRST_PERSON
    confirming: bool = False
    places: dict[int, int | None] = field(default_factory=dict)
    person: int | None = None
    topic: int | None = None

    # -- who and what ------------------------------------------------------------------------------------------

    def speaker(self) -> int | None:
        return self.draft.node("Person", self.me, f"{self.me} is a speaker of the conversation.", None, named=True)

    def sentence(self, token: Token) -> str:
        return str(token.sent.text).strip()

    def thing(self, token: Token, default: str = "Concept", tails: tuple[str, ...] = ("of",), force: str = "") -> int | None:
        """The node of a noun phrase or name; None for pronouns, dates, bare numbers and empty nouns."""
        if token.i in self.places:
            return self.places[token.i]
        if token.lower_ in self.mine:
            return self.speaker()
        if token.pos_ == "PRON" and not self.reading.named(token):
            return self.person if token.lower_ in words.THIRD_PERSON - {"they", "them"} else None
        if self.reading.dated(token) or self.reading.kind(token) == "MONEY" or not self._nameable(token):
            return None
        named = self.reading.named(token)
        label = force or label_of(self.reading, token, default)
        wide = ("of", "to", "for", "about", "on", "in") if label == "Event" else tails
        first, last = phrase(self.reading, token, wide)
        title = self.reading.slice(first, last)
        place = self.draft.node(
            label, title, self.sentence(token), self.reading.span(first, last), named=named, attributes=self._numbers(token)
        )
        self.places[token.i] = place
        if place is not None:
            self._parts(token, place)
            if label == "Person" and named:
                self.person = place
        return place

    def _nameable(self, token: Token) -> bool:
        if self.reading.named(token):
            return True
        if token.pos_ not in ("NOUN", "PROPN", "ADJ", "VERB", "X") or token.is_punct or not token.text[0].isalnum():
            return False
        if token.lemma_.lower() in words.VAGUE_NOUNS:
            return any(c.dep_ in ("compound",) and c.lemma_.lower() not in words.VAGUE_NOUNS for c in token.lefts)
        return True

    def _numbers(self, token: Token) -> dict[str, Scalar]:
        count = next((c for c in token.lefts if c.dep_ == "nummod" and not self.reading.kind(c)), None)
        money = next((t for t in token.subtree if self.reading.kind(t) == "MONEY"), None)
        found: dict[str, Scalar] = {}
        if count is not None:
            found["count"] = self.reading.slice(count.left_edge, count)
        if money is not None:
            found["amount"] = money.text
        return found

    def _parts(self, token: Token, place: int) -> None:
        """What hangs on a noun: an owner's name, a preposition with a name, a relative clause's name."""
        for child in token.children:
            if child.dep_ == "appos" and self.reading.named(child) and not self.reading.named(token):
                self.draft.edge(place, "named", self.thing(child), self.reading.span(child))
            if child.dep_ == "prep" and self.reading.kind(token) == "" and child.i > token.i:
                for target in (t for c in child.children if c.dep_ == "pobj" for t in conjuncts(c)):
                    if self.reading.named(target):
                        self.draft.edge(place, child.lower_, self.thing(target), self.reading.span(token, target))
                    elif self.reading.dated(target):
                        self.draft.describe(place, {"when": target.text})
                    elif target.pos_ == "NOUN":
                        self.draft.describe(place, {child.lower_: self._text(target)})

    def _text(self, token: Token) -> str:
        first, last = phrase(self.reading, token, ("of", "for", "to", "in", "with"))
        return self.reading.slice(first, last)

    def subjects(self, verb: Token) -> list[Token]:
        """The subject tokens of a verb, its own or inherited from the verb it hangs on."""
        own = [c for c in verb.children if c.dep_ in SUBJECTS]
        if own:
            return [s for c in own for s in conjuncts(c)]
        if verb.dep_ in ("conj", "xcomp", "pcomp") and verb.head.i != verb.i and verb.head.pos_ in ("VERB", "AUX", "ADP"):
            return self.subjects(verb.head)
        if verb.dep_ in ("relcl", "acl") and verb.head.pos_ in ("NOUN", "PROPN"):
            return [verb.head]
        return []

    # -- what counts as said -----------------------------------------------------------------------------------

    def asked(self, token: Token) -> bool:
        return str(token.sent.text).rstrip(" \"')”;").endswith("?")

    def factual(self, verb: Token) -> bool:
        """Whether the turn states the clause: not asked, supposed, ordered, or said by somebody else."""
        children = list(verb.children)
        lowers = {c.lower_ for c in children if c.dep_ in ("aux", "mark")}
        if lowers & words.CONDITION_MARKS or lowers & words.HYPOTHETICAL_MODALS:
            return False
        if any(c.dep_ == "advcl" and any(m.dep_ == "mark" and m.lower_ in ("if", "unless") for m in c.children) for c in children):
            return False
        if self.asked(verb) and not self._presupposed(verb):
            return False
        if verb.dep_ == "ROOT" and verb.tag_ == "VB" and not any(c.dep_ in SUBJECTS or c.dep_ == "aux" for c in children):
            return False
        return self._head_allows(verb)

    def _presupposed(self, verb: Token) -> bool:
        """A first-person statement inside a question: before the asking clause, or as a relative clause."""
        subjects = [c for c in verb.children if c.dep_ in SUBJECTS]
        if not any(s.lower_ in self.mine or any(c.dep_ == "poss" and c.lower_ in self.mine for c in s.children) for s in subjects):
            return False
        if any(c.dep_ in ("aux", "neg") and c.i < subjects[0].i for c in verb.children) or (verb.pos_ == "AUX" and verb.i < subjects[0].i):
            return False
        if any(t.tag_ in ("WDT", "WP", "WRB", "WP$") for t in verb.children if t.i < verb.i) and verb.dep_ != "relcl":
            return False
        return verb.dep_ not in ("ccomp", "advcl") or verb.head.i > verb.i or verb.head.lemma_ in ("mention", "tell")

    def _head_allows(self, verb: Token) -> bool:
        head = verb.head
        if head.i == verb.i:
            return True
        if verb.dep_ in ("ccomp", "parataxis") and head.pos_ == "VERB" and verb.i > head.i:
            return self._said_here(head)
        if verb.dep_ in ("conj", "xcomp", "advcl", "pcomp") and head.pos_ in ("VERB", "AUX"):
            own_subject = any(c.dep_ in SUBJECTS for c in verb.children)
            if verb.dep_ == "conj" and own_subject:
                return self._head_allows(head) or not self.asked(verb)
            return self.factual(head)
        return True

    def _said_here(self, head: Token) -> bool:
        lemma = head.lemma_.lower()
        mine = any(s.lower_ in self.mine for s in self.subjects(head))
        if lemma in ("wonder", "ask", "wish", "imagine", "doubt", "hope", "pretend", "let", "want"):
            return False
        if lemma in words.ASSERTING | words.OWN_ASSERTING:
            return mine and lemma in words.OWN_ASSERTING and not self.negated(head) and self.factual(head)
        return self.factual(head)

    def negated(self, verb: Token) -> str:
        """"" or the prefix of a denied relationship: not, never, no_longer."""
        for child in verb.children:
            if child.dep_ == "neg" or child.lower_ in ("never", "not", "n't"):
                later = any(t.lower_ in ("anymore", "longer") for t in own_clause(verb))
                return "no_longer" if later else "never" if child.lower_ == "never" else "not"
            if child.dep_ == "advmod" and child.lower_ == "longer" and any(g.lower_ == "no" for g in child.children):
                return "no_longer"
            if child.dep_ == "advmod" and child.lower_ in ("hardly", "rarely", "barely", "seldom"):
                return child.lower_
        if verb.dep_ == "conj" and any(c.lower_ in ("or", "nor") for c in verb.head.children) and not any(c.dep_ in SUBJECTS for c in verb.children):
            return self.negated(verb.head)
        if verb.dep_ == "xcomp" and verb.head.pos_ in ("VERB", "AUX"):
            return self.negated(verb.head)
        return ""

    # -- the walk ----------------------------------------------------------------------------------------------

    def walk(self) -> None:
        for token in self.reading.doc:
            if token.pos_ in ("VERB", "AUX") and token.dep_ not in ("aux", "auxpass") and not self.reading.kind(token) and self.factual(token):
                self.clause(token)

    def holders(self, verb: Token) -> list[int]:
        """The nodes of the subjects; the speaker for a clause like "Took a trip to Rome"."""
        tokens = self.subjects(verb)
        if not tokens and verb.dep_ == "ROOT" and verb.tag_ in ("VBD", "VBN", "VBG") and not self.confirming:
            places = [self.speaker()]
        else:
            places = [self.topic if t.lower_ in words.VAGUE_SUBJECTS else self.thing(t) for t in tokens]
        return [p for p in places if p is not None]

    def clause(self, verb: Token) -> None:
        if verb.dep_ == "xcomp" and verb.head.pos_ == "VERB":
            return
        mine = [t for t in self.subjects(verb) if t.lower_ in self.mine]
        lemma = verb.lemma_.lower()
        if lemma == "be":
            self.copula(verb)
        elif lemma in words.LIKING | words.DISLIKING | words.PREFERRING or (lemma == "stand" and self.negated(verb)):
            self.preference(verb)
        elif mine and self.intended(verb):
            self.goal(verb)
        else:
            self.action(verb)

    def intended(self, verb: Token) -> bool:
        lemma = verb.lemma_.lower()
        chained = any(c.dep_ == "xcomp" and c.pos_ in ("VERB", "AUX") for c in verb.children)
        return (
            (lemma in words.WANTING and (chained or lemma in ("plan", "want")))
            or (lemma == "go" and verb.tag_ == "VBG" and chained)
            or (lemma in ("think", "consider") and verb.tag_ == "VBG")
            or (lemma == "look" and chained)
            or any(c.dep_ == "aux" and c.lower_ in ("will", "'ll") for c in verb.children)
        )

    # -- kinds of clause ---------------------------------------------------------------------------------------

    def preference(self, verb: Token) -> None:
        lemma, denied = verb.lemma_.lower(), bool(self.negated(verb))
        disliked = lemma in words.DISLIKING or lemma == "stand" or denied
        relationship = "dislikes" if disliked else "prefers" if lemma == "prefer" else "likes"
        if lemma in words.DISLIKING and denied:
            return
        for holder in self.holders(verb):
            for target in self.objects(verb):
                place = self.thing(target, "Preference", ("of", "for", "in", "with"))
                self.connect(holder, relationship, place, verb, target)
            for chained in (c for c in verb.children if c.dep_ in ("xcomp", "ccomp") and c.pos_ == "VERB"):
                self.connect(holder, relationship, self.deed(chained, "Preference"), verb, chained)

    def deed(self, verb: Token, label: str) -> int | None:
        """The node of an action itself: "learn Portuguese", "hiking in the mountains"."""
        tokens = [t for t in own_clause(verb) if t.i >= verb.i and not t.is_space]
        kept = []
        for token in tokens:
            if kept and (token.i != kept[-1].i + 1 or token.text in ",;:.!" or len(kept) >= 9 or self.reading.dated(token)):
                break
            kept.append(token)
        while kept and (kept[-1].pos_ in ("ADP", "DET", "CCONJ", "PART", "PRON", "SCONJ") or kept[-1].is_punct):
            kept.pop()
        if not kept:
            return None
        return self.draft.node(label, self.reading.slice(kept[0], kept[-1]), self.sentence(verb), self.reading.span(kept[0], kept[-1]))

    def goal(self, verb: Token) -> None:
        holder, denied = self.speaker(), self.negated(verb)
        deeds = [c for c in verb.children if c.dep_ == "xcomp" and c.pos_ in ("VERB", "AUX")]
        deeds += [p for c in verb.children if c.dep_ == "prep" for p in c.children if p.dep_ == "pcomp"]
        if any(c.dep_ == "aux" and c.lower_ in ("will", "'ll") for c in verb.children):
            deeds = [verb]
        places = [self.deed(d, "Goal") for deed in deeds for d in conjuncts(deed)]
        targets = deeds
        if not deeds:
            targets = self.objects(verb) + [t for _, t in self.prepositions(verb)]
            places = [self.thing(t, "Goal", ("of", "for", "in", "to")) for t in targets]
        for place in places:
            if place is None:
                continue
            self.draft.edge(holder, f"{denied}_planned" if denied else "has_goal", place, self.reading.span(verb))
            self.describe(place, verb)
            self.topic = place
        for deed in targets:
            for token in deed.subtree:
                if self.reading.named(token) and places and places[0] is not None:
                    self.draft.edge(places[0], "involves", self.thing(token), self.reading.span(token))
                elif self.reading.dated(token) and places and places[0] is not None:
                    self.draft.describe(places[0], {"when": token.text})

    def copula(self, verb: Token) -> None:
        denied = self.negated(verb)
        tokens = self.subjects(verb)
        mine = any(t.lower_ in self.mine for t in tokens)
        for holder in self.holders(verb):
            for token in (t for c in verb.children if c.dep_ in ("attr", "acomp", "oprd") for t in conjuncts(c)):
                if mine:
                    self.i_am(holder, verb, token, denied)
                else:
                    self.it_is(holder, verb, token, denied)
            for preposition, target in self.prepositions(verb):
                if self.reading.dated(target):
                    self.draft.describe(holder, {"when": target.text})
                else:
                    name = f"{denied}_{preposition}" if denied else f"is_{preposition}"
                    self.draft.edge(holder, name, self.thing(target), self.reading.span(verb, target))
            if not mine:
                self.describe(holder, verb)

    def i_am(self, me: int, verb: Token, token: Token, denied: str) -> None:
        lemma = token.lemma_.lower()
        prefix = f"{denied}_" if denied else ""
        age = next((t for t in token.subtree if t.like_num), None)
        if age is not None and not denied and (token.like_num or lemma in ("old", "year")):
            self.draft.describe(me, {"age": age.text})
        if token.pos_ in ("NOUN", "PROPN"):
            place = self.thing(token)
            self.draft.edge(me, f"{prefix}is_a", place, self.reading.span(verb, token))
            if not denied and noun_label(lemma) == "Person":
                self.draft.describe(me, {"job": self._text(token)})
        for child in token.children:
            for target in (t for c in child.children if child.dep_ == "prep" and c.dep_ in ("pobj", "pcomp") for t in conjuncts(c)):
                self.adjective(me, verb, token, child, target, denied)

    def adjective(self, me: int, verb: Token, token: Token, preposition: Token, target: Token, denied: str) -> None:
        """ "I am good at chess", "I am allergic to nuts", "I am a nurse at Mercy"."""
        lemma, prefix = token.lemma_.lower(), f"{denied}_" if denied else ""
        span = self.reading.span(verb, target)
        label = "Concept"
        name = f"{prefix}{lemma}_{preposition.lower_}"
        if lemma in words.SKILL_ADJECTIVES and preposition.lower_ in ("at", "in", "with"):
            label, name = "Skill", f"{prefix}has_skill"
        elif lemma in words.LIKING_ADJECTIVES or lemma == "fan":
            label, name = "Preference", "dislikes" if denied else "likes"
        elif lemma in words.DISLIKING_ADJECTIVES:
            label = "Preference"
        elif token.pos_ == "NOUN" and preposition.lower_ in ("at", "for", "with") and noun_label(lemma) == "Person":
            label, name = "Organization", f"{prefix}works_at"
        place = self.deed(target, label) if target.pos_ == "VERB" else self.thing(target, label)
        self.draft.edge(me, name, place, span, self.circumstances(verb))
        if name == "works_at" and place is not None:
            self.draft.describe(me, {"employer": self.draft.nodes[place].title})

    def it_is(self, holder: int, verb: Token, token: Token, denied: str) -> None:
        text = self._text(token) if token.pos_ in ("NOUN", "PROPN") else self.reading.slice(token.left_edge, token)
        if self.reading.named(token):
            self.draft.edge(holder, f"{denied}_is" if denied else "is", self.thing(token), self.reading.span(verb, token))
        elif self.reading.dated(token):
            self.draft.describe(holder, {"when": token.text})
        else:
            name = f"is_{denied}" if denied else "is"
            if name in self.draft.nodes[holder].attributes:
                name = f"{name}_also"
            self.draft.describe(holder, {name: text})
        for child in token.children:
            for target in (t for c in child.children if child.dep_ == "prep" and c.dep_ == "pobj" for t in conjuncts(c)):
                if self.reading.named(target):
                    self.draft.edge(holder, f"{denied}_{token.lemma_}_{child.lower_}" if denied else f"{token.lemma_}_{child.lower_}", self.thing(target), self.reading.span(verb, target))
                else:
                    self.draft.describe(holder, {child.lower_: self._text(target)})

    def action(self, verb: Token) -> None:
        holders = self.holders(verb)
        chain = [verb]
        while (following := next((c for c in chain[-1].children if c.dep_ == "xcomp" and c.pos_ == "VERB"), None)) is not None:
            chain.append(following)
        last, denied = chain[-1], self.negated(verb)
        past = verb.lemma_ == "use" and len(chain) > 1 and verb.tag_ in ("VBD", "VBN")
        found = False
        for holder in holders:
            person = self.draft.nodes[holder].label == "Person"
            for preposition, target in [("", t) for t in self.objects(last)] + self.prepositions(last):
                if self.reading.dated(target) or self.reading.kind(target) == "MONEY":
                    continue
                if preposition and not self.reading.named(target) and not person:
                    self.draft.describe(holder, {f"{last.lemma_}_{preposition}": self._text(target)})
                    continue
                if preposition and found and not self.reading.named(target):
                    if self.topic is not None:
                        self.draft.describe(self.topic, {preposition: self._text(target)})
                    continue
                name, label = self.relation(chain, preposition, denied, past)
                place = self.thing(target, label)
                if preposition and found and self.topic is not None:
                    self.draft.edge(self.topic, preposition, place, self.reading.span(last, target))
                    continue
                self.connect(holder, name, place, verb, target)
                self.single_valued(holder, name, place)
                found = found or place is not None
            if not person:
                self.describe(holder, verb)

    def relation(self, chain: list[Token], preposition: str, denied: str, past: bool) -> tuple[str, str]:
        last = chain[-1]
        particle = next((c.lower_ for c in last.children if c.dep_ == "prt"), "")
        lemma = f"{last.lemma_.lower()}_{particle}" if particle else last.lemma_.lower()
        listed = words.RELATIONS.get((lemma, preposition))
        label = listed[1] if listed else "Concept"
        if past:
            return "_".join(filter(None, ["used_to", lemma, preposition])), label
        if len(chain) > 1:
            name = "_".join(filter(None, [_form(chain[0]), *(t.lower_ for t in chain[1:]), particle, preposition]))
        else:
            name = listed[0] if listed else "_".join(filter(None, [_form(last), particle, preposition]))
        return (f"{denied}_{name}" if denied else name), label

    def connect(self, holder: int, name: str, place: int | None, verb: Token, target: Token) -> None:
        if place is None:
            return
        self.draft.edge(holder, name, place, self.reading.span(verb, target) if verb.i < target.i else self.reading.span(target, verb), self.circumstances(verb))
        self.describe(place, verb)
        self.topic = place

    def single_valued(self, holder: int, name: str, place: int | None) -> None:
        if place is None:
            return
        title = self.draft.nodes[place].title
        if name in ("lives_in", "moved_to"):
            self.draft.describe(holder, {"home": title})
        elif name == "works_at":
            self.draft.describe(holder, {"employer": title})
        elif name == "works_as":
            self.draft.describe(holder, {"job": title})
        elif name == "married_to":
            self.draft.describe(holder, {"spouse": title})

    # -- parts of a clause -------------------------------------------------------------------------------------

    def objects(self, verb: Token) -> list[Token]:
        return [t for c in verb.children if c.dep_ in ("dobj", "attr", "oprd", "nsubjpass") and not (c.dep_ == "nsubjpass" and c in self.subjects(verb)) for t in conjuncts(c) if t.pos_ != "VERB"]

    def prepositions(self, verb: Token) -> list[tuple[str, Token]]:
        return [
            (child.lower_, target)
            for child in verb.children
            if child.dep_ in ("prep", "agent", "dative") or (child.dep_ == "prt" and any(g.dep_ == "pobj" for g in child.children))
            for c in child.children
            if c.dep_ == "pobj"
            for target in conjuncts(c)
        ]

    def circumstances(self, verb: Token) -> dict[str, Scalar]:
        when = when_words(self.reading, verb)
        return {"when": when} if when else {}

    def describe(self, place: int, verb: Token) -> None:
        """Dates, amounts and durations of the clause as attributes of what it is about."""
        found = self.circumstances(verb)
        for token in own_clause(verb):
            if self.reading.kind(token) == "MONEY":
                found["amount"] = token.text
        if self.draft.nodes[place].label != "Person":
            self.draft.describe(place, found)


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
