"""The inspector: one node or edge with everything known about it, and what a person may do to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

import pandas as pd
import streamlit as st

from memory_core.errors import ForgettingLabError, InputError
from memory_core.inspector import EdgeCard, Link, NodeCard, Quote, Value, edge_card, node_card
from memory_core.memory import Memory
from memory_core.schema import LABELS, Node, Scalar
from pages._ui.opened import as_text, notice
from pages._ui.state import ChatState
from pages._ui.words import day, glyph, moment, plural, safe

_QUOTES, _LINKS = 5, 25
_EMPTY = """
Click a node or an edge in the picture, or pick a row of the table, to see what it holds: its words in the turns it was
read from, its values over time, its importance, and its neighbours.
"""
_PARTS = {
    "recency": "Days since the last access: halves every 90 days (weight .35)",
    "frequency": "How often it was accessed, against the most accessed node (weight .25)",
    "centrality": "How many edges it has; full at 10 (weight .20)",
    "turns": "Turns since it was created: halves every 1,000 turns (weight .20)",
}


def inspector(memory: Memory, state: ChatState) -> None:
    """Draw the card of the item looked at, or what to do to get one."""
    if state.undo:
        _offer_undo(memory, state)
    if not state.item:
        st.html('<section class="card"><h3>Inspector</h3></section>')
        st.caption(_EMPTY)
        return
    try:
        if state.item in memory.graph.row_of:
            _node(memory, node_card(memory, state.item), state)
        else:
            _edge(memory, edge_card(memory, state.item), state)
    except InputError:
        st.caption("What was looked at is no longer in the live memory. Choose something else in the picture.")


def _node(memory: Memory, card: NodeCard, state: ChatState) -> None:
    node = card.node
    if state.act == "edit":
        _edited(memory, node, state)
        return
    pinned = '<span class="pin" title="No forgetting takes a pinned node">pinned</span>' if node.pinned else ""
    st.html(
        f'<section class="card"><h3>{glyph(node.label)} <span dir="auto">{safe(node.title)}</span></h3>'
        f'<div class="kind">{node.label} {pinned}</div><p dir="auto">{safe(node.content)}</p>{_figures(card)}'
        f"{_values(memory, card.values)}</section>"
    )
    _node_actions(memory, node, state)
    st.html(f'<section class="card">{_quotes(card.quotes)}</section>')
    _links(card.links, state)


def _edge(memory: Memory, card: EdgeCard, state: ChatState) -> None:
    edge = card.edge
    ended = f" (ended {safe(edge.attributes['until'])})" if "until" in edge.attributes else ""
    st.html(
        f'<section class="card"><h3><span dir="auto">{safe(edge.relationship.replace("_", " "))}</span></h3>'
        f'<div class="kind">Edge{ended}</div><p>{glyph(card.source.label)} {safe(card.source.title)} → '
        f"{glyph(card.target.label)} {safe(card.target.title)}</p>{_values(memory, card.values)}</section>"
    )
    with st.container(horizontal=True, gap="small"):
        _step(card.source, state, "from")
        _step(card.target, state, "to")
        st.button("Delete…", key=f"delete-{edge.id}", icon=":material/delete:", on_click=state.doing, args=("delete",))
    if state.act == "delete":
        _asked_to_delete(memory, edge.id, edge.relationship.replace("_", " "), 0, state)
    st.html(f'<section class="card">{_quotes(card.quotes)}</section>')


def _figures(card: NodeCard) -> str:
    node = card.node
    seen = day(node.last_access) if node.last_access else "never"
    numbers = [
        ("edge" if node.degree == 1 else "edges", f"{node.degree:,}", "Degree: live edges of this node"),
        (
            "access" if node.accesses == 1 else "accesses",
            f"{node.accesses:,}",
            "Merges, answers and edits that touched it since it was created",
        ),
        ("last access", seen, "Time of the newest access"),
        ("created", day(node.created_at), "Time of the turn it was first read from"),
    ]
    cells = "".join(f'<span title="{tip}"><b>{value}</b> {name}</span>' for name, value, tip in numbers)
    bars = "".join(
        f'<div class="part" title="{safe(_PARTS.get(name, name))}"><span>{name}</span>'
        f'<i><u style="width:{min(part, 1) * 100 / 0.35:.0f}%"></u></i><b>{part:.3f}</b></div>'
        for name, part in card.parts.items()
    )
    title = "Importance score in 0 to 1, at the time of the newest turn: the sum of the four parts; high is kept"
    score = f'<div class="part sum" title="{title}"><span>importance</span><i></i><b>{card.score:.3f}</b></div>'
    return f'<div class="figures">{cells}</div>{score}{bars}'


def _values(memory: Memory, values: Sequence[Value]) -> str:
    if not values:
        return ""
    rows = "".join(
        f"<tr><th>{safe(value.field.replace('_', ' '))}</th>"
        f'<td dir="auto">{safe(value.value)}{_history(value)}</td></tr>'
        for value in values
    )
    return f"<h4>Values</h4><table>{rows}</table>"


def _history(value: Value) -> str:
    told = "".join(f"<li>{day(said.at)}: {safe(said.value)}</li>" for said in value.earlier)
    return (
        f"<details><summary>{plural(len(value.earlier), 'earlier value')}</summary><ul>{told}</ul></details>"
        if told
        else ""
    )


def _quotes(quotes: Sequence[Quote]) -> str:
    if not quotes:
        return "<h4>Read from</h4><p>No turn: it was imported, or its turns were forgotten.</p>"
    shown = "".join(_quote(quote) for quote in quotes[:_QUOTES])
    rest = "".join(_quote(quote) for quote in quotes[_QUOTES : _QUOTES + 50])
    more = f"<details><summary>{plural(len(quotes) - _QUOTES, 'older turn')}</summary>{rest}</details>" if rest else ""
    return f"<h4>Read from {plural(len(quotes), 'turn')}</h4>{shown}{more}"


def _quote(quote: Quote) -> str:
    words = "".join(f"<mark>{safe(text)}</mark>" if marked else safe(_short(text)) for text, marked in quote.pieces)
    turn = quote.turn
    head = f"{moment(turn.at)} · {safe(turn.speaker or turn.role)} · {safe(turn.source_id)}"
    return f'<blockquote dir="auto"><header>{head}</header>{words}</blockquote>'


def _short(text: str, most: int = 1200) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} […] {text[-most // 2 :]}"


def _links(links: Sequence[Link], state: ChatState) -> None:
    if not links:
        return
    st.html(f'<section class="card"><h4>{plural(len(links), "edge")}, a click goes there</h4></section>')
    with st.container(key="links", gap=None):
        for link in links[:_LINKS]:
            arrow, ended = "→" if link.outgoing else "←", " (ended)" if "until" in link.edge.attributes else ""
            words = f"{link.edge.relationship.replace('_', ' ')}{ended} {arrow} {link.other.title[:60]}"
            st.button(
                as_text(words), key=f"go-{link.edge.id}", type="tertiary", on_click=state.look_at, args=(link.other.id,)
            )
    if len(links) > _LINKS:
        st.caption(f"{len(links) - _LINKS} more edges; the picture shows them.")


def _step(node: Node, state: ChatState, way: str) -> None:
    words = as_text(node.title[:40])
    st.button(
        words, key=f"{way}-{node.id}", on_click=state.look_at, args=(node.id,), help=f"Look at the node it leads {way}"
    )


def _node_actions(memory: Memory, node: Node, state: ChatState) -> None:
    with st.container(horizontal=True, gap="small", key="node-actions"):
        pin = "Unpin" if node.pinned else "Pin"
        if st.button(pin, key=f"pin-{node.id}", icon=":material/keep:", help="No forgetting takes a pinned node"):
            _act(state, lambda: memory.pin(node.id, not node.pinned, at=datetime.now(UTC)), f"{pin}ned {node.title}")
        st.button("Edit", key=f"edit-{node.id}", icon=":material/edit:", on_click=state.doing, args=("edit",))
        st.button("Delete…", key=f"delete-{node.id}", icon=":material/delete:", on_click=state.doing, args=("delete",))
    if state.act == "delete":
        _asked_to_delete(memory, node.id, node.title, node.degree, state)


def _act(state: ChatState, act: Callable[[], str], done: str) -> None:
    """Make a change, offer its undo, and draw everything again."""
    try:
        change = act()
    except ForgettingLabError as error:
        notice(str(error), "error")
    else:
        state.undo, state.undo_text = change, done
        state.doing("")
    st.rerun()


def _offer_undo(memory: Memory, state: ChatState) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="undo-bar"):
        st.text(f"{state.undo_text}.")
        if st.button("Undo", key="undo", icon=":material/undo:"):
            try:
                memory.undo(state.undo, at=datetime.now(UTC))
            except ForgettingLabError as error:
                notice(str(error), "error")
            state.undo = ""
            state.save()
            st.rerun()
        if st.button("", key="keep-change", icon=":material/close:", help="Keep the change", type="tertiary"):
            state.undo = ""
            state.save()
            st.rerun()


def _asked_to_delete(memory: Memory, item: str, title: str, edges: int, state: ChatState) -> None:
    also = f" and its {plural(edges, 'edge')}" if edges else ""
    with st.container(border=True, key="ask"):
        st.text(f"Delete “{title}”{also}? It leaves the live memory; this can be undone.")
        with st.container(horizontal=True, gap="small"):
            if st.button("Delete", type="primary", key=f"really-{item}"):
                _act(state, lambda: memory.delete(item, at=datetime.now(UTC)), f"Deleted {title}{also}")
            st.button("Keep it", key=f"keep-{item}", on_click=state.doing, args=("",))


def _edited(memory: Memory, node: Node, state: ChatState) -> None:
    label = st.selectbox("Label", LABELS, index=LABELS.index(node.label), key=f"label-{node.id}")
    title = st.text_input("Title", node.title, key=f"title-{node.id}")
    content = st.text_area("Content", node.content, key=f"content-{node.id}")
    rows = pd.DataFrame([(name, str(value)) for name, value in node.attributes.items()], columns=["attribute", "value"])
    table = st.data_editor(rows, num_rows="dynamic", hide_index=True, key=f"attributes-{node.id}", width="stretch")
    with st.container(horizontal=True, gap="small"):
        save = st.button("Save", type="primary", key=f"save-{node.id}")
        st.button("Cancel", key=f"cancel-{node.id}", on_click=state.doing, args=("",))
    if save:
        named = table.dropna().itertuples(index=False)
        values = {str(name).strip(): _scalar(value, node) for name, value in named if str(name).strip()}
        act = partial(memory.edit, node.id, label=label, title=title, content=content, attributes=values)
        _act(state, lambda: act(at=datetime.now(UTC)), f"Edited {node.title}")


def _scalar(text: object, node: Node) -> Scalar:
    """What was typed, as the kind of value that stood there: a number stays a number."""
    known = {str(value): value for value in node.attributes.values()}
    if str(text) in known:
        return known[str(text)]
    try:
        value = json.loads(str(text))
    except ValueError:
        return str(text)
    return value if isinstance(value, int | float | bool) else str(text)
