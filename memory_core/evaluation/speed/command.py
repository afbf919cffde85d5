"""`python -m memory_core bench speed`: ours beside the paper's design and its peers, the limit, and growth."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from memory_core.errors import InputError
from memory_core.evaluation.ingested import cache_folder
from memory_core.evaluation.results.speed import markdown, read_speed
from memory_core.evaluation.speed.growth import growth
from memory_core.evaluation.speed.race import Race
from memory_core.evaluation.speed.report import report
from memory_core.evaluation.speed.systems import PEERS, chosen
from memory_core.progress import Meter

NODES, DIM = 27_021, 768  # P1's graph, its embedder


def speed_command(arguments: Sequence[str]) -> dict[str, Any]:
    """Run it. Raises InputError; a peer that fails has its reason in its row, the rest goes on."""
    options = _parser().parse_args(arguments)
    if options.table:
        return {"table": markdown(read_speed(options.table) or {})}
    sizes = _sizes(options.nodes)
    if min(options.turns, options.searches) < 1 or options.dim < 8:
        raise InputError("--turns and --searches are at least 1, --dim at least 8.")
    if options.out:
        _kept(options.out)  # before an hour is spent
    systems = chosen([name for name in options.against.split(",") if name])
    folder = cache_folder().resolve() / "speed"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work, Meter("speed", 0) as meter:
        steps = count(1)
        race = Race(
            systems, sizes[0], options.dim, Path(work), options.turns, options.searches, seed=options.seed,
            install=not options.no_install,
            advance=lambda message: meter.at(next(steps), race.steps * len(sizes), message),
        )  # fmt: skip
        if len(sizes) > 1 or options.vectors:
            found: dict[str, Any] = {"growth": [growth(race, sizes, options.vectors)]}
        else:
            found = report(race, race.run())
    if options.out:
        keep(options.out, found)
    return found


def keep(path: Path, found: dict[str, Any]) -> None:
    """Write the figures to a file beside those of the other kind that it holds: a race, and growth by kind of vectors.

    Raises InputError for a file that is none of ours, or that cannot be written."""
    known = _kept(path)
    new = {one["vectors"] for one in found.get("growth", [])}
    growth = [one for one in known.get("growth", []) if one["vectors"] not in new] + found.get("growth", [])
    try:
        path.write_text(json.dumps({**known, **found, "growth": growth}, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}.") from error


def _kept(path: Path) -> dict[str, Any]:
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} for --out: make it first.")
    return read_speed(path) or {}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m memory_core bench speed")
    parser.add_argument("--nodes", default=str(NODES), help=f"nodes; several with commas: growth; default {NODES}")
    parser.add_argument("--dim", type=int, default=DIM, help=f"dimensions of the vectors; default {DIM}")
    parser.add_argument("--against", default=",".join(PEERS), help="names with commas between; default all")
    parser.add_argument("--vectors", type=Path, help="a benchmark file: growth on its turns' vectors and noisy copies")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--no-install", action="store_true", help="use only peers installed before")
    parser.add_argument("--table", type=Path, help="measure nothing: the table of figures kept in this file")
    parser.add_argument("--out", type=Path, help="also keep the figures in this file, race and growth together")
    return parser


def _sizes(text: str) -> list[int]:
    try:
        sizes = [int(part) for part in text.replace("_", "").split(",") if part.strip()]
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 100 or len(set(sizes)) < len(sizes):
        raise InputError(
            f"--nodes {text} is not understood: give different numbers of at least 100 with commas between."
        )
    return sizes
