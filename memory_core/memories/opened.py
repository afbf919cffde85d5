"""The memories this process has open: one `Memory` and one worker for each."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary, finalize, ref

from memory_core.jobs import Job, Worker
from memory_core.memories.watching import Watch
from memory_core.memory import Memory, TurnReport
from memory_core.protocols import Embedder
from memory_core.replay import Replay
from memory_core.store.address import is_address

_RECENT = 40  # reports kept for the live picture
_IDLE, _IDLE_NODES = 16, 300_000  # memories kept open that nobody looks at, and the nodes they may have together
Known = tuple[str, Embedder | None]


@dataclass
class OpenMemory:
    """One open memory of the process, shared by every page and browser that may see it; it holds nobody's key.

    `key` tells it from every other memory of any place and user. `recent` are the newest reports, oldest first: what a
    live picture lights up. `replay` is the last one started, `reembedding` the last change of embedder. `identity` is
    that of its file; `replaced` says that another file took the place of the one that was open, until it was told.
    `kept` is what is made once for all who look, by name. `closed` says that it was let go of (renamed, deleted or
    replaced): whoever still looks at it has to ask for it again.
    """

    name: str
    key: str
    memory: Memory
    worker: Worker
    recent: deque[TurnReport] = field(default_factory=lambda: deque(maxlen=_RECENT))
    replay: Replay | None = None
    reembedding: Job | None = None
    identity: Hashable = None
    replaced: bool = False
    kept: dict[str, Any] = field(default_factory=dict)
    closed: bool = False
    _watch: Watch | None = None
    _numbers: tuple[int, dict[str, object]] = (-1, {})

    def __post_init__(self) -> None:
        self.worker.holds = ref(self)

    @property
    def busy(self) -> bool:
        """Whether a job is waiting, running or paused."""
        return self.worker.current is not None

    @property
    def shared(self) -> bool:
        """Whether it lives on a server, where other processes write it too."""
        return is_address(self.memory.store.place)

    @property
    def newest(self) -> int:
        """The newest revision anybody committed, as the server tells by itself; of a file, the one in this process."""
        if not self.shared:
            return self.memory.revision
        if self._watch is None:
            self._watch = Watch(self.memory.store)
            finalize(self, self._watch.close)
        return self._watch.revision

    def numbers(self) -> dict[str, object]:
        """`Memory.stats()`, made once a revision."""
        revision = self.memory.revision
        if self._numbers[0] != revision:
            self._numbers = (revision, self.memory.stats())
        return self._numbers[1]

    def close(self) -> None:
        """End the worker, then let go of the memory."""
        self.closed = True
        self.worker.close()
        if self._watch:
            self._watch.close()
        self.kept.clear()
        self.memory.close()


#: All that are open, by key, and by the embedder where a browser brought its own with its key; None is everybody's.
_open: WeakValueDictionary[Known, OpenMemory] = WeakValueDictionary()
#: The last ones asked for, the newest last: what is not among them stays open while a page looks at it or a job runs.
_held: dict[Known, OpenMemory] = {}
lock = threading.RLock()
_opening: dict[str, threading.Lock] = {}


def opened_once(
    name: str, key: str, own: Embedder | None, make: Callable[[], Memory], identity: Hashable = None
) -> OpenMemory:
    """The open memory of that key, made unless there is one of this `identity` (another one: its file was replaced).

    Only those who want this memory wait while it is opened.
    """
    with lock:
        mine = _opening.setdefault(key, threading.Lock())
    with mine:
        with lock:
            there = _open.get((key, own))
        if there is not None and there.identity == identity:
            _hold((key, own), there)
            return there
        if there is not None:
            forget(key)
        made = OpenMemory(name, key, make(), Worker(name), identity=identity, replaced=there is not None)
        _hold((key, own), made)
        return made


def _hold(known: Known, opened: OpenMemory) -> None:
    """Keep it open, and let go of those that were not asked for since many others were."""
    with lock:
        _open[known] = opened
        _held.pop(known, None)
        _held[known] = opened
        gone = [_held.pop(other) for other in _surplus()]
    del gone  # closed here, where nobody waits for the lock


def _surplus() -> list[Known]:
    room, left = _IDLE_NODES, list[Known]()
    for place, (known, opened) in enumerate(reversed(_held.items())):
        room -= len(opened.memory.graph.ids)
        if place and (place >= _IDLE or room < 0):
            left.append(known)
    return left


def is_open(key: str) -> bool:
    """Whether the memory is open in this process."""
    with lock:
        return any(of == key for of, _ in _open)


def forget(key: str, *, busy: bool = True) -> bool:
    """Let go of the memory, however it is open; with `busy` off not while a job works on it. Whether that is done."""
    with lock:
        left = {known: opened for known, opened in _open.items() if known[0] == key}
        if not busy and any(opened.busy for opened in left.values()):
            return False
        for known in left:
            _open.pop(known, None)
            _held.pop(known, None)
    for opened in left.values():
        opened.close()
    return True


def open_keys() -> set[str]:
    """Keys of the memories that are open."""
    with lock:
        return {key for key, _ in _open}
