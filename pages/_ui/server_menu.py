"""The sidebar's server: open one by its address, which stays in this browser tab, and go back."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memory_core.memories import on_server
from memory_core.remote import Secret
from memory_core.store.address import Address
from pages._ui.opened import SERVER, attempt, memories, move_to
from pages._ui.signing_in import configured
from pages._ui.words import as_text

_ADDRESS_HELP = "As python -m memory_core server --setup writes it. Extension and tables are made at first use"
_KEY_HELP = "user:… or server:…, as the administrator gives it out; an administrator needs none"


def server_menu() -> None:
    """Draw where the memories are, and the form for another server; nothing of it where people sign in."""
    if configured():
        return
    if st.session_state.get(SERVER):
        st.caption(as_text(f"On {memories().place}"))
        if st.button("Back to my own", key="leave-server", help="Look at the memories the app began with"):
            move_to(None)
            st.rerun()
        return
    with (
        st.popover("Open a server…", key="open-server", help="Memories on a PostgreSQL server"),
        st.form("typed-server", clear_on_submit=True, border=False),
    ):
        address = st.text_input("Address", help=_ADDRESS_HELP, placeholder="postgresql://user@host/database")
        password = st.text_input("Password", type="password", autocomplete="off", help="Kept in this browser tab only")
        key = st.text_input("Key", type="password", autocomplete="off", help=_KEY_HELP)
        if st.form_submit_button("Open", type="primary"):
            attempt(lambda: _opened(address.strip(), password, key.strip()))
            st.rerun()


def _opened(text: str, password: str, key: str) -> None:
    """Move there once the server lets us in. Raises InputError, MemoryFileError."""
    address = Address.parse(text)
    address = replace(address, password=password or address.password, key=key or address.key)
    on_server(address).names()
    move_to(Secret(address.whole()))
