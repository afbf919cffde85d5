"""Whether a clause is stated (not asked, supposed, ordered or said by somebody else), and whether it is denied."""

from __future__ import annotations

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.reading import Token, own_clause

SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass")
_CONDITIONS = ("if", "unless", "whether", "lest")
_ATTENTION = frozenset("guess forget remember note know believe".split())
_UNREAL = frozenset("wish recommend advise urge propose request demand require".split())
_ACHIEVED = frozenset("able glad happy lucky proud sad surprised".split())
_FELT = frozenset("like love enjoy own have know need want prefer eat drink".split())
_SCARCELY = frozenset("hardly rarely barely seldom almost nearly".split())
_WISHES = frozenset("wonder ask wish imagine doubt hope pretend let want suppose dream wish".split())


def asked(token: Token) -> bool:
    """Whether the token stands in a question."""
    return str(token.sent.text).rstrip(" \"')”;*_!\n").endswith("?")


def own_subjects(verb: Token) -> list[Token]:
    return [c for c in verb.children if c.dep_ in SUBJECTS]


def stated(verb: Token, mine: frozenset[str]) -> bool:
    """Whether the turn states the clause of `verb`; `mine` are the words that mean the speaker."""
    if _supposed(verb) or _ordered(verb) or _purpose(verb) or (asked(verb) and not _presupposed(verb, mine)):
        return False
    return _allowed_by_head(verb, mine)


def _supposed(verb: Token) -> bool:
    """Under "if" or a modal, or "was going to": nothing that is so."""
    marks = {c.lower_ for c in verb.children if c.dep_ in ("aux", "mark", "advmod")}
    denied_ability = any(c.dep_ == "neg" for c in verb.children) and marks & {"can", "ca", "could", "wo"}
    if marks & set(_CONDITIONS) or (marks & words.HYPOTHETICAL_MODALS and not denied_ability and not wished(verb)):
        return True
    for clause in (c for c in verb.children if c.dep_ == "advcl"):
        if any(m.dep_ == "mark" and m.lower_ in _CONDITIONS[:2] for m in clause.children):
            return True
    unfulfilled = verb.lemma_ == "go" and verb.tag_ == "VBG" and marks & {"was", "were"}
    return bool(unfulfilled) and any(c.dep_ == "xcomp" for c in verb.children)


def felt(verb: Token) -> bool:
    """ "Don't like horror", "Love sushi": nobody is told to, so the speaker does."""
    denied = any(c.dep_ == "neg" for c in verb.children)
    return verb.lemma_.lower() in (_FELT if denied else ("love", "hate")) and verb.tag_ in ("VB", "VBP")


def _ordered(verb: Token) -> bool:
    if verb.dep_ != "ROOT" or own_subjects(verb) or felt(verb):
        return False
    auxiliaries = [c.lower_ for c in verb.children if c.dep_ in ("aux", "auxpass")]
    bare = verb.tag_ in ("VB", "VBP") and verb.lower_ not in words.PAST_FORMS
    return (bare and not set(auxiliaries) - {"do", "let"}) or any(c.lower_ in ("do", "let") for c in verb.children)


def _purpose(verb: Token) -> bool:
    """ "the idea of using up leftovers", "a place to open a studio", "without burning out": nothing that happened."""
    if verb.dep_ == "pcomp":
        return verb.head.lower_ in ("without", "instead", "before", "than") or verb.head.head.pos_ in ("NOUN", "PROPN")
    infinitive = verb.tag_ == "VB" and any(c.dep_ == "aux" and c.lower_ == "to" for c in verb.children)
    return infinitive and verb.dep_ in ("advcl", "acl", "relcl", "ccomp") and verb.head.lemma_ not in words.WANTING


def wished(verb: Token) -> bool:
    """ "I would love to", "I'd like to": a wish, not a supposition."""
    return (
        verb.lemma_ in ("like", "love", "prefer")
        and any(c.dep_ == "aux" and c.lower_ in ("would", "'d") for c in verb.children)
        and any(c.dep_ == "xcomp" for c in verb.children)
    )


def _presupposed(verb: Token, mine: frozenset[str]) -> bool:
    """A first-person statement inside a question: beside the asking clause, or as a relative clause."""
    subjects = own_subjects(verb)
    if not any(s.lower_ in mine or any(c.dep_ == "poss" and c.lower_ in mine for c in s.children) for s in subjects):
        return (
            verb.dep_ in ("conj", "xcomp") and not subjects and verb.head.i != verb.i and _presupposed(verb.head, mine)
        )
    if any(c.dep_ in ("aux", "auxpass") and c.i < subjects[0].i for c in verb.children) or verb.i < subjects[0].i:
        return False
    if verb.dep_ == "relcl":
        return True
    if any(t.tag_ in ("WDT", "WP", "WRB", "WP$") and t.i < verb.i for t in verb.children):
        return False
    if verb.dep_ == "ROOT":
        return any(c.dep_ in ("conj", "ccomp", "parataxis") and c.i > verb.i for c in verb.children)
    return verb.dep_ not in ("ccomp", "advcl") or verb.head.i > verb.i or verb.head.lemma_ in ("mention", "tell")


