"""Which runs of words are names, titles and dates: by their capitals, their quotes, and what the recogniser says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from memory_core.extractors.embedded import nouns
from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.given_names import given_names
from memory_core.extractors.embedded.model import model

Token = Any  # spacy.tokens.Token: spaCy ships no usable types for it
Doc = Any

_CONNECTORS = r"(?:of|the|&|de|da|do|la|le|du|del|von|van|der|des|den|dei|degli|delle|della|di|al|el|los|las|op)"
_SMALL = r"(?:of|the|a|an|and|in|on|at|to|for|with|from|&)"
_WORD = r"(?:(?:Dr|Mr|Mrs|Ms|Prof|St|Mt|Ft)\.|[A-ZÀ-ÞŁŚŽČŠŻ](?:\.[A-Z])+\.?|[A-ZÀ-ÞŁŚŽČŠŻ0-9][\w'&+#-]*(?:\.\w+)*)"
_NAME = re.compile(rf"\b(?:The |A |An )?(?![0-9]){_WORD}(?:(?: {_CONNECTORS}){{0,2}} {_WORD})*")
_WORK_NAME = re.compile(
    r"\b(?:read|reading|reread|rereading|watch|watched|watching|rewatched|finished"
    r"|(?<=(?:the|his|her|new) )book|novel|movie|film|song|album|game|show|series|titled|play|playing"
    r"|see|seen|saw|rehearsing|performing|performed|singing)(?: is| was|,)? "
    rf"((?:The |A |An )?(?![0-9]){_WORD}(?:(?::|(?: {_SMALL}){{0,3}}) (?!I\b|I'|[0-9]){_WORD})+)"
)
_ARTICLED = re.compile(
    rf"(?<=[a-z,;] )((?:The|A|An) {_WORD}(?: {_WORD}){{0,4}}(?: {_SMALL}){{1,3}} "
    rf"(?!I\b|I'|[0-9]){_WORD}(?: {_WORD}){{0,4}})"
)
_PLACED = re.compile(
    r" (?:on|at|in|with|for|to|from) "
    r"(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*"
    r"|(?:[A-Z][\w']+ )+(?:Street|Road|Avenue|Square|Lane|Park|Hall|Theatre|Theater|Cinema|Club|Arena|Stadium))\b"
)
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{2,80})[\"”]|(?<!\w)'([A-Z][^'\n]{2,60})'(?!\w)")
_QUOTED_WORK = re.compile(
    r"\b(?:(?:re)?(?:read|watch)(?:ing|ed)?|finished|saw|seen|see|playing|played|called|titled|book|movie|film|song|show|series"
    r"|album|game|listening to) [\"“]([^\"“”\n]{2,60}?)[.,]?[\"”]"
)
_HYPHENATED = re.compile(r"\b[a-zA-Z]+(?:-[a-zA-Z]+)+\b|\b\d+(?:-\d+)+\b")
_MONTHS = re.compile(
    r"^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|January|February|March|April|June|July|August|September|"
    r"October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b"
)
_COUNTED = re.compile(r"(?:Day|Week|Step|Part|Chapter|Phase|Option|Tip|Round|Level|Stage|Month) \d+", re.I)
_SITES = frozenset("stadium park square market field island bay beach point arena hall house bridge".split())
_NOT_NAMED = frozenset("CARDINAL ORDINAL QUANTITY PERCENT".split())
OPENERS = frozenset(
    """hey hi hello thanks thank wow yo yep yeah yes no nope aw aww awesome congrats congratulations oh ooh ah dear
    sure ok okay great cool nice well so and but also then sounds good glad happy sorry please definitely absolutely
    totally haha lol hope hopefully same my our your the a an this that these those i it's let's there here what who
    when where why how if since after before while because although though as for in on at to from with speaking
    overall just really been gonna actually first second third finally lastly additionally however therefore by try
    consider visit use understood noted blimey finished""".split()
)
_CLAUSE_TAGS = frozenset("INTJ ADV PRON VERB AUX SCONJ CCONJ DET ADP PART ADJ".split())


def joined_spans(doc: Doc, text: str) -> list[tuple[Any, str]]:
    """Runs to be made one token each, with the kind of name or date they are."""
    candidates = list(_quoted(doc, text)) + list(_capitalised(doc, text)) + list(_entities(doc))
    taken: set[int] = set()
    kept = []
    for span, kind in sorted(
        candidates, key=lambda pair: (pair[1] != "TITLE", -len(pair[0]), pair[0].start, pair[1] == "NAME")
    ):
        places = set(range(span.start, span.end))
        if not places & taken:
            taken |= places
            kept.append((span, kind))
    for found in _HYPHENATED.finditer(text):
        span = doc.char_span(*found.span())
        if span is not None and len(span) > 1 and not set(range(span.start, span.end)) & taken:
            kept.append((span, ""))
    return [(span, _kind_inside(span, kind)) for span, kind in kept]


@lru_cache
def common_words(*kinds: str) -> frozenset[str]:
    """The lower-case words the model's lemmatizer knows, of the kinds "noun", "adj", "verb" and "adv"."""
    table = model().get_pipe("lemmatizer").lookups.get_table("lemma_index")
    return frozenset(word for kind in kinds for word in table[kind])


