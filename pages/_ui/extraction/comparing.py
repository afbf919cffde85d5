"""Extractors on the same turns: sums and price, agreement, scores against gold, and side by side on one turn."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from memory_core.errors import InputError
from memory_core.evaluation.gold import Counts
from memory_core.evaluation.gold_sets import GoldSets
from memory_core.inspection import comparing as core
from memory_core.inspection.choices import extractor_choices, make_choice
from memory_core.inspection.comparing import Compared
from memory_core.inspection.lines import filtered, turn_lines
from memory_core.memories import OpenMemory
from memory_core.schema import Extraction, Turn
from pages._ui.extraction.state import ExtractionState
from pages._ui.opened import attempt, part
from pages._ui.words import glyph, plural, safe, seconds
from pages._ui.working import all_anew_at_end, followed

_SOURCES = {"list": "the turns listed under Turns", "turn": "the turn looked at", "gold": "a gold set"}


def comparing(opened: OpenMemory, state: ExtractionState) -> None:
    """Draw what can be compared, the comparison that runs, and what the last one found."""
    chosen = st.session_state["models"]["extractor"]
    names = extractor_choices(chosen)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        picked = st.multiselect("Extractors", names, default=names[:2], key=state.key("compared"), width=460,
                                help="Models come from “Reads turns” in the sidebar, one a prompt version")  # fmt: skip
        source = st.selectbox("Turns of", list(_SOURCES), format_func=_SOURCES.get, key=state.key("source"), width=230)
        gold = st.selectbox("Gold set", GoldSets.default().names(), key=state.key("gold"), width=150,
                            disabled=source != "gold")  # fmt: skip
        most = st.number_input("At most", 1, 5000, 60, key=state.key("most"), width=110, help="The first turns of them")
        if st.button("Compare", type="primary", key="compare", disabled=not picked):
            attempt(lambda: _start(opened, state, picked, source, gold, most))
            st.rerun()
    job = core.latest(opened.worker)
    if job is None:
        st.caption("Nothing is stored by a comparison: the turns are only read. Choose extractors, then **Compare**.")
        return
    part(_shown, run_every=1.0 if not job.finished else None)(opened, state)


def _start(opened: OpenMemory, state: ExtractionState, names: Sequence[str], source: str, gold: str, most: int) -> None:
    chosen = st.session_state["models"]["extractor"]
    extractors = {name: make_choice(name, chosen) for name in names}
    if source == "gold":
        core.start(opened.worker, [], extractors, GoldSets.default().read(gold)[:most])
        return
    lines = filtered(turn_lines(opened.memory), status=state.status, by=state.by, words=state.words, only=state.only)
    ids = [line.id for line in lines][:most] if source == "list" else [state.turn]
    turns = opened.memory.turns(ids)
    if not turns:
        raise InputError("There is no turn to read: this memory has none, or the filter under Turns leaves none.")
    core.start(opened.worker, turns, extractors)


def _shown(opened: OpenMemory, state: ExtractionState) -> None:
    job = core.latest(opened.worker)
    if job is None:
        return
    followed(job, f"{job.done:,} of {plural(job.total, 'reading')}", "compare-stop", "What is read stays")
    if isinstance(job.result, Compared) and job.result.rows:
        _result(opened, state, job.result)
    all_anew_at_end(job, "compare-was-running")


def _result(opened: OpenMemory, state: ExtractionState, compared: Compared) -> None:
    left, right = st.columns([7, 6], gap="medium")
    with left:
        st.html(f'<h4 class="sub">{plural(len(compared.rows), "turn")} read, and at what price</h4>')
        st.dataframe(_sums(opened, compared), hide_index=True, key=state.key("sums"), column_config={
            "evidence": st.column_config.TextColumn(help="Turns that hold answers, and were read from"),
        })  # fmt: skip
        if compared.gold:
            st.html('<h4 class="sub">Against gold, with 95 % intervals over turns</h4>')
            st.dataframe(_scores(compared), hide_index=True, key=state.key("scores"))
        found = _agreements(compared)
        if not found.empty:
            st.html('<h4 class="sub">How far they agree</h4>')
            st.dataframe(found, hide_index=True, key=state.key("agreements"), column_config={
                "agreement": st.column_config.TextColumn(help="Items both found over items any found, 95 % interval"),
            })  # fmt: skip
    with right:
        turns = {turn.source_id or turn.id: (turn, read) for turn, read in compared.rows}
        name = st.selectbox("Side by side on", list(turns), key=state.key("side"),
                            format_func=lambda at: f"{at}: {turns[at][0].text[:70]}")  # fmt: skip
        turn, read = turns[name]
        st.html(_side_by_side(turn, compared, read))


def _sums(opened: OpenMemory, compared: Compared) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "extractor": one.name, "nodes": one.nodes, "edges": one.edges, "empty": one.empty,
                "failed": one.failed, "drops": one.drops, "median": seconds(one.seconds), "tokens in": one.tokens_in,
                "tokens out": one.tokens_out, "cost": "unknown" if one.dollars is None else f"${one.dollars:.4f}",
                "evidence": "–" if one.coverage is None else f"{one.coverage:.0%}",
            }
            for one in core.sums(compared, core.evidence_of(opened.memory))
        ]
    )  # fmt: skip


def _agreements(compared: Compared) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "A": one.a, "B": one.b,
                "agreement": "–" if one.share is None else f"{one.share:.2f} [{one.low:.2f}, {one.high:.2f}]",
                "both": one.both, "only A": one.only_a, "only B": one.only_b, "other label": one.relabelled,
            }
            for one in core.agreements(compared)
        ]
    )  # fmt: skip


def _scores(compared: Compared) -> pd.DataFrame:
    rows = []
    for name, figures in core.scores(compared).items():
        row = {"extractor": name}
        for kind, right in (("nodes", "label_accuracy"), ("edges", "relationship_accuracy")):
            for figure in ("precision", "recall", "f1", right):
                value, ci = figures[kind][figure], figures[kind][f"{figure}_ci"]
                shown = "–" if value is None else f"{value:.2f} [{ci[0]:.2f}, {ci[1]:.2f}]"
                row[f"{kind} {figure.replace('_', ' ')}"] = shown
        rows.append(row | {"negated as true": str(figures["negated_as_true"])})
    return pd.DataFrame(rows)


def _side_by_side(turn: Turn, compared: Compared, read: Sequence[Extraction]) -> str:
    missed = core.misses(compared, turn)
    sides = "".join(_side(name, one, missed.get(name)) for name, one in zip(compared.names, read, strict=True))
    text = safe(turn.text[:2000])
    return f'<article class="turn glass"><p dir="auto">{text}</p></article><div class="sides">{sides}</div>'


def _side(name: str, found: Extraction, counts: Counts | None) -> str:
    titles = [node.title for node in found.nodes]
    nodes = "".join(f"<li>{glyph(node.label)} {safe(node.title)}</li>" for node in found.nodes[:60])
    edges = "".join(
        f"<li>→ {safe(' '.join((titles[edge.source], edge.relationship.replace('_', ' '), titles[edge.target])))}</li>"
        for edge in found.edges[:60]
    )
    gold = ""
    if counts:
        gold = "".join(f'<li class="gone">{safe(text)}</li>' for text in counts.missed)
        gold += "".join(f'<li class="come">{safe(text)}</li>' for text in counts.extra)
        gold = f'<div class="difference"><header>missed and beside gold</header><ul>{gold}</ul></div>' if gold else ""
    head = f"<small>{found.status}, {seconds(found.seconds)} {safe(found.reason)}</small>"
    return f"<div><h3>{safe(name)}</h3>{head}<ul>{nodes}{edges}</ul>{gold}</div>"
