"""Every contract of the project on one screen: what a part takes, what it gives, what it promises.

A part is a small frozen dataclass of parameters with one method; parts never import each other. A new embedder,
extractor, reader, retriever or retention policy is one file in its folder; the module's name is the part's name.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memory_core.schema import Extraction, Turn
from memory_core.scoring_view import Doubles as Doubles
from memory_core.scoring_view import Said as Said
from memory_core.scoring_view import Scores as Scores
from memory_core.scoring_view import ScoringView as ScoringView
from memory_core.scoring_view import halved as halved
from memory_core.scoring_view import nothing_said as nothing_said

if TYPE_CHECKING:
    from memory_core.graph import Graph
    from memory_core.graph.turn_columns import TurnColumns
    from memory_core.walk import Walks

Floats = NDArray[np.float32]
Kind = Literal["document", "query"]


@runtime_checkable
class Embedder(Protocol):
    """Texts to unit vectors. Its thresholds belong to it: cosines of two models cannot be compared."""

    @property
    def id(self) -> str: ...  # model and version, stored with every memory
    @property
    def dim(self) -> int: ...
    @property
    def match_threshold(self) -> float: ...  # de-duplication: cosine above it may be the same thing
    @property
    def floor(self) -> float: ...  # retrieval: cosine a root must reach
    @property
    def languages(self) -> tuple[str, ...]: ...  # ISO 639-1 codes; ("*",) for many

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Shape (len(texts), dim), each row of length 1 (an empty text may be a zero row); deterministic."""
        ...


@runtime_checkable
class Extractor(Protocol):
    """Reads nodes and edges from one turn (P1 3.3), and the entities of a question (P1 3.5)."""

    @property
    def id(self) -> str: ...

    def extract(self, turn: Turn) -> Extraction: ...
    def entities(self, question: str) -> list[str]: ...


@dataclass(frozen=True)
class Reply:
    """What a model returned. `finish` is stop, length, refused or error; tokens are 0 when the server does not say."""

    text: str
    finish: Literal["stop", "length", "refused", "error"] = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    model: str = ""


@runtime_checkable
class LLM(Protocol):
    """A chat model. `schema` asks for JSON of that shape where the provider can; callers validate all the same."""

    @property
    def id(self) -> str: ...
    @property
    def context_window(self) -> int: ...  # tokens the prompt and the reply share

    def reply(
        self, system: str, user: str, *, schema: Mapping[str, object] | None = None, max_tokens: int = 1024
    ) -> Reply: ...
    def stream(self, system: str, user: str, *, max_tokens: int = 1024) -> Generator[str, None, Reply]:
        """The words as they come; what the generator returns is the whole reply with what it took."""
        ...


@dataclass(frozen=True)
class Line:
    """One line of a context: its text, the node, edge or turn it shows, and the turns it rests on."""

    text: str
    item: str
    turns: tuple[str, ...] = ()
    superseded: bool = False


@dataclass(frozen=True)
class Root:
    """A node retrieval starts from: the entity of the question it matched, at cosine `score`."""

    id: str
    title: str
    score: float
    entity: str = ""


@dataclass(frozen=True)
class Visit:
    """A node the walk reached: edge distance from the nearest root, and the edge it came by ("" for a root)."""

    id: str
    hop: int
    edge: str = ""


@dataclass(frozen=True)
class RankedTurn:
    """A turn in rank order; `why` says in a few words what brought it; `parts` name each term of a summed score."""

    id: str
    score: float
    why: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Retrieval:
    """Every step of one retrieval with its numbers; nothing in the memory changed to make it."""

    retriever: str
    question: str
    entities: tuple[str, ...] = ()
    candidates: tuple[Root, ...] = ()  # best cosines in order, also those below the floor
    floor: float = 0.0
    approximate: bool = False  # candidates were looked for by signs first: one may be missing
    roots: tuple[Root, ...] = ()
    nodes: tuple[Visit, ...] = ()
    edges: tuple[str, ...] = ()
    capped: tuple[str, ...] = ()  # reached by the walk, left out by the cap
    turns: tuple[RankedTurn, ...] = ()
    lines: tuple[Line, ...] = ()
    left_out: int = 0  # lines that did not fit the token budget
    ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def context(self) -> str:
        """The lines as the text a reader is given."""
        return "\n".join(line.text for line in self.lines)


class Readable(Protocol):
    """What a retriever may look at: the live graph and the turns. Nothing here writes."""

    @property
    def graph(self) -> Graph: ...
    @property
    def embedder(self) -> Embedder: ...

    def entities(self, question: str) -> list[str]: ...
    def embed_query(self, texts: Sequence[str]) -> Floats: ...
    def turns(self, ids: Sequence[str]) -> list[Turn]: ...  # in the order asked; unknown ids left out
    def turn_vectors(self) -> tuple[list[str], Floats]: ...  # ids in position order, shape (n, dim)
    def turn_columns(self) -> TurnColumns: ...  # who said what when, words, vectors once turn_vectors() was asked
    def walks(self) -> Walks: ...  # steps over the graph and from its nodes to turns, as matrices
    def search_turns(self, question: str, limit: int) -> list[RankedTurn]: ...  # BM25, best first
    def cited_turns(self, items: Sequence[str]) -> dict[str, list[str]]: ...  # item id -> turn ids, by position
    def speaker_nodes(self) -> frozenset[str]: ...  # ids of the live nodes that stand for those who spoke
    def citing_items(self, turns: Sequence[str]) -> dict[str, list[str]]: ...  # turn id -> live item ids


@runtime_checkable
class Retriever(Protocol):
    """Finds what a question needs."""

    def retrieve(self, memory: Readable, question: str) -> Retrieval: ...


@dataclass(frozen=True)
class Answer:
    """A reader's answer and the turns it cites; `text` is None with a `reason` when the context does not hold it."""

    text: str | None
    reason: str = ""
    turns: tuple[str, ...] = ()
    reply: Reply | None = None


@runtime_checkable
class Reader(Protocol):
    """Answers a question from a retrieval and the turns it brought, and from nothing else."""

    def answer(self, question: str, retrieval: Retrieval, turns: Sequence[Turn]) -> Answer: ...


@runtime_checkable
class Policy(Protocol):
    """A retention policy: a pure, vectorised function of the view and the time."""

    def score(self, view: ScoringView, at: datetime) -> Scores: ...
