"""How ours grows beside the plain matrix, on made-up vectors or on those of real turns and noisy copies of them."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from memory_core.embedders.minilm import MiniLM
from memory_core.evaluation.datasets import load_benchmark
from memory_core.evaluation.ingested import cache_folder
from memory_core.evaluation.speed.given import make_from
from memory_core.evaluation.speed.race import Lane, Race
from memory_core.evaluation.speed.report import conditions, opening
from memory_core.evaluation.speed.systems import MATRIX, OURS, chosen
from memory_core.importers.textfile import read_bytes
from memory_core.protocols import Floats
from memory_core.schema import LABELS

_CHUNK = 64
Row = dict[str, Any]


def growth(race: Race, sizes: Sequence[int], vectors: Path | None) -> Row:
    """A row a size: ours and the matrix in the same rounds, and how many of the exact five nearest ours finds."""
    real = real_vectors(vectors, race.advance) if vectors else None
    rows = []
    for nodes in sizes:
        with tempfile.TemporaryDirectory(dir=race.folder) as work:
            one = replace(race, systems=[*chosen([]), MATRIX], nodes=nodes, folder=Path(work), probe=True)
            if real is not None:
                asked = real[1][: race.searches]
                one = replace(one, dim=real[0].shape[1], searches=len(asked))
                (one.folder / f"given-{nodes}").mkdir()
                make_from(one.folder / f"given-{nodes}", real[0], asked, nodes=nodes, turns=race.turns, labels=LABELS,
                          seed=race.seed)  # fmt: skip
            rows.append(_row(nodes, one.run()))
    told = f"{vectors.name}, {MiniLM().id}, and noisy copies" if vectors else "made up"
    return {"vectors": told, "dim": real[0].shape[1] if real else race.dim, "sizes": rows, "conditions": conditions()}


def _row(nodes: int, lanes: Sequence[Lane]) -> Row:
    row: Row = {"n": nodes}
    for lane in lanes:
        sizes = (lane.told.get("sizes") or [{}])[-1]
        row[lane.system.name] = {
            "fill_s": round(sum(lane.each("fill")) / 1000, 1), "open_ms": opening(lane), "turn_ms": lane.median("turn"),
            "retrieval_ms": lane.median("search"), "graph_bytes": sizes.get("graph"), "disk_bytes": sizes.get("whole"),
        }  # fmt: skip
        if lane.failed:
            row[lane.system.name]["failed"] = lane.failed
    probed = {lane.system.name: lane.told["probe"][0] for lane in lanes if "probe" in lane.told}
    if len(probed) == 2:
        ours, exact = probed[OURS], probed[MATRIX.name]["nearest"]
        row["approximate"] = ours["approximate"]
        row["recall@5"], row["recall@5 by signs"] = (recall(ours[how], exact) for how in ("nearest", "by signs"))
    if limit := next((lane.told["limit"][-1] for lane in lanes if "limit" in lane.told), None):
        row["limit"] = {name: round(value, 4) for name, value in limit.items() if name != "ms"}
    return row


def recall(found: Sequence[Sequence[int]], exact: Sequence[Sequence[int]]) -> float:
    """The share of the exact ones that were found, over all questions.

    >>> recall([[1, 2], [3, 9]], [[2, 1], [3, 4]])
    0.75
    """
    shares = [len(set(some) & set(all_)) / len(all_) for some, all_ in zip(found, exact, strict=True)]
    return round(sum(shares) / len(shares), 4)


def real_vectors(file: Path, advance: Callable[[str], None]) -> tuple[Floats, Floats]:
    """Vectors of the turns (n, dim) and of the questions (q, dim) of a benchmark file by the embedded model; kept in
    the cache folder. Raises InputError for a file that is no benchmark."""
    embedder = MiniLM()
    kept = cache_folder() / "speed" / f"{hashlib.sha256(read_bytes(file)).hexdigest()[:16]}-{embedder.id}.npz"
    if not kept.exists():
        benchmark = load_benchmark(file)
        turns = list(dict.fromkeys(turn.text for said in benchmark.conversations for turn in said.turns))
        asked = list(dict.fromkeys(question.text for question in benchmark.questions))
        made = [_embedded(texts, advance) for texts in (turns, asked)]
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.savez(kept, turns=made[0], asked=made[1])
    with np.load(kept) as found:
        return found["turns"], found["asked"]


def _embedded(texts: Sequence[str], advance: Callable[[str], None]) -> Floats:
    rows = []
    for start in range(0, len(texts), _CHUNK):
        advance(f"embedding {start} of {len(texts)}")
        rows.append(MiniLM().embed(texts[start : start + _CHUNK]))
    found = np.concatenate(rows)
    return np.asarray(found[np.linalg.norm(found, axis=1) > 0.5], np.float32)  # a blank turn has none
