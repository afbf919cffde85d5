"""`python -m memory_core bench server`: what a memory on PostgreSQL costs, at any size."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from memory_core.errors import InputError, ServerError
from memory_core.evaluation.ingested import cache_folder
from memory_core.evaluation.speed.given import make
from memory_core.local_server import local_server
from memory_core.progress import Meter
from memory_core.schema import LABELS
from memory_core.store.address import Address

NODES, DIM = 27_021, 768  # P1's graph, its embedder
#: What the local server runs with; all else, fsync among it, is as PostgreSQL comes.
SETTINGS = {"shared_buffers": "1GB", "max_wal_size": "4GB"}


def server_command(arguments: Sequence[str]) -> dict[str, Any]:
    """Run it. Raises InputError, ServerError, MemoryFileError."""
    options = _parser().parse_args(arguments)
    if options.nodes < 100 or options.turns < 1 or options.searches < 1:
        raise InputError("bench server needs at least 100 nodes, a turn and a search.")
    try:
        from memory_core.evaluation.server.measuring import Bench
    except ImportError as error:
        raise ServerError(f"A server needs more packages: pip install -r requirements-server.txt ({error}).") from error
    folder = cache_folder().resolve() / "server"
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=folder) as work,
        _server(options.address) as admin,
        Meter("server", 6) as meter,
    ):
        given = make(Path(work), nodes=options.nodes, dim=options.dim, turns=2 * options.turns,
                     searches=options.searches, labels=tuple(LABELS), seed=options.seed)  # fmt: skip
        steps = count(1)
        bench = Bench(
            admin, given, Path(work), options.turns, options.in_database, lambda step: meter.at(next(steps), 6, step)
        )
        return bench.run()


@contextmanager
def _server(address: str | None) -> Iterator[Address]:
    if address:
        yield Address.parse(address)
        return
    with tempfile.TemporaryDirectory(prefix="forgetting-lab-") as folder, local_server(Path(folder), SETTINGS) as admin:
        yield Address.parse(f"{admin}?memory=bench")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m memory_core bench server")
    parser.add_argument("address", nargs="?", help="a superuser's address; default a local server for the time being")
    parser.add_argument("--nodes", type=int, default=NODES, help=f"default {NODES}")
    parser.add_argument("--dim", type=int, default=DIM, help=f"dimensions of the vectors; default {DIM}")
    parser.add_argument("--turns", type=int, default=40, help="timed without the index, then as many with it")
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--in-database", action="store_true", help="leave out what holds the memory in RAM")
    return parser
