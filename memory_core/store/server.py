"""A connection to a memory server, signed in: tables made at first use, a role without rights, one user's memories."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from memory_core.errors import MemoryFileError, ServerError
from memory_core.store.address import KEY, Address
from memory_core.store.faults import told
from memory_core.store.statements import LOOKING_BACK, NEXT

SCHEMA = 1
APP_ROLE, OWNER_ROLE = "forgetting_lab_app", "forgetting_lab_owner"
_TABLES = Path(__file__).with_name("postgres.sql")
_OLDEST = 160000  # PostgreSQL 16
_EXTENSION = "vector"
_PGVECTOR = (0, 8)  # halfvec, and scans that go on until enough rows pass the filter
_SECONDS = 10  # to connect
_LOOKING_BACK_SECONDS = 5.0  # to wait for questions that began before a purge
LOCK_MS = 30_000  # a commit of a whole import takes seconds; waiting is better than failing
#: Of each session. Who went away without a word holds nothing for more than a minute, who only rests no connection.
_SESSION = {
    "lock_timeout": str(LOCK_MS), "idle_session_timeout": "600000", "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3",
}  # fmt: skip
#: Of each connection, as libpq reads them: a server that is gone is noticed as soon.
_CONNECTION: dict[str, Any] = {
    "connect_timeout": _SECONDS, "application_name": "forgetting lab", "client_encoding": "UTF8", "keepalives_idle": 30,
    "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000,
}  # fmt: skip

Connection = psycopg.Connection[tuple[Any, ...]]


@contextmanager
def faults(address: Address) -> Iterator[None]:
    """Every fault of the server as one line that names it and the fix."""
    try:
        yield
    except psycopg.Error as error:
        raise ServerError(told(error, address)) from error


def connect(address: Address) -> Connection:
    """A connection as the address's user, not signed in, each statement its own transaction. Raises MemoryFileError."""
    with faults(address):
        given = _CONNECTION | address.parameters()
        return psycopg.connect(**given, autocommit=True, cursor_factory=psycopg.RawCursor)


def looked_back_on(db: Connection) -> bool:
    """Whether somebody still sees rows as they were before now, so that VACUUM would keep them; waits a little."""
    after, deadline = db.execute(NEXT).fetchone(), time.monotonic() + _LOOKING_BACK_SECONDS
    while db.execute(LOOKING_BACK, after).fetchone() == (True,):
        if time.monotonic() > deadline:
            return True
        time.sleep(0.05)
    return False


def check(db: Connection, address: Address, *, create: bool) -> None:
    """See that the database holds a memory server of this version, made first where `create` is set and it holds none.

    Raises MemoryFileError.
    """
    if db.info.server_version < _OLDEST:
        version = db.info.server_version // 10000
        raise MemoryFileError(f"The server at {address.server} is PostgreSQL {version}, too old: "
                              f"update it to {_OLDEST // 10000} or newer.")  # fmt: skip
    if not _made(db) and create:
        _check_pgvector(db, address)
        _make(db, address)
    if not _made(db):
        raise MemoryFileError(f"There is no memory at {address.place}: check the address, or create it with `ingest`.")
    found = db.execute("SELECT version FROM forgetting_lab.schema").fetchone()
    if found != (SCHEMA,):
        held = found[0] if found else "none"
        raise MemoryFileError(f"The server at {address.server} holds memories of schema {held}, this reads {SCHEMA}: "
                              f"update {'the app' if found and found[0] > SCHEMA else 'the server'}.")  # fmt: skip


def _made(db: Connection) -> bool:
    return db.execute("SELECT to_regclass('forgetting_lab.schema')").fetchone() != (None,)


def _check_pgvector(db: Connection, address: Address) -> None:
    row = db.execute(
        "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = $1",
        (_EXTENSION,),
    ).fetchone()
    need = ".".join(map(str, _PGVECTOR))
    if row is None:
        raise MemoryFileError(f"The server at {address.server} has no pgvector: install {need} or newer on it.")
    if tuple(int(part) for part in str(row[0]).split(".")[:2]) < _PGVECTOR:
        raise MemoryFileError(f"The server at {address.server} has pgvector {row[0]}: update it to {need} or newer "
                              "(ALTER EXTENSION vector UPDATE).")  # fmt: skip


