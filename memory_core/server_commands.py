"""The commands around a server: `server` starts or prepares one, `migrate` moves a memory to it or back."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from memory_core.errors import InputError, ServerError
from memory_core.forget_commands import Argument
from memory_core.local_server import local_server
from memory_core.migration import migrate
from memory_core.store.address import Address, is_address

Result = dict[str, Any]
FOLDER = Path("data/server")
ENVIRONMENT = Path("forgetting-lab.env")


def server_command(options: argparse.Namespace) -> Result | None:
    """Start a local server and stay, or prepare or rewrite one that runs. Raises InputError, ServerError,
    MemoryFileError."""
    if options.try_ + bool(options.setup) + bool(options.rewrite) != 1:
        raise InputError("Say --try for a local server, or --setup or --rewrite ADDRESS for one that runs already.")
    if options.try_:
        _try(options)
        return None  # it was told while the server ran
    if options.rewrite:
        return dict(_setup_module().rewrite(Address.parse(options.rewrite)))
    return _set_up(options.setup, options.out or ENVIRONMENT, options)


def _try(options: argparse.Namespace) -> None:
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with local_server(options.folder) as admin:
            ready = _set_up(admin, options.out or options.folder / "environment", options)
            print(json.dumps(ready) if options.json else _told(ready), flush=True)
            stop.wait()
            print("stopping; the memories stay in the folder", file=sys.stderr)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _told(ready: Result) -> str:
    return (
        f"PostgreSQL with pgvector runs at {ready['address']}\n"
        f"In another terminal: source {ready['environment']}\n"
        "then start the app or any command. Ctrl-C stops the server; its memories stay."
    )


def _set_up(admin: str, environment: Path, options: argparse.Namespace) -> Result:
    prepare = _setup_module().prepare
    ready = prepare(Address.parse(admin), environment, user=options.user or "", login=options.login)
    return {"address": ready.address, "environment": str(ready.environment)}


def _setup_module() -> Any:
    try:
        return import_module("memory_core.server_setup")
    except ImportError as error:
        raise ServerError(f"A server needs more packages: pip install -r requirements-server.txt ({error}).") from error


def migrate_command(options: argparse.Namespace) -> Result:
    """Copy a memory from a file to a server or back. Raises InputError, MemoryFileError."""
    return migrate(options.source, options.target).to_json()


def place(text: str) -> str | Path:
    """Where a memory is: a server's address stays a text, anything else is a path."""
    return text if is_address(text) else Path(text)


COMMANDS: dict[str, tuple[Any, str, Sequence[Argument]]] = {
    "server": (
        server_command,
        "start a local PostgreSQL for a first look, or prepare one for memories",
        [
            (("--try",), {"action": "store_true", "dest": "try_", "help": "start one here; it stays until Ctrl-C"}),
            (("--folder",), {"type": Path, "default": FOLDER, "help": f"where --try keeps its data ({FOLDER})"}),
            (("--setup",), {"metavar": "ADDRESS", "help": "an administrator's postgresql:// address"}),
            (("--rewrite",), {"metavar": "ADDRESS", "help": "after purges: rewrite its tables (an administrator's)"}),
            (("--login",), {"default": "", "help": "the role to log in as (of --user: one of its own)"}),
            (("--user",), {"help": "write this one user's key instead of the app's"}),
            (("--out",), {"type": Path, "help": f"the file for address and key ({ENVIRONMENT})"}),
        ],
    ),
    "migrate": (
        migrate_command,
        "copy a memory with all its history: file to server, or back; stopped, the same command goes on",
        [(("source",), {"type": place}), (("target",), {"type": place})],
    ),
}
