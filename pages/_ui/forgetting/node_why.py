"""Why one node goes or stays, what would have to change, and everything known about it."""

from __future__ import annotations

import streamlit as st

from memory_core.errors import InputError
from memory_core.memories import OpenMemory
from memory_core.simulator import Shown, simulator_of
from memory_core.simulator.reasons import Reasons, reasons
from memory_core.simulator.tables import PART_INKS
from pages._ui.forgetting.state import CardState, ForgettingState
from pages._ui.inspector import inspector
from pages._ui.opened import as_text
from pages._ui.words import glyph, safe


def node_why(opened: OpenMemory, state: ForgettingState, shown: Shown) -> None:
    """The card of the node looked at."""
    memory = opened.memory
    if not state.node or not memory.graph.is_live(state.node):
        st.html('<section class="card"><h3>Why</h3></section>')
        st.caption("Choose a row of the table or a node of the map to see what it scores, why, and what would save it.")
        return
    try:
        found = simulator_of(opened).once(
            ("why", shown.plan.id, state.node), lambda: reasons(simulator_of(opened), shown, state.node)
        )
    except InputError as error:
        st.caption(as_text(error))
        return
    node = memory.graph.node(state.node)
    st.html(
        f'<section class="card"><h3>{glyph(node.label)} <span dir="auto">{safe(node.title)}</span> {_fate(found)}</h3>'
        f"{_score(found)}</section>"
    )
    for place, change in enumerate(found.changes):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"change-{place}"):
            st.html(f'<div class="change{"" if change.turns_it else " no"}">{safe(change.words)}</div>')
            if change.setting is not None:
                load = {"on_click": state.load_setting, "args": (change.setting,), "help": "Move the controls there"}
                st.button("Try", key=f"try-{place}", type="tertiary", **load)
    with st.expander("Its turns, history and neighbours"):
        card = CardState.load(opened.name)
        card.item = state.node
        inspector(memory, card)


def _fate(found: Reasons) -> str:
    if found.held:
        return '<span class="fate">protected</span>'
    return '<span class="fate goes">goes</span>' if found.goes else '<span class="fate">stays</span>'


def _score(found: Reasons) -> str:
    whole = max(found.score, found.line or 0.0, 0.05) * 1.15
    parts = [(PART_INKS[k % len(PART_INKS)], safe(name), part) for k, (name, part) in enumerate(found.parts.items())]
    bars = "".join(
        f'<u style="width:{100 * part / whole:.1f}%;background:{ink}" title="{name} {part:.4f}"></u>'
        for ink, name, part in parts
    )
    mark = f'<s style="left:{100 * found.line / whole:.1f}%" title="The cut"></s>' if found.line is not None else ""
    legend = "".join(f'<span><i style="background:{ink}"></i>{name} {part:.4f}</span>' for ink, name, part in parts)
    line = f", the cut is at {found.line:.4f}" if found.line is not None else ""
    return (
        f'<div class="stack">{bars}{mark}</div><div class="parts">{legend}</div>'
        f"<p>Score <b>{found.score:.4f}</b>{line}. Number {found.rank:,} of {found.n:,} to go.</p>"
        f"<h4>{'What would keep it' if found.goes and not found.held else 'Why it stays'}</h4>"
    )
