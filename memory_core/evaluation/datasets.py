"""Benchmarks: conversations, questions and the turns that hold the answers (LongMemEval, LoCoMo, our demo).

Retrieval figures use `for_retrieval`, coverage and survival `for_coverage`; what a file says and cannot be used is
counted, never guessed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import cast

from memory_core.errors import FormatError, InputError
from memory_core.importers.textfile import Item, Items, json_items, read_bytes, read_text
from memory_core.importers.transcripts import (
    Conversation,
    Transcript,
    parse_date,
    pool,
    pooled_names,
    read_items,
    read_transcript,
)

#: LoCoMo's category numbers do not follow the order of its paper (case IMP-13).
LOCOMO_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
Record = dict[str, object]


@dataclass(frozen=True)
class Question:
    """One question of a benchmark.

    `conversation` names the conversation it is asked of; `evidence` the turns in it (source ids) that hold the answer;
    `dropped_evidence` what the file gives as evidence and names no turn. `abstention` (LongMemEval `_abs`): the answer
    is not in the conversation, evidence metrics skip it. `late_sessions`: sessions dated after the question (case
    IMP-10). An adversarial LoCoMo question has the answer "" unless the file gives one.
    """

    id: str
    text: str
    answer: str
    type: str
    conversation: str
    evidence: tuple[str, ...] = ()
    asked_at: datetime | None = None
    dropped_evidence: tuple[str, ...] = ()
    abstention: bool = False
    late_sessions: int = 0


@dataclass(frozen=True)
class Benchmark:
    """A benchmark file. `split_hash` is the sha256 of its bytes; `problems` names what could not be read."""

    name: str
    format: str
    split_hash: str
    conversations: tuple[Conversation, ...]
    questions: tuple[Question, ...]
    problems: tuple[str, ...] = ()

    @property
    def dropped_evidence(self) -> int:
        """Entries of evidence that name no turn, over all questions."""
        return sum(len(question.dropped_evidence) for question in self.questions)


def for_retrieval(questions: Iterable[Question]) -> list[Question]:
    """The questions evidence metrics count: those with evidence, without LongMemEval's abstention items."""
    return [question for question in questions if question.evidence and not question.abstention]


def for_coverage(questions: Iterable[Question]) -> list[Question]:
    """The questions coverage and survival count: as for retrieval, and without LoCoMo's adversarial ones."""
    return [question for question in for_retrieval(questions) if question.type != LOCOMO_CATEGORIES[5]]


def load_benchmark(
    path: str | Path, *, pooled: bool = False, later_sessions: bool = True, in_file_order: bool = False
) -> Benchmark:
    """The conversations and questions of a LongMemEval or LoCoMo file, or of `x.jsonl` with `x_questions.jsonl`.

    `pooled` puts every session into one conversation, named "pooled", and evidence follows; the earliest comes first,
    or with `in_file_order` the first of the file (P1's experiment 2; "pooled-in-file-order"). With
    `later_sessions=False` the sessions dated after a LongMemEval question are left out of its haystack.
    Raises FormatError when the file is no benchmark, InputError when it cannot be opened.
    """
    benchmark, transcript = _load(Path(path))
    if pooled:
        return _pool(benchmark, transcript, in_file_order)
    return benchmark if later_sessions else _without_later(benchmark)


def _load(path: Path) -> tuple[Benchmark, Transcript]:
    if path.stem.endswith("_questions"):
        path = path.with_name(path.stem.removesuffix("_questions") + path.suffix)
    beside = path.parent / f"{path.stem}_questions.jsonl"
    data, items = read_bytes(path), json_items(read_text(path))
    first = items.items[0].value if items.items else None
    if isinstance(first, dict) and "haystack_sessions" in first:
        return _read(path, data, items, "longmemeval")
    if isinstance(first, dict) and isinstance(first.get("conversation"), dict):
        return _read(path, data, items, "locomo")
    if not beside.exists():
        broken = f" ({items.problems[0]})" if items.problems else ""
        raise FormatError(f"{path.name} is no benchmark: no questions in it{broken}, no {beside.name} beside it.")
    transcript = read_transcript(path)
    asked = json_items(read_text(beside))
    questions, problems = _questions(asked.items, transcript, "ours")
    split = hashlib.sha256(data + read_bytes(beside)).hexdigest()
    problems = (*transcript.problems, *asked.problems, *problems)
    return Benchmark(path.stem, "ours", split, transcript.conversations, questions, problems), transcript


def _read(path: Path, data: bytes, items: Items, format: str) -> tuple[Benchmark, Transcript]:
    transcript = read_items(items, path, format)
    questions, problems = _questions(items.items, transcript, format)
    split, said = hashlib.sha256(data).hexdigest(), transcript.conversations
    return Benchmark(path.stem, format, split, said, questions, (*transcript.problems, *problems)), transcript


def _questions(
    items: Sequence[Item], transcript: Transcript, format: str
) -> tuple[tuple[Question, ...], tuple[str, ...]]:
    """Every question of the conversations that were read; one that cannot be read is a problem."""
    known = {conversation.id: conversation for conversation in transcript.conversations}
    questions: list[Question] = []
    problems: list[str] = []
    for item in items:
        record = cast(Record, item.value) if isinstance(item.value, dict) else {}
        try:
            questions += _READERS[format](record, known)
        except FormatError as error:
            problems.append(f"{item.place}: {error}; this question was left out.")
    return tuple(questions), tuple(problems)


