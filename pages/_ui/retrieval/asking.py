"""What is asked: a question of one's own, or one of a benchmark with the turns that hold its answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from memory_core.demo import FILE
from memory_core.errors import ForgettingLabError
from memory_core.evaluation.conversations import holds, open_conversation
from memory_core.evaluation.datasets import Benchmark, Question, load_benchmark
from memory_core.memories import OpenMemory
from memory_core.retrieval.questions import last_question
from pages._ui.opened import as_text, attempt, choose, memories
from pages._ui.retrieval.state import RetrievalState
from pages._ui.signing_in import file_here
from pages._ui.words import plural


def asking(opened: OpenMemory, state: RetrievalState) -> Question | None:
    """Draw where one asks; the text is in `state.question`. Returns the benchmark question asked, if it is one."""
    benchmark = _benchmark(opened, state)
    known = {question.id: question for question in benchmark.questions} if benchmark else {}
    _begin(opened, state, known)
    st.text_input(
        "Question", key=state.widget("question", state.question), placeholder="Ask this memory something",
        help="Looking changes nothing: no access is added",
        on_change=lambda: state.ask(st.session_state[state.key("question")]),
    )  # fmt: skip
    if known:
        st.selectbox(
            "Benchmark question", list(known), key=state.widget("asked", state.asked if state.asked in known else None),
            format_func=lambda id: f"{id} · {known[id].text}", label_visibility="collapsed",
            placeholder=f"or pick one of {plural(len(known), 'question')} of {benchmark.name if benchmark else ''}",
            on_change=lambda: _pick(state, known),
        )  # fmt: skip
    _other_file(state)
    question = known.get(state.asked)
    if question and benchmark and not holds(opened.memory, question):
        _elsewhere(benchmark, question, state)
        return None
    return question


def _begin(opened: OpenMemory, state: RetrievalState, known: dict[str, Question]) -> None:
    """What stands there at the first visit: what the address names, a benchmark question, or what was asked last."""
    if state.begun:
        return
    state.begun = True
    if not state.question and (state.asked in known or known):
        state.asked = state.asked if state.asked in known else next(iter(known))
        state.question = known[state.asked].text
    elif not state.question:
        state.question = last_question(opened.memory)


def questions(opened: OpenMemory, state: RetrievalState) -> Sequence[Question]:
    """Every question of the benchmark chosen."""
    benchmark = _benchmark(opened, state)
    return benchmark.questions if benchmark else ()


def _pick(state: RetrievalState, known: dict[str, Question]) -> None:
    picked = st.session_state[state.key("asked")]
    state.ask(known[picked].text if picked else "", picked or "")


def _benchmark(opened: OpenMemory, state: RetrievalState) -> Benchmark | None:
    if not state.file and not (FILE.exists() and opened.name.startswith("demo")):
        return None
    try:
        path = file_here(state.file) if state.file else FILE
        return _loaded(str(path), path.stat().st_mtime if path.is_file() else 0.0, state.pooled)
    except ForgettingLabError as error:
        st.error(as_text(error))
        return None


@st.cache_resource(max_entries=3, show_spinner="Reading the questions…")
def _loaded(path: str, changed: float, pooled: bool) -> Benchmark:
    return load_benchmark(path, pooled=pooled)


def _other_file(state: RetrievalState) -> None:
    name = as_text((Path(state.file).name or state.file)[:60]) if state.file else "a benchmark file"
    with st.expander(f"Questions of {name}"):
        path = st.text_input(
            "Path on this machine", key=state.widget("file", state.file), placeholder="data/locomo_dev.json",
            help="LongMemEval or LoCoMo, or a transcript with its questions beside it",
        )  # fmt: skip
        pooled = st.checkbox(
            "Pooled: every session in one memory", key=state.widget("pooled", state.pooled),
            help="Else each conversation of the file has a memory of its own",
        )  # fmt: skip
    if (path.strip(), pooled) != (state.file, state.pooled):
        state.file, state.pooled, state.asked = path.strip(), pooled, ""
        state.save()
        st.rerun(scope="fragment")


def _elsewhere(benchmark: Benchmark, question: Question, state: RetrievalState) -> None:
    st.info(
        as_text(f"{question.id} is asked of conversation {question.conversation}, which this memory does not hold."),
        icon=":material/move_item:",
    )
    if st.button("Open its memory", key="retrieval-open", help="Made once, from the ingested memory when there is one"):
        made: list[OpenMemory] = []
        if attempt(lambda: made.append(open_conversation(memories(), benchmark, question.conversation))):
            kept = dict(st.query_params)
            choose(made[0].name)
            st.query_params.from_dict({**kept, "memory": made[0].name, "file": state.file, "id": question.id})
        st.rerun()
