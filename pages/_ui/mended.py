"""Three faults of Streamlit 1.67 that leave a page dead, empty or half drawn when a server is busy;
`tests/pages/test_mended.py` says when they are gone."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, ScriptRunnerEvent

dropping = ForwardMsgQueue.clear  # Streamlit's own
requesting = AppSession.request_rerun  # Streamlit's own
creating = AppSession._create_scriptrunner  # Streamlit's own
handling = AppSession._handle_scriptrunner_event_on_event_loop  # Streamlit's own
_asked: WeakKeyDictionary[AppSession, str] = WeakKeyDictionary()  # the page each browser asked for last
_ended: WeakSet[ScriptRunner] = WeakSet()  # runners whose place was taken when they had nothing more to run


def clear(
    queue: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
) -> None:
    """Begin a run: of the whole page as Streamlit does it, of fragments behind all that is still to be sent.

    Streamlit drops what such a fragment drew before, also as a part of the whole page, but not that the page is done:
    the browser clears the fragment away as stale, what stands behind it moves up, and what comes next finds no place.
    """
    if fragment_ids_this_run is None:
        dropping(queue, retain_lifecycle_msgs)
    else:
        queue._delta_index_map = {}  # nothing new takes the place of something before the run


def request_rerun(session: AppSession, client_state: ClientState | None) -> None:
    """Run what a browser asks for, but no fragment of a page it has left: what it sent before it saw the new one.

    Streamlit runs it behind the new page and says that the browser is on the old one, which then clears the new one.
    """
    if client_state is not None and client_state.fragment_id:
        pages, asked = session._pages_manager.get_pages(), _asked.get(session, "")
        if asked in pages and client_state.page_script_hash not in ("", asked):
            return
    elif client_state is not None:
        _asked[session] = client_state.page_script_hash
    requesting(session, client_state)


def create_scriptrunner(session: AppSession, data: RerunData) -> None:
    """Begin a run; a runner that is still there has ended and only its last words are on their way."""
    if session._scriptrunner is not None:
        _ended.add(session._scriptrunner)
    creating(session, data)


def handle_event(session: AppSession, sender: ScriptRunner | None, event: ScriptRunnerEvent, *said: Any) -> None:
    """Take what a run says, also when it had ended and a fragment was begun before all of it was taken.

    Streamlit drops it then: what the page drew last never comes, nor that the page is done.
    """
    last_words = sender in _ended and event is not ScriptRunnerEvent.SHUTDOWN
    handling(session, session._scriptrunner if last_words else sender, event, *said)


ForwardMsgQueue.clear = clear  # type: ignore[method-assign]
AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
AppSession._create_scriptrunner = create_scriptrunner  # type: ignore[method-assign]
AppSession._handle_scriptrunner_event_on_event_loop = handle_event  # type: ignore[method-assign]
