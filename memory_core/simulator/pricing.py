"""What a setting costs, as a job: on a copy of the memory, with progress, remembered by plan and probe set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memory_core.evaluation.cost import PRUNES, Cost, Figure, cost, pruned
from memory_core.evaluation.datasets import Question
from memory_core.evaluation.survival import FIGURES, Probe
from memory_core.forgetting import ForgettingPlan
from memory_core.jobs import Job
from memory_core.memory import Memory
from memory_core.parts import retriever
from memory_core.simulator.questions import ProbeSet
from memory_core.simulator.setting import Setting
from memory_core.simulator.simulator import Shown, Simulator

NAMES = {
    "evidence_survival": "evidence survival",
    "answer_survival": "answer survival",
    "graph_recall@5": "graph recall@5",
}


@dataclass(frozen=True)
class Hybrid:
    """Fraction of evidence turns among the first five of the hybrid retriever, mean over `n` questions: of the whole
    memory, after the plan with every turn kept, and with the turns leaving that nothing cites any more."""

    n: int
    whole: float
    turns_kept: float
    turns_forgotten: float
    turns_gone: int


@dataclass(frozen=True)
class Price:
    """The cost of a plan on a probe set; `hybrid` follows when the other figures are there (None: not yet)."""

    probe: ProbeSet
    cost: Cost
    hybrid: Hybrid | None = None

    def verdicts(self) -> list[str]:
        """One plain sentence a figure."""
        return [verdict(name, figure) for name, figure in self.cost.figures.items()]


def verdict(name: str, figure: Figure) -> str:
    """Whether the plan does better than chance on a figure, said plainly."""
    known = NAMES[name]
    if not figure.n:
        return f"{known[0].upper()}{known[1:]}: no question of this set can be judged."
    band = f"{figure.value:.3f} against {figure.low:.3f} to {figure.high:.3f} of random prunes"
    if figure.above_band:
        return f"Better than chance on {known}: {band}."
    worse = "Worse than chance" if figure.value < figure.low else "No better than chance"
    return f"{worse} on {known}: {band}."


def key(shown: Shown, probe: str) -> tuple[str, str, str]:
    """What a price is remembered by."""
    return "price", shown.plan.id, probe


def start(simulator: Simulator, shown: Shown, probe: str, questions: Callable[[], ProbeSet]) -> Job:
    """Price a plan in the background; `result` of the job is a Price, there before the hybrid figures are."""

    def work(job: Job) -> Price:
        made, asked = ready(simulator, probe, questions, job)
        job.total += PRUNES + 2 + (3 * len(made.questions))
        price = Price(asked, cost(made, shown.plan, advance=job.advance))
        job.result = price
        _make_vectors(simulator.memory, job)
        return replace(price, hybrid=_hybrid(simulator.memory, shown, made, job.advance))

    return simulator.start(key(shown, probe), "Cost of forgetting", work, 0)


def ready(simulator: Simulator, probe: str, questions: Callable[[], ProbeSet], job: Job) -> tuple[Probe, ProbeSet]:
    """The probe set made ready for the memory as it is now."""
    now = simulator.memory.fingerprint()
    asked = simulator.once(("asked", now, probe), questions)
    known = simulator.results.get(("probe", now, probe))
    job.total += 0 if known else len(asked.questions)
    made = simulator.once(("probe", now, probe), lambda: Probe.of(simulator.twin(), asked.questions, job.advance))
    return made, asked


def _make_vectors(memory: Memory, job: Job) -> None:
    """The turn vectors that hybrid retrieval needs and that are missing; they are kept with the memory."""
    told = 0

    def advance(made: int, missing: int) -> None:
        nonlocal told
        job.total += 0 if told else missing
        job.advance("turn vectors, once", made - told)
        told = made

    memory.turn_vectors(advance)


def _hybrid(memory: Memory, shown: Shown, probe: Probe, advance: Callable[[str], None]) -> Hybrid:
    plans = [_plan(memory, shown.setting, shown.plan, mode) for mode in ("keep", "with_nodes")]
    whole = recall_at_5(memory, probe.questions, advance)
    after = []
    for plan in plans:
        with pruned(memory, plan) as copy:
            after.append(recall_at_5(copy, probe.questions, advance))
    return Hybrid(len(probe.questions), whole, after[0], after[1], len(plans[1].turns))


def _plan(memory: Memory, setting: Setting, shown: ForgettingPlan, mode: str) -> ForgettingPlan:
    return shown if shown.turns_mode == mode else replace(setting, turns=mode).plan(memory)  # type: ignore[arg-type]


def recall_at_5(memory: Memory, questions: Sequence[Question], advance: Callable[[str], None]) -> float:
    """Mean fraction of the evidence turns among the first five turns that the hybrid retriever finds."""
    part, found = retriever("hybrid", memory.settings, 5), []
    source_of = {turn: source for source, turn in memory.source_turns().items()}
    for question in questions:
        ranked = {source_of.get(turn.id) for turn in memory.retrieve(question.text, part).turns[:5]}
        found.append(len(ranked & set(question.evidence)) / len(set(question.evidence)))
        advance("hybrid recall@5")
    return sum(found) / len(found) if found else float("nan")


__all__ = ["FIGURES", "NAMES", "Hybrid", "Price", "key", "ready", "start", "verdict"]
