"""Results of other programs are read, completed from the benchmark, put side by side and exported."""

from __future__ import annotations

import csv
import gzip
import io
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from memory_core.errors import FormatError, InputError
from memory_core.evaluation.commands import bench
from memory_core.evaluation.datasets import load_benchmark
from memory_core.evaluation.results import Run, completed, disagreements, figure, read_run, show
from memory_core.evaluation.results.catalog import files_in, glance, load, named, only
from memory_core.evaluation.results.curves import (
    Kept,
    after_forgetting,
    by_age,
    differences,
    growth_of,
    size_of,
    stale_rate,
)
from memory_core.evaluation.results.flips import OUTCOMES, counted, pairs
from memory_core.evaluation.results.flips import to_csv as pairs_csv
from memory_core.evaluation.results.table import metrics_of, table, to_csv, to_latex, to_markdown


def jsonl(*rows: object) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def row(id: str, judge: int | None = None, **more: Any) -> dict[str, Any]:
    return {"question_id": id, "question_type": "t", "judge_correct": judge, **more}


LOCOMO = [
    {"sample_id": "conv-1", "qa": [
        {"question": "What does Nia do?", "answer": "paints, swims", "category": 1, "evidence": ["D1:1", "D2:1"],
         "gpt_prediction": "She paints", "gpt_prediction_context": ["D1:1", "D1:2"]},
        {"question": "Which dog?", "category": 5, "evidence": ["D1:1"], "gpt_prediction": "Not mentioned"},
        {"question": "When?", "answer": 2022, "category": 2, "evidence": []},
    ]},
]  # fmt: skip


class TestLocomoOutputs:
    def test_questions_are_scored_by_its_own_rules(self) -> None:
        run = read_run(json.dumps(LOCOMO).encode())
        assert [(one.id, one.type) for one in run.rows] == [
            ("conv-1:q0", "multi-hop"), ("conv-1:q1", "adversarial"), ("conv-1:q2", "temporal"),
        ]  # fmt: skip
        assert run.rows[0].metrics == {"locomo_f1": pytest.approx((2 / 3) / 2), "locomo_recall@2": 0.5}
        assert run.rows[1].metrics["locomo_f1"] == 1
        assert (run.rows[2].error, run.rows[2].ground_truth) == ("no gpt_prediction for this question", "2022")
        assert run.meta["reader"] == "gpt"

    def test_of_several_predictions_one_is_chosen(self) -> None:
        both = json.loads(json.dumps(LOCOMO))
        both[0]["qa"][0]["llama_prediction"] = "She swims"
        with pytest.raises(FormatError, match="predictions gpt_prediction, llama_prediction: map one"):
            read_run(json.dumps(both).encode())
        run = read_run(json.dumps(both).encode(), {"predicted": "llama_prediction"})
        assert (run.rows[0].predicted, run.meta["reader"]) == ("She swims", "llama")

    def test_the_bare_data_is_no_result(self) -> None:
        with pytest.raises(FormatError, match="holds the predictions none"):
            read_run(json.dumps([{"sample_id": "c", "qa": [{"question": "Who?", "category": 1}]}]).encode())


class TestCompleting:
    @pytest.fixture
    def benchmark(self, tmp_path: Path) -> Path:
        path = tmp_path / "small.jsonl"
        path.write_text(
            '{"id": "t1", "role": "user", "speaker": "User", "text": "I ski.", "at": "2024-01-01T00:00:00Z"}'
        )
        asked = {"id": "q1", "question": "What do I do?", "answer": "ski", "type": "hobby", "evidence": ["t1"]}
        (tmp_path / "small_questions.jsonl").write_text(json.dumps(asked))
        return path

    def test_hypotheses_get_types_answers_and_scores(self, benchmark: Path) -> None:
        run = read_run(jsonl({"question_id": "q1", "hypothesis": "You ski"}, {"question_id": "q9", "hypothesis": "x"}))
        done = completed(run, load_benchmark(benchmark))
        first = done.rows[0]
        assert (first.type, first.ground_truth, first.metrics["recall"]) == ("hobby", "ski", 1.0)
        assert first.other["question"] == "What do I do?"
        assert done.problems == ("1 ids are no questions of small: q9.",)
        assert done.meta["split_hash"] == load_benchmark(benchmark).split_hash

    def test_the_command_does_so_with_data_and_columns(self, benchmark: Path, tmp_path: Path) -> None:
        file = tmp_path / "out.csv"
        file.write_text("item,said\nq1,ski\n")
        shown = bench("show", [str(file), "--data", str(benchmark), "--column", "question_id=item", "--column",
                               "predicted=said"])  # fmt: skip
        assert shown["types"]["hobby"]["f1"]["mean"] == 1
        with pytest.raises(InputError, match="--column nonsense names no column"):
            bench("show", [str(file), "--column", "nonsense"])


