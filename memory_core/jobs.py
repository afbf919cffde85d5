"""Long work in the background: one worker a memory, with progress, an estimate, pause, step and cancel.

A job lives in the process, not in a page: it goes on when the page changes, and any page finds it again by its memory.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from memory_core.errors import Cancelled, ForgettingLabError

State = Literal["waiting", "running", "paused", "done", "cancelled", "failed"]
_FINISHED: frozenset[str] = frozenset({"done", "cancelled", "failed"})
_KEPT = 20  # finished jobs a worker remembers, so that pages find their results


@dataclass
class Job:
    """One piece of work. The worker calls `advance` after each step; everyone else only looks, or says pause, resume,
    step, cancel.

    `stop` is set by `cancel`; a model that is given it as its own `cancel` is left in the middle of a call. `delay`
    seconds are waited after each step, so that a person can watch; `clock` is a monotonic clock in seconds.
    """

    name: str
    work: Callable[[Job], object]
    total: int = 0
    delay: float = 0.0
    clock: Callable[[], float] = time.monotonic
    done: int = 0
    message: str = ""
    state: State = "waiting"
    error: str = ""
    result: object = None
    stop: threading.Event = field(default_factory=threading.Event)
    _started: float = 0.0
    _worked: float = 0.0
    _go: threading.Event = field(default_factory=threading.Event)
    _single: bool = False
    _begun: bool = False
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self._go.set()

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in _FINISHED

    @property
    def seconds_left(self) -> float | None:
        """Estimate from the steps so far, None before the first."""
        if not self.done or not self.total or self.finished:
            return None
        return (self._worked / self.done + self.delay) * max(self.total - self.done, 0)

    def advance(self, message: str = "", steps: int = 1) -> None:
        """Called by the work after each step: counts it, waits while paused. Raises Cancelled when told to stop."""
        self.done += steps
        self.message = message or self.message
        self._worked += self.clock() - self._started
        if self._single:
            self._single = False
            self.pause()
        self.stop.wait(self.delay)
        self.check()

    def check(self) -> None:
        """Wait while paused. Raises Cancelled when told to stop."""
        while not self.stop.is_set() and not self._go.wait(0.1):
            continue
        if self.stop.is_set():
            raise Cancelled(self._stopped)
        self._started = self.clock()

    def pause(self) -> None:
        """Stop after the current step, until resumed."""
        with self._lock:
            if not self.finished:
                self._go.clear()
                self.state = "paused"

    def resume(self) -> None:
        """Go on, or wait on in the queue."""
        with self._lock:
            if not self.finished:
                self.state = "running" if self._begun else "waiting"
                self._go.set()

    def step(self) -> None:
        """Do one step, then pause again."""
        self._single = True
        self.resume()

    def cancel(self) -> None:
        """Stop after the current step, or within it where it looks at `stop`; what was committed stays."""
        self.stop.set()

    def run(self) -> None:
        """Do the work, in the calling thread; its outcome is in `state`, `error` and `result`."""
        with self._lock:
            self._begun = True
            self.state = "running" if self._go.is_set() else "paused"
        self._started = self.clock()
        try:
            self.check()
            self.result = self.work(self)
            self._end("done")
        except Cancelled:
            self._end("cancelled", self._stopped)
        except ForgettingLabError as error:
            self._end("failed", str(error))
        except Exception as error:  # a worker must outlive its jobs; the fault is shown and logged
            logging.getLogger(__name__).exception("%s failed", self.name)
            self._end("failed", f"{self.name} failed: {type(error).__name__}: {error}")

    @property
    def _stopped(self) -> str:
        return f"{self.name} was stopped after {self.done} of {self.total}; what was done is kept."

    def _end(self, state: State, error: str = "") -> None:
        with self._lock:
            self.state, self.error = state, error


class Worker:
    """Does the jobs of one memory in order, so that a memory has one writer; its thread lives while there are jobs."""

    def __init__(self, name: str) -> None:
        self.jobs: list[Job] = []
        self.holds: Callable[[], object] = lambda: None  # what is not to be let go of while there are jobs
        self._name = name
        self._left: deque[Job] = deque()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, job: Job) -> Job:
        """Queue a job."""
        with self._lock:
            ended = [one for one in self.jobs if one.finished]
            old = {id(one) for one in ended[:-_KEPT]}
            self.jobs = [*(one for one in self.jobs if id(one) not in old), job]
            self._left.append(job)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, args=(self.holds(),), name=f"worker {self._name}", daemon=True
                )
                self._thread.start()
        return job

    @property
    def current(self) -> Job | None:
        """The job that is running or paused, else the next one waiting."""
        return next((job for job in self.jobs if not job.finished), None)

    def latest(self, name: str) -> Job | None:
        """The job of that name that was submitted last."""
        return next((job for job in reversed(self.jobs) if job.name == name), None)

    def close(self) -> None:
        """Cancel what is running and waiting, and end the thread."""
        with self._lock:
            thread, jobs = self._thread, self.jobs
        for job in jobs:
            job.cancel()
        if thread is not None:
            thread.join(10)

    def _run(self, held: object) -> None:
        while (job := self._next()) is not None:
            job.run()

    def _next(self) -> Job | None:
        with self._lock:
            if self._left:
                return self._left.popleft()
            self._thread = None
            return None
