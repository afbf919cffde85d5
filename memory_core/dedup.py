"""De-duplication (P1 3.4): which stored node is the thing a turn speaks of, and which guards held a match back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from memory_core.graph import Graph
from memory_core.graph.scan import Near
from memory_core.schema import LABELS, FoundNode, Scalar, normalise_title
from memory_core.stemming import stem, stems

How = Literal["new", "title", "cosine"]
_CANDIDATES = 8  # nearest nodes looked at: the first that no guard holds back is the match

#: Facts a person has one of at a time, by the names extractors give them (design, section 4: the homonym guard).
SINGLE_VALUED: Mapping[str, frozenset[str]] = {
    "home": frozenset({"home", "city", "residence", "lives_in"}),
    "birthday": frozenset({"birthday", "birth_date", "born", "date_of_birth"}),
    "spouse": frozenset({"spouse", "wife", "husband", "married_to"}),
    "age": frozenset({"age"}),
}
_NEGATIVE = re.compile(
    r"\b(dislik\w+|hate[sd]?|detest\w*|avoid\w*|loath\w*|allerg\w*|not|no|never|without|quit|stop(?:s|ped)?|"
    r"gave up|refuse[sd]?|against|cancel\w*|cannot)\b|n['’]t\b",
    re.IGNORECASE,
)
_NUMBERS = (
    "zero|one first once|two second twice|three third|four fourth|five fifth|six sixth|seven seventh|eight eighth|"
    "nine ninth|ten tenth|eleven eleventh|twelve twelfth dozen|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|"
    "nineteen|twenty"
).split("|")
_NUMBER_OF = {word: str(number) for number, words in enumerate(_NUMBERS) for word in words.split()} | {"half": "1/2"}
_DATE_WORDS = frozenset(
    "january february march april june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday spring summer autumn winter".split()
)
_NAME = re.compile(r"\b[A-Z][\w'’-]+")
_ATTITUDE = frozenset(
    stem(word) for word in "like love enjoy prefer favorite favourite dislike hate avoid quit stop stopped user".split()
)


@dataclass(frozen=True)
class Held:
    """A match that a guard held back: the node, the cosine (1 for an equal title) and the reason shown on the page."""

    node: str
    similarity: float
    reason: str
    homonym: bool = False


@dataclass(frozen=True)
class Match:
    """The stored node a found node is (`node` None: none, it is new), how it was matched, and what was held back."""

    node: str | None
    how: How = "new"
    similarity: float = 0.0
    held: tuple[Held, ...] = ()


@dataclass(frozen=True)
class Matcher:
    """P1 3.4: title first, then cosine above the embedder's threshold; `guards` off is the paper's own rule."""

    threshold: float
    guards: bool = True

    def by_title(self, graph: Graph, found: FoundNode, years: Callable[[int], float] = lambda row: 0.0) -> Match:
        """The node of the same label and normalised title. With guards, one whose single-valued facts contradict is
        not it: `years` gives the time from the last statement about a row to this one."""
        held: list[Held] = []
        for row in graph.find_title(found.label, found.title):
            conflict = self._conflict(json.loads(graph.attributes[row]), found, partial(years, row))
            if not conflict:
                return Match(graph.ids[row], "title", 1.0, tuple(held))
            held.append(Held(graph.ids[row], 1.0, f"one name, two people or things: {conflict}", homonym=True))
        return Match(None, held=tuple(held))

    def _conflict(self, stored: Mapping[str, Scalar], found: FoundNode, years: Callable[[], float]) -> str:
        if not self.guards or not found.attributes:
            return ""
        aged = _fact(stored, SINGLE_VALUED["age"]) and _fact(found.attributes, SINGLE_VALUED["age"])
        return homonym(stored, found.attributes, years() if aged else 0.0)

    def by_cosine(self, graph: Graph, found: FoundNode, near: Near) -> Match:
        """The nearest node of that label that no guard holds back; `near` is what `graph.above` finds."""
        rows, cosines = near
        same = graph.label.values[rows] == LABELS.index(found.label)
        held: list[Held] = []
        order = np.lexsort((rows[same], -cosines[same]))[:_CANDIDATES]
        for row, similarity in zip(rows[same][order].tolist(), cosines[same][order].tolist(), strict=True):
            stored = graph.node(graph.ids[row])
            reason = difference(stored.title, stored.content, found) if self.guards else ""
            if not reason:
                return Match(stored.id, "cosine", similarity, tuple(held))
            held.append(Held(stored.id, similarity, reason))
        return Match(None, held=tuple(held))


def homonym(old: Mapping[str, Scalar], new: Mapping[str, Scalar], years: float) -> str:
    """What contradicts in the single-valued facts of one title, "" when the new ones may follow the old in time.

    A home or a spouse may change, an age may grow: that alone is an update, kept in the history. A birthday does not,
    and two facts that differ at once are two people.

    >>> homonym({"age": "52", "city": "Leeds"}, {"age": "9", "city": "Vigo"}, years=0.1)
    'home Leeds / Vigo, age 52 / 9'
    >>> homonym({"home": "Osaka"}, {"home": "Berlin"}, years=0.5)
    ''
    """
    differing = []
    certain = False
    for fact, names in SINGLE_VALUED.items():
        one, other = _fact(old, names), _fact(new, names)
        if one is None or other is None or normalise_title(one) == normalise_title(other):
            continue
        if fact == "age" and _may_age(one, other, years):
            continue
        certain = certain or fact in ("birthday", "age")
        differing.append(f"{fact} {one} / {other}")
    return ", ".join(differing) if certain or len(differing) > 1 else ""


def _fact(attributes: Mapping[str, Scalar], names: frozenset[str]) -> str | None:
    return next((str(value) for key, value in attributes.items() if key.casefold() in names), None)


def _may_age(old: str, new: str, years: float) -> bool:
    one, other = re.search(r"\d+", old), re.search(r"\d+", new)
    if not one or not other:
        return True
    return -1 <= int(other[0]) - int(one[0]) - years <= 1.5


def difference(title: str, content: str, found: FoundNode) -> str:
    """Why two near descriptors are not the same thing, "" when no guard objects.

    >>> difference("KX-1603", "Router.", FoundNode("Artifact", "KX-1605", "Router."))
    'different numbers: 1603 / 1605'
    >>> difference("Dark roast", "The user likes it.", FoundNode("Preference", "Light roast", "The user dislikes it."))
    'opposite polarity'
    """
    if _negated(content or title) != _negated(found.content or found.title):
        return "opposite polarity"
    for what, of in (("numbers", _numbers), ("dates", _dates)):
        one, other = of(title) or of(content), of(found.title) or of(found.content)
        if one and other and (one != other if what == "numbers" else not one & other):
            return f"different {what}: {' '.join(sorted(one))} / {' '.join(sorted(other))}"
    return _other_name(title, found) or _other_word(title, content, found)


def _negated(text: str) -> bool:
    """Whether the text denies: an odd number of negatives, since "not allergic" is none."""
    return len(_NEGATIVE.findall(text)) % 2 == 1


def _other_name(title: str, found: FoundNode) -> str:
    """Names on both sides of which the other side knows nothing."""
    old, new = set(stems(title)), set(stems(found.title))
    if found.label in ("Person", "Organization", "Location"):
        apart = bool(old and new) and not old & new
    else:
        ours, theirs = (set(stems(" ".join(_NAME.findall(text)[1:]))) for text in (title, found.title))
        apart = bool(ours - new) and bool(theirs - old) and not (ours & theirs)
    return f"different names: {title} / {found.title}" if apart else ""


def _other_word(title: str, content: str, found: FoundNode) -> str:
    """One word exchanged for another, unknown to the other side, in titles that are else the same: left and right knee,
    Maria and Mario Silva. Words of liking and denial are left out: polarity has looked at them."""
    old, new = ([word for word in stems(text) if word not in _ATTITUDE] for text in (title, found.title))
    gone, come = [word for word in old if word not in new], [word for word in new if word not in old]
    if len(gone) != 1 or len(come) != 1 or len(old) < 2:
        return ""
    if gone[0] in stems(found.content) or come[0] in stems(content):
        return ""
    return f"another word: {gone[0]} / {come[0]}"


def _numbers(text: str) -> frozenset[str]:
    words = (word.casefold() for word in re.findall(r"[^\W\d_]+", text))
    spelled = (_NUMBER_OF[word] for word in words if word in _NUMBER_OF)
    return frozenset((*re.findall(r"\d+", text), *spelled))


def _dates(text: str) -> frozenset[str]:
    words = (word.casefold() for word in re.findall(r"[^\W\d_]+", text))
    return frozenset(word for word in (word.removesuffix("s") for word in words) if word in _DATE_WORDS)