def _allowed_by_head(verb: Token, mine: frozenset[str]) -> bool:
    head = verb.head
    if head.i == verb.i:
        return True
    above = head.head if head.pos_ == "ADJ" else head
    doubted = head.lemma_ == "be" and any(c.lower_ in ("false", "untrue", "wrong") for c in head.children)
    denied = (head.lemma_ == "be" or head.pos_ == "ADJ") and denial(above)
    if verb.dep_ == "ccomp" and verb.i > head.i and (doubted or denied):
        return False  # "it's not true that …"
    if head.lemma_.lower() in _UNREAL or (verb.dep_ == "xcomp" and head.pos_ == "ADJ" and head.lower_ not in _ACHIEVED):
        return False
    if verb.dep_ in ("ccomp", "parataxis") and head.pos_ in ("VERB", "AUX") and verb.i > head.i:
        return _said_here(verb, head, mine)
    if verb.dep_ in ("conj", "xcomp", "advcl", "pcomp", "acl") and head.pos_ in ("VERB", "AUX"):
        if verb.dep_ == "conj" and own_subjects(verb):
            return not asked(verb) or stated(head, mine) or _presupposed(verb, mine)
        return stated(head, mine)
    if verb.dep_ in ("relcl", "acl"):
        clause = next((t for t in verb.ancestors if t.pos_ in ("VERB", "AUX")), None)
        past = verb.tag_ in ("VBD", "VBN") or any(
            c.tag_ in ("VBD", "VBP", "VBZ") for c in verb.children if c.dep_ == "aux"
        )
        mine_past = past and any(s.lower_ in mine for s in own_subjects(verb))
        return mine_past or (clause is not None and stated(clause, mine))
    return True


def _said_here(verb: Token, head: Token, mine: frozenset[str]) -> bool:
    lemma = head.lemma_.lower()
    imperative = (head.tag_ in ("VB", "VBP") and not own_subjects(head)) or (
        own_subjects(head) and own_subjects(head)[0].tag_ == "NNP" and head.tag_ == "VB"
    )
    first_person = any(s.lower_ in mine for s in own_subjects(verb))
    if lemma in ("remember", "note") and any(s.lower_ in ("i", "we") for s in own_subjects(head)):
        return not denial(head)
    if imperative and lemma in _ATTENTION:
        return not any(t.tag_ in ("WDT", "WP", "WRB") and t.i > head.i + 1 for t in verb.children)
    run_on = verb.left_edge.i > 0 and verb.left_edge.nbor(-1).text in (",", ";", "-", "--", "–", "—", "!")
    if first_person and run_on and not any(c.dep_ == "mark" for c in verb.children):
        return True
    if lemma in _WISHES:
        return False
    if lemma in words.ASSERTING | words.OWN_ASSERTING:
        top = head
        while top.dep_ in ("xcomp", "acomp") and not own_subjects(top):
            top = top.head
        first = any(s.lower_ in mine for s in own_subjects(top)) or (not own_subjects(head) and head.tag_ == "VBG")
        return first and lemma in words.OWN_ASSERTING and not denial(head) and stated(head, mine)
    return stated(head, mine)


def _just_before(longer: Token, verb: Token) -> bool:
    """ "no longer works"; in "no longer at Google, joined Meta" it says nothing of the joining."""
    between = verb.doc[min(longer.i, verb.i) : max(longer.i, verb.i)]
    return any(c.lower_ == "no" for c in longer.children) and not any(t.text == "," for t in between)


def denial(verb: Token) -> str:
    """ "" or how the clause is denied: not, never, no_longer, hardly, cannot, neither."""
    lowers = {c.lower_ for c in verb.children}
    for child in verb.children:
        if child.dep_ == "neg" or child.lower_ in ("never", "not", "n't"):
            if any(t.lower_ in ("anymore", "longer") for t in own_clause(verb)):
                return "no_longer"
            return "never" if child.lower_ == "never" else "cannot" if lowers & {"ca", "can", "could"} else "not"
        if child.dep_ == "advmod" and child.lower_ == "longer" and _just_before(child, verb):
            return "no_longer"
        scarce = next((t for t in (child, *child.children) if t.dep_ == "advmod" and t.lower_ in _SCARCELY), None)
        if child.dep_ == "advmod" and scarce is not None:
            return str(scarce.lower_)
        if child.dep_ in (*SUBJECTS, "preconj") and (
            child.lower_ in ("neither", "nobody", "none", "nothing")
            or any(g.lower_ in ("neither", "no") for g in child.children)
        ):
            return "not"
        if child.dep_ == "dobj" and any(g.dep_ == "det" and g.lower_ == "no" for g in child.children):
            return "not"
    if verb.dep_ == "xcomp" and verb.head.pos_ == "ADJ" and verb.head.head.pos_ in ("VERB", "AUX"):
        return denial(verb.head.head)  # "I wasn't able to finish it"
    inherits = verb.dep_ == "xcomp" or (
        verb.dep_ == "conj" and any(c.lower_ in ("or", "nor") for c in verb.head.children)
    )
    if inherits and not own_subjects(verb) and verb.head.pos_ in ("VERB", "AUX") and verb.head.i != verb.i:
        return denial(verb.head)
    return ""
