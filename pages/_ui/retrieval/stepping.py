"""One retrieval, step by step: the numbers of each step, the walk as rings by hop, the context, and the inspector."""

from __future__ import annotations

import streamlit as st

from memory_core.figures.walk_picture import walk_picture
from memory_core.memories import OpenMemory
from memory_core.memory import Asked
from memory_core.protocols import Retriever
from memory_core.retrieval.concerns import concerns
from memory_core.trace import ask_document
from pages._ui.graph_view import graph_table, graph_view
from pages._ui.inspector import inspector
from pages._ui.retrieval import steps
from pages._ui.retrieval.exports import exports
from pages._ui.retrieval.state import RetrievalState
from pages._ui.retrieval.warnings import warnings

HEIGHT = 430
_NO_WALK = "Nothing to draw: no node reached the floor, or this retriever does not walk the graph."


def stepping(
    opened: OpenMemory, state: RetrievalState, asked: Asked, part: Retriever, evidence: frozenset[str]
) -> None:
    """Draw the steps in the middle and the inspector on the right."""
    memory, found = opened.memory, asked.retrieval
    limit = int(getattr(part, "roots", len(found.roots)))
    warnings(opened, concerns(memory, asked.question, found))
    st.html(steps.strip(steps.cells(found, limit, _answered(asked))))
    picture = walk_picture(memory, found)
    middle, card = st.columns([5, 3], gap="medium")
    said = memory.turns([turn.id for turn in found.turns])
    place = {name: number for number, name in enumerate(steps.names(found), start=1)}
    text = steps.context(place["context"], memory, found, evidence)
    with middle:
        if "walk" in place:
            st.html(steps.walk_head(place["walk"], found))
            _picture(opened, state, picture)
        if "ranking" in place:
            st.html(steps.ranking(place["ranking"], found, said, evidence))
        if "walk" in place:
            st.html(text)
        exports(opened.name, ask_document(memory, asked, part), picture)
    with card, st.container(height=620, border=False, key="card"):
        if "walk" not in place:
            st.html(text)
        elif state.item:
            _inspected(opened, state)
        else:
            head = steps.entities(place["entities"], found) if "entities" in place else ""
            st.html(head + steps.candidates(place["candidates"], memory, found, limit))


def _inspected(opened: OpenMemory, state: RetrievalState) -> None:
    st.button(
        "Back to the candidates", key="retrieval-back", icon=":material/arrow_back:", type="tertiary",
        on_click=lambda: state.look_at(""),
    )  # fmt: skip
    inspector(opened.memory, state)


def _answered(asked: Asked) -> str:
    if asked.answer.text is None:
        return "not in memory"
    return f"{len(asked.answer.turns)} turn{'s' if len(asked.answer.turns) != 1 else ''} cited"


def _picture(opened: OpenMemory, state: RetrievalState, picture) -> None:  # type: ignore[no-untyped-def]
    key = f"walk-{opened.name}"
    if key not in st.session_state:  # mounted afresh: what was looked at stays
        state.told, state.focus = "", state.item
    drawn = {node.id for node in picture.nodes}
    chosen = graph_view(
        picture.nodes, picture.edges, key=key, height=HEIGHT, focus=state.focus if state.focus in drawn else None,
        total=picture.total, empty=_NO_WALK,
    )  # fmt: skip
    told = chosen.id if chosen else ""
    if told != state.told:
        state.told, state.act = told, ""
        state.item = told
        state.save()
        state.to_address()
    with st.expander("The same nodes as a table"):
        row = graph_table(picture.nodes, key=f"walk-table-{opened.name}")
    if row and row != st.session_state.get("walk-row"):
        st.session_state["walk-row"] = row
        state.look_at(row)
        st.rerun(scope="fragment")
