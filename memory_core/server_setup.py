"""A server made ready for memories: extension, tables, and a login for the app, written to a file nobody else reads."""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from psycopg import sql

from memory_core.errors import ServerError
from memory_core.forgetting.purge import REWRITE
from memory_core.store.address import KEY, Address
from memory_core.store.opening import USER
from memory_core.store.server import APP_ROLE, OWNER_ROLE, Connection, check, connect, faults, key_of, looked_back_on
from memory_core.store.statements import ALL_TABLES, SIZE

LOGIN = "forgetting_lab"


@dataclass(frozen=True)
class Prepared:
    """`address` is the app's, as it may be shown; its password and the key stand in `environment` alone."""

    address: str
    environment: Path


def prepare(admin: Address, environment: Path, *, user: str = "", login: str = "") -> Prepared:
    """Make extension, tables and the app's login where they are missing, and write its variables to `environment`.

    The login keeps the password that `environment` holds for it, if nobody else can read that file; else it gets a new
    one. Without `user` the key in the file lets the app sign in whoever signed in to it; with one, key and login are
    that user's own, and nobody else's password changes. Raises ServerError, MemoryFileError.
    """
    login = login or (f"{LOGIN}_{hashlib.sha256(user.encode()).hexdigest()[:8]}" if user else LOGIN)
    password = _kept(environment, login) or secrets.token_urlsafe(24)
    with faults(admin), connect(admin) as db:
        check(db, admin, create=True)
        key = _key(db, user)
        with db.transaction():
            _login(db, login, password)
    app = replace(admin, user=login, password=password, memory="memory", key="")
    lines = {"FORGETTING_LAB_MEMORIES": app.whole(), "FORGETTING_LAB_MEMORY": app.whole(), KEY: key}
    _write(environment, lines | ({USER: user} if user else {}))
    return Prepared(app.place.partition("?")[0], environment)


def rewrite(admin: Address) -> dict[str, int]:
    """Rewrite every table (VACUUM FULL), so that what was purged stands in none of their pages and the space is free.

    Whoever uses a table waits meanwhile, minutes for the vectors of a large memory. Gives bytes before and after.
    Raises MemoryFileError.
    """
    with faults(admin), connect(admin) as db:
        check(db, admin, create=False)
        if looked_back_on(db):
            raise ServerError(
                f"Somebody at {admin.server} is in a transaction that began earlier and would keep what was purged: "
                "wait until it ends, then try again."
            )
        sizes, due = [_bytes(db)], db.execute(_DUE, (REWRITE,)).fetchall()
        for table, _ in db.execute(ALL_TABLES).fetchall():
            db.execute(f"VACUUM (FULL, ANALYZE) {table}".encode())
        for tenant, revision in due:
            db.execute(_DONE, (REWRITE, tenant, revision))
        sizes.append(_bytes(db))
    return dict(zip(("bytes_before", "bytes_after"), sizes, strict=True))


#: Which memories wait for it, at which revision: all of them, for a superuser. One that was written meanwhile waits on,
#: since that may have been another purge.
_DUE = """
    SELECT memory.tenant, memory.revision FROM forgetting_lab.memory JOIN forgetting_lab.meta USING (tenant)
    WHERE key = $1"""
_DONE = """
    DELETE FROM forgetting_lab.meta USING forgetting_lab.memory
    WHERE key = $1 AND meta.tenant = $2 AND memory.tenant = $2 AND memory.revision = $3"""


def _bytes(db: Connection) -> int:
    row = db.execute(SIZE).fetchone()
    return int(row[0]) if row else 0


def _kept(environment: Path, login: str) -> str:
    """The password of an earlier call, so that who read the file then is still let in."""
    if not environment.is_file() or environment.stat().st_mode & 0o077:
        return ""
    start = "export FORGETTING_LAB_MEMORY="
    lines = environment.read_text("utf-8", "replace").splitlines()
    known = [line.removeprefix(start).strip("'") for line in lines if line.startswith(start)]
    address = Address.parse(known[0]) if known else Address()
    return address.password if address.user == login else ""


def _key(db: Connection, user: str) -> str:
    db.execute(f"SET ROLE {OWNER_ROLE}".encode())
    row = db.execute("SELECT key FROM forgetting_lab.secret").fetchone()
    db.execute("RESET ROLE")
    key = bytes(row[0]) if row else b""
    return f"user:{key_of(key, user).hex()}" if user else f"server:{key.hex()}"


def _login(db: Connection, login: str, password: str) -> None:
    """A role that may log in and be the app's role, and nothing else. Raises ServerError for one that may do more."""
    row = db.execute("SELECT rolsuper OR rolbypassrls OR rolreplication OR rolcreaterole "
                     "OR pg_has_role(oid, $1, 'USAGE') "
                     "FROM pg_roles WHERE rolname = $2", (OWNER_ROLE, login)).fetchone()  # fmt: skip
    if row and row[0]:
        raise ServerError(f"The role {login} may do more than an app should: give another name with --login.")
    verb = "ALTER" if row else "CREATE"
    # A statement that defines a role takes no parameters, and must not be logged with the password as given.
    scrambled = db.pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256").decode()
    db.execute(
        sql.SQL(f"{verb} ROLE {{}} LOGIN PASSWORD {{}}")
        .format(sql.Identifier(login), sql.Literal(scrambled))
        .as_bytes(db)
    )
    db.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(APP_ROLE), sql.Identifier(login)).as_bytes(db))


def _write(path: Path, lines: dict[str, str]) -> None:
    text = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in lines.items())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # an older file might be open to others
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ServerError(f"{path} cannot be written: {error.strerror or error}.") from error
