"""The gold editor: an extraction corrected by hand and kept in a gold set, to score extractors against."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from memory_core.errors import ForgettingLabError
from memory_core.evaluation.gold import GoldEdge, GoldNode, GoldTurn, read_gold
from memory_core.evaluation.gold_sets import SHIPPED, GoldSets, corrected, gold_of, write_gold
from memory_core.inspection.readings import stored_reading
from memory_core.memories import OpenMemory
from memory_core.schema import LABELS, Extraction
from pages._ui.extraction.state import ExtractionState
from pages._ui.opened import as_text, attempt, notice
from pages._ui.words import plural, safe

_NEW = "a new set"


def golding(opened: OpenMemory, state: ExtractionState) -> None:
    """Draw the sets, the turn that is corrected and its tables."""
    sets = GoldSets.default()
    left, right = st.columns([3, 8], gap="medium")
    with left:
        name, turns = _set(state, sets)
        gold = _turn(opened, state, turns)
        _exchange(state, sets, name, turns)
    with right:
        if gold is None:
            st.info("Open a turn under **Turns**, or choose one of a gold set, and correct it.")
        else:
            _edit(state, sets, name, gold)


def _set(state: ExtractionState, sets: GoldSets) -> tuple[str, tuple[GoldTurn, ...]]:
    known = sets.names()
    picked = st.selectbox("Gold set", [*known, _NEW], key=state.key("gold-set"),
                          help="The shipped one can be looked at; corrections go into one of your own")  # fmt: skip
    name = picked
    if picked in (_NEW, SHIPPED):
        name = st.text_input("Save under", "mine", key=state.key("gold-name"), help="Letters, digits, - and _").strip()
    turns = sets.read(picked) if picked != _NEW else ()
    st.caption(f"{plural(len(turns), 'turn')} of gold" if turns else "Empty so far.")
    return name, turns


def _turn(opened: OpenMemory, state: ExtractionState, turns: tuple[GoldTurn, ...]) -> GoldTurn | None:
    by_id = {gold.id: gold for gold in turns}
    here = [f"{state.turn} of this memory"] if state.turn else []
    if not (here or by_id):
        return None
    picked = st.selectbox(
        "Turn",
        [*here, *by_id],
        key=state.key("gold-turn"),
        format_func=lambda at: f"{at}: {by_id[at].turn.text[:50]}" if at in by_id else at,
    )
    if picked in by_id:
        return by_id[picked]
    turn, attempts = opened.memory.turn(state.turn), opened.memory.attempts(state.turn)
    reading = stored_reading(attempts[-1]) if attempts else Extraction("empty")
    return gold_of(f"{opened.name}-{turn.id}", turn, reading)


def _edit(state: ExtractionState, sets: GoldSets, name: str, gold: GoldTurn) -> None:
    st.html(f'<article class="turn glass"><p dir="auto">{safe(gold.turn.text[:12_000])}</p></article>')
    with st.form(state.key(f"gold-form-{gold.id}"), border=False):
        texts = {"aliases": st.column_config.TextColumn(help="Other titles that are as right, with | between"),
                 "optional": st.column_config.CheckboxColumn(help="Counts neither way")}  # fmt: skip
        labels = {"label": st.column_config.SelectboxColumn(options=list(LABELS), required=True)}
        st.html('<h4 class="sub">Nodes that should be read</h4>')
        nodes = _table(state, gold, "nodes", _nodes(gold), labels | texts)
        st.html('<h4 class="sub">Edges that should be read</h4>')
        edges = _table(state, gold, "edges", _edges(gold.edges), texts)
        st.html('<h4 class="sub">Edges the turn denies</h4>')
        negated = _table(state, gold, "negated", _edges(gold.negated), texts)
        if st.form_submit_button("Save as gold", type="primary"):
            attempt(lambda: _save(sets, name, gold, nodes, edges, negated))
            st.rerun()


def _save(
    sets: GoldSets, name: str, gold: GoldTurn, nodes: pd.DataFrame, edges: pd.DataFrame, negated: pd.DataFrame
) -> None:
    rows = [frame.astype(object).to_dict("records") for frame in (nodes, edges, negated)]
    count = sets.put(name, corrected(gold.id, gold.turn, *rows))
    notice(f"{gold.id} is gold in {name}, which holds {plural(count, 'turn')} now.")


def _table(
    state: ExtractionState, gold: GoldTurn, part: str, frame: pd.DataFrame, columns: dict[str, object]
) -> pd.DataFrame:
    return st.data_editor(frame, num_rows="dynamic", hide_index=True, key=state.key(f"gold-{part}-{gold.id}"),
                          column_config=columns)  # fmt: skip


def _nodes(gold: GoldTurn) -> pd.DataFrame:
    rows = [(node.label, node.title, *_extras(node)) for node in gold.nodes]
    return pd.DataFrame(rows, columns=["label", "title", "aliases", "optional"])


def _edges(edges: tuple[GoldEdge, ...]) -> pd.DataFrame:
    rows = [(edge.source, edge.relationship, edge.target, *_extras(edge)) for edge in edges]
    return pd.DataFrame(rows, columns=["source", "relationship", "target", "aliases", "optional"])


def _extras(item: GoldNode | GoldEdge) -> tuple[str, bool]:
    return " | ".join(item.aliases), item.optional


def _exchange(state: ExtractionState, sets: GoldSets, name: str, turns: tuple[GoldTurn, ...]) -> None:
    if turns:
        st.download_button("Download this set", write_gold(turns), f"{name}.jsonl", key="gold-download",
                           on_click="ignore", type="tertiary")  # fmt: skip
    file = st.file_uploader("Import a gold set (JSONL)", ["jsonl", "json"], key=state.key("gold-upload"))
    if file is not None and st.button(f"Save it as {name}", key="gold-import"):
        try:
            count = sets.write(name, read_gold(file.getvalue()))
            notice(f"{file.name} is the gold set {name}: {plural(count, 'turn')}.")
        except ForgettingLabError as error:
            st.error(as_text(error))
            return
        st.rerun()
