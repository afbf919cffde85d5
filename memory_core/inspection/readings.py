"""Two readings of one turn side by side: what both found, what only one did; and turns read again before keeping it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_core.errors import InputError
from memory_core.evaluation.gold import title_key
from memory_core.extraction import checked, timed
from memory_core.jobs import Job, Worker
from memory_core.memory import Memory
from memory_core.memory.looking import Attempt
from memory_core.protocols import Extractor
from memory_core.schema import Drop, Extraction, FoundEdge, FoundNode, Turn

NAME = "Reading again"


@dataclass(frozen=True)
class Readings:
    """Nodes and edges in words. Nodes are one by the title as gold compares it; `relabelled` are those of two labels.

    `agreement` is shared items over all items (Jaccard), None when neither found any.
    """

    both: tuple[str, ...]
    relabelled: tuple[str, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def agreement(self) -> float | None:
        """Shared over all, in [0, 1]."""
        whole = len(self.both) + len(self.only_a) + len(self.only_b)
        return len(self.both) / whole if whole else None


def compare_readings(a: Extraction, b: Extraction) -> Readings:
    """What two extractors read from the same turn.

    >>> one = Extraction("ok", (FoundNode("Location", "Porto", ""), FoundNode("Person", "Mira", "")))
    >>> other = Extraction("ok", (FoundNode("Concept", "the Porto", ""),))
    >>> found = compare_readings(one, other)
    >>> found.both, found.relabelled, found.only_a
    (('Porto',), ('Porto: Location / Concept',), ('Mira (Person)',))
    """
    ours, theirs = _named(a), _named(b)
    shared = [key for key in ours if key in theirs]
    labels = [
        f"{ours[key].title}: {ours[key].label} / {theirs[key].label}"
        for key in shared
        if ours[key].label != theirs[key].label
    ]
    edges_a, edges_b = _asserted(a), _asserted(b)
    return Readings(
        (*(ours[key].title for key in shared), *(edges_a[key] for key in edges_a if key in edges_b)),
        tuple(labels),
        (*_rest(ours, theirs), *(edges_a[key] for key in edges_a if key not in edges_b)),
        (*_rest(theirs, ours), *(edges_b[key] for key in edges_b if key not in edges_a)),
    )


def _named(found: Extraction) -> dict[str, FoundNode]:
    named: dict[str, FoundNode] = {}
    for node in found.nodes:
        named.setdefault(title_key(node.title), node)
    return named


def _rest(nodes: Mapping[str, FoundNode], other: Mapping[str, FoundNode]) -> list[str]:
    return [f"{node.title} ({node.label})" for key, node in nodes.items() if key not in other]


def _asserted(found: Extraction) -> dict[tuple[str, str, str], str]:
    titles = [node.title for node in found.nodes]
    return {
        (title_key(titles[edge.source]), edge.relationship.casefold(), title_key(titles[edge.target])): (
            f"{titles[edge.source]} {edge.relationship} {titles[edge.target]}"
        )
        for edge in found.edges
    }


def stored_reading(attempt: Attempt) -> Extraction:
    """An attempt as it was stored, without contents and attributes, which the report does not hold."""
    report: Any = attempt.report
    place = {node["id"]: at for at, node in reversed(list(enumerate(report["nodes"])))}
    nodes = tuple(FoundNode(node["label"], node["title"], "") for node in report["nodes"])
    edges = tuple(
        FoundEdge(place[edge["source"]], place[edge["target"]], edge["relationship"])
        for edge in report["edges"]
        if edge["source"] in place and edge["target"] in place
    )
    drops = tuple(Drop(drop["kind"], drop["item"], drop["reason"]) for drop in report["drops"])
    status: Any = attempt.status
    return Extraction(
        status, nodes, edges, drops, tuple(report["repairs"]), attempt.raw, attempt.reason, attempt.extractor,
        attempt.model, attempt.prompt_version, attempt.seconds, attempt.tokens_in, attempt.tokens_out,
    )  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """A turn read again and not stored: the stored reading (a failed one holds nothing), the new one, both compared."""

    turn: Turn
    before: Extraction
    after: Extraction
    readings: Readings


@dataclass
class Trials:
    """What a job has read so far, at which revision of the memory it began."""

    extractor: str
    found: list[Trial] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)  # turns whose trial was stored


def try_turn(memory: Memory, turn_id: str, extractor: Extractor) -> Trial:
    """Read a turn with another extractor and store nothing. Raises InputError for an unknown id."""
    turn, attempts = memory.turn(turn_id), memory.attempts(turn_id)
    before = stored_reading(attempts[-1]) if attempts else Extraction("empty")
    after = checked(timed(extractor, turn), turn, memory.settings.on_invalid)
    return Trial(turn, before, after, compare_readings(before, after))


def start(worker: Worker, memory: Memory, turn_ids: Sequence[str], extractor: Extractor) -> Job:
    """Read turns again in the background; `job.result` is the Trials so far. Raises InputError when there are none."""
    if not turn_ids:
        raise InputError("There is no turn to read again.")
    trials = Trials(extractor.id)

    def work(job: Job) -> Trials:
        job.result = trials
        for turn_id in turn_ids:
            trials.found.append(try_turn(memory, turn_id, extractor))
            job.advance(trials.found[-1].turn.source_id)
        return trials

    return worker.submit(Job(NAME, work, len(turn_ids)))


def latest(worker: Worker) -> Job | None:
    """The last reading again that was started on this memory."""
    return worker.latest(NAME)


def keep(memory: Memory, trials: Trials, turn_ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Store the trials of these turns exactly as they were looked at. Returns the ids of the changes, and why some
    were not stored: a reading that failed never takes the place of another."""
    changes, problems = [], []
    for trial in trials.found:
        if trial.turn.id not in turn_ids or trial.turn.id in trials.kept:
            continue
        if trial.after.status in ("failed", "refused", "truncated", "rejected"):
            problems.append(f"{trial.turn.source_id}: {trial.after.status}, {trial.after.reason}")
            continue
        change, _ = memory.reread(trial.turn.id, trial.after, at=trial.turn.at)
        changes.append(change)
        trials.kept.add(trial.turn.id)
    return changes, problems
