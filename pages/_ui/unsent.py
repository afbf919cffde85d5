"""What a browser has not been sent yet is not thrown away when a fragment runs again.

Streamlit drops from a session's queue whatever the fragment drew before, also what a run of the whole page drew in it a
moment ago, but keeps that run's "finished". The browser then clears the fragment away as stale, what stands behind it
moves up, and the next message finds no place: "Cannot set a node at a delta path", and the page is dead. It happens
when the server is too busy to send between the two runs. Sending both in their order costs some bytes.
"""

from __future__ import annotations

from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

dropping = ForwardMsgQueue.clear  # Streamlit's own


def clear(
    queue: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
) -> None:
    """Begin a run: of the whole page as Streamlit does it, of fragments behind all that is unsent."""
    if fragment_ids_this_run is None:
        dropping(queue, retain_lifecycle_msgs)
    else:
        queue._delta_index_map = {}  # nothing new takes the place of something before the run


ForwardMsgQueue.clear = clear  # type: ignore[method-assign]
