"""LongMemEval and LoCoMo files as conversations; their questions are read by `evaluation.datasets`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import cast

from memory_core.errors import FormatError
from memory_core.importers.textfile import Item
from memory_core.importers.transcripts.values import Conversation, Reading, parse_date
from memory_core.schema import Turn

Record = dict[str, object]


def longmemeval(items: Sequence[Item], reading: Reading) -> list[Conversation]:
    """One conversation a question: its haystack. A turn is named `session id:place in the session, from 0`."""
    return _each(items, reading, _haystack)


def locomo(items: Sequence[Item], reading: Reading) -> list[Conversation]:
    """One conversation a sample, both people in the user's role; turns keep their `D1:3` names."""
    return _each(items, reading, _sample)


def _each(
    items: Sequence[Item], reading: Reading, read: Callable[[Record, str, Reading], Conversation]
) -> list[Conversation]:
    """Every conversation that can be read; one that cannot is a problem and does not stop the others."""
    conversations = []
    for item in items:
        try:
            if not isinstance(item.value, dict):
                raise FormatError("is no object")
            conversations.append(read(item.value, item.place, reading))
        except FormatError as error:
            reading.problems.append(f"{item.place}: {error}; this conversation was left out.")
    return conversations


def _haystack(record: Record, place: str, reading: Reading) -> Conversation:
    question = str(record.get("question_id") or place)
    lists = [record.get(key) for key in ("haystack_session_ids", "haystack_dates", "haystack_sessions")]
    if not all(isinstance(part, list) for part in lists) or len({len(cast(list[object], part)) for part in lists}) > 1:
        raise FormatError(f"question {question}: its session ids, dates and sessions are not three lists of one length")
    haystack = zip(*cast(list[list[object]], lists), strict=True)
    read = [_session(question, str(id), date, rows, reading) for id, date, rows in haystack]
    return reading.conversation(question, read)


def _session(question: str, id: str, date: object, rows: object, reading: Reading) -> list[Turn]:
    at = _dated(f"session {id} of question {question}", date)
    turns = []
    for index, row in enumerate(rows if isinstance(rows, list) else []):
        place = f"question {question}, session {id}, turn {index}"
        said = row if isinstance(row, dict) else {}
        turn = reading.turn(place, said.get("role"), said.get("content"), at, session=id, source_id=f"{id}:{index}")
        turns += [turn] if turn else []
    return turns


def _dated(what: str, date: object) -> datetime:
    try:
        return parse_date(date)
    except FormatError as error:
        raise FormatError(f"{what} {error}") from None


def _sample(record: Record, place: str, reading: Reading) -> Conversation:
    id, said = str(record.get("sample_id") or place), record.get("conversation")
    if not isinstance(said, dict):
        raise FormatError(f"sample {id} has no conversation")
    return reading.conversation(id, list(_sample_sessions(id, said, reading)))


def _sample_sessions(id: str, said: Record, reading: Reading) -> Iterator[list[Turn]]:
    numbers = sorted(int(found[1]) for key in said if (found := re.fullmatch(r"session_(\d+)", key)))
    for number in numbers:
        session, rows = f"session_{number}", said[f"session_{number}"]
        if not isinstance(rows, list) or not rows:
            continue
        at = _dated(f"{session} of sample {id}", said.get(f"{session}_date_time"))
        turns = []
        for index, row in enumerate(rows, start=1):
            line = row if isinstance(row, dict) else {}
            name, speaker = str(line.get("dia_id") or f"D{number}:{index}"), str(line.get("speaker") or "")
            place = f"{id}, {name}"
            turn = reading.turn(place, "user", _shown(line), at, speaker=speaker, session=session, source_id=name)
            turns += [turn] if turn else []
        yield turns


def _shown(row: Record) -> object:
    """What was said, with the machine's caption of a picture marked as one (case IMP-14)."""
    text, caption = row.get("text"), row.get("blip_caption")
    if not isinstance(caption, str) or not caption.strip():
        return text
    return f"{text if isinstance(text, str) else ''} [shares a picture: {caption.strip()}]".strip()
