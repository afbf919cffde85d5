"""`python -m memory_core bench speed`: ours beside the paper's design and its peers, the limit, and growth."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memory_core.errors import InputError
from memory_core.evaluation.ingested import cache_folder
from memory_core.evaluation.speed.race import Race
from memory_core.evaluation.speed.report import report
from memory_core.evaluation.speed.systems import PEERS, chosen
from memory_core.progress import Meter

NODES, DIM = 27_021, 768  # P1's graph, its embedder


def speed_command(arguments: Sequence[str]) -> dict[str, Any]:
    """Run it. Raises InputError; a peer that fails has its reason in its row, the rest goes on."""
    options = _parser().parse_args(arguments)
    sizes = _sizes(options.nodes)
    systems = chosen([name for name in options.against.split(",") if name])
    folder = cache_folder().resolve() / "speed"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work, Meter("speed", 0) as meter:
        race = Race(systems, sizes[0], options.dim, Path(work), turns=options.turns, searches=options.searches,
                    seed=options.seed, install=not options.no_install)  # fmt: skip
        done = iter(range(1, 10_000))
        race = Race(**{**vars(race), "advance": lambda message: meter.at(next(done), race.steps, message)})
        found = report(race, race.run())
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m memory_core bench speed")
    parser.add_argument("--nodes", default=str(NODES), help=f"nodes; several with commas: growth; default {NODES}")
    parser.add_argument("--dim", type=int, default=DIM, help=f"dimensions of the vectors; default {DIM}")
    parser.add_argument("--against", default=",".join(PEERS), help="names with commas between; default all")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--no-install", action="store_true", help="use only peers installed before")
    parser.add_argument("--out", type=Path, help="also write the JSON to this file")
    return parser


def _sizes(text: str) -> list[int]:
    try:
        sizes = [int(part) for part in text.replace("_", "").split(",") if part.strip()]
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 100:
        raise InputError(f"--nodes {text} is not understood: give numbers of at least 100 with commas between.")
    return sizes
