"""Text files as they are found: gzipped, byte order marks, wrong encodings, JSON that breaks half-way.

What can be read is read; the rest is named by line.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_core.errors import FormatError, InputError

Source = str | Path | bytes
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
#: Bytes looked at for NUL before a file is called binary; git uses the same test and size.
_SNIFFED = 8000
_GZIP = b"\x1f\x8b"
#: Bytes a gzipped file may unpack to; a small file could else fill the memory of the machine.
MAX_UNPACKED = 1_000_000_000
_PART = 1_000_000  # bytes unpacked at a time


@dataclass(frozen=True)
class Item:
    """One JSON value of a file and where it stands (`line 4` or `item 4 (line 90)`), for messages."""

    place: str
    value: object


@dataclass(frozen=True)
class Items:
    """The JSON values a file holds, in order, and what could not be read."""

    items: tuple[Item, ...]
    problems: tuple[str, ...] = ()


def name_of(source: Source) -> str:
    """How messages call a source: the file's name, or `the file` for bytes.

    >>> name_of("chats/may.jsonl")
    'may.jsonl'
    """
    return "the file" if isinstance(source, bytes) else Path(source).name


def read_bytes(source: Source) -> bytes:
    """The bytes of a file, or the bytes given; a gzipped file is unpacked.

    Raises InputError when the file cannot be opened, FormatError when it cannot be unpacked or unpacks to over 1 GB.
    """
    if isinstance(source, bytes):
        return _unpacked(source, name_of(source))
    try:
        return _unpacked(Path(source).read_bytes(), name_of(source))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{source} cannot be read: {reason}.") from error


def first_line(path: Path) -> str:
    """The first line of a file, gzipped or not, cut at 1 MB. Raises InputError."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
        with gzip.open(path) if packed else path.open("rb") as text:
            return text.readline(1_000_000).decode(errors="replace")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error


def _unpacked(data: bytes, name: str) -> bytes:
    """
    >>> _unpacked(gzip.compress(b"words"), "it"), _unpacked(b"words", "it")
    (b'words', b'words')
    """
    if not data.startswith(_GZIP):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as packed:
            found = b"".join(_parts(packed))
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"{name} is gzipped and cannot be unpacked ({error}): fetch or pack it again.") from error
    if len(found) > MAX_UNPACKED:
        raise FormatError(f"{name} unpacks to more than {MAX_UNPACKED // 10**6:,} MB: split it.")
    return found


def _parts(packed: gzip.GzipFile) -> Iterator[bytes]:
    """A little more than may be unpacked at most, piece by piece: asked for at once, all that memory is set aside."""
    left = MAX_UNPACKED + 1
    while left > 0 and (part := packed.read(min(_PART, left))):
        left -= len(part)
        yield part


def read_text(source: Source) -> str:
    """The text of a UTF-8 file (UTF-16 with a byte order mark also), line ends as they are.

    Raises FormatError for an empty file, a binary one and another encoding, InputError when it cannot be opened.
    """
    data, name = read_bytes(source), name_of(source)
    encoding = next((known for mark, known in _BYTE_ORDER_MARKS if data.startswith(mark)), "utf-8")
    if encoding != "utf-16" and b"\0" in data[:_SNIFFED]:
        raise FormatError(f"{name} holds NUL bytes, so it is no text file; save it as UTF-8 text.")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if error.end == len(data) and error.reason in ("unexpected end of data", "truncated data"):
            return data.decode(encoding, errors="replace")  # a file cut inside its last letter: the cut stays visible
        line = data.count(b"\n", 0, error.start) + 1
        written = encoding.removesuffix("-sig").upper()
        raise FormatError(f"{name} is not {written} text (line {line}); save it as UTF-8.") from error
    if not text.strip():
        raise FormatError(f"{name} is empty.")
    return text


def json_items(text: str) -> Items:
    """The JSON values of a text: the members of one list, or values one after another (JSONL, or a single object).

    A value that cannot be read is named by line; after it reading goes on at the next line that starts a value, and
    inside a list ends there.

    >>> [item.value for item in json_items('{"a": 1}\\n{"a": 2}').items]
    [{'a': 1}, {'a': 2}]
    >>> json_items('{"a": 1}\\n{"a": }\\n{"a": 3}').problems
    ('line 2: not JSON (Expecting value).',)
    """
    return _listed(text) if text.lstrip().startswith("[") else _sequence(text)


class _Lines:
    """Line numbers of positions asked for in rising order: each stretch of a large file is counted once."""

    def __init__(self, text: str) -> None:
        self._text, self._position, self._line = text, 0, 1

    def at(self, position: int) -> int:
        self._line += self._text.count("\n", self._position, position)
        self._position = position
        return self._line


def _decode(text: str, start: int) -> tuple[object, int] | str:
    """The value that starts at `start` and where it ends, or why there is none."""
    try:
        return json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        return error.msg
    except RecursionError:
        return "nested too deeply"
    except ValueError as error:  # a number of more digits than Python reads
        return str(error).partition(";")[0]


def _skip(text: str, position: int, letters: str = " \t\r\n") -> int:
    while position < len(text) and text[position] in letters:
        position += 1
    return position


def _sequence(text: str) -> Items:
    lines, items, problems = _Lines(text), list[Item](), list[str]()
    position = _skip(text, 0)
    while position < len(text):
        line, found = lines.at(position), _decode(text, position)
        if isinstance(found, str):
            position = _next_value(text, position)
            last = max(line, lines.at(position - 1))
            problems.append(f"line {line}: not JSON ({found})" + (f", up to line {last}." if last > line else "."))
        else:
            items.append(Item(f"line {line}", found[0]))
            position = found[1]
        position = _skip(text, position)
    return Items(tuple(items), tuple(problems))


def _next_value(text: str, position: int) -> int:
    """The start of the next line that opens an object, or the end of the text."""
    found = text.find("\n{", position)
    return len(text) if found < 0 else found + 1


def _listed(text: str) -> Items:
    lines, items = _Lines(text), list[Item]()
    position = _skip(text, text.index("[") + 1)
    while text[position : position + 1] not in ("]", ""):
        place = f"item {len(items) + 1} (line {lines.at(position)})"
        found = _decode(text, position)
        if isinstance(found, str):
            return Items(tuple(items), (f"{place}: not JSON ({found}); nothing from here on was read.",))
        items.append(Item(place, found[0]))
        position = _skip(text, found[1])
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        elif text[position : position + 1] not in ("]", ""):
            problem = f"line {lines.at(position)}: no comma after item {len(items)}; nothing from here on was read."
            return Items(tuple(items), (problem,))
    return Items(tuple(items), _list_end(text, position, lines))


def _list_end(text: str, position: int, lines: _Lines) -> tuple[str, ...]:
    """What is wrong after the last member of a list: no bracket, or more text."""
    after = _skip(text, position + 1)
    if position >= len(text):
        return (f"line {lines.at(position)}: the list ends without its bracket.",)
    return (f"line {lines.at(after)}: text after the list was not read.",) if after < len(text) else ()