def _common(span: Any) -> bool:
    """Whether a run such as "Online Review Sites" is made of everyday words only, and so is no person."""
    known = common_words("noun", "adj", "verb")
    return len(span) > 1 and all(
        t.lower_ in known or t.lemma_.lower() in known or t.lower_.removesuffix("s") in known for t in span
    )


def _noun_at_end(span: Any) -> bool:
    """ "Leith Links", "Ordnance Survey": no given name first and an everyday noun last."""
    first, last = span[0].lower_, span[-1].lower_.removesuffix("s")
    return len(span) == 2 and first not in given_names() and "." not in first and last in common_words("noun")


def _kind_inside(span: Any, kind: str) -> str:
    """A capitalised run takes the kind of the entity that makes up most of it."""
    if kind == "PERSON" and (_common(span) or _noun_at_end(span)):
        return "NAME"
    if kind == "PERSON" and any(c.isdigit() for c in span.text):
        return "PRODUCT"
    if kind != "NAME":
        return kind
    inside = [e for e in span.ents if e.label_ in words.NAMED and 2 * len(e) >= len(span)]
    if inside and inside[0].label_ == "PERSON" and _common(span):
        return kind
    return inside[0].label_ if inside else kind


def _quoted(doc: Doc, text: str) -> Iterator[tuple[Any, str]]:
    for found in _QUOTED.finditer(text):
        group = 1 if found.group(1) else 2
        inner = found.group(group).rstrip(".,")
        if _is_title(inner):
            start = found.start(group)
            span = doc.char_span(start, start + len(inner))
            if span is not None:
                yield span, "TITLE"
    for found in _QUOTED_WORK.finditer(text):
        span = doc.char_span(*found.span(1))
        if span is not None:
            yield span, "TITLE"
    for found in [*_WORK_NAME.finditer(text), *_ARTICLED.finditer(text)]:
        if found.group().split()[0].lower() in ("see", "seen", "saw") and _people(found.group(1)):
            continue
        placed = _PLACED.search(found.group(1))
        end = found.start(1) + placed.start() if placed else found.end(1)
        span = doc.char_span(found.start(1), end)
        if span is not None:
            yield span, "TITLE"


def _people(title: str) -> bool:
    """ "saw Priya and Otto": two people, not a work."""
    first, _, second = title.lower().partition(" and ")
    return bool(second) and first in given_names() and second.split()[0] in given_names()


def _is_title(inner: str) -> bool:
    pieces = inner.split()
    if not pieces or not inner[0].isupper() or len(pieces) > 8 or re.search(r"\bI\b|[.;]", inner):
        return False
    longer = [piece for piece in pieces if len(piece) > 3]
    return len(pieces) <= 3 or sum(piece[0].isupper() for piece in longer) * 2 > len(longer)