def _longmemeval(record: Record, known: dict[str, Conversation]) -> list[Question]:
    id = str(record.get("question_id") or "")
    if id not in known:
        return []  # its conversation is named among the transcript's problems
    try:
        asked_at = parse_date(record.get("question_date"))
    except FormatError as error:
        raise FormatError(f"question {id} {error}") from None
    told = zip(
        cast(list[object], record["haystack_session_ids"]), cast(list[object], record["haystack_sessions"]), strict=True
    )
    evidence = [f"{session}:{index}" for session, rows in told for index in _answering(rows)]
    found, dropped = _in_conversation(evidence, known[id])
    late = {turn.session for turn in known[id].turns if turn.at > asked_at}
    type, abstains = str(record.get("question_type") or ""), "_abs" in id
    return [Question(id, *_asked(id, record), type, id, found, asked_at, dropped, abstains, len(late))]


def _answering(rows: object) -> list[int]:
    """Places of a session's turns marked `has_answer`, of both roles."""
    return [
        index
        for index, row in enumerate(cast(list[object], rows))
        if isinstance(row, dict) and row.get("has_answer") is True
    ]


def _locomo(record: Record, known: dict[str, Conversation]) -> list[Question]:
    id, asked = str(record.get("sample_id") or ""), record.get("qa")
    if id not in known:
        return []
    if not isinstance(asked, list):
        raise FormatError(f"sample {id} has no list of questions (qa)")
    return [_locomo_question(f"{id}:q{number}", row, known[id]) for number, row in enumerate(asked)]


def _locomo_question(id: str, row: object, conversation: Conversation) -> Question:
    record = row if isinstance(row, dict) else {}
    category = record.get("category")
    if category not in LOCOMO_CATEGORIES:
        raise FormatError(f"question {id} has the category {category!r}; known are 1 to 5")
    named, unread = _evidence_ids(record.get("evidence"))
    found, missing = _in_conversation(named, conversation)
    text, answer = _asked(id, record)
    return Question(id, text, answer, LOCOMO_CATEGORIES[category], conversation.id, found, None, (*unread, *missing))


def _evidence_ids(entries: object) -> tuple[list[str], list[str]]:
    """LoCoMo's evidence as turn ids, and what is none: `D:11:26`, `D30:05` and several ids in one string are mended."""
    named, unread = [], []
    for entry in [entries] if isinstance(entries, str) else entries if isinstance(entries, list) else []:
        text = str(entry)
        named += [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(text)]
        rest = _EVIDENCE.sub(" ", text).strip(" ;,()[]")
        unread += [rest] if rest else []
    return named, unread


def _ours(record: Record, known: dict[str, Conversation]) -> list[Question]:
    if len(known) != 1:
        raise FormatError("questions beside a transcript need one of a single conversation")
    conversation = next(iter(known.values()))
    id, evidence = str(record.get("id") or ""), record.get("evidence")
    if not id:
        raise FormatError("has no id")
    found, dropped = _in_conversation(
        [str(name) for name in evidence] if isinstance(evidence, list) else [], conversation
    )
    asked_at = parse_date(record["asked_at"]) if record.get("asked_at") else None
    type, late = (
        str(record.get("type") or ""),
        {turn.session for turn in conversation.turns if asked_at and turn.at > asked_at},
    )
    abstains = not found and not dropped
    return [Question(id, *_asked(id, record), type, conversation.id, found, asked_at, dropped, abstains, len(late))]


_READERS = {"longmemeval": _longmemeval, "locomo": _locomo, "ours": _ours}


def _asked(id: str, record: Record) -> tuple[str, str]:
    """Question and answer as text; answers may be numbers in the files."""
    question, answer = record.get("question"), record.get("answer")
    if not isinstance(question, str) or not question.strip():
        raise FormatError(f"question {id} has no text")
    return question, "" if answer is None else str(answer)


def _in_conversation(named: Iterable[str], conversation: Conversation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names that are turns of the conversation, each once, and the others."""
    turns = {turn.source_id for turn in conversation.turns}
    once = list(dict.fromkeys(named))
    return tuple(name for name in once if name in turns), tuple(name for name in once if name not in turns)


def _pool(benchmark: Benchmark, transcript: Transcript, in_file_order: bool) -> Benchmark:
    together, names = pool(transcript, in_file_order=in_file_order), pooled_names(transcript)
    questions = tuple(
        replace(
            question,
            conversation=together.id,
            evidence=tuple(names[question.conversation, name] for name in question.evidence),
        )
        for question in benchmark.questions
    )
    return replace(benchmark, conversations=(together,), questions=questions)


def _without_later(benchmark: Benchmark) -> Benchmark:
    if benchmark.format != "longmemeval":
        raise InputError("Only LongMemEval gives every question a haystack of its own; later_sessions needs that.")
    asked = {question.conversation: question.asked_at for question in benchmark.questions}
    said = tuple(_until(conversation, asked.get(conversation.id)) for conversation in benchmark.conversations)
    known = {conversation.id: conversation for conversation in said}
    return replace(
        benchmark, conversations=said, questions=tuple(_seen(question, known) for question in benchmark.questions)
    )


def _until(conversation: Conversation, at: datetime | None) -> Conversation:
    return replace(conversation, turns=tuple(turn for turn in conversation.turns if at is None or turn.at <= at))


def _seen(question: Question, known: dict[str, Conversation]) -> Question:
    found, gone = _in_conversation(question.evidence, known[question.conversation])
    return replace(question, evidence=found, dropped_evidence=(*question.dropped_evidence, *gone))
