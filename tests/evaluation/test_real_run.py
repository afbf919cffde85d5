"""`bench run` with a real OpenAI-compatible server: a turn is extracted, questions are read and judged, a kill is
survived. The model is too small to be right; what is tested is that everything is asked, once, and written down."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from memory_core.evaluation.results import read_run, show
from memory_core.evaluation.runner import run_benchmark
from memory_core.memory import Memory
from tests.evaluation.real_run import experiment
from tests.fakes import LetterEmbedder, SpelledExtractor


def test_five_questions_with_a_kill_half_way(llama: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.evaluation.real_run", llama, str(tmp_path)]
    file = tmp_path / "out" / "flat.jsonl"
    process = subprocess.Popen(command)
    end = time.monotonic() + 120
    while (not file.exists() or file.read_bytes().count(b"\n") < 3) and time.monotonic() < end:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = [json.loads(line)["question_id"] for line in file.read_text(encoding="utf-8").split("\n")[1:-1]]
    assert 2 <= len(before) < 5

    resumed = experiment(llama, tmp_path)
    (run,) = run_benchmark(resumed, tmp_path / "out", resume=True)
    assert (run["n"], run["errored"]) == (5, 0)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    header, rows = rows[0]["run"], rows[1:]
    assert [row["question_id"] for row in rows] == ["q1", "q2", "q3", "q4", "q5"]
    assert all(row["predicted"] and row["judge_reply"] for row in rows)
    assert all(row["tokens_in"] > 50 for row in rows)
    calls = 2 * (5 - len(before))  # a reading and a verdict for each question that was left; nothing was extracted anew
    spent = header["spent"]["session"]["models"][resumed.reader.llm.id]  # type: ignore[attr-defined]
    assert spent["out"] <= 12 * calls
    assert show(read_run(file))["n"] == 5
    self_made = next((tmp_path / "cache").rglob("*.sqlite3"))
    with Memory.open(self_made, embedder=LetterEmbedder(), extractor=SpelledExtractor()) as memory:
        assert memory.statuses().get("ok", 0) + memory.statuses().get("repaired", 0) == 3
        assert memory.graph.node_count >= 1
