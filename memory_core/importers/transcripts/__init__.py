"""Transcripts to remember, in the formats people have them; see `FORMATS`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from memory_core.errors import FormatError
from memory_core.importers.textfile import Items, Source, json_items, name_of, read_text
from memory_core.importers.transcripts import benchmarks, exports
from memory_core.importers.transcripts.plain import looks_plain, plain
from memory_core.importers.transcripts.values import (
    START,
    Conversation,
    Reading,
    Transcript,
    as_said,
    began,
    parse_date,
)
from memory_core.schema import Turn

__all__ = [
    "FORMATS",
    "START",
    "Conversation",
    "Transcript",
    "as_said",
    "parse_date",
    "pool",
    "pooled_names",
    "read_items",
    "read_transcript",
]

#: The formats known, and what each looks like.
FORMATS: Mapping[str, str] = {
    "ours": 'JSONL of {"role", "speaker", "text", "at"}',
    "longmemeval": "a list of questions with haystack_sessions",
    "locomo": "a list of samples with conversation and qa",
    "chatgpt": "an OpenAI/ChatGPT export (conversations.json)",
    "sharegpt": "conversations of {from, value} or {role, content}",
    "plain": "text with lines `user: …` and `assistant: …`",
}

#: Formats in which a session name means the same session in the whole file.
SHARED = frozenset({"longmemeval", "ours", "plain"})


def read_transcript(source: Source, format: str = "auto", start: datetime = START) -> Transcript:
    """The conversations of a file (a path, or the bytes of an upload).

    `format` is one of FORMATS or "auto". The first turn of a format without dates (sharegpt, plain) is at `start`, the
    others follow a minute apart. Turns that cannot be read are named in `problems` and left out.
    Raises FormatError for a file of no known format, or without a single turn; InputError when it cannot be opened.

    >>> transcript = read_transcript(b"user: I ski.\\nassistant: Where?\\nuser: In the Alps,\\n\\nmostly.")
    >>> [(turn.role, turn.text, f"{turn.at:%H:%M}") for turn in transcript.conversations[0].turns]
    [('user', 'I ski.', '00:00'), ('assistant', 'Where?', '00:01'), ('user', 'In the Alps,\\n\\nmostly.', '00:02')]
    """
    if format not in ("auto", *FORMATS):
        raise FormatError(f"there is no format {format!r}; known are {', '.join(FORMATS)}.")
    text = read_text(source)
    items = json_items(text) if text.lstrip().startswith(("{", "[")) else Items(())
    found = _format_of(items, text, name_of(source)) if format == "auto" else format
    if found == "plain":
        reading = Reading(start)
        return reading.transcript(name_of(source), "plain", plain(text, reading, _title(source)))
    if not items.items and not items.problems:
        raise FormatError(f"{name_of(source)} is not JSON, so it is not {found}; known are {', '.join(FORMATS)}.")
    return read_items(items, source, found, start)


def read_items(items: Items, source: Source, format: str, start: datetime = START) -> Transcript:
    """The conversations of JSON values already read from `source`; for callers that need the values too."""
    reading = Reading(start, list(items.problems))
    if format == "ours":
        conversations = exports.ours(items.items, reading, _title(source))
    elif format == "chatgpt":
        conversations = exports.chatgpt(items.items, reading)
    elif format == "sharegpt":
        conversations = exports.sharegpt(items.items, reading)
    else:
        conversations = getattr(benchmarks, format)(items.items, reading)
    return reading.transcript(name_of(source), format, conversations)


def _title(source: Source) -> str:
    return "conversation" if isinstance(source, bytes) else Path(source).stem


def _format_of(items: Items, text: str, name: str) -> str:
    """The format of the first value that shows one, else plain text; raises FormatError when neither fits."""
    for item in items.items:
        if isinstance(item.value, dict) and (found := _format_of_record(item.value)):
            return found
    if not items.items and looks_plain(text):
        return "plain"
    broken = f" ({items.problems[0]})" if items.problems else ""
    raise FormatError(f"{name} is of no known format{broken}; known are {', '.join(FORMATS)}.")


def _format_of_record(record: Mapping[str, object]) -> str | None:
    if "haystack_sessions" in record:
        return "longmemeval"
    if isinstance(record.get("conversation"), dict):
        return "locomo"
    if "mapping" in record:
        return "chatgpt"
    if "at" in record and ("text" in record or "content" in record):
        return "ours"
    if any(isinstance(record.get(key), list) for key in exports.MESSAGE_LISTS):
        return "sharegpt"
    if ("from" in record or "role" in record) and ("value" in record or "content" in record):
        return "sharegpt"
    return "ours" if "role" in record and "text" in record else None


def pool(transcript: Transcript, *, in_file_order: bool = False) -> Conversation:
    """Every session of the file as one conversation, earliest first (or as the file has them), each session id once.

    A LongMemEval session stands in several haystacks under one id, so its name and those of its turns stay as they are
    (one that says something else under the same id is kept beside it). Where a file holds several conversations of
    their own (locomo, chatgpt, sharegpt) the conversation's name goes in front: `conv-26:D1:3`.
    """
    together = _pooled(transcript)[0]
    if not in_file_order:
        return together
    places = {name: place for place, name in enumerate(_pooled(transcript)[1].values())}
    return Conversation("pooled-in-file-order", tuple(sorted(together.turns, key=lambda turn: places[turn.source_id])))


def pooled_names(transcript: Transcript) -> dict[tuple[str, str], str]:
    """(conversation id, turn name in it) -> the turn's name in `pool`, for evidence and questions."""
    return _pooled(transcript)[1]


def _pooled(transcript: Transcript) -> tuple[Conversation, dict[tuple[str, str], str]]:
    names: dict[tuple[str, str], str] = {}
    sessions: dict[str, tuple[Turn, ...]] = {}
    for conversation in transcript.conversations:
        for session, here in _sessions(conversation).items():
            known = sessions.get(session, here)
            shared = transcript.format in SHARED and [turn.text for turn in known] == [turn.text for turn in here]
            turns = here if shared else _prefixed(conversation.id, here)
            sessions.setdefault(turns[0].session, turns)
            names |= {(conversation.id, own.source_id): new.source_id for own, new in zip(here, turns, strict=True)}
    ordered = sorted(sessions.values(), key=began)
    return Conversation("pooled", tuple(turn for turns in ordered for turn in turns)), names


def _sessions(conversation: Conversation) -> dict[str, tuple[Turn, ...]]:
    found: dict[str, tuple[Turn, ...]] = {}
    for turn in conversation.turns:
        found[turn.session] = (*found.get(turn.session, ()), turn)
    return found


def _prefixed(id: str, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    return tuple(replace(turn, session=f"{id}:{turn.session}", source_id=f"{id}:{turn.source_id}") for turn in turns)
