"""One turn: its words coloured by what they became, what was not stored, what has no words, and the reply itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from memory_core.figures import palette
from memory_core.inspection.cards import Item, Stretch, TurnCard, turn_card
from memory_core.memories import OpenMemory
from memory_core.memory.looking import Attempt
from pages._ui.extraction.state import ExtractionState
from pages._ui.words import glyph, moment, plural, safe, seconds

_CUT, _ROWS, _RAW = 12_000, 200, 20_000
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_KEY = (
    '<p class="key"><mark style="--c:#8a8f98">a node’s words</mark> <span class="said">an edge’s words</span> '
    '<i class="unsaid">not stored</i> · point at the words to see what they became</p>'
)


def turn_view(opened: OpenMemory, state: ExtractionState) -> None:
    """Draw the turn looked at."""
    if not state.turn:
        return
    card = turn_card(opened.memory, state.turn)
    turn, last = card.turn, card.attempts[-1] if card.attempts else None
    name = f'<span class="id">{safe(turn.source_id)}</span>'
    st.html(
        f'<article class="turn {turn.role} glass"><header><b>{safe(turn.speaker or turn.role)}</b> {moment(turn.at)} '
        f'{name}</header><p dir="auto">{_text(card)}</p></article>{_KEY}{_facts(card, last)}{_items(card)}{_lost(card)}'
    )
    if len(turn.text) > _CUT:
        with st.expander(f"All {len(turn.text):,} characters, without colours"):
            st.text(turn.text)
    for attempt in reversed(card.attempts):
        _attempt(attempt, len(card.attempts))
    if not card.attempts:
        st.caption("This turn came from a file without its extraction: what cites it is shown, no reply is known.")


def _text(card: TurnCard) -> str:
    unstored = {word for word, stored in card.words if not stored}
    pieces, left = [], _CUT
    for stretch in card.stretches:
        if left <= 0:
            break
        pieces.append(_stretch(stretch, stretch.text[:left], unstored))
        left -= len(stretch.text)
    more = len(card.turn.text) - _CUT
    return "".join(pieces) + (f' <i class="cut">… {more:,} more characters</i>' if more > 0 else "")


def _stretch(stretch: Stretch, text: str, unstored: set[str]) -> str:
    if stretch.node is not None:
        node = stretch.node
        shown = f'<mark style="--c:{palette.mark(node.label).color}" title="{_tip(node)}">{safe(text)}</mark>'
    else:
        shown = _faded(text, unstored)
    if not stretch.edges:
        return shown
    told = " · ".join(_tip(edge) for edge in stretch.edges[:6])
    return f'<span class="said" title="{told}">{shown}</span>'


def _tip(item: Item) -> str:
    return safe(f"{item.label} {item.text}: {item.fate}".strip())


def _faded(text: str, unstored: set[str]) -> str:
    parts, at = [], 0
    for word in _WORD.finditer(text):
        plain = word.group().casefold().removesuffix("'s")
        if plain in unstored:
            parts += [safe(text[at : word.start()]), f'<i class="unsaid">{safe(word.group())}</i>']
            at = word.end()
    return "".join(parts) + safe(text[at:])


def _facts(card: TurnCard, last: Attempt | None) -> str:
    share = "" if card.share is None else f"{card.share:.0%}"
    cells = [("of its words stored", share, "Content words of the turn that stand in titles, attribute values or "
              "relationships read from it (by their stems)")]  # fmt: skip
    if last:
        cells += [
            ("", last.status, "Status of the last extraction"),
            ("", " ".join(filter(None, [last.model or last.extractor, last.prompt_version])), "Who read it"),
            ("", seconds(last.seconds), "Time the extraction took"),
            ("tokens in", f"{last.tokens_in:,}", "Prompt and turn"), ("out", f"{last.tokens_out:,}", "The reply"),
            ("attempts", f"{len(card.attempts)}", "Extractions of this turn"),
        ]  # fmt: skip
    cells = [cell for cell in cells if cell[1] not in ("", "0") and cell[:2] != ("attempts", "1")]
    spans = "".join(f'<span title="{safe(tip)}"><b>{safe(value)}</b> {name}</span>' for name, value, tip in cells)
    reason = f'<p class="bad">{safe(last.reason)}</p>' if last and last.reason else ""
    return f'<div class="figures">{spans}</div>{reason}'


def _items(card: TurnCard) -> str:
    if not card.items:
        return '<p class="none">Nothing was read from this turn.</p>'
    rows = "".join(_row(item) for item in card.items[:_ROWS])
    more = f'<div class="row">and {len(card.items) - _ROWS:,} more</div>' if len(card.items) > _ROWS else ""
    return f'<h4 class="sub">What it became</h4><div class="report open">{rows}{more}</div>'


def _row(item: Item) -> str:
    mark = glyph(item.label) if item.kind == "node" else '<i class="arrow">→</i>'
    shown = safe(item.text.replace("_", " ") if item.kind == "edge" else item.text)
    shown = shown if item.state == "live" else f'<s title="{item.state} since">{shown}</s>'
    bare = f' <b class="bad" title="No word of it stands in the turn">no words: {safe(item.missing)}</b>'
    held = "".join(f'<div class="row held">{safe(line)}</div>' for line in item.held)
    missing = bare if item.missing else ""
    return f'<div class="row">{mark}<span dir="auto">{shown}{missing}</span><em>{safe(item.fate)}</em></div>{held}'


def _lost(card: TurnCard) -> str:
    lost = [word for word, stored in card.words if not stored]
    parts = []
    if card.unread:
        lines = "".join(f"<li>{safe(line[:300])}</li>" for line in card.unread[:20])
        more = f"<li>and {len(card.unread) - 20:,} more</li>" if len(card.unread) > 20 else ""
        parts.append(f'<h4 class="sub">Said, and nothing read from it</h4><ul class="lost">{lines}{more}</ul>')
    if lost:
        words = " ".join(safe(word) for word in lost[:80])
        parts.append(f'<h4 class="sub">Words in nothing stored</h4><p class="lost">{words}</p>')
    if card.unsupported:
        told = "".join(f"<li>{safe(item.text)}: {safe(item.missing)}</li>" for item in card.unsupported[:20])
        parts.append(f'<h4 class="sub">Stored without words behind it</h4><ul class="lost bad">{told}</ul>')
    return "".join(parts)


def _attempt(attempt: Attempt, count: int) -> None:
    drops = attempt.report["drops"]
    name = f"Attempt {attempt.id}: {attempt.status}" if count > 1 else "Reply, repairs and drops"
    what = [plural(len(drops), "drop"), plural(len(attempt.report["repairs"]), "repair")]
    with st.expander(f"{name} · {' · '.join(what)}", expanded=bool(drops)):
        st.html(_validation(attempt, drops))
        if attempt.raw:
            cut = f"\n… {len(attempt.raw) - _RAW:,} more characters" if len(attempt.raw) > _RAW else ""
            st.code(attempt.raw[:_RAW] + cut, language=None, wrap_lines=True, height=260)
        else:
            st.caption("No raw reply: rules read the turn, or the model said nothing.")


def _validation(attempt: Attempt, drops: Sequence[dict[str, object]]) -> str:
    rows = [f"repaired: {safe(repair)}" for repair in attempt.report["repairs"][:_ROWS]]
    rows += [f"dropped {safe(drop['kind'])} <b>{safe(str(drop['item'])[:200])}</b>: {safe(drop['reason'])}"
             for drop in drops[:_ROWS]]  # fmt: skip
    more = f"and {len(drops) - _ROWS:,} more drops" if len(drops) > _ROWS else ""
    told = [f"reason: {safe(attempt.reason)}"] if attempt.reason else []
    listed = [*told, *rows, *filter(None, [more])] or ["Nothing was repaired or dropped."]
    return '<div class="report open">' + "".join(f'<div class="row">{row}</div>' for row in listed) + "</div>"
