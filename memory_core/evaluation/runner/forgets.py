"""Ways to have forgotten before the questions are asked: nothing, once, every N turns, at random, by each policy."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from memory_core.errors import InputError
from memory_core.evaluation.ingested import Ingested
from memory_core.forgetting.plan import TurnMode
from memory_core.importers.transcripts import Conversation
from memory_core.ingestion import ingest
from memory_core.memory import Memory
from memory_core.policies import found, make
from memory_core.settings import Settings

NOTHING = "none"
_WORDS = "none, once, every:N, random, random:N, a policy, or all"


@dataclass(frozen=True)
class Forget:
    """How a memory forgets. `name` is none, once (P1's importance below its threshold), every, or a policy's name.

    `every` is in turns; `keep` the share of nodes kept by a policy (None: as many as `once` would); `draw` numbers
    random prunes from 1, each with a seed of its own.
    """

    name: str = NOTHING
    every: int = 0
    keep: float | None = None
    turns: TurnMode = "keep"
    seed: int = 42
    draw: int = 0

    @property
    def label(self) -> str:
        """Short name for files and tables: `once`, `every-400`, `lfu-70`, `random-70-2`, `lru-50-turns`.

        The last is the one whose turns leave with their nodes.
        """
        share = "" if self.keep is None else f"-{100 * self.keep:g}"
        draw, turns = f"-{self.draw}" if self.draw else "", "-turns" if self.turns == "with_nodes" else ""
        return (f"every-{self.every}" if self.every else f"{self.name}{share}{draw}") + turns

    def to_json(self) -> dict[str, object]:
        """What a run file says of it."""
        return {"name": self.label, "policy": self.name, "keep": self.keep, "turns": self.turns, "draw": self.draw}


def forgets(text: str, *, keep: Sequence[float] = (), turns: TurnMode = "keep", seed: int = 42) -> tuple[Forget, ...]:
    """The ways named in a list such as `none,once,every:400,random:5,lfu`, each for every share in `keep`.

    `random:5` is five random prunes. Raises InputError for an unknown way and a share outside (0, 1].

    >>> [one.label for one in forgets("none,every:400,lru,random:2", keep=[0.5])]
    ['none', 'every-400', 'lru-50', 'random-50-1', 'random-50-2']
    """
    for share in keep:
        if not 0 < share <= 1:
            raise InputError(f"--keep is {share:g}; it is the share of nodes kept, above 0 and at most 1.")
    names = [name for part in text.split(",") for name in ([*found()] if part.strip() == "all" else [part.strip()])]
    blanks = [Forget(keep=share, turns=turns, seed=seed) for share in keep or (None,)]
    return tuple(dict.fromkeys(one for name in names for blank in blanks for one in _named(name, blank)))


def _named(name: str, blank: Forget) -> list[Forget]:
    kind, _, count = name.partition(":")
    if name == NOTHING:
        return [Forget()]
    if kind in ("every", "random") and count.isdigit() and int(count):
        if kind == "every":
            return [replace(blank, name="every", every=int(count), keep=None)]
        return [replace(blank, name="random", draw=draw) for draw in range(1, int(count) + 1)]
    if name == "once" or name in found():
        return [replace(blank, name=name)]
    raise InputError(f"There is no way to forget called {name}: choose {_WORDS} ({', '.join(sorted(found()))}).")


@contextmanager
def having_forgotten(how: Forget, memory: Memory, built: Ingested, said: Conversation) -> Iterator[Memory]:
    """The memory as it is after forgetting; the one given stays as it was."""
    if how.name == NOTHING:
        yield memory
    elif how.every:
        with _opened(_every(how, built, said), memory) as changed:
            yield changed
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "memory.sqlite3")
            memory.store.copy_to(path)
            with _opened(path, memory) as changed:
                _forget(how, changed)
                yield changed


def _opened(path: Path, like: Memory) -> Memory:
    return Memory.open(path, create=False, embedder=like.embedder, extractor=like.extractor, reader=like.reader)


def _forget(how: Forget, memory: Memory) -> None:
    nodes = len(memory.graph.live_rows())
    once = memory.plan(make("importance"), threshold=Settings.forget_threshold, turns=how.turns)
    left = nodes - len(once.forgotten) if how.keep is None else round(how.keep * nodes)
    if how.name == "once":
        plan = once if how.keep is None else memory.plan(make("importance"), keep=left, turns=how.turns)
    else:
        values = {"seed": how.seed + how.draw} if how.name == "random" else {}
        plan = memory.plan(make(how.name, values), keep=left, turns=how.turns)
    if not plan.nothing:
        memory.apply(plan)


def _every(how: Forget, built: Ingested, said: Conversation) -> Path:
    """The file of a memory that forgot while it grew (P1 3.6), built when missing, from the same extractions."""
    path = built.path(said).with_suffix(f".{how.label}.sqlite3")
    if not path.exists():
        partial = path.with_suffix(".partial")
        with Memory.open(partial, embedder=built.embedder, extractor=built.extractor) as memory:
            memory.change_settings(replace(memory.settings, forget_every=how.every, forget_turns=how.turns))
            ingest(memory, said.turns, advance=built.advance, workers=built.workers)
            memory.turn_vectors()
        os.replace(partial, path)
    return path
