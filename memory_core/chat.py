"""One exchange of the chat: what a person says is remembered, what they ask is answered from what stood there before.

The app's answer is kept beside the turn it answers, in `meta`, never as a turn: an answer restates what is stored, and
recalled memory must neither be extracted again nor be found as evidence (case CON-09).
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import cast

from memory_core.errors import Cancelled, ForgettingLabError, InputError
from memory_core.extraction import timed
from memory_core.jobs import Job
from memory_core.memory import Memory, TurnReport
from memory_core.memory.checks import check_question, check_turn
from memory_core.parts import retriever
from memory_core.protocols import Answer, Extractor, Readable, Reader, Retrieval, Retriever
from memory_core.readers.llm import LLMReader
from memory_core.schema import FAILED_STATUSES, Turn
from memory_core.settings import Settings
from memory_core.spending import Spent, counted
from memory_core.store.rows import insert

_SENTENCE = re.compile(r"[^.!?？؟\n]*(?:[.!?？؟](?=\S)[^.!?？؟\n]*)*[.!?？؟]*")
_ASKS = re.compile(
    r"(?:who|whom|whose|what|when|where|which|why|how)\b[^.!]*$"
    r"|(?:do|does|did|is|are|was|were|am|can|could|will|would|should|have|has)\s+"
    r"(?:i|you|we|he|she|they|it|my|our|the|there|any|anyone)\b[^.!]*$"
    r"|(?:please\s+)?(?:tell|remind)\s+(?:me|us)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Models:
    """What one person chose to read turns, answer, and retrieve with; never shared between browsers (case CNC-05)."""

    extractor: Extractor
    reader: Reader
    retriever: Retriever


@dataclass(frozen=True)
class Answered:
    """The answer a question turn got, as stored: `text` is None with a `reason` when it was not in memory.

    Tokens are those of all calls that made it, the look-up's too; `dollars` None without a known price.
    """

    question: str
    text: str | None
    reason: str
    turns: tuple[str, ...]
    visited: tuple[str, ...]
    retriever: str
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Exchange:
    """A turn said in the chat: its report, and the answer when it asked something."""

    report: TurnReport
    answered: Answered | None


@dataclass
class Saying:
    """An exchange on its way in a thread of its own, so that the page lives on and a person can stop it.

    `words` are those of the answer so far; `job.result` is the Exchange once it is done, stopped nothing is stored.
    """

    text: str
    at: datetime
    job: Job
    asks_server: bool = False
    words: str = ""


def best_retriever(settings: Settings) -> Retriever:
    """The retriever the chat uses: hybrid, or graph while there is no other."""
    try:
        return retriever("hybrid", settings)
    except InputError:
        return retriever("graph", settings)


def question_in(text: str) -> str:
    """The part of a turn that asks something, empty when nothing does.

    >>> question_in("I am back from Porto. Where does my sister live?")
    'Where does my sister live?'
    >>> question_in("where does my sister live"), question_in("When I was ten I lived in Rome.")
    ('where does my sister live', '')
    """
    sentences = [match.group().strip() for match in _SENTENCE.finditer(text)]
    asked = [sentence for sentence in sentences if sentence.rstrip().endswith(("?", "？", "؟"))]
    if asked:
        return " ".join(asked)
    return text.strip() if _ASKS.match(text.strip()) else ""


def start_saying(
    memory: Memory, text: str, models: Models, *, at: datetime, session: str = "", stop: threading.Event
) -> Saying:
    """Begin an exchange; `stop` is the event that the models look at, and `job.cancel()` sets it."""

    def hear(piece: str) -> None:
        saying.words += piece

    def work(job: Job) -> Exchange:
        return exchange(memory, text, models, at=at, session=session, hear=hear)

    asks = hasattr(models.extractor, "llm") or hasattr(models.reader, "llm")
    saying = Saying(text, at, Job("Saying", work, stop=stop), asks)
    threading.Thread(target=saying.job.run, name="saying", daemon=True).start()
    return saying


def exchange(
    memory: Memory,
    text: str,
    models: Models,
    *,
    at: datetime,
    session: str = "",
    hear: Callable[[str], None] = lambda piece: None,
) -> Exchange:
    """Answer what the text asks from the memory as it is, then remember the text as a user's turn.

    Retrieval comes first, so that a question never answers itself; a reader that fails leaves its reason as the answer
    and the turn is stored all the same. Only an answer marks nodes as visited; the question is kept in any case.
    `hear` gets the words of the answer as they come. Raises InputError for a turn that cannot be stored,
    MemoryFileError, and Cancelled, with nothing stored.
    """
    if not text.strip():
        raise InputError("The turn is empty: write something to remember.")
    turn = check_turn(Turn("user", text, at, "User", session))
    question = question_in(text)
    begun, spent = time.perf_counter(), Spent()
    priced = replace(models, extractor=counted(models.extractor, spent), reader=counted(models.reader, spent))
    found, answer = _answer(memory, check_question(question), priced, hear) if question else (None, Answer(None))
    seconds = time.perf_counter() - begun
    report = memory.remember(turn, timed(models.extractor, turn))
    if found is None:
        return Exchange(report, Answered(question, None, answer.reason, (), (), "") if question else None)
    visited = memory.touch(found if answer.text is not None else replace(found, nodes=()), at)
    made_by = answer.reply.model if answer.reply else ""
    answered = Answered(
        question, answer.text, answer.reason, answer.turns, visited, found.retriever, made_by, *spent.total,
        spent.dollars if any(spent.total) else None, seconds,
    )  # fmt: skip
    _keep(memory, report.turn, answered)
    return Exchange(report, answered)


def _answer(
    memory: Memory, question: str, models: Models, hear: Callable[[str], None]
) -> tuple[Retrieval | None, Answer]:
    try:
        found = _retrieved(memory, question, models)
    except Cancelled:
        raise
    except ForgettingLabError as error:
        return None, Answer(None, f"Nothing could be retrieved: {error}")
    try:
        return found, _heard(models.reader, question, found, memory.turns([turn.id for turn in found.turns]), hear)
    except Cancelled:
        raise
    except ForgettingLabError as error:
        return found, Answer(None, f"The reader could not answer: {error}")


def _heard(
    reader: Reader, question: str, found: Retrieval, turns: Sequence[Turn], hear: Callable[[str], None]
) -> Answer:
    """The reader's answer, its words as they come where it has a stream."""
    if not isinstance(reader, LLMReader):
        return reader.answer(question, found, turns)
    for piece in reader.stream(question, found, turns):
        if isinstance(piece, Answer):
            return piece
        hear(piece)
    return Answer(None, "The model gave no answer.")


