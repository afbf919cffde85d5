"""The values every other module passes around: turns, what is read from them, and what is stored.

Frozen dataclasses without behaviour beyond what their fields say; nothing here imports from the package.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

Scalar = str | int | float | bool
Attributes = Mapping[str, Scalar]
Role = Literal["user", "assistant"]
Status = Literal["ok", "repaired", "empty", "rejected", "truncated", "refused", "failed"]

#: The nine labels of P1 3.2, in the order every legend and table uses.
LABELS: tuple[str, ...] = (
    "Person",
    "Organization",
    "Location",
    "Event",
    "Concept",
    "Artifact",
    "Preference",
    "Goal",
    "Skill",
)
#: Statuses that leave a turn to be retried: the model said nothing usable.
FAILED_STATUSES: frozenset[str] = frozenset({"rejected", "truncated", "refused", "failed"})


def normalise_title(title: str) -> str:
    """The form in which two titles are compared: NFKC, casefold, single spaces (design, section 4).

    >>> normalise_title("  New   York ") == normalise_title("new york")
    True
    >>> normalise_title("O'Brien") == normalise_title("Obrien")
    False
    """
    if title.isascii():  # NFKC leaves it as it is, casefold is lower
        return " ".join(title.lower().split())
    folded = unicodedata.normalize("NFKC", title).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def descriptor(label: str, title: str, content: str) -> str:
    """The text that is embedded for a node (P1 3.4).

    >>> descriptor("Person", "Mira", "The user's sister.")
    "Person | Mira | The user's sister."
    """
    return f"{label} | {title} | {content}"


def utc(at: datetime | str) -> datetime:
    """`at` as an aware UTC time; a naive time is read as UTC.

    Raises ValueError when a string is not ISO 8601.

    >>> utc("2025-05-01T14:00:00+02:00").isoformat()
    '2025-05-01T12:00:00+00:00'
    """
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def content_words(text: str) -> list[str]:
    """Lower-case words of at least two letters or a digit that carry content, in order (stop words dropped).

    The measure of what a turn says: coverage, answer survival and the stored share all count these.

    >>> content_words("I moved to Porto in 2021, and I love it!")
    ['moved', 'porto', '2021', 'love']
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = (word.strip("'").removesuffix("'s") for word in _WORD.findall(folded))
    return [word for word in words if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())]


def content_set(text: str) -> frozenset[str]:
    """The content words of a text, each once; faster than `content_words` where order does not matter.

    >>> sorted(content_set("Tea, tea and more tea in 2021"))
    ['2021', 'tea']
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = (word.strip("'").removesuffix("'s") for word in set(_WORD.findall(folded)) - STOP_WORDS)
    return frozenset(word for word in words if word not in STOP_WORDS and (len(word) > 1 or word.isdigit()))


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
STOP_WORDS: frozenset[str] = frozenset(
    """a about above after again against all also am an and any are aren't as at be because been before being below
    between both but by can can't could couldn't did didn't do does doesn't doing don't down during each few for from
    further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself his
    how how's i i'd i'll i'm i've if in into is isn't it it's its itself just let's me more most my myself no nor not
    now of off on once only or other ought our ours ourselves out over own really same shall shan't she she'd she'll
    she's should shouldn't so some such than that that's the their theirs them themselves then there there's these they
    they'd they'll they're they've this those through to too under until up us very was wasn't we we'd we'll we're
    we've were weren't what what's when when's where where's which while who who's whom why why's will with won't would
    wouldn't yes you you'd you'll you're you've your yours yourself yourselves""".split()
)


@dataclass(frozen=True)
class Turn:
    """One message of a conversation, verbatim.

    `id` is empty until the turn is stored; `source_id` names it in the file it came from (`D1:3`); `position` is its
    place in the order of ingestion, from 0.
    """

    role: Role
    text: str
    at: datetime
    speaker: str = ""
    session: str = ""
    source_id: str = ""
    position: int = -1
    id: str = ""


@dataclass(frozen=True)
class FoundNode:
    """A node as read from one turn. `span` is the [start, end) of the words it was read from, None without any."""

    label: str
    title: str
    content: str
    attributes: Attributes = field(default_factory=dict)
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class FoundEdge:
    """An edge as read from one turn; `source` and `target` are places in `Extraction.nodes`."""

    source: int
    target: int
    relationship: str
    attributes: Attributes = field(default_factory=dict)
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class Drop:
    """Something a reply held that was not kept, and why, in words for the page."""

    kind: Literal["node", "edge", "attribute", "reply"]
    item: str
    reason: str


@dataclass(frozen=True)
class Extraction:
    """What one attempt read from one turn. A failed attempt is never "no facts": `status` tells them apart."""

    status: Status
    nodes: tuple[FoundNode, ...] = ()
    edges: tuple[FoundEdge, ...] = ()
    drops: tuple[Drop, ...] = ()
    repairs: tuple[str, ...] = ()
    raw: str = ""
    reason: str = ""
    extractor: str = ""
    model: str = ""
    prompt_version: str = ""
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True)
class Node:
    """A stored node. `accesses` and `last_access` follow from the access log; `forgotten_by` names the pass."""

    id: str
    label: str
    title: str
    content: str
    attributes: Attributes
    created_at: datetime
    turns_at_creation: int
    pinned: bool = False
    forgotten_by: str | None = None
    accesses: int = 0
    last_access: datetime | None = None
    degree: int = 0


@dataclass(frozen=True)
class Edge:
    """A stored edge between two node ids."""

    id: str
    source: str
    target: str
    relationship: str
    attributes: Attributes
    forgotten_by: str | None = None


@dataclass(frozen=True)
class Citation:
    """Provenance: `item` (a node or edge id) was read from turn `turn`, at characters `span` when known."""

    item: str
    turn: str
    span: tuple[int, int] | None = None
