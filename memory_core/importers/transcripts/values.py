"""What a transcript is, once read: conversations of turns, and what could not be read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from memory_core.errors import FormatError
from memory_core.schema import Role, Turn, utc

#: Time of the first turn of a file whose format has no dates, unless the caller says otherwise.
START = datetime(2000, 1, 1, tzinfo=UTC)
#: Words other programs use for the two roles (case IMP-06), and those that are no turn of the conversation (CON-11).
ROLES: dict[str, Role] = {
    **dict.fromkeys(("user", "human", "me", "prompter"), "user"),
    **dict.fromkeys(("assistant", "gpt", "chatgpt", "ai", "bot", "model", "chatbot"), "assistant"),
}
INTERNAL_ROLES = frozenset(
    "system developer internal tool function observation function_call tool_call tool_response".split()
)
_OPEN, _CLOSE = "<system-reminder>", "</system-reminder>"


@dataclass(frozen=True)
class Conversation:
    """One conversation: its sessions in order of their dates, each session once, turn names (`source_id`) unique."""

    id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Transcript:
    """The conversations of a file, in file order; `problems` names by line or item whatever was left out."""

    conversations: tuple[Conversation, ...]
    problems: tuple[str, ...]
    format: str


def as_said(turn: Turn) -> str:
    """The turn's text with its speaker in front, the form used for retrieval (design, section 4).

    >>> as_said(Turn("user", "I ski.", START, speaker="Nia"))
    'Nia: I ski.'
    """
    return f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


def parse_date(text: object) -> datetime:
    """The UTC time a transcript writes; one without a zone is read as UTC. Raises FormatError, never guesses.

    >>> parse_date("2023/04/10 (Mon) 17:50").isoformat()
    '2023-04-10T17:50:00+00:00'
    >>> parse_date("1:56 pm on 8 May, 2023").isoformat()
    '2023-05-08T13:56:00+00:00'
    """
    if not isinstance(text, str) or not text.strip():
        raise FormatError("has no date")
    written = re.sub(r"\s*\([^)]*\)", "", text.strip())
    for form in ("%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%I:%M %p on %d %B, %Y"):
        try:
            return utc(datetime.strptime(written, form))
        except ValueError:
            continue
    try:
        return utc(written)
    except (ValueError, OverflowError):
        shown = repr(text.strip()[:60])
        raise FormatError(f"has a date that cannot be read ({shown}); write it as 2023-04-10T17:50") from None


def parse_epoch(seconds: object) -> datetime | None:
    """The UTC time of a number of seconds since 1970, None when it is no such number."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


@dataclass
class Reading:
    """What has been read of a file so far: turns go through `turn`, whatever is left out is written down."""

    start: datetime = START
    problems: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    undated: int = 0

    def dated(self, turn: Turn) -> Turn:
        """The next turn of a format without dates, a minute after the one before it in the file."""
        self.undated += 1
        return replace(turn, at=self.start + timedelta(minutes=self.undated - 1))

    def turn(
        self,
        place: str,
        role: object,
        text: object,
        at: datetime,
        *,
        speaker: str = "",
        session: str,
        source_id: str,
        origin: object = "",
    ) -> Turn | None:
        """A turn, or None when what stands at `place` was not said by anyone in the conversation.

        `origin` is the row's own word on where it comes from: `internal` is not said by anyone.
        """
        word = role.strip().casefold() if isinstance(role, str) else ""
        said = spoken(text)
        if said is None:
            self.problems.append(f"{place}: has no text.")
            return None
        if word in INTERNAL_ROLES or origin == "internal" or (said.strip() and not without_reminders(said)[0]):
            self.left_out["internal messages (role system or tool, reminders put in by a program)"] += 1
            return None
        if word not in ROLES:
            self.problems.append(f"{place}: the role {str(role)[:40]!r} is neither user nor assistant.")
            return None
        return Turn(ROLES[word], self._clean(said), at, speaker, session, source_id)

    def _clean(self, text: str) -> str:
        """The text without what no store can keep (NUL, half surrogates) and without reminders put in by a program."""
        kept, reminders = without_reminders(text)
        self.left_out["reminders put in by a program, cut from the turn around them"] += reminders
        self.left_out["NUL characters"] += kept.count("\0")
        whole = kept.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        halves = whole.count("\ufffd") - kept.count("\ufffd")
        self.left_out["half characters (lone surrogates), shown as \ufffd"] += halves
        return whole

    def conversation(self, id: str, sessions: Iterable[Sequence[Turn]]) -> Conversation:
        """The sessions as one conversation, earliest first, each session id once, turn names made unique."""
        once: dict[str, Sequence[Turn]] = {}
        for session in filter(None, sessions):
            if session[0].session in once:
                self.problems.append(f"{id}: session {session[0].session!r} stands there twice; the first is kept.")
            once.setdefault(session[0].session, session)
        turns = [turn for session in sorted(once.values(), key=began) for turn in session]
        return Conversation(id, tuple(self._unique(id, turns)))

    def _unique(self, id: str, turns: Iterable[Turn]) -> Iterable[Turn]:
        seen: Counter[str] = Counter()
        for turn in turns:
            seen[turn.source_id] += 1
            if seen[turn.source_id] > 1:
                self.problems.append(f"{id}: turn {turn.source_id!r} stands there again; kept under a name of its own.")
                turn = replace(turn, source_id=f"{turn.source_id}#{seen[turn.source_id]}")
            yield turn

    def transcript(self, name: str, format: str, conversations: Sequence[Conversation]) -> Transcript:
        """All that was read; raises FormatError naming the first problem when no turn was."""
        kept = tuple(conversation for conversation in conversations if conversation.turns)
        counted = tuple(f"left out: {count} {what}." for what, count in self.left_out.items() if count)
        problems = (*self.problems, *counted)
        if not kept:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            first = problems[0] if problems else "nothing was said in it."
            raise FormatError(f"{name} holds no turns ({format}): {first}{more}")
        return Transcript(kept, problems, format)


def without_reminders(text: str) -> tuple[str, int]:
    """The text without the reminders a program put before or after it, and their number.

    One in the middle of a sentence is somebody's own words.

    >>> without_reminders("<system-reminder>Reflect.</system-reminder> Buy stamps")
    ('Buy stamps', 1)
    """
    kept, count = text.strip(), 0
    while kept.startswith(_OPEN) and (end := kept.find(_CLOSE)) >= 0:
        kept, count = kept[end + len(_CLOSE) :].lstrip(), count + 1
    while kept.endswith(_CLOSE) and (start := kept.rfind(_OPEN)) >= 0:
        kept, count = kept[:start].rstrip(), count + 1
    return (kept, count) if count else (text, 0)


def began(session: Sequence[Turn]) -> datetime:
    """The date a session is sorted by: that of its earliest turn."""
    return min(turn.at for turn in session)


def spoken(text: object) -> str | None:
    """The words of a message that is a string, or a list of parts of which some are pictures; None if it is neither.

    >>> spoken([{"type": "image_url", "image_url": {}}, {"type": "text", "text": "What plant is this?"}])
    'What plant is this?'
    """
    if isinstance(text, str):
        return text
    if not isinstance(text, list):
        return None
    parts = [part.get("text") if isinstance(part, dict) else part for part in text]
    words = [part for part in parts if isinstance(part, str) and part.strip()]
    return "\n".join(words) if words else ("[image]" if parts else "")
