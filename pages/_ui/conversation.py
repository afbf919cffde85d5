"""The conversation as stored, newest below, with what was read from each turn; and where a person types."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import streamlit as st

from memory_core.chat import Models, answers, can_retry, exchange
from memory_core.errors import ForgettingLabError
from memory_core.memories import OpenMemory
from memory_core.schema import Turn
from pages._ui.opened import as_text, attempt, notice
from pages._ui.state import ChatState
from pages._ui.turn_report import answer_html, report_html, turn_html
from pages._ui.words import plural

_CUT = 1000  # characters of a turn shown at once
_EMPTY = """
**This memory is empty.** Say something about yourself below, for example
*“I moved to Porto in May and I work at a bakery.”*, and watch what is read from it.
Then ask: *“Where do I live?”* Or open **Replay** above to watch a whole conversation being remembered.
"""


def conversation(opened: OpenMemory, state: ChatState, models: Callable[[], Models]) -> None:
    """Draw the stored turns and the input; a turn that is typed is remembered and answered, then all is drawn again."""
    box = st.container(height=400, border=False, key="talk", autoscroll=True)
    with box:
        _turns(opened, state, models)
    if state.failed:
        st.error(as_text(state.failed))
    if state.kept:
        st.session_state["say"], state.kept = state.kept, ""
        state.save()
    text = st.chat_input("Say or ask something", key="say")
    if text is not None:
        with box:
            st.html(turn_html(Turn("user", text, datetime.now(UTC), "User", source_id="now"), False, _CUT))
            with st.spinner("Reading, looking up, remembering…"):
                _say(opened, state, models, text)
        st.rerun()


def _say(opened: OpenMemory, state: ChatState, models: Callable[[], Models], text: str) -> None:
    at = datetime.now(UTC)
    try:
        made = exchange(opened.memory, text, models(), at=at, session=f"chat-{at:%Y-%m-%d}")
    except ForgettingLabError as error:
        state.failed = str(error)
        state.kept = text.replace("\x00", "")
    else:
        opened.recent.append(made.report)
        state.failed = ""
        if made.report.added:
            state.focus = ""
    state.save()


def _turns(opened: OpenMemory, state: ChatState, models: Callable[[], Models]) -> None:
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


def _turn(opened: OpenMemory, state: ChatState, turn: Turn, models: Callable[[], Models]) -> None:
    attempts = opened.memory.attempts(turn.id)
    whole = turn.id in state.whole
    report = report_html(opened.memory, attempts) if attempts else ""
    st.html(turn_html(turn, whole, _CUT) + report)
    if len(turn.text) > _CUT and st.button("Show less" if whole else "Show all of it", key=f"whole-{turn.id}"):
        state.whole = [other for other in state.whole if other != turn.id] + ([] if whole else [turn.id])
        state.save()
        st.rerun()
    if attempts and can_retry(attempts[-1].status) and st.button("Read it again", key=f"retry-{turn.id}"):
        attempt(lambda: _retry(opened, turn, models))
        st.rerun()


def _retry(opened: OpenMemory, turn: Turn, models: Callable[[], Models]) -> None:
    report = opened.memory.retry(turn.id, models().extractor)
    opened.recent.append(report)
    read = plural(len(report.nodes), "node")
    notice(f"Read again: {report.extraction.status}, {read}. {report.extraction.reason}".strip())