class TestDisagreements:
    def test_what_only_one_run_tells_is_said(self) -> None:
        assert disagreements({"judge": "gpt-4o"}, {}) == ["only one run tells its judge: they may differ in it."]
        assert disagreements({}, {}) == []


class TestLarge:
    def test_a_large_file_is_read_in_seconds(self) -> None:
        line = json.dumps(row("q", 1, context="word " * 4000))
        data = "\n".join(line.replace('"q"', f'"q{number}"') for number in range(1000)).encode()
        begun = time.process_time()
        assert len(data) > 2e7
        assert len(read_run(data).rows) == 1000
        assert time.process_time() - begun < 5


class TestGzipped:
    def test_a_packed_run_is_the_run(self, tmp_path: Path) -> None:
        text = jsonl({"run": {"label": "mine", "data": "d"}}, row("q1", 1), row("q2", 0))
        plain, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
        plain.write_bytes(text)
        packed.write_bytes(gzip.compress(text))
        assert files_in(tmp_path) == [plain, packed]
        assert load(packed) == load(plain) == load(packed.read_bytes(), "b.jsonl.gz")

    def test_a_glance_tells_what_a_run_is_before_its_rows_are_read(self, tmp_path: Path) -> None:
        packed = tmp_path / "b.jsonl.gz"
        packed.write_bytes(gzip.compress(jsonl({"run": {"label": "mine", "data": "d", "experiment": 2}}, row("q1", 1))))
        seen, whole = glance(packed), load(packed)
        assert (seen.name, seen.group, seen.meta) == (whole.name, whole.group, whole.meta)
        assert (seen.run, seen.path) == (None, packed)
        bare = tmp_path / "bare.jsonl"
        bare.write_bytes(jsonl(row("q1", 1)))
        assert glance(bare) == replace(load(bare), path=bare)
        with pytest.raises(InputError, match="cannot be read"):
            glance(tmp_path / "gone.jsonl")

    def test_a_damaged_one_and_one_that_would_fill_the_memory_are_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        packed = gzip.compress(jsonl(row("q1", 1), row("q2", 0)))
        cut = tmp_path / "cut.jsonl.gz"
        cut.write_bytes(packed[:-12])
        with pytest.raises(FormatError, match=r"^cut.jsonl.gz is gzipped and cannot be unpacked"):
            load(cut)
        monkeypatch.setattr("memory_core.importers.textfile.MAX_UNPACKED", 20)
        with pytest.raises(FormatError, match="unpacks to more than"):
            load(packed, "bomb.jsonl.gz")