def _make(db: Connection, address: Address) -> None:
    """All or nothing; of two that begin at once the second finds it made."""
    if db.execute("SELECT pg_is_in_recovery()").fetchone() == (True,):
        raise MemoryFileError(f"The server at {address.server} is a replica without memories: use the primary.")
    try:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(hashtext('forgetting_lab'))")
            if not _made(db):
                db.execute(_TABLES.read_text("utf-8").encode())
    except psycopg.errors.InsufficientPrivilege as error:
        raise MemoryFileError(
            f"The server at {address.server} does not let {address.user or 'this user'} make the tables of a memory: "
            f"open it once as an administrator ({error.diag.message_primary})."
        ) from error


@dataclass(frozen=True)
class SignedIn:
    """A signed-in connection; `tenant` is the number of the memory, None where there is none of that name."""

    db: Connection
    tenant: int | None
    admin: bool  # the address's user may act as the owner of the tables
    read_only: bool
    channel: str = ""


def sign_in(address: Address, user: str, *, create: bool) -> SignedIn:
    """Connect, take the role without rights, prove to be `user` and enter the address's memory, made where `create` is
    set and there is none. Raises MemoryFileError."""
    db = connect(address)
    try:
        with faults(address):
            check(db, address, create=create)
            return _signed_in(db, address, user, create)
    except BaseException:
        db.close()
        raise


def _signed_in(db: Connection, address: Address, user: str, create: bool) -> SignedIn:
    admin = db.execute(f"SELECT pg_has_role(session_user, '{OWNER_ROLE}', 'USAGE')").fetchone() == (True,)
    key = _own_key(address, user) or (_issued_key(db, user) if admin else None)
    if key is None:
        raise MemoryFileError(f"The server at {address.server} asks who {user} is: set ${KEY} to the key that its "
                              "administrator gives out.")  # fmt: skip
    _take_role(db)
    token = hmac.new(key, str(db.info.backend_pid).encode(), hashlib.sha256).digest()
    try:
        db.execute("SELECT forgetting_lab.sign_in($1, $2)", (user, token))
    except psycopg.errors.InvalidAuthorizationSpecification as error:
        raise MemoryFileError(f"The server at {address.server} does not know {user} by the key in ${KEY}: "
                              "it is another user's or server's.") from error  # fmt: skip
    read_only = db.execute("SHOW transaction_read_only").fetchone() == ("on",)
    row = db.execute("SELECT forgetting_lab.enter($1, $2)", (address.memory, create and not read_only)).fetchone()
    tenant = row[0] if row else None
    found = db.execute("SELECT channel FROM forgetting_lab.memory WHERE tenant = $1", (tenant,)).fetchone()
    return SignedIn(db, tenant, admin, read_only, found[0] if found else "")


def _take_role(db: Connection) -> None:
    """From here on nothing is seen but through the policies, whoever the address's user is."""
    db.execute(f"SET ROLE {APP_ROLE}")
    schema = db.execute("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'").fetchone()
    settings = {"search_path": f"forgetting_lab, {schema[0] if schema else 'public'}", **_SESSION}
    names, values = list(settings), list(settings.values())
    db.execute("SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS asked (name, value)",
               (names, values))  # fmt: skip


def _own_key(address: Address, user: str) -> bytes | None:
    """The user's key: `user:HEX` is one user's own, `server:HEX` makes everybody's."""
    kind, _, text = address.key.partition(":")
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if kind not in ("user", "server", "") or (kind and len(key) != 32):
        raise MemoryFileError(f"${KEY} is no key: it begins with user: or server: and goes on with 64 digits 0-9, a-f.")
    return key_of(key, user) if kind == "server" else key if kind else None


def key_of(server_key: bytes, user: str) -> bytes:
    """The key of one user, made from the server's."""
    return hmac.new(server_key, f"owner:{user}".encode(), hashlib.sha256).digest()


def _issued_key(db: Connection, user: str) -> bytes:
    db.execute(f"SET ROLE {OWNER_ROLE}")
    row = db.execute("SELECT forgetting_lab.key_of($1)", (user,)).fetchone()
    return bytes(row[0]) if row else b""
