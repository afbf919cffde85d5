"""Every retriever on the same question at the same context size: what each brings, and what only one does."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from memory_core.evaluation.datasets import Question
from memory_core.evaluation.side_by_side import Side, side_by_side
from memory_core.memories import OpenMemory
from memory_core.memory import Memory
from memory_core.parts import RETRIEVERS
from memory_core.retrieval.tuning import tuned
from pages._ui.retrieval.state import ROOMS, RetrievalState
from pages._ui.words import day, safe

_ROWS = 30
_HEADS = {
    "retriever": "With the settings of the sliders",
    "turns": "Turns its context rests on",
    "only here": "Turns no other retriever brings",
    "evidence": "Share of the evidence turns its context rests on",
    "tokens": "Size of the context, estimated",
    "ms": "Milliseconds to find; graph reads and embeds the entities in it, the others have the question's vector",
}


def comparing(opened: OpenMemory, state: RetrievalState, question: Question | None) -> None:
    """Draw the figures of each retriever, then every turn that any of them brings."""
    memory = opened.memory
    state.tokens = st.select_slider(
        "Context size, tokens", ROOMS, key=state.widget("tokens", state.tokens),
        help="Every retriever gets the same room: whole lines, best first, until it is full", width=340,
    )  # fmt: skip
    asked_at = question.asked_at if question else None
    parts = {name: tuned(memory, name, state.values.get(name, {}), asked_at) for name in RETRIEVERS}
    ids = memory.source_turns()
    proof = [ids[name] for name in question.evidence if name in ids] if question else []
    sides = side_by_side(memory, state.question, parts, state.tokens, proof)
    st.html(_figures(sides, len(proof)) + _turns(memory, sides, frozenset(proof)))


def _figures(sides: Sequence[Side], evidence: int) -> str:
    heads = "".join(f'<th title="{tip}">{name}</th>' for name, tip in _HEADS.items())
    rows = "".join(
        f"<tr><td><b>{side.name}</b></td><td>{len(side.brought)}</td><td>{len(side.only)}</td>"
        f"<td>{_recall(side, evidence)}</td><td>{side.tokens:,}</td><td>{side.ms:.1f}</td></tr>"
        for side in sides
    )
    return f'<table class="sides"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'


def _recall(side: Side, evidence: int) -> str:
    return "" if side.recall is None else f"{round(side.recall * evidence)} of {evidence}"


def _turns(memory: Memory, sides: Sequence[Side], proof: frozenset[str]) -> str:
    """Turn by retriever: the place it has there; turns of evidence first, then by the best place anywhere."""
    places = {side.name: {turn.id: place for place, turn in enumerate(side.brought, start=1)} for side in sides}
    best: dict[str, int] = dict.fromkeys(proof, 0)
    for own in places.values():
        for turn, place in own.items():
            best[turn] = min(best.get(turn, place), place)
    order = sorted(best, key=lambda turn: (best[turn], turn))
    heads = "".join(f"<th>{side.name}</th>" for side in sides)
    rows = [_row(turn, sides, places, turn.id in proof) for turn in memory.turns(order)]
    rest = f"<p><small>{len(rows) - _ROWS} more turns in the trace of each.</small></p>" if len(rows) > _ROWS else ""
    legend = (
        "<p><small>The number is the place in the ranking; grey: there only as a fact read from the turn; "
        "<span class='bad'>coloured</span>: only this retriever brings it.</small></p>"
    )
    head = f"<thead><tr><th>turn</th>{heads}</tr></thead>"
    return f'<table class="sides">{head}<tbody>{"".join(rows[:_ROWS])}</tbody></table>{legend}{rest}'


def _row(turn, sides: Sequence[Side], places: dict[str, dict[str, int]], proof: bool) -> str:  # type: ignore[no-untyped-def]
    tag = ' <span class="tag">evidence</span>' if proof else ""
    text = turn.text if len(turn.text) <= 150 else f"{turn.text[:150]} […]"
    said = f"<small>{day(turn.at)} · {safe(turn.speaker or turn.role)} · {safe(turn.source_id)}</small>{tag}"
    cells = "".join(_place(side, turn.id, places[side.name].get(turn.id)) for side in sides)
    return f'<tr class="{"proof" if proof else ""}"><td dir="auto">{said}<br>{safe(text)}</td>{cells}</tr>'


def _place(side: Side, turn: str, place: int | None) -> str:
    if place is None:
        return '<td class="none">–</td>'
    kind = "only" if turn in side.only else "" if turn in side.verbatim else "fact"
    return f'<td class="{kind}">{place}</td>'
