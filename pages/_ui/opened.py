"""Which memory this browser looks at. The memories themselves are open once a process; keys never go in there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from memory_core.demo import make_demo
from memory_core.errors import ForgettingLabError, InputError
from memory_core.memories import Memories, OpenMemory, chosen_place, first_name, on_server
from memory_core.protocols import Embedder
from memory_core.providers import make_embedder
from memory_core.remote import Secret
from memory_core.store.address import Address
from pages._ui.signing_in import configured, user
from pages._ui.words import as_text

NAME = "memory_name"
SERVER = "server"  # the address typed in this browser, with its password
_MODEL_KEYS = ("models", "provider-", "model-", "url-", "key-", "pick-", "offered-")  # what the person chose stays
NOTICE = "notice"
UNSAID = "unsaid"  # a text that could not be stored, wherever the person is led
_Rest = ParamSpec("_Rest")


def memories() -> Memories:
    """The place whose memories this browser may look at. Raises InputError when nobody is signed in who must be."""
    typed: Secret | None = st.session_state.get(SERVER)
    if typed and not configured():
        return on_server(Address.parse(typed.reveal()))
    return chosen_place(user())


def move_to(server: Secret | None) -> None:
    """Look at the memories of a server that was typed, or with None at those the app began with."""
    for key in [key for key in st.session_state if not str(key).startswith(_MODEL_KEYS)]:
        del st.session_state[key]
    st.query_params.clear()
    if server:
        st.session_state[SERVER] = server


def current() -> OpenMemory:
    """The memory that is looked at: chosen, named by the address, or the first. Raises ForgettingLabError."""
    through_app()
    opened = _opened(st.session_state[NAME])
    if opened.replaced:
        opened.replaced = False
        notice(f"Another memory took the place of {opened.name}: this is what it holds.", "warning")
    own = _own_embedder(opened)
    return memories().open(opened.name, own) if own else opened


def _opened(name: str) -> OpenMemory:
    if memories().is_open(name):
        return memories().open(name)
    with st.spinner(f"Opening {name}…", show_time=True):
        return memories().open(name)


def through_app() -> None:
    """Start again, through app.py, where a page was run without it."""
    if NAME not in st.session_state:
        st.rerun()


def _own_embedder(opened: OpenMemory) -> Embedder | None:
    """The memory's own embedder as this browser reaches it, by its address and key; None where everybody's will do."""
    chosen = st.session_state.get("models", {}).get("embedder")
    if chosen is None or chosen.provider in ("embedded", "use"):
        return None
    try:
        made = make_embedder(chosen, opened.memory.embedder.dim)
    except ForgettingLabError:  # the sidebar's test says what is missing
        return None
    return made if made.id == opened.memory.embedder.id and made != opened.memory.embedder else None


def choose(name: str) -> None:
    """Look at another memory from now on."""
    st.session_state[NAME] = name
    st.query_params.clear()
    st.query_params["memory"] = name


def settle() -> list[str]:
    """Decide which memory is looked at and return the names there are; makes the demo when there is none."""
    names = memories().names()
    if not names and "demo_made" not in st.session_state:
        st.session_state["demo_made"] = True
        names = [_demo()]
    wanted = st.session_state.get(NAME) or st.query_params.get("memory", "")
    wanted = wanted or (first_name() if first_name() in names else "")
    if wanted and wanted not in names:
        notice(
            f"There is no memory {wanted[:64]!r} here: it was renamed or deleted, or the link is mistaken.", "warning"
        )
    name = wanted if wanted in names else names[0] if names else ""
    st.session_state[NAME] = name
    if name and st.query_params.get("memory") != name:
        st.query_params["memory"] = name
    return names


def _demo() -> str:
    try:
        return make_demo(memories()).name
    except InputError:  # another browser was first
        return memories().names()[0]


def notice(text: str, kind: str = "success") -> None:
    """One line the next run shows: what went well in passing, anything else above the page."""
    st.session_state[NOTICE] = (kind, text)


def show_notice() -> None:
    """Show the line left by the run before, once."""
    kind, text = st.session_state.pop(NOTICE, ("", ""))
    if text:
        {"success": st.toast, "warning": st.warning, "error": st.error}[kind](as_text(text))


@contextmanager
def told() -> Iterator[None]:
    """Whatever goes wrong with the memory inside becomes one message where it happened."""
    try:
        yield
    except ForgettingLabError as error:
        st.error(as_text(error))


def part(
    draw: Callable[Concatenate[OpenMemory, _Rest], None], run_every: float | None = None
) -> Callable[Concatenate[OpenMemory, _Rest], None]:
    """A piece of a page that is drawn again alone; when its memory was closed meanwhile, the whole page is."""

    @wraps(draw)
    def drawn(opened: OpenMemory, *rest: _Rest.args, **named: _Rest.kwargs) -> None:
        if not opened.closed:
            with told():
                draw(opened, *rest, **named)
        if opened.closed:
            _start_anew()

    return st.fragment(drawn, run_every=run_every)


def _start_anew() -> None:
    """Let app.py tell what became of the memory; what was typed in the chat is kept."""
    text = st.session_state.get("say")
    if text:
        st.session_state[UNSAID] = text
    st.rerun()


def attempt(act, done: str = "") -> bool:  # type: ignore[no-untyped-def]
    """Do something a person asked for; its error, or `done`, is the next run's notice. Whether it went well."""
    try:
        act()
    except ForgettingLabError as error:
        notice(str(error), "error")
        return False
    if done:
        notice(done)
    return True


#: There is a folder named `pages`, so until `st.navigation` was called once in this process, Streamlit runs a page that
#: is opened by its address without app.py. Every page imports this module; `through_app` starts it again.
PagesManager.uses_pages_directory = False
