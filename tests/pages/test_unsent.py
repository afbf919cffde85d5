"""Nothing that is still to be sent to a browser is lost when a fragment runs again."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from pages._ui.unsent import clear, dropping

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
    return [
        message.delta.new_element.html.body if message.HasField("delta") else str(message.script_finished)
        for message in queue.flush()
    ]


def test_a_fragment_that_runs_again_comes_behind_what_the_whole_page_drew() -> None:
    assert sent(clear, [FRAGMENT]) == ["numbers", "head", str(ForwardMsg.FINISHED_SUCCESSFULLY), "numbers again"]


def test_a_run_of_the_whole_page_still_replaces_what_was_not_sent() -> None:
    assert sent(clear, None) == [str(ForwardMsg.FINISHED_EARLY_FOR_RERUN), "numbers again"]


def test_the_app_uses_it() -> None:
    assert ForwardMsgQueue.clear is clear


def test_streamlit_itself_still_loses_it() -> None:
    """When this fails Streamlit has mended it: delete `pages/_ui/unsent.py` and this file."""
    assert sent(dropping, [FRAGMENT]) == ["head", str(ForwardMsg.FINISHED_SUCCESSFULLY), "numbers again"]
