"""Two faults of Streamlit 1.67 that leave a page dead or empty when a server is busy; `tests/pages/test_mended.py` says
when they are gone."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

dropping = ForwardMsgQueue.clear  # Streamlit's own
requesting = AppSession.request_rerun  # Streamlit's own
_asked: WeakKeyDictionary[AppSession, str] = WeakKeyDictionary()  # the page each browser asked for last


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


ForwardMsgQueue.clear = clear  # type: ignore[method-assign]
AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
