"""From the text a model sent to an extraction. Repairs are mechanical or not made.

The `json_repair` library is not used: it turns any prose into some value (`"Porto: nice"` into an object, a cut reply
into a complete one), and so hides the very failures this project counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from memory_core.schema import Extraction, Role, Status
from memory_core.validation.items import OnInvalid, items_of, validate
from memory_core.validation.values import Report

Finish = Literal["stop", "length", "refused", "error"]  # as in protocols.Reply

MAX_REPLY = 1_000_000  # characters
_MAX_NESTING = 32
#: A JSON string; one that never ends matches to the end of the text, so that a hostile reply is read once, not n times.
_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\n?(.*?)```", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(\s*[}}\]])", re.DOTALL)
_LONE_BACKSLASH = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_TOKENS = re.compile(rf"{_STRING}|[{{\[]|[}}\]]", re.DOTALL)
_REFUSAL = re.compile(
    r"\s*(i['’]?m (very |really )?sorry|sorry\b|i apologi[sz]e|i (can ?not|can['’]?t|won['’]?t|will not|must decline)\b"
    r"|i['’]?m (not able|unable)|i am (sorry|not able|unable)|as an ai\b|unfortunately, i can)",
    re.IGNORECASE,
)


def read_reply(
    text: str,
    finish: Finish = "stop",
    on_invalid: OnInvalid = "drop",
    *,
    speaker: str = "User",
    role: Role = "user",
) -> Extraction:
    """The extraction a model's reply holds; `raw` is the reply (its first million characters). Never raises.

    A reply is one JSON object with `nodes` and `edges`, each a list or an id-keyed map. Mended: a Markdown fence, words
    around the one object, reasoning up to the last `</think>`, commas before a closing bracket, raw control characters
    and lone backslashes in strings. Else the status says what it was: truncated (`finish` is length, or the text ends
    inside its JSON), refused, failed (`finish` is error), rejected (`no_json`: no such object). It is never empty
    unless the model said so. For what is dropped inside see `validate`.

    >>> read_reply('```json\\n{"nodes": [], "edges": [],}\\n```').status
    'empty'
    >>> read_reply("Sure! The user seems to enjoy sailing.").reason
    'no_json: the reply holds no JSON object'
    >>> read_reply('{"nodes": [{"label": "Per', "length").status
    'truncated'
    """
    raw = text[:MAX_REPLY]
    if len(text) > MAX_REPLY:
        return Extraction("rejected", raw=raw, reason=f"the reply has more than {MAX_REPLY:,} characters")
    if finish in ("refused", "error"):
        status: Status = "refused" if finish == "refused" else "failed"
        return Extraction(status, raw=raw, reason=f"the model's reply ended with: {finish}")
    report = Report()
    value = _object(text.strip().removeprefix("\ufeff").strip(), report)
    if isinstance(value, str):
        return replace(_unread(text, finish, value), raw=raw)
    nodes, edges = items_of(value.get("nodes")), items_of(value.get("edges"))
    if "nodes" not in value or nodes is None or edges is None:
        missing = "nodes" if "nodes" not in value or nodes is None else "edges"
        return Extraction("rejected", raw=raw, reason=f"{missing} must be a list or an object")
    found = validate(nodes, edges, speaker=speaker, role=role, on_invalid=on_invalid)
    if found.status == "ok" and (report.repairs or report.drops):
        found = replace(found, status="repaired")
    drops, repairs = (*report.drops, *found.drops), (*report.repairs, *found.repairs)
    return replace(found, raw=raw, drops=drops, repairs=repairs)


def json_object(text: str) -> dict[str, object] | None:
    """The one JSON object a reply holds, mended as `read_reply` mends it; None when there is none.

    >>> json_object('Here it is: {"entities": ["Mira",]}')
    {'entities': ['Mira']}
    """
    value = _object(text[:MAX_REPLY].strip().removeprefix("\ufeff").strip(), Report())
    return None if isinstance(value, str) else value


def without_reasoning(text: str) -> str:
    """A reply in words without what a reasoning model thought aloud; "" when it never stopped thinking.

    >>> without_reasoning("<think>a sister?</think>\\n Mira")
    'Mira'
    """
    answer = text.rpartition("</think>")[2].strip()
    return "" if answer.startswith("<think>") else answer


def _unread(text: str, finish: Finish, problem: str) -> Extraction:
    if finish == "length":
        return Extraction("truncated", reason="the reply reached its token limit before its JSON ended")
    if problem == "truncated":
        return Extraction("truncated", reason="the reply ends inside its JSON")
    if problem == "no_json" and _REFUSAL.match(text.rpartition("</think>")[2]):
        return Extraction("refused", reason=f"the model declined: {' '.join(text.split())[:120]}")
    said = {"no_json": "no_json: the reply holds no JSON object", "several": "the reply holds several different graphs"}
    return Extraction("rejected", reason=said.get(problem, problem))


def _object(bare: str, report: Report) -> dict[str, object] | str:
    """The reply's one object, or what is wrong: no_json, several, truncated, or a sentence."""
    if _nesting(bare) > _MAX_NESTING:
        return f"the JSON is nested deeper than {_MAX_NESTING} levels"
    value = _loads(bare, report)
    if value is not None:
        return value
    answer = bare.rpartition("</think>")[2].strip()
    if answer != bare:
        report.mend("reply", "reasoning left out")
    elif bare.startswith("<think>"):
        return "no_json"  # the reasoning never ended: what it drafts is no answer
    fenced = [block.strip() for block in _FENCE.findall(answer) if "{" in block]
    texts = fenced or [answer]
    found = [value for text in texts for value in _objects(text, report)]
    graphs = [value for value in found if "nodes" in value] or found
    if not graphs:
        return _problem(texts[0])
    if any(graph != graphs[0] for graph in graphs):
        return "several"
    if fenced or len(found) > 1 or answer[0] != "{" or answer[-1] != "}":
        report.mend("reply", "fence or words around the JSON left out")
    return graphs[0]


