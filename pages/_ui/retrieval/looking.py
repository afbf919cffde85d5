"""Retrieval and answer of what is asked, remembered while the question and the memory stay as they are."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memory_core.chat import Answered
from memory_core.errors import ForgettingLabError
from memory_core.memories import OpenMemory
from memory_core.memory import Asked
from memory_core.protocols import Answer, Embedder, Reader, Retrieval, Retriever
from memory_core.readers.embedded import EmbeddedReader
from memory_core.retrieval.remembering import Remembering
from pages._ui.models_menu import made
from pages._ui.opened import as_text
from pages._ui.turn_report import answer_html

_COSTLY = "A model answers only when asked to, so that no slider spends its tokens."


def looked(opened: OpenMemory, question: str, part: Retriever) -> Asked | None:
    """The question retrieved and answered, with the answer drawn; None, with the reason drawn, when it cannot be."""
    memory = opened.memory
    try:
        found = memory.retrieve(question, part)
        reader = made(st.session_state["models"], opened).reader
        answer = _answered(opened, found, reader)
    except ForgettingLabError as error:
        st.error(as_text(error))
        return None
    told = Answered(question, answer.text, answer.reason, answer.turns, (), found.retriever)
    st.html(answer_html(memory, told, memory.turns(answer.turns)))
    return Asked(question, found, answer)


def _remembering(embedder: Embedder) -> Remembering:
    """This browser's own: the embedder may be one that was brought with a key."""
    known: Remembering | None = st.session_state.get("retrieval-embedder")
    if known is None or known.inner != embedder:
        known = st.session_state["retrieval-embedder"] = Remembering(embedder)
    return known


def _answered(opened: OpenMemory, found: Retrieval, reader: Reader) -> Answer:
    key = (opened.key, found.question, found.context, tuple(turn.id for turn in found.turns), repr(reader))
    known: dict[object, Answer] = st.session_state.setdefault("retrieval-answers", {})
    if key in known:
        return known[key]
    if hasattr(reader, "llm") and not st.button("Answer with the model", key="retrieval-answer", help=_COSTLY):
        return Answer(None, "not asked yet")
    if isinstance(reader, EmbeddedReader):
        reader = replace(reader, embedder=_remembering(opened.memory.embedder))
    answer = reader.answer(found.question, found, opened.memory.turns([turn.id for turn in found.turns]))
    if len(known) > 100:
        known.clear()
    known[key] = answer
    return answer