def _capitalised(doc: Doc, text: str) -> Iterator[tuple[Any, str]]:
    for found in _NAME.finditer(text):
        span = doc.char_span(found.start(), found.end(), alignment_mode="contract")
        span = _trimmed(span) if span is not None and len(span) else None
        if span is None or not len(span) or _COUNTED.fullmatch(span.text) or _MONTHS.match(span.text):
            continue
        in_cell = span.start > 0 and doc[span.start - 1].text == ";"
        if len(span) == 1 and span[0].lower_ in OPENERS:
            continue
        if len(span) > 1 or (_is_name(span[0]) and (not in_cell or span[0].ent_type_)):
            yield span, "NAME"


def _is_name(token: Token) -> bool:
    """A capitalised word: what the tagger says, or no everyday word and not only capitalised by where it stands."""
    if token.pos_ == "PROPN":
        return True
    if token.pos_ not in ("NOUN", "ADJ", "X") or token.lower_ in common_words("noun", "adj", "verb", "adv"):
        return False
    return token.lower_ in given_names() or not (token.is_sent_start or token.i == 0 or token.nbor(-1).is_punct)


def _trimmed(span: Any) -> Any:
    """The run without a sentence's first word when that is no name, and cut at a possessive."""
    starts = (
        bool(span[0].is_sent_start) or span.start == 0 or (span.start > 0 and span.doc[span.start - 1].text in '"“:-;(')
    )
    article = span[0].lower_ in ("the", "a", "an")
    while (
        len(span)
        and starts
        and not (article and len(span) > 2)
        and (span[0].lower_ in OPENERS or span[0].pos_ in _CLAUSE_TAGS)
    ):
        span = span[1:]
    if not len(span):
        return span
    if span[0].lower_ in ("the", "a", "an") and (
        len(span) == 2 or (starts and not any(t.lower_ in ("of", "and") for t in span))
    ):
        span = span[1:]
    following = span.doc[span.end] if span.end < len(span.doc) else None
    if len(span) > 1 and span[-1].is_digit and following is not None and following.pos_ == "NOUN":
        span = span[:-1]
    for place, token in enumerate(span):
        of_it = token.tag_ == "POS" and span[-1].lower_ in nouns.NAMED_GROUPS | _SITES
        if (token.tag_ == "POS" and not of_it) or token.text in ("I", "I'm"):
            return span[:place]
    return span


def _entities(doc: Doc) -> Iterator[tuple[Any, str]]:
    for entity in doc.ents:
        if entity.start > 1 and len(entity) == 3 and entity[1].lower_ == "and" and _counts(doc[entity.start - 1]):
            continue  # "two dogs called Pepper and Salt"
        if entity.text.lower().startswith("how ") or _COUNTED.fullmatch(entity.text):
            continue
        if entity.label_ in _NOT_NAMED or (entity.label_ in words.NAMED and not any(c.isupper() for c in entity.text)):
            continue
        span = entity
        while len(span) > 1 and (span[-1].tag_ == "POS" or span[-1].is_punct or span[-1].is_space):
            span = span[:-1]
        if entity.label_ in words.NAMED:
            while (
                len(span) > 1
                and span[0].lower_ in ("the", "a", "an", "my", "our", "your", "his", "her")
                and not (entity.label_ == "WORK_OF_ART" and span[0].is_title)
            ):
                span = span[1:]
            while len(span) > 1 and span[-1].is_lower and entity.label_ != "WORK_OF_ART":
                span = span[:-1]
            if len(span) == 1 and _opens(span[0]):
                continue
        if "\n" not in span.text:
            yield span, entity.label_


def _counts(called: Token) -> bool:
    return called.lower_ in ("called", "named") and called.nbor(-1).tag_ == "NNS"


def _opens(token: Token) -> bool:
    """ "Weighs 27 kilos", "Longest run": a sentence's first word that is no name, whatever the recogniser says."""
    if not (token.is_sent_start or token.i == 0 or token.nbor(-1).is_punct) or token.lower_ in given_names():
        return False
    known = common_words("verb", "adj")
    stems = [
        token.lower_.removesuffix(end)
        for end in ("s", "es", "d", "ed", "st", "est", "ing")
        if token.lower_.endswith(end)
    ]
    return token.pos_ in _CLAUSE_TAGS or token.lower_ in OPENERS or any(stem in known for stem in stems)
