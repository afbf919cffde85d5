"""Probe sets: the questions that say what a prune costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memory_core import demo
from memory_core.errors import InputError
from memory_core.evaluation.cost import past_questions
from memory_core.evaluation.datasets import Benchmark, Question, for_coverage, load_benchmark
from memory_core.memory import Memory


@dataclass(frozen=True)
class ProbeSet:
    """Questions that can be judged on a memory; `left_out` have evidence that is not among its turns."""

    name: str
    questions: tuple[Question, ...]
    left_out: int = 0


def of_demo(memory: Memory) -> ProbeSet:
    """The questions of the demo conversation whose evidence this memory holds."""
    return _held(memory, "the demo's questions", load_benchmark(demo.FILE))


def of_own(memory: Memory) -> ProbeSet:
    """What was asked of this memory, each with the turns it brings today."""
    return ProbeSet("your past questions", tuple(past_questions(memory)))


def of_file(memory: Memory, path: Path) -> ProbeSet:
    """The questions of a benchmark file, as it stands or pooled, whichever this memory holds more of. Raises
    InputError when the file is no benchmark or none of its evidence is in the memory."""
    sets = [_held(memory, path.name, load_benchmark(path, pooled=pooled)) for pooled in (True, False)]
    best = max(sets, key=lambda one: len(one.questions))
    if not best.questions:
        raise InputError(f"{path.name}: none of its evidence is among this memory's turns; ingest that file first.")
    return best


def _held(memory: Memory, name: str, benchmark: Benchmark) -> ProbeSet:
    """Two conversations may name their turns alike, so a turn is held when its words are the same, too."""
    told = {(said.id, turn.source_id): turn.text for said in benchmark.conversations for turn in said.turns}
    ids = memory.source_turns()
    text_of = {turn.source_id: turn.text for turn in memory.turns(list(ids.values()))}
    questions = for_coverage(benchmark.questions)
    held = tuple(
        one for one in questions if all(text_of.get(turn) == told[one.conversation, turn] for turn in one.evidence)
    )
    return ProbeSet(name, held, len(questions) - len(held))


def asked_of(memory: Memory) -> int:
    """How many different questions were asked of this memory."""
    return int(memory.store.query("SELECT count(DISTINCT text) FROM question")[0][0])


def available(memory: Memory) -> dict[str, Callable[[], ProbeSet]]:
    """The probe sets that need no file, by key."""
    return {"demo": lambda: of_demo(memory), "own": lambda: of_own(memory)}
