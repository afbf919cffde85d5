"""A server's faults as one line each, with what to do about them; never a password."""

from __future__ import annotations

import psycopg

from memory_core.store.address import Address

#: SQLSTATE (whole, or its class) -> what is told; https://www.postgresql.org/docs/current/errcodes-appendix.html
_TOLD = {
    "28": "refused user {user}: check the name and the password",
    "3D": "has no database {database}: create it, or check the name",
    "53100": "has no disk space left: free some and try again (the memory is as it was before)",
    "53200": "is out of memory: try again, or give it more (the memory is as it was before)",
    "53300": "has too many connections: close some, or raise max_connections",
    "25006": "is read-only (a replica, or set so): write to the primary, or work on a duplicate",
    "42501": "does not allow this to user {user}: grant forgetting_lab_app to it ({error})",
    "55P03": "has the memory locked by another program: close that program or try again",
    "40": "gave way to another program's change: try again (the memory is as it was before)",
    "54": "cannot hold this, it is too long for an index: shorten the name ({error})",
    "57014": "stopped the statement, it took too long (statement_timeout): try again, or raise it",
    "57P03": "is starting or shutting down: try again in a moment",
    "57P": "closed the connection: {error}; call again when it is up (the memory is as it was before)",
    "08": "closed the connection: {error}; call again when it is up (the memory is as it was before)",
}
#: Words of libpq, which gives no SQLSTATE when a connection does not come about.
_WORDS = {
    "password authentication failed": _TOLD["28"],
    "no password supplied": _TOLD["28"],
    "authentication": _TOLD["28"],
    "pg_hba.conf": "lets user {user} in from nowhere like here: add a line to its pg_hba.conf",
    "role": "has no user {user}: create it, or check the name",
    "database": _TOLD["3D"],
    "starting up": _TOLD["57P03"],
    "shutting down": _TOLD["57P03"],
    "too many": _TOLD["53300"],
    "timeout": "did not answer in time: check the address and the network",
    "refused": "is not there: check host and port, or start it",
    "No such file": "is not there: check host and port, or start it",
    "resolve": "has a name that is not known: check the host",
    "translate host name": "has a name that is not known: check the host",
}
#: What libpq and psycopg say of a connection that did not come about.
_NEVER_OPEN = ("connection failed", "failed to resolve", "connection timeout")
LOST = "closed the connection: it is not known whether the last change was stored; look before it is repeated"


def told(error: psycopg.Error, address: Address) -> str:
    """The fault as one line that names the server."""
    text = _first_line(error)
    state = error.sqlstate or ""
    if state:
        known = next((_TOLD[state[:length]] for length in (5, 3, 2) if state[:length] in _TOLD), "says: {error}")
    elif not isinstance(error, psycopg.OperationalError):  # what was asked could not even be sent
        known = "cannot be asked this: {error}"
    elif not any(word in str(error) for word in _NEVER_OPEN):
        known = _TOLD["08"]
    else:
        known = next((known for word, known in _WORDS.items() if word in str(error)), "cannot be reached: {error}")
    line = known.format(user=address.user or "of this system", database=address.database, error=text)
    return f"The server at {address.server} {line}."


def _first_line(error: psycopg.Error) -> str:
    said = error.diag.message_primary or str(error).strip().splitlines()[-1:] or "no reason given"
    return (said if isinstance(said, str) else said[0]).strip().rstrip(".")
