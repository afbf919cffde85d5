"""Chats saved by other programs: ChatGPT's conversations.json, ShareGPT and OpenAI message lists, our own JSONL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import cast

from memory_core.errors import FormatError
from memory_core.importers.textfile import Item
from memory_core.importers.transcripts.values import Conversation, Reading, parse_date, parse_epoch
from memory_core.schema import Turn

Record = dict[str, object]
#: Keys under which a record keeps its list of messages.
MESSAGE_LISTS = ("conversations", "conversation", "messages", "history")
#: What ChatGPT writes beside the messages: the profile it was given, its tools and its thoughts.
_NOT_SAID = frozenset(
    "user_editable_context model_editable_context code execution_output thoughts reasoning_recap".split()
)


def ours(items: Sequence[Item], reading: Reading, name: str) -> list[Conversation]:
    """Rows `{"role", "text", "at"}` with optional `speaker`, `session` and `id`; a row without a date is a problem.

    Without `session` a row belongs to the session of its day; without `id` a turn is named `session:place, from 0`.
    """
    sessions: dict[str, list[Turn]] = {}
    for item in items:
        turn = _row(item, reading, sessions)
        if turn:
            sessions.setdefault(turn.session, []).append(turn)
    return [reading.conversation(name, sessions.values())]


def _row(item: Item, reading: Reading, sessions: dict[str, list[Turn]]) -> Turn | None:
    row = item.value if isinstance(item.value, dict) else {}
    try:
        at = parse_date(row.get("at"))
    except FormatError as error:
        session = f" (session {row['session']})" if row.get("session") else ""
        reading.problems.append(f"{item.place}{session} {error}.")
        return None
    session = str(row.get("session") or f"{at:%Y-%m-%d}")
    id = str(row["id"]) if row.get("id") is not None else f"{session}:{len(sessions.get(session, []))}"
    text, speaker = row["text"] if "text" in row else row.get("content"), str(row.get("speaker") or "")
    origin = row.get("source", "")
    return reading.turn(
        item.place, row.get("role"), text, at, speaker=speaker, session=session, source_id=id, origin=origin
    )


def sharegpt(items: Sequence[Item], reading: Reading) -> list[Conversation]:
    """Records holding a list of messages, or the messages themselves; the times are the reading's, a minute a turn."""
    if items and isinstance(items[0].value, dict) and not any(key in items[0].value for key in MESSAGE_LISTS):
        return [_messages("1", [(item.place, item.value) for item in items], reading)]
    return [_record(number, item, reading) for number, item in enumerate(items, start=1)]


def _record(number: int, item: Item, reading: Reading) -> Conversation:
    record = item.value if isinstance(item.value, dict) else {}
    messages = next((record[key] for key in MESSAGE_LISTS if isinstance(record.get(key), list)), None)
    if messages is None:
        reading.problems.append(f"{item.place}: has no list of messages; this conversation was left out.")
        return Conversation(str(number), ())
    rows = enumerate(cast(list[object], messages), start=1)
    placed = [(f"{item.place}, message {number}", row) for number, row in rows]
    return _messages(str(record.get("id") or record.get("conversation_id") or number), placed, reading)


def _messages(id: str, messages: Sequence[tuple[str, object]], reading: Reading) -> Conversation:
    turns = []
    for index, (place, message) in enumerate(messages):
        row = message if isinstance(message, dict) else {}
        role, text = row.get("from", row.get("role")), row.get("value", row.get("content"))
        origin = row.get("source", "")
        turn = reading.turn(place, role, text, reading.start, session=id, source_id=f"{id}:{index}", origin=origin)
        turns += [reading.dated(turn)] if turn else []
    return reading.conversation(id, [turns])


def chatgpt(items: Sequence[Item], reading: Reading) -> list[Conversation]:
    """The branch each conversation was last on, from its `mapping` of messages; hidden entries are no turns.

    A message without a time has that of the message before it, or of the conversation.
    """
    conversations = []
    for item in items:
        record = item.value if isinstance(item.value, dict) else {}
        title = str(record.get("title") or "untitled")
        try:
            conversations.append(_branch(record, title, reading))
        except FormatError as error:
            reading.problems.append(f"{item.place} ({title[:60]!r}): {error}; this conversation was left out.")
    return conversations


def _branch(record: Record, title: str, reading: Reading) -> Conversation:
    mapping = record.get("mapping")
    if not isinstance(mapping, dict):
        raise FormatError("its mapping is no tree of messages")
    id = str(record.get("conversation_id") or record.get("id") or title)
    at, turns = parse_epoch(record.get("create_time")), []
    for key, message in _path(mapping, record.get("current_node")):
        at = parse_epoch(message.get("create_time")) or at
        turn = _message(id, key, message, at, reading)
        turns += [turn] if turn else []
    return reading.conversation(id, [turns])


def _path(mapping: Record, leaf: object) -> Iterator[tuple[str, Record]]:
    """The messages from the root to the leaf the conversation was left on (else its last node)."""
    key: object = leaf if isinstance(leaf, str) and leaf in mapping else next(reversed(mapping), None)
    keys: dict[str, None] = {}  # a set in order: a tree whose parents run in a circle ends
    while isinstance(key, str) and key in mapping and key not in keys:
        keys[key] = None
        node = mapping[key]
        key = node.get("parent") if isinstance(node, dict) else None
    for key in reversed(keys):
        node = mapping[key]
        message = node.get("message") if isinstance(node, dict) else None
        if isinstance(message, dict):
            yield key, message


def _message(id: str, key: str, message: Record, at: datetime | None, reading: Reading) -> Turn | None:
    content, author, about = (_part(message, name) for name in ("content", "author", "metadata"))
    if about.get("is_visually_hidden_from_conversation") or str(content.get("content_type")) in _NOT_SAID:
        reading.left_out["hidden messages (profile, tool calls, thoughts)"] += 1
        return None
    if message.get("recipient", "all") != "all":
        reading.left_out["hidden messages (profile, tool calls, thoughts)"] += 1
        return None
    text = content.get("parts", content.get("text"))
    if not text or text == [""]:
        reading.left_out["empty messages"] += 1
        return None
    if at is None:
        raise FormatError(f"message {key} has no time and neither has the conversation")
    return reading.turn(f"{id}, message {key}", author.get("role"), text, at, session=id, source_id=key)


def _part(message: Record, name: str) -> Record:
    value = message.get(name)
    return value if isinstance(value, dict) else {}
