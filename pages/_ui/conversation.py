"""The conversation as stored, newest below, with what was read from each turn; and where a person types."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic, sleep

import streamlit as st

from memory_core.chat import Exchange, Models, Saying, answers, can_retry, question_in, start_saying
from memory_core.errors import ForgettingLabError
from memory_core.memories import OpenMemory
from memory_core.replay import start_retrying
from memory_core.retrieval import turn_vectors
from memory_core.schema import FAILED_STATUSES, Turn
from pages._ui.opened import UNSAID, as_text, attempt, memories, notice
from pages._ui.state import ChatState
from pages._ui.turn_report import answer_html, report_html, saying_html, turn_html
from pages._ui.words import plural

MakeModels = Callable[..., Models]  # takes the event that ends their calls
_LOOK = 1.0  # seconds a run of the page follows an answer that a server is writing; then clicks get their turn
_PUTTING_BACK = 1.5  # seconds in which each run puts text back: of two runs in a row a browser may draw only the last
_LOCKED = '<p class="report">Waiting for another program that is writing this memory…</p>'
_CUT = 1000  # characters of a turn shown at once
_EMPTY = """
**This memory is empty.** Say something about yourself below, for example
*“I moved to Porto in May and I work at a bakery.”*, and watch what is read from it.
Then ask: *“Where do I live?”* Or open **Replay** above to watch a whole conversation being remembered.
"""


def being_said(opened: OpenMemory) -> Saying | None:
    """The exchange of this browser that is on its way."""
    saying: Saying | None = st.session_state.get(f"saying-{opened.name}")
    return saying


def conversation(opened: OpenMemory, state: ChatState, models: MakeModels) -> None:
    """Draw the stored turns and the input; a turn that is typed is remembered and answered, then all is drawn again."""
    box = st.container(height=400, border=False, key="talk", autoscroll=True)
    with box:
        _failures(opened, models)
        _turns(opened, state, models)
    saying = being_said(opened)
    if saying is not None:
        with box:
            _follow(opened, state, saying)
    if state.failed:
        box.error(as_text(state.failed))  # inside, so that the input stays on the screen
    unsaid = st.session_state.pop(UNSAID, "")
    if unsaid and not state.kept:  # the memory it was said to is gone; another one is looked at
        state.kept, state.kept_at = unsaid, monotonic()
        state.save()
    if state.kept and monotonic() < state.kept_at + _PUTTING_BACK:
        st.session_state["say"] = state.kept
    elif state.kept:
        state.kept = ""
        state.save()
    _preparing(opened)
    text = st.chat_input("Say or ask something", key="say", disabled=saying is not None)
    if text is not None:
        with box:
            _say(opened, state, models, text)


def _preparing(opened: OpenMemory) -> None:
    """Say why an answer rests on the graph alone, while it does."""
    job = turn_vectors.latest(opened.worker)
    if job is not None and not job.finished:
        st.caption(
            f"Vectors of turns are being made, once ({job.done:,} of {job.total:,}); until then the graph answers.",
            help="Imported turns come without vectors; similarity of turns joins the answers when they are there",
        )


def _say(opened: OpenMemory, state: ChatState, models: MakeModels, text: str) -> None:
    at, stop = datetime.now(UTC), threading.Event()
    state.kept = ""
    try:
        memories().open(opened.name)  # its file may have been removed while this page stood open
        chosen = models(stop)
        if question_in(text):
            chosen = replace(chosen, retriever=turn_vectors.retriever_now(opened.worker, opened.memory))
        saying = start_saying(opened.memory, text, chosen, at=at, session=f"chat-{at:%Y-%m-%d}", stop=stop)
    except ForgettingLabError as error:
        _not_said(state, text, str(error))
        st.rerun()
    st.session_state[f"saying-{opened.name}"] = saying
    _follow(opened, state, saying)


def _follow(opened: OpenMemory, state: ChatState, saying: Saying) -> None:
    """Show the words of an answer as they come; once it has ended, draw the page anew."""
    st.html(turn_html(Turn("user", saying.text, saying.at, "User", source_id="now"), False, _CUT))
    place = st.empty()
    st.button("Stop", key="stop-saying", icon=":material/stop:", on_click=saying.job.cancel)
    until = monotonic() + (_LOOK if saying.asks_server else 600)
    while not saying.job.finished and monotonic() < until:
        place.html(_LOCKED if opened.memory.waits else saying_html(saying.words))
        sleep(0.05)
    if saying.job.finished:
        del st.session_state[f"saying-{opened.name}"]
        _settled(opened, state, saying)
        st.rerun()
    if not state.was_busy:  # from now on the page follows by itself
        st.rerun()


def _settled(opened: OpenMemory, state: ChatState, saying: Saying) -> None:
    made = saying.job.result
    if not isinstance(made, Exchange):
        stopped = saying.job.state == "cancelled"
        _not_said(state, saying.text, "Stopped: nothing was stored." if stopped else saying.job.error)
        return
    opened.recent.append(made.report)
    state.failed = ""
    if made.report.added:
        state.focus = ""
    state.save()


def _not_said(state: ChatState, text: str, why: str) -> None:
    st.session_state[UNSAID] = text
    state.failed, state.kept, state.kept_at = why, text.replace("\x00", ""), monotonic()
    state.save()


def _failures(opened: OpenMemory, models: MakeModels) -> None:
    """How many turns could not be read, with one button that reads them all again in the background."""
    statuses: dict[str, int] = opened.numbers()["statuses"]  # type: ignore[assignment]
    failed = sum(count for status, count in statuses.items() if status in FAILED_STATUSES)
    if not failed or opened.busy:
        return
    with st.container(horizontal=True, gap="small", key="failures", vertical_alignment="center"):
        st.caption(f"{plural(failed, 'turn')} could not be read.")
        if st.button("Read them again", key="retry-all", help="In the background; Replay shows how far it is"):
            attempt(lambda: _retry_all(opened, models))
            st.rerun()


def _retry_all(opened: OpenMemory, models: MakeModels) -> None:
    stop = threading.Event()
    opened.replay = start_retrying(
        opened.worker, opened.memory, extractor=models(stop).extractor, each=opened.recent.append, stop=stop
    )


def _turns(opened: OpenMemory, state: ChatState, models: MakeModels) -> None:
    memory = opened.memory
    turns = memory.latest_turns(state.shown)
    if not turns:
        st.markdown(_EMPTY)
        return
    if turns[0].position > 0 and st.button(
        f"Earlier turns ({turns[0].position:,} more)", type="tertiary", key="earlier"
    ):
        state.shown += 50
        state.save()
        st.rerun()
    replies = answers(memory, [turn.id for turn in turns])
    for turn in turns:
        _turn(opened, state, turn, models)
        if turn.id in replies:
            st.html(answer_html(memory, replies[turn.id], memory.turns(replies[turn.id].turns)))


def _turn(opened: OpenMemory, state: ChatState, turn: Turn, models: MakeModels) -> None:
    attempts = opened.memory.attempts(turn.id)
    whole = turn.id in state.whole
    report = report_html(opened.memory, attempts) if attempts else ""
    st.html(turn_html(turn, whole, _CUT) + report)
    if len(turn.text) > _CUT and st.button("Show less" if whole else "Show all of it", key=f"whole-{turn.id}"):
        state.whole = [other for other in state.whole if other != turn.id] + ([] if whole else [turn.id])
        state.save()
        st.rerun()
    if attempts and can_retry(attempts[-1].status) and st.button("Read it again", key=f"retry-{turn.id}"):
        with st.spinner("Reading it again…"):
            attempt(lambda: _retry(opened, turn, models))
        st.rerun()


def _retry(opened: OpenMemory, turn: Turn, models: MakeModels) -> None:
    report = opened.memory.retry(turn.id, models().extractor)
    opened.recent.append(report)
    read = plural(len(report.nodes), "node")
    notice(f"Read again: {report.extraction.status}, {read}. {report.extraction.reason}".strip())
