"""All systems filled with the same, then timed by turns: one round is five searches and a turn of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from memory_core.evaluation.speed.environments import PeerError, python_of
from memory_core.evaluation.speed.given import make
from memory_core.evaluation.speed.systems import OURS, System
from memory_core.evaluation.speed.worker import Worker
from memory_core.schema import LABELS

TURNS, SEARCHES, OPENINGS = 20, 100, 3
SCORINGS = 5  # in a row before each opening, as a slider asks for them; the first of a row finds a processor at rest
_FILL_SECONDS = 1800.0
Advance = Callable[[str], None]


@dataclass
class Lane:
    """One system with what was measured of it; `failed` is the reason it dropped out."""

    system: System
    nodes: int
    told: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    version: str = ""
    failed: str = ""
    worker: Worker | None = None

    def ask(self, do: str, seconds: float = 300.0, **values: object) -> None:
        """Ask and keep the answer; a failure takes the system out, the others go on."""
        if self.worker is None:
            return
        try:
            self.told.setdefault(do, []).append(self.worker.ask(do, seconds=seconds, **values))
        except PeerError as error:
            self.failed, self.worker = str(error), None

    def each(self, do: str, what: str = "ms") -> list[float]:
        """Every answer to `do`."""
        return [float(one[what]) for one in self.told.get(do, []) if what in one]

    def median(self, do: str, what: str = "ms") -> float | None:
        """Of the answers, None without any."""
        times = self.each(do, what)
        return round(median(times), 4) if times else None


@dataclass(frozen=True)
class Race:
    """What is run: the systems, the size, how often."""

    systems: Sequence[System]
    nodes: int
    dim: int
    folder: Path
    turns: int = TURNS
    searches: int = SEARCHES
    openings: int = OPENINGS
    seed: int = 42
    install: bool = True
    probe: bool = False  # also compare the nearest with the exact ones
    advance: Advance = lambda message: None

    @property
    def steps(self) -> int:
        """How often `advance` is called."""
        return 2 * len(self.systems) + self.turns + self.openings + 1

    def run(self) -> list[Lane]:
        """Fill, time in rounds, then time opening and scoring in rounds, and read the sizes."""
        with ExitStack() as stack:
            lanes = [self._started(system, stack) for system in self.systems]
            for lane in lanes:
                self.advance(f"filling {lane.system.name}")
                lane.ask("fill", _FILL_SECONDS)
                lane.ask("open")
                if self.probe:
                    lane.ask("probe", _FILL_SECONDS)
            for number in range(self.turns):
                self.advance(f"round {number + 1}")
                self._round(lanes, number)
            for _ in range(self.openings):
                self.advance("opening")
                for lane in lanes:
                    _flush()
                    for _ in range(SCORINGS if lane.system.file in ("ours", "paper") else 0):
                        lane.ask("score")
                    lane.ask("close")
                    lane.ask("open")
            for lane in lanes:
                lane.ask("sizes")
                if lane.system.name == OURS:
                    lane.ask("limit")
            self.advance("done")
        return lanes

    def _started(self, system: System, stack: ExitStack) -> Lane:
        lane = Lane(system, min(self.nodes, system.most or self.nodes))
        self.advance(f"starting {system.name}")
        try:
            python = python_of(system, install=self.install)
            lane.version = version(system, python)
            work = self.folder / system.name
            work.mkdir()
            lane.worker = stack.enter_context(Worker(system, python, self._given(lane.nodes), work))
        except PeerError as error:
            lane.failed = str(error)
        return lane

    def _given(self, nodes: int) -> Path:
        folder = self.folder / f"given-{nodes}"
        if not folder.exists():
            folder.mkdir()
            make(folder, nodes=nodes, dim=self.dim, turns=self.turns, searches=self.searches, labels=LABELS,
                 seed=self.seed)  # fmt: skip
        return folder

    def _round(self, lanes: Sequence[Lane], number: int) -> None:
        """Some searches and then a turn of each, beginning with another system each round: it is the first search that
        finds a process which slept while the others worked, and a median does not see it."""
        asked = range(number * self.searches // self.turns, (number + 1) * self.searches // self.turns)
        for place in range(len(lanes)):
            lane = lanes[(place + number) % len(lanes)]
            _flush()
            for row in asked:
                lane.ask("search", number=row)
            if number < (lane.system.turns or self.turns):
                lane.ask("turn", number=number)


def _flush() -> None:
    """What one system left to be written is not paid by the next."""
    if hasattr(os, "sync"):
        os.sync()


def version(system: System, python: Path) -> str:
    """The version installed, "" for our own code."""
    if not system.package:
        return ""
    found = sorted(python.parents[1].glob(f"lib/python*/site-packages/{system.package.replace('-', '_')}-*.dist-info"))
    return found[-1].name.removesuffix(".dist-info").rpartition("-")[2] if found else ""
