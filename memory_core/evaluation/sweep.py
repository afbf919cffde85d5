"""Evidence recall against context tokens over a question set: one parameter swept, or the room every retriever gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory_core.errors import InputError
from memory_core.evaluation.datasets import Question, for_retrieval
from memory_core.evaluation.side_by_side import roomy, side
from memory_core.evaluation.statistics import estimate
from memory_core.figures.tradeoff import SweepPoint
from memory_core.jobs import Job, Worker
from memory_core.memory import Memory
from memory_core.parts import RETRIEVERS
from memory_core.retrieval.tuning import Values, knobs, tuned

NAME = "Sweep"
ROOM = (100, 250, 500, 1000, 2000)  # context sizes every retriever is given, in tokens
_ANY_SIZE = 10**9


@dataclass(frozen=True)
class Trial:
    """What one point of a sweep measures."""

    retriever: str
    parameter: str
    value: float

    def measure(self, memory: Memory, questions: Sequence[Question], settings: Values, job: Job) -> SweepPoint:
        """Ask every question once; the memory stays as it is."""
        ids = memory.source_turns()
        recall, tokens = [], []
        for question in questions:
            own = settings if self.parameter == "context" else {**settings, self.parameter: self.value}
            part = tuned(memory, self.retriever, own, question.asked_at)
            room = int(self.value) if self.parameter == "context" else _ANY_SIZE
            part = roomy(part, room) if self.parameter == "context" else part
            found = side(memory.retrieve(question.text, part), room, [ids.get(name, "") for name in question.evidence])
            recall.append(found.recall or 0.0)
            tokens.append(found.tokens)
            job.advance(f"{self.retriever}, {self.parameter} {self.value:g}")
        mean = estimate(recall)
        return SweepPoint(
            self.retriever,
            self.parameter,
            self.value,
            mean.mean,
            mean.low,
            mean.high,
            float(np.mean(tokens)),
            len(recall),
        )


def trials(memory: Memory, retriever: str, parameter: str, points: int = 7) -> list[Trial]:
    """The points of a sweep: all retrievers at each room for "context", else `points` values of the parameter's range.

    Raises InputError for a parameter the retriever does not have.
    """
    if parameter == "context":
        return [Trial(name, parameter, room) for name in RETRIEVERS for room in ROOM]
    knob = next((one for one in knobs(memory, retriever) if one.name == parameter), None)
    if knob is None:
        known = ", ".join(one.name for one in knobs(memory, retriever))
        raise InputError(f"{retriever} has no parameter {parameter}: it has {known}.")
    values = np.unique([*np.linspace(knob.low, knob.high, points), knob.value])
    values = np.unique(np.round(values)) if isinstance(knob.default, int) else values
    return [Trial(retriever, parameter, float(value)) for value in values]


def start(
    worker: Worker,
    memory: Memory,
    questions: Sequence[Question],
    retriever: str,
    parameter: str,
    settings: Mapping[str, Values],
) -> Job:
    """Sweep in the background; `job.result` is the list of points so far. `settings` are unsaved values by retriever.

    Raises InputError when no question has evidence, or for an unknown parameter.
    """
    asked = for_retrieval(questions)
    if not asked:
        raise InputError("None of these questions names the turns that hold its answer: there is nothing to measure.")
    planned = trials(memory, retriever, parameter)
    points: list[SweepPoint] = []

    def work(job: Job) -> list[SweepPoint]:
        job.result = points
        for trial in planned:
            points.append(trial.measure(memory, asked, settings.get(trial.retriever, {}), job))
        return points

    return worker.submit(Job(NAME, work, len(planned) * len(asked)))


def latest(worker: Worker) -> Job | None:
    """The sweep that was started last on this memory."""
    return worker.latest(NAME)