def _objects(text: str, report: Report) -> Iterator[dict[str, object]]:
    """The outermost objects that stand in `text`, as they are or after a mechanical repair."""
    for start, end in _spans(text):
        for repair, mended in _versions(text[start:end]):
            value = _loads(mended, report)
            if value is not None:
                if repair:
                    report.mend("reply", repair)
                yield value
                break


def _versions(text: str) -> Iterator[tuple[str, str]]:
    yield "", text
    no_commas = _TRAILING_COMMA.sub(lambda found: found[1] or found[2], text)
    yield "commas before closing brackets taken out", no_commas
    yield "lone backslashes kept as written", _LONE_BACKSLASH.sub(_doubled, text)
    yield "trailing commas and lone backslashes mended", _LONE_BACKSLASH.sub(_doubled, no_commas)


def _doubled(found: re.Match[str]) -> str:
    return found[0] if found[1] else "\\\\"


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """[start, end) of each outermost {...}; one that never ends is not among them, nor what follows it."""
    start = text.find("{")
    while start >= 0:
        end = _closing(text, start)
        if end < 0:
            return
        yield start, end
        start = text.find("{", end)


def _closing(text: str, start: int) -> int:
    depth = 0
    for token in _TOKENS.finditer(text, start):
        depth += (token[0] in "{[") - (token[0] in "}]")
        if depth == 0 and token[0][0] != '"':
            return token.end()
    return -1


def _nesting(text: str) -> int:
    depth = deepest = 0
    for token in _TOKENS.finditer(text):
        depth = max(depth + (token[0] in "{[") - (token[0] in "}]"), 0)
        deepest = max(deepest, depth)
    return deepest


def _loads(text: str, report: Report) -> dict[str, object] | None:
    """The JSON object `text` is, else None. A key given twice in one object is reported, not lost in silence."""
    twice: list[str] = []

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(items)
        twice.extend(sorted({key for key, value in items if made[key] is not value and made[key] != value}))
        return made

    try:
        value = json.loads(text, strict=False, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    for key in twice:
        report.drop("reply", f"key {key[:60]}", "stands twice in one object, the last is kept")
    return value


def _problem(text: str) -> str:
    start = text.find("{")
    if start < 0:
        return "no_json"
    if _closing(text, start) < 0:
        return "truncated"
    try:
        json.loads(text[start:], strict=False)
    except ValueError as error:
        return f"broken_json: {error}"
    return "no_json"
