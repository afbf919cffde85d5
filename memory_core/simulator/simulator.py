"""What the page looks at for one open memory, made once: plans, the map, results of long work by what decides them."""

from __future__ import annotations

import copy
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from memory_core.errors import InputError
from memory_core.figures.layout import APART, SECONDS, MapLayout, grown, laid_out
from memory_core.figures.map import MapPicture
from memory_core.forgetting import ForgettingPlan
from memory_core.jobs import Job
from memory_core.memories import OpenMemory
from memory_core.memory import Memory
from memory_core.policies import name_of, values_of
from memory_core.protocols import Policy, Scores, ScoringView
from memory_core.simulator.effects import Effects, Shape, effects
from memory_core.simulator.setting import Setting
from memory_core.store.sqlite import SqliteStore

Made = TypeVar("Made")
_NAME = "simulator"
_KEPT = 24  # plans and results kept of each kind
_NODES = 1_000_000  # nodes that all plans and pictures kept may have together
_GROWN = 1.1  # a memory of this many times the nodes of its map is laid out anew


@dataclass(frozen=True)
class Shown:
    """A plan as the page shows it."""

    setting: Setting
    plan: ForgettingPlan
    effects: Effects
    shape: Shape


class Simulator:
    """The simulator of one open memory, shared by all who look at it; it changes nothing but what it remembers."""

    def __init__(self, opened: OpenMemory) -> None:
        self.opened, self.memory = opened, opened.memory
        self.results: OrderedDict[Hashable, Any] = OrderedDict()
        self.jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._lock, self._laying = threading.RLock(), threading.RLock()
        self._laid: tuple[list[str], MapLayout] | None = None
        self._twin: tuple[str, Memory, tempfile.TemporaryDirectory[str]] | None = None

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` gives, remembered under `key` while it is among the newest; made without holding anybody up."""
        with self._lock:
            if key in self.results:
                self.results.move_to_end(key)
                known: Made = self.results[key]
                return known
        made = make()
        with self._lock:
            self.results[key] = made
            self._trim(self.results, max(_KEPT // 3, min(4 * _KEPT, _NODES // max(len(self.memory.graph.ids), 1))))
        return made

    def _trim(self, kept: OrderedDict[Hashable, Any], most: int) -> None:
        while len(kept) > most:
            kept.popitem(last=False)

    # -- plans -----------------------------------------------------------------------------------------------------

    def shown(self, setting: Setting) -> Shown:
        """The plan of a setting for the memory as it is now, with its effects. Raises InputError."""
        with self.memory.lock:
            now = self.memory.fingerprint()
            shown = self.once(("plan", now, repr(setting)), lambda: self._shown(setting))
        self.once(("id", shown.plan.id), lambda: shown)
        return shown

    def _shown(self, setting: Setting) -> Shown:
        plan, shape = setting.plan(self.memory, self.remembering(setting)), self.shape()
        return Shown(setting, plan, effects(shape, plan.fate), shape)

    def seen(self, plan_id: str) -> ForgettingPlan | None:
        """The very plan that was shown under this id, None when that is too long ago."""
        shown = self.results.get(("id", plan_id))
        return shown.plan if shown else None

    def shape(self) -> Shape:
        """The live graph as places."""
        return self.once(("shape", self.memory.fingerprint()), lambda: Shape.of(self.memory.graph))

    def remembering(self, setting: Setting, memory: Memory | None = None) -> Policy:
        """The policy of a setting whose scores are made once for a memory, time and turn, so that a slow one follows
        the cut at once."""
        return remembering(setting.made(), self, memory or self.memory, (setting.later, setting.idle_days))

    # -- the map ---------------------------------------------------------------------------------------------------

    def layout(self, job: Job | None = None) -> MapLayout:
        """Positions of all node rows, live or not, so that the map stays where it is when something is forgotten, and
        when a little is added. A `job` is told the seconds gone by."""

        def advance(seconds: float) -> None:
            if job is not None:
                job.advance("seconds", steps=int(seconds) - job.done)

        with self.memory.lock:
            ids, ends = list(self.memory.graph.ids), self.memory.graph.ends.values.copy()
        with self._laying:
            if self._laid is None or not self._fits(self._laid, ids):
                self._laid = ids, laid_out(len(ids), ends[:, 0], ends[:, 1], advance)
            known, made = self._laid
        return grown(made, len(ids), ends[:, 0], ends[:, 1]) if len(ids) > len(known) else made

    def _fits(self, laid: tuple[list[str], MapLayout], ids: list[str]) -> bool:
        return len(ids) <= len(laid[0]) * _GROWN and ids[: len(laid[0])] == laid[0]

    def laying(self, again: bool = False) -> Job | None:
        """The work on the map of a large memory that is not laid out yet, begun when first asked for, and `again` when
        it was stopped; None when nothing is to be waited for."""
        with self.memory.lock:
            ids = list(self.memory.graph.ids)
        if len(ids) <= APART or (self._laid is not None and self._fits(self._laid, ids)):
            return None
        with self._lock:
            job = self.jobs.get("map")
            if job is None or job.state == "done" or (again and job.finished):
                job = self.jobs["map"] = Job("Laying out the map", self.layout, round(len(ids) * SECONDS) + 1)
                threading.Thread(target=job.run, name="map", daemon=True).start()
            return job

    def picture(self, shown: Shown) -> MapPicture:
        """The nodes and edges that a plan speaks of, to draw: what was said since is not among them. Raises InputError
        when what it speaks of is gone."""
        whole = self.layout()
        with self.memory.lock:
            return self.once(("picture", shown.plan.memory), lambda: self._picture(shown, whole))

    def _picture(self, shown: Shown, whole: MapLayout) -> MapPicture:
        graph, plan, shape = self.memory.graph, shown.plan, shown.shape
        if not graph.row_of.keys() >= set(plan.node_ids):
            raise InputError("Nodes of this plan were purged meanwhile: load the page again.")
        if len(whole.xy) < len(graph.ids):  # said meanwhile
            whole = grown(whole, len(graph.ids), graph.ends.values[:, 0], graph.ends.values[:, 1])
        rows = np.array([graph.row_of[node] for node in plan.node_ids], np.int64)
        titles = [graph.titles[row] for row in rows.tolist()]
        layout = MapLayout(whole.xy[rows], whole.community[rows])
        return MapPicture(plan.memory, plan.node_ids, titles, shape.labels, shape.ends[:, 0], shape.ends[:, 1], layout)

    # -- long work -------------------------------------------------------------------------------------------------

    def job(self, key: Hashable) -> Job | None:
        """The job started under a key, finished or not."""
        return self.jobs.get(key)

    def start(self, key: Hashable, name: str, work: Callable[[Job], object], total: int) -> Job:
        """Do long work in the background, once for a key: what is running or done under it is not started again."""
        with self._lock:
            known = self.jobs.get(key)
            if known is None or known.state in ("cancelled", "failed"):
                self.jobs[key] = self.opened.worker.submit(Job(name, work, total))
                self.jobs.move_to_end(key)
                self._trim(self.jobs, _KEPT)
            return self.jobs[key]

    def twin(self) -> Memory:
        """A copy of the memory as it is now, for long work: judging it holds nobody up."""
        now = self.memory.fingerprint()
        with self._lock:
            if self._twin is None or self._twin[0] != now:
                self.forget_twin()
                folder = tempfile.TemporaryDirectory()
                path = Path(folder.name, "twin.sqlite3")
                self.memory.store.copy_to(path)
                parts = self.memory.embedder, self.memory.extractor, self.memory.reader
                self._twin = now, Memory(SqliteStore(path), *parts), folder
            return self._twin[1]

    def forget_twin(self) -> None:
        """Let go of the copy."""
        if self._twin is not None:
            self._twin[1].close()
            self._twin[2].cleanup()
            self._twin = None


_making = threading.Lock()


def simulator_of(opened: OpenMemory) -> Simulator:
    """The simulator of an open memory: one for all who look at it, for as long as it is open."""
    with _making:
        known: Simulator = opened.kept.get(_NAME) or opened.kept.setdefault(_NAME, Simulator(opened))
        return known


def remembering(policy: Policy, simulator: Simulator, memory: Memory, also: Hashable = ()) -> Policy:
    """A copy of the policy that looks its scores up; `also` is what else decides the view."""
    decides = (memory.fingerprint(), name_of(policy), tuple(values_of(policy).items()), also)
    score = policy.score

    def known(view: ScoringView, at: datetime) -> Scores:
        return simulator.once(("scores", *decides, view.turn, at), lambda: score(view, at))

    twin = copy.copy(policy)
    object.__setattr__(twin, "score", known)  # a frozen dataclass; its name and parameters stay what they are
    return twin