class _ReadBy:
    """A memory whose questions are read by one person's extractor."""

    def __init__(self, memory: Memory, extractor: Extractor) -> None:
        self._memory, self._extractor = memory, extractor

    def entities(self, question: str) -> list[str]:
        asked = ("entities", self._extractor.id, question)
        return self._memory.outside.ask(asked, lambda: self._extractor.entities(question))

    def __getattr__(self, name: str) -> object:
        return getattr(self._memory, name)


def _retrieved(memory: Memory, question: str, models: Models) -> Retrieval:
    """`Memory.retrieve` with the person's own extractor: others write only while that one is asked."""
    read_by = cast(Readable, _ReadBy(memory, models.extractor))

    def find() -> Retrieval:
        _ = memory.revision
        return models.retriever.retrieve(read_by, question)

    return memory.outside.run(find)


def _keep(memory: Memory, turn_id: str, answered: Answered) -> None:
    row = insert("meta", key=f"answer:{turn_id}", value=json.dumps(asdict(answered), ensure_ascii=False))
    memory.retrying(lambda: memory.commit([row]))


def answers(memory: Memory, turn_ids: Sequence[str]) -> dict[str, Answered]:
    """Turn id -> the answer it got, for those turns that asked something."""
    keys = [f"answer:{turn_id}" for turn_id in turn_ids]
    rows = memory.store.query_in("SELECT key, value FROM meta WHERE key IN ({})", keys)
    return {key.removeprefix("answer:"): _answered(json.loads(value)) for key, value in rows}


def _answered(value: dict[str, object]) -> Answered:
    lists = {name: tuple(cast(list[str], value[name])) for name in ("turns", "visited")}
    return Answered(**{**value, **lists})  # type: ignore[arg-type]


def can_retry(status: str) -> bool:
    """Whether an extraction of that status may be tried again."""
    return status in FAILED_STATUSES
