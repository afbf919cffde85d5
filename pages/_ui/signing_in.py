"""Who looks: signed in through OpenID Connect where `[auth]` is configured (README, "On a server"), else one user."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path

import streamlit as st
from streamlit.errors import Error as StreamlitError

from memory_core.errors import InputError
from pages._ui.words import as_text


def configured() -> bool:
    """Whether people sign in. Raises InputError for secrets that cannot be read: then nobody is let in."""
    if "is_logged_in" in st.user:
        return True
    files = [Path(path) for path in st.config.get_option("secrets.files")]
    broken = [path for path in files if path.exists()] if not st.secrets.load_if_toml_exists() else []
    if broken:
        raise InputError(f"{broken[0]} cannot be read, so it is not known who may sign in: mend that file.")
    return False


def user() -> str:
    """The id of who signed in: issuer and subject, which together nobody else has; "" where nobody signs in.

    Raises InputError when nobody is signed in where people sign in.
    """
    if not configured():
        return ""
    if not st.user.is_logged_in:
        raise InputError("You are not signed in: reload the page and sign in.")
    claims = st.user.to_dict()
    issuer, subject = str(claims.get("iss") or ""), str(claims.get("sub") or "")
    if not issuer or not subject:
        raise InputError("The sign-in service did not say who you are (iss and sub): ask who set it up.")
    return f"{issuer} {subject}"


def gate() -> None:
    """Let in who may look; else draw the sign-in and end the run."""
    try:
        if configured() and not st.user.is_logged_in:
            _ask()
            st.stop()
        user()
    except InputError as error:
        st.error(as_text(error))
        st.stop()


def _ask() -> None:
    st.subheader("Forgetting Lab", anchor=False)
    st.write("Sign in to see your memories. Nobody else sees them.")
    auth = st.secrets["auth"] if st.secrets.load_if_toml_exists() else {}
    providers = [name for name, value in auth.items() if hasattr(value, "items")]
    for provider in providers or [""]:
        if st.button(f"Sign in with {provider}" if provider else "Sign in", key=f"sign-in-{provider}", type="primary"):
            try:
                st.login(provider or None)
            except StreamlitError as error:
                st.error(as_text(error))


def who_looks() -> None:
    """Draw who is signed in, with the way out; nothing for the local user."""
    if not configured():
        return
    name = st.user.get("email") or st.user.get("name") or st.user.get("sub")
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="who-looks"):
        st.caption(as_text(f"Signed in as {name}"))
        st.button("Sign out", key="sign-out", on_click=st.logout, type="tertiary")
    with st.popover("For commands", key="for-commands", help="The same memories with python -m memory_core"):
        st.code(f"export FORGETTING_LAB_USER={shlex.quote(user())}", language="bash", wrap_lines=True)


def file_here(typed: str) -> Path:
    """A path on the app's machine, whether or not anything is there.

    Raises InputError for what is no path, and where people sign in: it could lead to what others keep there.
    """
    if configured():
        raise InputError("Files of the app's machine are not read where people sign in: upload the file.")
    try:
        path = Path(typed).expanduser()
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{typed[:60]!r} cannot be looked up ({why}): type the path of a file here.") from error
    return path
