"""What of a turn is parsed: code, markup and addresses blanked, the offsets of every other character unchanged."""

from __future__ import annotations

import re
from dataclasses import dataclass

LIMIT = 6_000

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(script|style|pre|svg)\b.*?(?:</\1\s*>|\Z)", re.S | re.I)
_TAGGED = re.compile(r"<([a-z]+[-_:][\w:-]+)\b[^<>]{0,200}>.*?</\1>", re.S | re.I)
_MARKUP = re.compile(r"</?[a-z!][^<>\n]{0,300}>|&[a-z]{2,8};|&#\d{1,6};", re.I)
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}")
_PICTURE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)|(?<=\])\([^)\n]{0,500}\)")
_INLINE = re.compile(r"`[^`\n]{0,200}`")
_MARKS = re.compile(r"[*_]{2,3}|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|^[ \t]*#{1,6}(?=\s)|^[ \t]*>+|~~", re.M)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ud800-\udfff]")
_EMOJI = re.compile("[\u2190-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]")
_SPEECH = re.compile(
    r"(?<![\w])([\"“'])(?=(?:\S+\s+){2})(?:(?=[a-z])|(?=[^\"”\n]{0,120}\b(?:I|I'm|my|me)\b))[^\"”\n]{8,240}?(?:(?<!\w)|(?<=\w))[\"”'](?!\w)"
)
_TITLED = re.compile(r"\b(?:read|reading|watched|watching|finished|saw|seen|called|titled|book|movie|film|song|show) $")
_DASH = re.compile(r"(?<=[^\n]) [-–—] (?=[^\n])")  # the parser reads a clause on through a dash
_ASIDES = re.compile(
    r"\b(?:by the way|btw|speaking of which|for what it's worth|to be honest|tbh|fyi|oh and|also|anyway|honestly"
    r"|actually|guess what|you know what|i mean|you know|oh|well|wow|haha|lol),(?=\s)"
    r"|\b(?:lol|haha|tbh|btw|omg|ugh|ngl|imo|imho|fwiw|smh)\b"
    r"|\bnot (?:gonna|going to) lie\b,?",
    re.I,
)
_CODE_LINE = re.compile(
    r"^(?=.*[{};=()<>$])\s*(?:[\w.\[\]]+\s*(?:[-+*/]?=|\(.*\)\s*[;{:]?$)|(?:def|class|import|from|return|for|while|if"
    r"|else|public|private|const|let|var|function|#include|SELECT|INSERT|UPDATE|CREATE)\b.*[;{:()=]\s*$"
    r"|[{}\])]+[;,]?\s*$|\$ ).*$",
    re.M,
)
_LATIN = re.compile(r"[A-Za-z]")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_ENGLISH = frozenset(
    """the a an and or but of to in on at for with from by is are was were be been am i my me you your he she it we
    they this that have has had do does did not no so as if can will would just about like what how when there their
    our his her get got don't i'm i've it's that's really new went love here some one all very more most who up out
    than then them its never always also today yesterday tomorrow""".split()
)
_FOREIGN = frozenset(
    """el la los las un una que de en y es por para con mi me le les des du est et je tu il nous vous une dans pour pas
    avec sur der die das und ist ich nicht ein eine mit auf für zu von den dem sie wir lo gli che di non sono per
    mio o os um uma não eu do da em com meu minha het een ik niet van bei habe bin wohne arbeite meine mein mijn naar
    j'ai j'habite suis mon ma mes chez cette elle tengo soy estoy vivo gusta muy pero ahora desde mia della nel
    moro gosto também""".split()
)


@dataclass(frozen=True)
class Line:
    """One line of the blanked text, [start, end), and what its form says it is: heading, item, row, caption or prose.

    `rank` is the number of an item, or "header" for a table's first row; `depth` is 1 for an item under an item.
    """

    start: int
    end: int
    kind: str
    rank: str = ""
    depth: int = 0


@dataclass(frozen=True)
class Prepared:
    """The text to parse (as long as the turn, or cut at `LIMIT`), its lines, and what was left out.

    A caption's words are blanked in `text`: they are read from the turn itself.
    """

    text: str
    lines: tuple[Line, ...]
    repairs: tuple[str, ...]
    english: bool


