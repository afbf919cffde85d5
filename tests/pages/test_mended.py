"""Nothing that is still to be sent to a browser is lost, and nothing is run of a page that was left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from pages._ui import mended
from pages._ui.mended import clear, dropping, request_rerun

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


def test_the_app_uses_both() -> None:
    assert ForwardMsgQueue.clear is clear
    assert AppSession.request_rerun is request_rerun
