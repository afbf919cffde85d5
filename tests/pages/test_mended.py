"""Nothing that is still to be sent to a browser is lost, nothing is run of a page that was left, and what a run drew
last comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner.script_cache import ScriptCache

from pages._ui import mended
from pages._ui.mended import clear, create_scriptrunner, dropping, handle_event, handling, request_rerun

FRAGMENT = "f1"


def drawn(words: str, *path: int, fragment: str = "") -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path.extend(path)
    message.delta.new_element.html.body = words
    message.delta.fragment_id = fragment
    return message


def finished() -> ForwardMsg:
    message = ForwardMsg()
    message.script_finished = ForwardMsg.FINISHED_SUCCESSFULLY
    return message


def sent(clearing: Callable[..., None], ids: list[str] | None) -> list[str]:
    """What the browser gets when a run of the whole page is followed by another run before anything was sent."""
    queue = ForwardMsgQueue()
    for message in (drawn("numbers", 0, 0, fragment=FRAGMENT), drawn("head", 0, 1), finished()):
        queue.enqueue(message)
    clearing(queue, retain_lifecycle_msgs=True, fragment_ids_this_run=ids)
    queue.enqueue(drawn("numbers again", 0, 0, fragment=FRAGMENT))
    return [heard(message) for message in queue.flush()]


def heard(message: ForwardMsg) -> str:
    """The text of an element, or that a run is done."""
    done = message.WhichOneof("type") == "script_finished"
    return str(message.script_finished) if done else message.delta.new_element.html.body


def test_a_fragment_that_runs_again_comes_behind_what_the_whole_page_drew() -> None:
    assert sent(clear, [FRAGMENT]) == ["numbers", "head", str(ForwardMsg.FINISHED_SUCCESSFULLY), "numbers again"]


def test_a_run_of_the_whole_page_still_replaces_what_was_not_sent() -> None:
    assert sent(clear, None) == [str(ForwardMsg.FINISHED_EARLY_FOR_RERUN), "numbers again"]


def test_streamlit_itself_still_loses_it() -> None:
    """When this fails Streamlit has mended it: delete `clear` of `pages/_ui/mended.py` and its tests."""
    assert sent(dropping, [FRAGMENT]) == ["head", str(ForwardMsg.FINISHED_SUCCESSFULLY), "numbers again"]


# -- what a browser asks for -------------------------------------------------------------------------------------------


class Session:
    """As much of a browser's session as is looked at: it knows the pages chat and forgetting."""

    @property
    def _pages_manager(self) -> Session:
        return self

    def get_pages(self) -> dict[str, object]:
        return {"chat": {}, "forgetting": {}}


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Asks for runs as a browser does, "page" or "page fragment", and says which of them are run."""

    def run(*requests: str) -> list[str]:
        ran: list[str] = []
        monkeypatch.setattr(
            mended, "requesting", lambda _, state: ran.append(f"{state.page_script_hash} {state.fragment_id}".strip())
        )
        session: Any = Session()
        for request in requests:
            page, _, fragment = request.partition(" ")
            request_rerun(session, ClientState(page_script_hash=page, fragment_id=fragment))
        return ran

    return run


def test_a_fragment_of_a_page_that_was_left_is_not_run(ask: Callable[..., list[str]]) -> None:
    assert ask("forgetting", "forgetting map", "chat", "forgetting map", "chat talk") == [
        "forgetting", "forgetting map", "chat", "chat talk",
    ]  # fmt: skip


def test_it_is_run_again_when_the_browser_came_back(ask: Callable[..., list[str]]) -> None:
    assert ask("chat", "forgetting", "forgetting map") == ["chat", "forgetting", "forgetting map"]


def test_a_page_opened_by_its_name_or_by_a_wrong_address_runs_its_fragments(ask: Callable[..., list[str]]) -> None:
    assert ask("", "forgetting map") == ["", "forgetting map"]
    assert ask("no such page", "chat talk") == ["no such page", "chat talk"]


# -- a run that has ended ----------------------------------------------------------------------------------------------

SCRIPT = """
import streamlit as st

@st.fragment
def clock():
    st.html("clock")

clock()
st.html("last line")
"""


async def got(script: Path) -> list[str]:
    """What a browser gets when a fragment is asked for just after the page ran, before anything it said was taken."""
    session = AppSession(
        ScriptData(str(script), is_hello=False), MemoryUploadedFileManager("/"), ScriptCache(), None, {}
    )
    session.request_rerun(ClientState())
    for fragment in ("page", "clock"):
        if fragment == "clock":
            (place,) = session._fragment_storage._fragments
            session.request_rerun(ClientState(fragment_id=place))
        assert session._scriptrunner is not None
        assert session._scriptrunner._script_thread is not None
        session._scriptrunner._script_thread.join()  # the loop takes nothing meanwhile
    while session._scriptrunner is not None:
        await asyncio.sleep(0)
    return [words for words in map(heard, session.flush_browser_queue()) if words]


def heard_by(script: Path) -> list[str]:
    """In a thread of its own: where a browser of the tests is open, this one has a loop that runs."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(got(script))).result()


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Runtime, "_instance", MagicMock())
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, "utf-8")
    return path


ALL = ["clock", "last line", str(ForwardMsg.FINISHED_SUCCESSFULLY)]
AGAIN = ["clock", str(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)]


def test_what_a_page_drew_last_comes_though_a_fragment_begins_before_it_was_taken(script: Path) -> None:
    assert heard_by(script) == ALL + AGAIN


def test_streamlit_itself_still_drops_it(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When this fails Streamlit has mended it: delete `handle_event` and `create_scriptrunner` and their tests."""
    monkeypatch.setattr(AppSession, "_handle_scriptrunner_event_on_event_loop", handling)
    assert heard_by(script) == AGAIN


def test_the_app_uses_all() -> None:
    assert ForwardMsgQueue.clear is clear
    assert AppSession.request_rerun is request_rerun
    assert AppSession._create_scriptrunner is create_scriptrunner
    assert AppSession._handle_scriptrunner_event_on_event_loop is handle_event
