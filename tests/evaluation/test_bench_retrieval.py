"""`bench retrieval` on three turns whose rankings are plain, and the cache of ingested memories it stands on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory_core.errors import Cancelled, InputError
from memory_core.evaluation.bench_retrieval import check, report
from memory_core.evaluation.datasets import Benchmark, load_benchmark
from memory_core.evaluation.ingested import Ingested, open_benchmark
from tests.fakes import LetterEmbedder, SpelledExtractor

TURNS = (
    ("s1", "2024-01-01T10:00:00Z", "Location:Porto; the kite costs ten euros"),
    ("s2", "2024-02-01T10:00:00Z", "Location:Braga; a green garden table"),
    ("s3", "2024-03-01T10:00:00Z", "the kite costs twelve euros now"),
)
QUESTIONS = (
    ("q1", "single", "Which garden table?", "green", ["b"]),
    ("q2", "knowledge-update", "What does the kite cost?", "twelve euros", ["a", "c"]),
    ("q3", "single", "Who is Quentin?", "", []),
)
KEYS = ("id", "type", "question", "answer", "evidence")


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    rows = [
        {"role": "user", "speaker": "Mira", "text": text, "at": at, "session": session, "id": name}
        for name, (session, at, text) in zip("abc", TURNS, strict=True)
    ]
    (tmp_path / "small.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    asked = "\n".join(json.dumps(dict(zip(KEYS, row, strict=True))) for row in QUESTIONS)
    (tmp_path / "small_questions.jsonl").write_text(asked, "utf-8")
    return load_benchmark(tmp_path / "small.jsonl")


class Counting(SpelledExtractor):
    """Counts the turns it reads, in all copies."""

    read = 0

    def extract(self, turn: Any) -> Any:
        Counting.read += 1
        return super().extract(turn)


def opened(benchmark: Benchmark, folder: Path, **changed: Any) -> Ingested:
    parts: dict[str, Any] = {"extractor": Counting(), "embedder": LetterEmbedder(match_threshold=2.0), "workers": 1}
    return open_benchmark(benchmark, folder=folder, **(parts | changed))


def test_a_benchmark_is_ingested_once(benchmark: Benchmark, tmp_path: Path) -> None:
    Counting.read = 0
    for _ in range(2):
        for name, memory in opened(benchmark, tmp_path / "cache"):
            assert (name, memory.graph.turns, memory.graph.node_count) == ("small", 3, 2)
    assert Counting.read == 3


def test_a_stopped_ingestion_goes_on_where_it_was(benchmark: Benchmark, tmp_path: Path) -> None:
    def stop(message: str) -> None:
        if Counting.read == 2:
            raise Cancelled("enough")

    Counting.read = 0
    with pytest.raises(Cancelled):
        opened(benchmark, tmp_path, advance=stop).build()
    assert opened(benchmark, tmp_path).build() == 1
    assert Counting.read == 3


@pytest.mark.parametrize("changed", [{"extractor": Counting(id="spelled-2")}, {"embedder": LetterEmbedder(id="other")}])
def test_another_part_gets_another_file(benchmark: Benchmark, tmp_path: Path, changed: dict[str, Any]) -> None:
    said = benchmark.conversations[0]
    assert opened(benchmark, tmp_path).path(said) != opened(benchmark, tmp_path, **changed).path(said)


def test_the_report_has_the_keys_of_the_design(benchmark: Benchmark, tmp_path: Path) -> None:
    made: Any = report(benchmark, opened(benchmark, tmp_path), ("flat", "bm25", "hybrid"))
    assert made["n"] == 2  # q3 has no evidence
    bm25 = made["retrievers"]["bm25"]
    assert bm25["fraction@5"] == {"mean": 1.0, "ci": [1.0, 1.0]}
    assert {"fraction@10", "recall_any@5", "recall_all@5", "ndcg@10", "context_tokens", "p50_ms", "p95_ms"} <= set(bm25)
    assert {name: found["n"] for name, found in bm25["types"].items()} == {"single": 1, "knowledge-update": 1}
    assert set(made["paired"]) == {"hybrid-bm25", "hybrid-flat", "bm25-flat"}
    assert made["paired"]["hybrid-bm25"]["fraction@5"]["diff"] == pytest.approx(0.0)
    # both prices are brought; the newer one, said in fewer words, stands first
    assert made["knowledge_update"]["bm25"] == {"n": 1, "newest_first": 1.0, "stale_only": 0.0}
    json.dumps(made)


def test_an_unknown_retriever_is_named() -> None:
    with pytest.raises(InputError, match="no retriever vector: choose among graph, flat, bm25, hybrid"):
        check(["graph", "vector"])
