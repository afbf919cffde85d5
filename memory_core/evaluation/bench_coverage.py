"""`bench coverage`: how much of what a benchmark asks for the extractor has stored (design, section 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from memory_core.evaluation.coverage import Coverage, StoredBy, coverage
from memory_core.evaluation.datasets import Benchmark, for_coverage
from memory_core.evaluation.ingested import open_benchmark
from memory_core.evaluation.statistics import SEED, estimate, wilson
from memory_core.memory import Memory
from memory_core.protocols import Extractor
from memory_core.schema import LABELS, normalise_title


@dataclass
class _Totals:
    found: Coverage = field(default_factory=Coverage)
    labels: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    cited: int = 0
    merged: int = 0


def bench_coverage(
    benchmark: Benchmark, *, extractor: Extractor | None = None, advance: Callable[[str], None] = lambda message: None
) -> dict[str, object]:
    """Coverage over all memories of a benchmark, as `bench coverage --json` prints it.

    `nodes_per_turn` counts nodes read from a turn, merged ones included; intervals are Wilson's for shares of questions
    and bootstrap over turns for `stored_share`.
    """
    totals = _Totals()
    for conversation, memory in open_benchmark(benchmark, extractor=extractor, advance=advance):
        questions = [one for one in for_coverage(benchmark.questions) if one.conversation == conversation]
        said = {turn.source_id: turn.text for turn in memory.latest_turns(memory.graph.turns)}
        totals.found += coverage(questions, said, stored_by(memory))
        _count(totals, memory)
    found, turns = totals.found, totals.turns
    written, answered = sum(found.written.values()), sum(found.answered.values())
    share = estimate(found.shares, seed=SEED)
    return {
        "data": benchmark.name,
        "split_hash": benchmark.split_hash,
        "n": len(found.written),
        "n_answer": len(found.answered),
        "write_coverage": _number(found.write_coverage),
        "write_coverage_ci": _interval(wilson(written, len(found.written))),
        "answer_coverage": _number(found.answer_coverage),
        "answer_coverage_ci": _interval(wilson(answered, len(found.answered))),
        "stored_share": _number(found.stored_share),
        "stored_share_ci": _interval((share.low, share.high)),
        "nodes_per_turn": totals.cited / turns if turns else None,
        "turns": turns,
        "labels": {label: totals.labels[label] for label in LABELS},
        "merged": totals.merged,
    }


def stored_by(memory: Memory) -> dict[str, StoredBy]:
    """Source id of each live turn -> what the live memory holds because of it."""
    speakers = {normalise_title(name) for name in memory.speakers()}
    sources = {turn: source for source, turn in memory.source_turns().items()}
    cited: dict[str, bool] = {}
    titles: dict[str, list[str]] = {}
    relationships: dict[str, list[str]] = {}
    for item, turn in memory.store.query("SELECT item, turn FROM provenance ORDER BY item, turn"):
        if turn not in sources or not memory.graph.is_live(item):
            continue
        source = sources[turn]
        if item in memory.graph.edge_row:
            cited[source] = True
            relationships.setdefault(source, []).append(memory.graph.relationships[memory.graph.edge_row[item]])
            continue
        row = memory.graph.row_of[item]
        title = memory.graph.titles[row]
        speaker = LABELS[memory.graph.label.values[row]] == "Person" and normalise_title(title) in speakers
        cited[source] = cited.get(source, False) or not speaker
        titles.setdefault(source, []).append(title)
    values = _values(memory, sources)
    return {
        source: StoredBy(
            cited.get(source, False), titles.get(source, ()), values.get(source, ()), relationships.get(source, ())
        )
        for source in sources.values()
    }


def _values(memory: Memory, sources: dict[str, str]) -> dict[str, list[str]]:
    """Attribute values each turn set, whether they hold today or were superseded."""
    values: dict[str, list[str]] = {}
    rows = memory.store.query("SELECT turn, item, value FROM value_history WHERE field LIKE 'attributes.%' ORDER BY id")
    for turn, item, value in rows:
        if turn in sources and memory.graph.is_live(item):
            values.setdefault(sources[turn], []).append(str(value).strip('"'))
    return values


def _count(totals: _Totals, memory: Memory) -> None:
    graph = memory.graph
    counts = np.bincount(graph.label.values[graph.live_rows()], minlength=len(LABELS))
    totals.labels.update({label: int(count) for label, count in zip(LABELS, counts, strict=True)})
    totals.turns += graph.turns
    totals.cited += int(memory.store.query("SELECT count(*) FROM provenance WHERE item IN (SELECT id FROM node)")[0][0])
    totals.merged += int(memory.store.query("SELECT count(*) FROM access WHERE kind = 'merge'")[0][0])


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value


def _interval(limits: tuple[float, float]) -> list[float] | None:
    return None if np.isnan(limits[0]) else list(limits)