def _blank(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def _unquoted(found: re.Match[str]) -> str:
    """Speech in quotes blanked; what follows "watched" or "called" is a title."""
    if _TITLED.search(found.string[max(0, found.start() - 14) : found.start()]):
        return found.group()
    return re.sub(r"[^\n]", " ", found.group())


def prepare(text: str, speaker: str = "") -> Prepared:
    """`text` with everything that is no prose replaced by spaces, so that places in it are places in the turn.

    >>> prepare("I use `ls`: ```rm -rf x``` daily").text
    'I use  ls :                daily'
    """
    repairs = []
    if len(text) > LIMIT:
        repairs.append(f"only the first {LIMIT:,} of {len(text):,} characters were read")
        text = text[:LIMIT]
    kept = text
    for pattern in (_CODE, _TAGGED, _PICTURE, _MARKUP, _ADDRESS, _CODE_LINE):
        kept = _blank(pattern, kept)
    if len(kept.replace(" ", "")) < len(text.replace(" ", "")):
        repairs.append("code, markup or addresses were not read")
    kept = _INLINE.sub(lambda found: " " + found.group()[1:-1] + " ", kept)
    captions = tuple(Line(*found.span(1), "caption") for found in _CAPTION.finditer(kept))
    kept = _blank(_CAPTION, kept)
    lines = (*_lines(kept), *captions)
    for pattern in (_MARKS, _CONTROL, _EMOJI):
        kept = _blank(pattern, kept)
    kept = _blank(_ASIDES, _SPEECH.sub(_unquoted, kept))
    kept = _DASH.sub(" , ", kept)
    kept = kept.replace("\r", " ").replace("\t", " ").replace("’", "'").replace("|", ";")
    if speaker and kept.lower().startswith(f"{speaker.lower()}:"):
        kept = " " * (len(speaker) + 1) + kept[len(speaker) + 1 :]
    return Prepared(kept, lines, tuple(repairs), _is_english(kept))


_ITEM = re.compile(
    r"^(\s*)(?:(?:\*\*)?[-•*+–·](?:\s+|(?=[A-Z0-9½¼]))(?:\[[ x]\]\s+)?|\(?(?:\*\*)?(\d{1,3})[.):]\s+"
    r"|(?:step|day|week|option|tip)\s?(\d{1,3})\s?[:.]\s+|([a-z])[.)]\s+)",
    re.I,
)
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+\S|\*\*[^*]+\*\*:?\s*$|[^.!?]{3,90}:\s*(?:\*\*)?$)")
_FIELD = re.compile(r"^\s*(?:\*\*)?[A-Z][\w /-]{1,28}:(?:\*\*)?\s+\S.{0,100}$")
_CAPTION = re.compile(
    r"\[(?:shares|shared|sent|sends) (?:a |an )?(?:picture|photo|image)s?:?\s*([^\]\n]{1,300})\]", re.I
)


def _lines(text: str) -> list[Line]:
    found: list[Line] = []
    start, shallow, table, opened = 0, 0, False, False
    for raw in text.split("\n"):
        line = _line(raw, start, start + len(raw), table)
        if line is not None:
            table = line.kind == "row"
            if line.kind == "item":
                indent = len(raw.expandtabs(4)) - len(raw.expandtabs(4).lstrip())
                shallow = indent if not found or found[-1].kind != "item" else min(shallow, indent)
                under = indent > shallow + 1 or (opened and not line.rank)
                line = Line(line.start, line.end, "item", line.rank, int(under))
                opened = under or (bool(line.rank) and raw.rstrip(" *").endswith(":"))
            found.append(line)
        start += len(raw) + 1
    return found


def _line(raw: str, start: int, end: int, table: bool) -> Line | None:
    if not raw.strip():
        return None
    item = _ITEM.match(raw)
    if item and len(raw) > item.end():
        rank = next((group for group in item.groups()[1:] if group), "")
        return Line(start + item.end(), end, "item", rank)
    if raw.count("|") >= 2:
        return Line(start, end, "row", "" if table else "header")
    if _HEADING.match(raw):
        return Line(start, end, "heading")
    return (
        Line(start, end, "field", "bold" if raw.lstrip().startswith("**") else "")
        if _FIELD.match(raw)
        else Line(start, end, "prose")
    )


def _is_english(text: str) -> bool:
    letters = _LETTER.findall(text)
    if not letters:
        return True
    if len(_LATIN.findall(text)) < 0.6 * len(letters):
        return False
    found = _WORD.findall(text)
    words = [*(word.lower() for word in found[:1]), *(word for word in found[1:] if word.islower() or word == "I")]
    foreign = sum(word in _FOREIGN for word in words)
    english = sum(word in _ENGLISH for word in words)
    if foreign and any(not word.isascii() for word in words):
        foreign += 1  # an accent beside a foreign word: "viajará a Lisboa en octubre"
    return foreign < 2 or english >= foreign
