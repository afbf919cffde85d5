"""Two memories compared: what one holds more, less and other than another."""

from __future__ import annotations

import json

import streamlit as st

from memory_core.difference import Difference, Part, difference
from memory_core.exporters import to_document
from memory_core.memories import OpenMemory
from memory_core.memory import Memory
from pages._ui.extraction.state import ExtractionState
from pages._ui.opened import memories
from pages._ui.words import plural, safe

_MOST = 300


def differing(opened: OpenMemory, state: ExtractionState) -> None:
    """Choose another memory; draw what this one has added, lost and changed against it."""
    others = [name for name in memories().names() if name != opened.name]
    if not others:
        st.info(
            "There is only one memory. Keep a copy with **More**, Duplicate in the sidebar before you change this one, "
            "or let another extractor read the same conversation into a new memory: then they can be compared."
        )
        return
    name = st.selectbox(f"{opened.name} against", others, key=state.key("other"), width=300,
                        help="Before and after, two extractors, two days")  # fmt: skip
    with st.spinner("Comparing…"):
        other = memories().open(name)
        revisions = other.memory.revision, opened.memory.revision
        found = _found(other.key, opened.key, *revisions, _memories=(other.memory, opened.memory))
    for title, part in (("node", found.nodes), ("edge", found.edges), ("turn", found.turns)):
        _part(title, part)
    text = json.dumps(found.to_json(), ensure_ascii=False, indent=1)
    st.download_button("Download as JSON", text, f"{opened.name}-against-{name}.json", key="difference-download",
                       on_click="ignore", type="tertiary")  # fmt: skip


@st.cache_resource(max_entries=4, show_spinner=False)
def _found(a: str, b: str, a_revision: int, b_revision: int, _memories: tuple[Memory, Memory]) -> Difference:
    return difference(*map(to_document, _memories))


def _part(title: str, part: Part) -> None:
    counts = (
        f"{len(part.added):,} added, {len(part.gone):,} gone, {len(part.changed):,} changed, {part.same:,} the same"
    )
    st.html(f'<h4 class="sub">{title}s: {counts}</h4>')
    rows = [f'<li class="come">{safe(text)}</li>' for text in part.added[:_MOST]]
    rows += [f'<li class="gone">{safe(text)}</li>' for text in part.gone[:_MOST]]
    for one in part.changed[:_MOST]:
        fields = "; ".join(
            f"{safe(name)}: <s>{safe(_short(was))}</s> → {safe(_short(to))}" for name, was, to in one.fields
        )
        rows.append(f'<li class="other">{safe(one.item)}: {fields}</li>')
    if rows:
        left = max(0, max(len(part.added), len(part.gone), len(part.changed)) - _MOST)
        more = f"<li>and up to {plural(left, 'more item')} of a kind, in the download</li>" if left else ""
        st.html(f'<div class="difference tall"><ul>{"".join(rows)}{more}</ul></div>')


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]} …"
