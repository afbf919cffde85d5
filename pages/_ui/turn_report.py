"""What was read from a turn, what became of it, and an answer with the turns it cites: as HTML, all text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_core.chat import Answered
from memory_core.memory import Memory
from memory_core.memory.looking import Attempt
from memory_core.prices import cost, told
from memory_core.schema import Turn
from pages._ui.words import day, glyph, moment, plural, safe, seconds

_SHOWN_NODES = 6
_SHOWN_RAW = 20_000  # characters of a reply on the page


def turn_html(turn: Turn, whole: bool, limit: int) -> str:
    """Who said it, when, and the words as they were said; beyond `limit` characters cut unless `whole`."""
    text = turn.text if whole else turn.text[:limit]
    cut = f'<i class="cut"> … {len(turn.text) - limit:,} more characters</i>' if len(text) < len(turn.text) else ""
    name = f'<span class="id" title="Name of this turn in its transcript">{safe(turn.source_id)}</span>'
    head = f"<header><b>{safe(turn.speaker or turn.role)}</b> {moment(turn.at)} {name}</header>"
    return f'<article class="turn {turn.role}">{head}<p dir="auto">{safe(text)}{cut}</p></article>'


def report_html(memory: Memory, attempts: Sequence[Attempt]) -> str:
    """One line that says what the last attempt brought, opening to every item and its fate."""
    last, report = attempts[-1], attempts[-1].report
    added = [node for node in report["nodes"] if node["how"] == "new"]
    merged = [node for node in report["nodes"] if node["how"] != "new"]
    known: Any = report["edges"]
    new_edges = sum(bool(edge["new"]) for edge in known)
    counts = [
        (len(added), "added"), (len(merged), "merged"), (new_edges, "new edge" if new_edges == 1 else "new edges"),
        (len(report["drops"]), "dropped"), (sum(len(node["held"]) for node in report["nodes"]), "held back"),
    ]  # fmt: skip
    said = " · ".join(f"{count} {what}" for count, what in counts if count)
    line = said or (last.reason if last.status == "empty" and last.reason else "nothing to remember")
    if last.status not in ("ok", "empty", "repaired"):
        line = f'<b class="bad">{last.status}</b> {safe(last.reason)}'
    elif not said:
        line = safe(line)
    rows = _nodes(memory, report["nodes"]) + _edges(memory, known) + _drops(report) + _returned(attempts)
    made = " · ".join(filter(None, [last.status, last.extractor, last.model, last.prompt_version]))
    price = cost(last.model, last.tokens_in, last.tokens_out)
    tokens = f" · {told(last.tokens_in, last.tokens_out, price)}" if last.tokens_in else ""
    tries = f" · attempt {len(attempts)}" if len(attempts) > 1 else ""
    foot = f'<footer title="Status, extractor and the seconds it took">{safe(made)}{tokens}{tries}</footer>'
    took = f'<span class="took" title="Time the extraction took">{seconds(last.seconds)}</span>'
    return f'<details class="report"><summary>{line} {took}</summary>{rows}{foot}</details>'


def _nodes(memory: Memory, nodes: Any) -> str:
    return "".join(
        f'<div class="row">{glyph(node["label"])}<span>{safe(node["title"])}</span><em>{_fate(memory, node)}</em></div>'
        + "".join(_held(memory, held) for held in node["held"])
        for node in nodes
    )


def _fate(memory: Memory, node: Any) -> str:
    if node["how"] == "new":
        return "added"
    if node["how"] == "title":
        return "merged, same title"
    return f"merged with {_title(memory, node['id'])}, cosine {node['similarity']:.2f}"


def _held(memory: Memory, held: Any) -> str:
    near = "same title" if held["similarity"] >= 1 else f"cosine {held['similarity']:.2f}"
    return (
        f'<div class="row held">kept apart from {_title(memory, held["node"])} ({near}): {safe(held["reason"])}</div>'
    )


def _edges(memory: Memory, edges: Any) -> str:
    return "".join(_edge(memory, edge) for edge in edges)


def _edge(memory: Memory, edge: Any) -> str:
    relationship, fate = safe(edge["relationship"].replace("_", " ")), "new edge" if edge["new"] else "known edge"
    ends = f"{_title(memory, edge['source'])} <i>{relationship}</i> {_title(memory, edge['target'])}"
    return f'<div class="row edge"><span>{ends}</span><em>{fate}</em></div>'


def _drops(report: Any) -> str:
    drops = [f"dropped {safe(_dropped(drop))}" for drop in report["drops"]]
    repairs = [f"repaired: {safe(repair)}" for repair in report["repairs"]]
    return "".join(f'<div class="row bad">{line}</div>' for line in drops + repairs)


def _dropped(drop: Any) -> str:
    """Kind, item and reason, each once: a reason may begin with the item, and an item with its kind."""
    item = drop["item"][:200]
    text = drop["reason"] if drop["reason"].startswith(drop["item"]) else f"{item}: {drop['reason']}"
    return str(text if text.startswith(f"{drop['kind']} ") else f"{drop['kind']} {text}")


def _returned(attempts: Sequence[Attempt]) -> str:
    """What the model returned, letter by letter, of each attempt; the newest first."""
    rows = []
    for number, attempt in reversed(list(enumerate(attempts, start=1))):
        if not attempt.raw:
            continue
        of = f" (attempt {number}: {attempt.status})" if len(attempts) > 1 else ""
        left = len(attempt.raw) - _SHOWN_RAW
        more = f" … {left:,} more characters" if left > 0 else ""
        head = f"What {safe(attempt.model or 'the model')} returned{safe(of)}"
        rows.append(
            f'<details class="returned"><summary>{head}</summary>'
            f'<pre dir="auto">{safe(attempt.raw[:_SHOWN_RAW])}{more}</pre></details>'
        )
    return "".join(rows)


def _title(memory: Memory, node_id: Any) -> str:
    row = memory.graph.row_of.get(node_id)
    if row is None:
        return '<s title="purged or split since">a node that is gone</s>'
    title = safe(memory.graph.titles[row])
    return title if memory.graph.is_live(node_id) else f'<s title="forgotten or deleted since">{title}</s>'


def answer_html(memory: Memory, answered: Answered, cited: Sequence[Turn]) -> str:
    """The answer, the turns it cites by date with their words, and the line that says what was marked as visited."""
    if answered.text is None:
        reason = answered.reason.removeprefix("Not in memory: ")
        body = f'<p class="unknown"><b>Not in memory.</b> {safe(reason[:1].upper() + reason[1:])}</p>'
    else:
        body = f'<p dir="auto">{safe(answered.text)}</p>'
        body += f"<footer>{safe(answered.reason)}</footer>" if answered.reason else ""
    quotes = "".join(
        f'<details class="cited"><summary>{day(turn.at)}, {safe(turn.speaker or turn.role)}</summary>'
        f'<blockquote dir="auto">{safe(turn.text[:4000])}</blockquote></details>'
        for turn in cited
    )
    titles = ", ".join(_title(memory, node) for node in answered.visited[:_SHOWN_NODES])
    more = f" and {len(answered.visited) - _SHOWN_NODES} more" if len(answered.visited) > _SHOWN_NODES else ""
    visited = (
        f'<footer title="These nodes count one more access; that keeps them longer">Marked as visited: '
        f"{plural(len(answered.visited), 'node')}: {titles}{more}.</footer>"
        if answered.visited
        else ""
    )
    head = "<header><b>Answer</b> from the memory</header>"
    return f'<article class="turn answer">{head}{body}{quotes}{visited}{_took(answered)}</article>'


def _took(answered: Answered) -> str:
    """Who wrote the answer, in how many seconds and tokens; nothing for the embedded reader."""
    if not answered.model and not answered.tokens_in:
        return ""
    tokens = (
        told(answered.tokens_in, answered.tokens_out, answered.dollars) if answered.tokens_in else "tokens not told"
    )
    line = " · ".join(filter(None, [answered.model, seconds(answered.seconds), tokens]))
    return f'<footer title="All calls that made this answer, the look-up\'s too">{safe(line)}</footer>'


def saying_html(words: str) -> str:
    """An answer that is being written, or the wait for it."""
    if not words:
        return '<p class="waiting" role="status">Reading, looking up, remembering…</p>'
    return f'<article class="turn answer"><header><b>Answer</b> …</header><p dir="auto">{safe(words)}</p></article>'
