"""How dates and durations are written, and text that came from people or models as harmless HTML."""

from __future__ import annotations

import html
from datetime import datetime

import streamlit as st

from memory_core.figures import palette


def day(at: datetime) -> str:
    """`4 Sep 2023`."""
    return f"{at.day} {at:%b %Y}"


def moment(at: datetime) -> str:
    """`4 Sep 2023, 18:12`, UTC."""
    return f"{day(at)}, {at:%H:%M}"


def seconds(count: float) -> str:
    """`24 ms`, `1.3 s`, `4 min 10 s`."""
    if count < 1:
        return f"{1000 * count:.0f} ms"
    return f"{count:.1f} s" if count < 60 else f"{int(count // 60)} min {int(count % 60)} s"


def safe(text: object) -> str:
    """Text for st.html: shown letter by letter, never read as markup."""
    return html.escape(str(text))


def as_text(text: object) -> str:
    """A message for Streamlit's markdown that reads exactly as written."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>()#+-.!|~$:" else letter for letter in str(text))


def page_head(title: str, sentence: str) -> None:
    """The title of a page and the one sentence that says what it is for."""
    st.html(f'<div class="pagehead"><h1>{safe(title)}</h1><span>{safe(sentence)}</span></div>')


def dark() -> bool:
    """Whether the person's theme is dark."""
    return getattr(st.context.theme, "type", None) == "dark"


def glyph(label: str) -> str:
    """The mark of a label as an inline picture."""
    return f'<img class="glyph" alt="{safe(label)}" title="{safe(label)}" src="{palette.image(label, 14, dark())}">'


def plural(count: int, one: str, many: str = "") -> str:
    """`1 node`, `2 nodes`, `405 turns`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