class TestCatalog:
    def test_files_of_a_folder_are_runs_or_figures_of_forgetting(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_bytes(
            jsonl({"run": {"label": "graph", "data": "d", "experiment": 2}}, row("q1", 1))
        )
        (tmp_path / "b.json").write_text(json.dumps({"n": 3, "rows": [{"policy": "lru", "kept": 0.5}], "random": []}))
        (tmp_path / "notes.txt").write_text("no")
        loaded = [load(path) for path in files_in(tmp_path)]
        assert [(one.name, one.group, one.run is None) for one in loaded] == [
            ("graph", "d, experiment 2", False), ("b", "survival", True),
        ]  # fmt: skip
        assert list(named([loaded[0], loaded[0]])) == ["graph · d, experiment 2", "graph · d, experiment 2 (2)"]

    def test_a_missing_folder_and_a_bad_file_are_told(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no folder"):
            files_in(tmp_path / "gone")
        with pytest.raises(FormatError, match="holds no results"):
            load(b'{"a": 1}\n{broken', "x.jsonl")

    def test_questions_are_narrowed_by_type_and_words(self) -> None:
        run = read_run(jsonl(row("q1", 1, question="Where is Mira?"), row("q2", 0, predicted="Porto"),
                             {"question_id": "q3", "question_type": "u", "error": "x"}))  # fmt: skip
        assert [one.id for one in only(run, ["u"]).rows] == ["q3"]
        assert [one.id for one in only(run, (), "PORTO").rows] == ["q2"]
        assert [one.id for one in only(run, (), "mira where").rows] == ["q1"]
        assert only(run) is run


class TestTable:
    runs: ClassVar = {
        "A|b": read_run(jsonl(row("q1", 1, f1=0.5), row("q2", 0, f1=0.5))),
        "C_d": read_run(jsonl(row("q1", 0, f1=0.5), row("q2", 0, f1=0.5))),
    }
    shown: ClassVar = {name: cast(dict[str, Any], show(run)) for name, run in runs.items()}

    def test_the_best_of_a_row_is_marked_unless_all_are_equal(self) -> None:
        made = table(self.shown, ["judge_correct", "f1"])
        best = {run: {name: cell.best for name, cell in cells.items()} for run, cells in made.rows["t"].items()}
        assert best == {"A|b": {"judge_correct": True, "f1": False}, "C_d": {"judge_correct": False, "f1": False}}
        assert (made.n("t"), metrics_of(self.runs.values())) == ("2", ["judge_correct", "f1"])

    def test_one_figure_alone_is_that_of_the_table(self) -> None:
        for name, run in self.runs.items():
            for metric in ("judge_correct", "f1"):
                assert figure(run, metric) == self.shown[name]["overall"][metric]
            assert figure(run, "ndcg@10") is None

    def test_markdown(self) -> None:
        assert to_markdown(table(self.shown, ["judge_correct"])) == (
            "| type | n | A\\|b J | C_d J |\n| --- | ---: | ---: | ---: |\n"
            "| t | 2 | **.500** | .000 |\n| overall | 2 | **.500** | .000 |\n"
        )

    def test_latex(self) -> None:
        text = to_latex(table(self.shown, ["judge_correct"]))
        assert "\\multicolumn{1}{c}{A|b} & \\multicolumn{1}{c}{C\\_d} \\\\" in text
        assert "t & 2 & \\textbf{.500} & .000 \\\\" in text

    def test_csv_has_every_digit(self) -> None:
        lines = list(csv.DictReader(io.StringIO(to_csv(table(self.shown, ["judge_correct"])))))
        assert (lines[0]["type"], lines[0]["run"], lines[0]["mean"], lines[0]["n"]) == ("t", "A|b", "0.5", "2")


class TestFlips:
    a = read_run(jsonl(row("q1", 1), row("q2", 0), row("q3", 1), row("q4", 0), row("q5", 1), row("q6", None)))
    b = read_run(jsonl(row("q2", 1), row("q1", 0, predicted="=1+1"), row("q3", 1), row("q4", 0), row("q7", 1)))

    def test_each_question_has_one_outcome(self) -> None:
        found = pairs(self.a, self.b, "judge_correct")
        assert [(pair.id, pair.outcome) for pair in found] == list(zip(("q1", "q2", "q3", "q4"), OUTCOMES, strict=True))
        assert counted(found) == dict.fromkeys(OUTCOMES, 1)
        assert differences(self.a.rows, self.b.rows, "judge_correct") == [1, -1, 0, 0]

    def test_the_export_runs_no_formula(self) -> None:
        lines = list(csv.DictReader(io.StringIO(pairs_csv(pairs(self.a, self.b, "judge_correct"), "judge_correct"))))
        assert lines[0]["answer_b"] == "'=1+1"


class TestCurves:
    run = read_run(
        jsonl(
            {"run": {"growth": [{"turns": 1, "nodes": 2, "edges": 1, "bytes": 9}, {"turns": "x"}]}},
            row("q1", 1, evidence_time=0.0, stale=True, memory={"nodes": 4, "edges": 2, "bytes_live": 100},
                context_tokens=10),
            row("q2", 0, evidence_time=1.0, stale=False, memory={"nodes": 6, "edges": 2, "bytes_live": 300},
                context_tokens=30),
            row("q3", 1, evidence_time=0.99, stale=None),
        )
    )  # fmt: skip

    def test_hand_values(self) -> None:
        slices = by_age(self.run, "judge_correct")
        assert [(name, one.n, one.mean) for name, one in slices] == [("T1", 1, 1.0), ("T6", 2, 0.5)]
        assert stale_rate(self.run)[:2] == (1, 2)
        size = size_of(self.run)
        assert (size.nodes, size.edges, size.bytes) == (5, 2, 200)
        assert len(growth_of(self.run)) == 1

    def test_runs_that_forgot_are_set_against_the_one_that_kept_everything(self) -> None:
        def run(policy: str, nodes: int, judge: int, turns: str = "keep") -> Run:
            meta = {"condition": "graph", "forget": {"name": policy, "policy": policy, "turns": turns}}
            return read_run(
                jsonl({"run": meta}, row("q1", judge, memory={"nodes": nodes, "edges": 1, "bytes_live": 1}))
            )

        found = after_forgetting([run("none", 10, 1), run("lru", 7, 0)], "judge_correct")
        assert found == [Kept("everything", 1.0, 1.0, "graph"), Kept("lru", 0.7, 0.0, "graph")]
        assert after_forgetting([run("none", 10, 1)], "judge_correct") == []
        left = after_forgetting([run("lru", 6, 0, "with_nodes"), run("none", 10, 1)], "judge_correct")
        panel = "graph, turns leave too"
        assert left == [Kept("everything", 1.0, 1.0, panel), Kept("lru", 0.6, 0.0, panel)]

    def test_a_run_that_tells_nothing_gives_nothing(self) -> None:
        bare = read_run(jsonl(row("q1", 1)))
        assert (by_age(bare, "judge_correct"), growth_of(bare), size_of(bare).bytes) == ([], [], None)
        assert stale_rate(bare)[:2] == (0, 0)
