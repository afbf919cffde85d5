"""A run asks every question once under each condition, says what made it, survives a stop, and never counts twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from memory_core.errors import Cancelled, InputError, ProviderError
from memory_core.evaluation.datasets import load_benchmark
from memory_core.evaluation.judge import Judge
from memory_core.evaluation.results import read_run, show
from memory_core.evaluation.runner import Experiment, forgets, run_benchmark
from memory_core.evaluation.runner.command import run_command
from memory_core.evaluation.runner.estimate import estimate
from memory_core.evaluation.runner.extractions import KeptExtractor
from memory_core.evaluation.runner.growth import growth
from memory_core.evaluation.runner.numbers import numbers_command
from memory_core.evaluation.runner.runfile import RunFile
from memory_core.extractors.llm import LLMExtractor
from memory_core.llms.scripted import Scripted
from memory_core.memory import Memory
from memory_core.policies import make
from memory_core.protocols import Answer, Floats, Kind, Reader, Retrieval
from memory_core.readers.embedded import EmbeddedReader
from memory_core.readers.llm import LLMReader
from memory_core.retrieval.remembering import Remembering
from memory_core.retrievers.hybrid import HybridRetriever
from memory_core.schema import Extraction, Turn, utc
from memory_core.spending import Counted, Spent
from tests.fakes import LetterEmbedder, SpelledExtractor

TURNS = (
    ("s1:1", "Person:Mira -lives_in-> Location:Porto", "2024-01-01"),
    ("s1:2", "Artifact:Bike {price=280} | A green bike", "2024-02-01"),
    ("s2:1", "Person:Mira -lives_in-> Location:Lisbon", "2024-06-01"),
    ("s2:2", "Preference:Tea | Likes tea", "2024-07-01"),
)
ASKED = (
    ("q1", "Where does Mira live?", "Lisbon", "knowledge-update", ["s1:1", "s2:1"]),
    ("q2", "What did the Bike cost?", "280", "single-session-user", ["s1:2"]),
    ("q3", "Which Preference is there: Tea?", "Tea", "single-session-preference", ["s2:2"]),
    ("q4_abs", "What is the name of the Dog?", "No dog was mentioned.", "single-session-user", []),
)


def ours(folder: Path) -> Path:
    """A benchmark in our own format: one conversation, four turns, four questions."""
    path = folder / "small.jsonl"
    turns = [
        {"id": id, "session": id[:2], "role": "user", "speaker": "User", "text": text, "at": f"{day}T10:00:00Z"}
        for id, text, day in TURNS
    ]
    asked = [dict(zip(("id", "question", "answer", "type", "evidence"), row, strict=True)) for row in ASKED]
    path.write_text("\n".join(map(json.dumps, turns)), encoding="utf-8")
    path.with_name("small_questions.jsonl").write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    return path


def haystacks(folder: Path) -> Path:
    """Two LongMemEval items whose later haystack stands first in the file."""
    items = [
        {"question_id": id, "question_type": "multi-session", "question": f"Where is {who}?", "answer": where,
         "question_date": "2024/12/01 (Sun) 10:00", "haystack_dates": [day], "haystack_session_ids": [f"a{id}"],
         "haystack_sessions": [[
             {"role": "user", "content": f"Person:{who} -is_in-> Location:{where}", "has_answer": True},
             {"role": "assistant", "content": "I see"},
         ]]}
        for id, who, where, day in (("x", "Mira", "Porto", "2024/06/01 (Sat) 10:00"),
                                    ("y", "Nia", "Rome", "2024/01/01 (Mon) 10:00"))
    ]  # fmt: skip
    path = folder / "haystacks.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    return path


@dataclass
class Noting:
    """A reader that answers with what stands in its context, and notes what it was asked."""

    failing: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list)
    running: int = 0
    most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    wait: threading.Event | None = None

    def answer(self, question: str, retrieval: Retrieval, turns: Any) -> Answer:
        with self.lock:
            self.asked.append(question)
            self.running += 1
            self.most = max(self.most, self.running)
        if self.wait is not None:
            self.wait.wait(0.05)
        with self.lock:
            self.running -= 1
        if question in self.failing:
            raise ProviderError("The server does not answer.")
        return Answer(" ".join(turn.text for turn in turns[:1]) or None, turns=tuple(turn.id for turn in turns[:1]))


def experiment(folder: Path, reader: Reader, **changes: Any) -> Experiment:
    made = Experiment(
        load_benchmark(ours(folder)), ("flat",), SpelledExtractor(), LetterEmbedder(), reader, parallel=1,
        folder=folder / "cache",
    )  # fmt: skip
    return replace(made, **changes)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_relative_dates_count_back_from_the_day_a_question_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whence: list[object] = []
    found = HybridRetriever.retrieve

    def noted(part: HybridRetriever, memory: Any, question: str) -> Retrieval:
        whence.append(part.asked_at)
        return found(part, memory, question)

    monkeypatch.setattr(HybridRetriever, "retrieve", noted)
    pooled = load_benchmark(haystacks(tmp_path), pooled=True)
    run_benchmark(experiment(tmp_path, Noting(), benchmark=pooled, conditions=("hybrid",)), tmp_path / "out")
    assert set(whence) == {utc("2024-12-01T10:00:00Z")}


class TestWhatIsWritten:
    def test_the_first_line_says_what_made_the_run(self, tmp_path: Path) -> None:
        run_benchmark(experiment(tmp_path, Noting(), seed=7, started="2025-01-01"), tmp_path / "out")
        header = rows(tmp_path / "out" / "flat.jsonl")[0]["run"]
        assert (header["version"], header["condition"], header["n"], header["seed"]) == (1, "flat", 4, 7)
        assert header["split_hash"] == load_benchmark(ours(tmp_path)).split_hash
        assert (header["extractor"], header["embedder"], header["judge"]) == ("spelled-1", "letters", "none")
        assert {"settings", "versions", "seconds", "prompts", "pooled", "started"} <= header.keys()

    def test_a_row_holds_all_a_reader_of_results_needs(self, tmp_path: Path) -> None:
        run_benchmark(experiment(tmp_path, EmbeddedReader(LetterEmbedder(), floor=0.0)), tmp_path / "out")
        row = next(row for row in rows(tmp_path / "out" / "flat.jsonl")[1:] if row["question_id"] == "q2")
        assert row["evidence"] == ["s1:2"]
        assert set(row["turns"]) == {id for id, *_ in TURNS}
        assert (row["fraction@5"], row["recall_all@5"]) == (1.0, 1.0)
        assert row["provenance_precision"] == 0.25
        assert row["memory"]["turns"] == 4
        assert row["evidence_time"] == pytest.approx(31 / 182, abs=1e-3)  # 1 February, of 1 January to 1 July
        assert row["context"].count("\n") == 3
        assert row["predicted"]

    def test_an_abstention_question_has_no_evidence_figures(self, tmp_path: Path) -> None:
        run_benchmark(experiment(tmp_path, Noting()), tmp_path / "out")
        row = next(row for row in rows(tmp_path / "out" / "flat.jsonl")[1:] if row["question_id"] == "q4_abs")
        assert not any("@" in name for name in row)

    def test_an_answer_from_the_older_evidence_is_stale(self, tmp_path: Path) -> None:
        class First:
            def __init__(self, turn: str) -> None:
                self.turn = turn

            def answer(self, question: str, retrieval: Retrieval, turns: Any) -> Answer:
                return Answer("x", turns=tuple(turn.id for turn in turns if turn.source_id == self.turn))

        for turn, expected in (("s1:1", True), ("s2:1", False), ("s2:2", None)):
            run_benchmark(experiment(tmp_path, First(turn)), tmp_path / turn.replace(":", ""))
            row = rows(tmp_path / turn.replace(":", "") / "flat.jsonl")[1]
            assert (row["question_id"], row["stale"]) == ("q1", expected)

    def test_rows_stand_in_the_order_of_the_questions_however_they_finish(self, tmp_path: Path) -> None:
        run_benchmark(experiment(tmp_path, Noting(), parallel=4), tmp_path / "out")
        assert [row["question_id"] for row in rows(tmp_path / "out" / "flat.jsonl")[1:]] == [one[0] for one in ASKED]

    def test_our_run_file_is_read_back_as_it_was_written(self, tmp_path: Path) -> None:
        (run,) = run_benchmark(experiment(tmp_path, Noting()), tmp_path / "out")
        shown: Any = show(read_run(str(run["file"])))
        assert (run["n"], run["errored"], shown["n"], shown["problems"]) == (4, 0, 4, [])
        assert shown["overall"]["fraction@5"] == shown["overall"]["fraction@5"] | {"n": 3, "mean": 1.0}


class TestConditions:
    def test_no_memory_and_full_context(self, tmp_path: Path) -> None:
        reader = EmbeddedReader(LetterEmbedder(), floor=0.0)
        run_benchmark(experiment(tmp_path, reader, conditions=("none", "full")), tmp_path / "out")
        none, full = (rows(tmp_path / "out" / f"{name}.jsonl")[1:] for name in ("none", "full"))
        assert {row["predicted"] for row in none} == {"Not mentioned."}
        assert {row["context_tokens"] for row in none} == {0}
        assert len({row["context_tokens"] for row in full}) == 1
        assert not any("fraction@5" in row for row in none + full)

    def test_without_memory_a_model_is_asked_without_memory(self, tmp_path: Path) -> None:
        llm = Scripted({"": "Porto [1]"})
        run_benchmark(experiment(tmp_path, LLMReader(llm), conditions=("none",)), tmp_path / "out")
        assert {"memory-" in call.user for call in llm.asked} == {False}
        assert "You have no memory" in llm.asked[0].system

    def test_full_context_brings_the_newest_turns_first_and_all_that_fit(self, tmp_path: Path) -> None:
        llm = Scripted({"": "x"})
        run_benchmark(experiment(tmp_path, LLMReader(llm, budget=1), conditions=("full",)), tmp_path / "out")
        assert llm.asked[0].user.index("Likes tea") < llm.asked[0].user.index("Porto")

    def test_an_unknown_condition_is_refused_before_anything_is_built(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no condition tarot"):
            run_benchmark(experiment(tmp_path, Noting(), conditions=("tarot",)), tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_the_judge_is_told_the_type_and_what_cannot_be_answered(self, tmp_path: Path) -> None:
        llm = Scripted({"": "Yes."})
        run_benchmark(experiment(tmp_path, Noting(), judge=Judge(llm)), tmp_path / "out")
        said = "\n".join(call.system + call.user for call in llm.asked)
        assert "updated answer is the one" in said
        assert "Rubric" in said
        assert sum("Does the response recognise" in call.user for call in llm.asked) == 1
        assert {row["judge_correct"] for row in rows(tmp_path / "out" / "flat.jsonl")[1:]} == {1}

    def test_an_unreadable_verdict_is_unjudged(self, tmp_path: Path) -> None:
        run_benchmark(experiment(tmp_path, Noting(), judge=Judge(Scripted({"": "Hm."}))), tmp_path / "out")
        shown: Any = show(read_run(tmp_path / "out" / "flat.jsonl"))
        assert (shown["n"], shown["unjudged"], shown["overall"]["judge_correct"]["n"]) == (4, 4, 0)


class TestResume:
    def test_a_stopped_run_goes_on_and_asks_nothing_twice(self, tmp_path: Path) -> None:
        reader = Noting()

        def stop_after(count: int) -> Callable[[str], None]:
            left = [count]

            def advance(message: str) -> None:
                left[0] -= 1
                if not left[0]:
                    raise Cancelled("stopped")

            return advance

        with pytest.raises(Cancelled):
            run_benchmark(experiment(tmp_path, reader), tmp_path / "out", asking=stop_after(2))
        kept = [row["question_id"] for row in rows(tmp_path / "out" / "flat.jsonl")[1:]]
        assert len(kept) == 2
        again = Noting()
        run_benchmark(experiment(tmp_path, again), tmp_path / "out", resume=True)
        assert sorted(again.asked) == sorted(text for id, text, *_ in ASKED if id not in kept)
        assert len(rows(tmp_path / "out" / "flat.jsonl")) == 5

    def test_a_finished_run_asks_nothing_on_resume(self, tmp_path: Path) -> None:
        run_benchmark(experiment(tmp_path, Noting()), tmp_path / "out")
        again = Noting()
        (run,) = run_benchmark(experiment(tmp_path, again), tmp_path / "out", resume=True)
        assert (again.asked, run["n"]) == ([], 4)

    def test_pro_12_an_errored_question_is_recorded_and_asked_again(self, tmp_path: Path) -> None:
        failing = frozenset({"What did the Bike cost?"})
        (run,) = run_benchmark(experiment(tmp_path, Noting(failing)), tmp_path / "out")
        assert (run["n"], run["errored"]) == (3, 1)
        shown: Any = show(read_run(tmp_path / "out" / "flat.jsonl"))
        assert (shown["n"], shown["errored"]) == (3, 1)
        again = Noting()
        (run,) = run_benchmark(experiment(tmp_path, again), tmp_path / "out", resume=True)
        assert (again.asked, run["n"], run["errored"]) == (["What did the Bike cost?"], 4, 0)
        shown = show(read_run(tmp_path / "out" / "flat.jsonl"))
        assert (shown["n"], shown["questions"], shown["errored"], shown["retried"]) == (4, 4, 1, 1)

    def test_a_last_row_that_was_cut_is_asked_again(self, tmp_path: Path) -> None:
        run_benchmark(experiment(tmp_path, Noting()), tmp_path / "out")
        file = tmp_path / "out" / "flat.jsonl"
        file.write_bytes(file.read_bytes()[:-40])
        again = Noting()
        run_benchmark(experiment(tmp_path, again), tmp_path / "out", resume=True)
        assert again.asked == ["What is the name of the Dog?"]

    def test_a_run_is_neither_overwritten_nor_mixed_with_another_setting(self, tmp_path: Path) -> None:
        run_benchmark(experiment(tmp_path, Noting()), tmp_path / "out")
        with pytest.raises(InputError, match="exists: add --resume"):
            run_benchmark(experiment(tmp_path, Noting()), tmp_path / "out")
        with pytest.raises(InputError, match="was made with seed 42, now it is 3"):
            run_benchmark(experiment(tmp_path, Noting(), seed=3), tmp_path / "out", resume=True)

    def test_a_server_that_stays_away_ends_the_run_with_what_was_done_kept(self, tmp_path: Path) -> None:
        failing = frozenset(text for _, text, *_ in ASKED)
        made = experiment(tmp_path, Noting(failing), conditions=("flat", "bm25", "graph"))
        with pytest.raises(ProviderError, match="10 questions in a row failed"):
            run_benchmark(made, tmp_path / "out")
        assert len(rows(tmp_path / "out" / "flat.jsonl")) == 5

    def test_a_damaged_run_file_is_named_by_line(self, tmp_path: Path) -> None:
        (tmp_path / "run.jsonl").write_text('{"run": {}}\n{broken\n{"question_id": "q"}\n', encoding="utf-8")
        with pytest.raises(InputError, match="line 2 is not JSON"):
            RunFile.open(tmp_path / "run.jsonl", {}, resume=True)


class TestParallel:
    def test_at_most_so_many_questions_are_read_at_once(self, tmp_path: Path) -> None:
        reader = Noting(wait=threading.Event())
        run_benchmark(experiment(tmp_path, reader, parallel=2, conditions=("flat", "bm25")), tmp_path / "out")
        assert reader.most == 2
        assert len(reader.asked) == 8


class TestPooled:
    def test_one_memory_in_file_order_is_asked_everything(self, tmp_path: Path) -> None:
        pooled = load_benchmark(haystacks(tmp_path), pooled=True, in_file_order=True)
        assert [turn.source_id for turn in pooled.conversations[0].turns] == ["ax:0", "ax:1", "ay:0", "ay:1"]
        by_date = load_benchmark(haystacks(tmp_path), pooled=True)
        assert [turn.source_id for turn in by_date.conversations[0].turns] == ["ay:0", "ay:1", "ax:0", "ax:1"]
        made = experiment(tmp_path, Noting(), benchmark=pooled, pooled=True, conditions=("graph", "flat"))
        run_benchmark(made, tmp_path / "out")
        run = read_run(tmp_path / "out" / "graph.jsonl")
        assert (run.meta["experiment"], [row.metrics["recall_all@5"] for row in run.rows]) == (2, [1.0, 1.0])
        assert run.meta["growth"][-1]["turns"] == 4  # type: ignore[index]
        assert [row.metrics["longmemeval_recall_any@5"] for row in run.rows] == [1.0, 1.0]

    def test_a_fresh_memory_a_question_knows_only_its_own_haystack(self, tmp_path: Path) -> None:
        alone = load_benchmark(haystacks(tmp_path))
        run_benchmark(experiment(tmp_path, Noting(), benchmark=alone), tmp_path / "out")
        assert [row["memory"]["turns"] for row in rows(tmp_path / "out" / "flat.jsonl")[1:]] == [2, 2]


class TestGrowth:
    def test_what_lives_after_each_number_of_turns_is_read_back(self) -> None:
        with Memory.open(":memory:", embedder=LetterEmbedder(), extractor=SpelledExtractor()) as memory:
            for _, text, day in TURNS:
                memory.say(text, at=day)
            assert [(row["turns"], row["nodes"], row["edges"]) for row in growth(memory)] == [
                (1, 2, 1), (2, 3, 1), (3, 4, 2), (4, 5, 2),
            ]  # fmt: skip
            bike = memory.graph.ids[memory.graph.titles.index("Bike")]
            memory.delete(bike, at=utc("2024-08-01"))
            memory.apply(memory.plan(make("fifo"), keep=3))
            last = growth(memory)[-1]
            assert (last["nodes"], last["bytes"]) == (memory.graph.node_count, int(memory.sizes().nodes[
                memory.graph.live_rows()].sum() + memory.sizes().edges[memory.graph.live_edges()].sum()))  # fmt: skip


class TestForgetting:
    def test_every_way_to_forget_is_a_run_of_its_own_and_keeps_as_many_nodes(self, tmp_path: Path) -> None:
        ways = forgets("none,once,random:2,lfu,every:2", keep=[0.6])
        made = experiment(tmp_path, Noting(), conditions=("graph", "flat"), forgets=ways)
        found = run_benchmark(made, tmp_path / "out")
        assert [(run["condition"], run["forget"]) for run in found] == [
            ("graph", "none"), ("flat", "none"), ("graph", "once-60"), ("graph", "random-60-1"),
            ("graph", "random-60-2"), ("graph", "lfu-60"), ("graph", "every-2"),
        ]  # fmt: skip
        nodes = {run["forget"]: rows(Path(str(run["file"])))[1]["memory"]["nodes"] for run in found[2:]}
        whole = rows(tmp_path / "out" / "graph.jsonl")[1]["memory"]["nodes"]
        assert [nodes[f"{name}-60{draw}"] for name, draw in (("once", ""), ("random", "-2"), ("lfu", ""))] == [
            round(0.6 * whole)
        ] * 3

    def test_the_shared_memory_stays_as_it_was(self, tmp_path: Path) -> None:
        made = experiment(tmp_path, Noting(), conditions=("graph",), forgets=forgets("lru,none", keep=[0.4]))
        run_benchmark(made, tmp_path / "out")
        kept, whole = (
            rows(tmp_path / "out" / f"{name}.jsonl")[1]["memory"]["nodes"] for name in ("graph-lru-40", "graph")
        )
        assert kept < whole

    def test_turns_that_leave_with_their_nodes_change_the_flat_baseline_too(self, tmp_path: Path) -> None:
        ways = forgets("once", keep=[0.01], turns="with_nodes")
        (run,) = run_benchmark(experiment(tmp_path, Noting(), forgets=ways), tmp_path / "out")
        assert run["forget"] == "once-1-turns"
        assert rows(Path(str(run["file"])))[1]["memory"]["turns"] < 4

    @pytest.mark.parametrize(("text", "said"), [("sometimes", "sometimes"), ("every:0", "every:0"), ("", "")])
    def test_an_unknown_way_is_refused(self, text: str, said: str) -> None:
        with pytest.raises(InputError, match=f"no way to forget called {said}"):
            forgets(text)

    def test_a_share_must_be_one(self) -> None:
        with pytest.raises(InputError, match="share of nodes kept"):
            forgets("once", keep=[0.5, 1.5])


class TestExtractions:
    turn = Turn("user", "Person:Mira -lives_in-> Location:Porto", utc("2024-01-01"), "User")

    def test_a_turn_is_read_once_and_comes_back_equal(self, tmp_path: Path) -> None:
        first = KeptExtractor(SpelledExtractor(), tmp_path / "kept.sqlite3")
        made = first.extract(self.turn)
        first.close()
        again = KeptExtractor(SpelledExtractor(fails=True), tmp_path / "kept.sqlite3")
        assert again.extract(self.turn) == made
        assert again.missing([self.turn]) == []

    def test_a_failed_extraction_is_not_kept(self, tmp_path: Path) -> None:
        KeptExtractor(SpelledExtractor(fails=True), tmp_path / "kept.sqlite3").extract(self.turn)
        assert KeptExtractor(SpelledExtractor(), tmp_path / "kept.sqlite3").extract(self.turn).status == "ok"

    def test_conditions_and_ways_to_forget_share_one_extraction(self, tmp_path: Path) -> None:
        class Counting(SpelledExtractor):
            calls: list[str] = []  # noqa: RUF012

            def extract(self, turn: Turn) -> Extraction:
                self.calls.append(turn.text)
                return super().extract(turn)

        kept = KeptExtractor(Counting(), tmp_path / "kept.sqlite3")
        made = experiment(tmp_path, Noting(), extractor=kept, conditions=("graph", "flat", "bm25"),
                          forgets=forgets("none,every:2,once"))  # fmt: skip
        run_benchmark(made, tmp_path / "out")
        assert sorted(Counting.calls) == sorted(text for _, text, _ in TURNS)

    def test_a_server_that_stays_away_is_told_at_once(self, tmp_path: Path) -> None:
        turns = [replace(self.turn, text=f"turn {number}") for number in range(12)]
        with pytest.raises(ProviderError, match="10 turns in a row could not be read: the server is down"):
            KeptExtractor(SpelledExtractor(fails=True), tmp_path / "kept.sqlite3").fill(turns, 1, lambda message: None)


class TestSpending:
    def test_tokens_are_counted_wherever_a_call_comes_from(self, tmp_path: Path) -> None:
        spent = Spent()
        llm = Counted(Scripted({"": "yes"}, model="openai/gpt-4o-mini"), spent)
        made = experiment(tmp_path, LLMReader(llm), judge=Judge(llm), spent=spent)
        expected = estimate(made)
        run_benchmark(made, tmp_path / "out")
        (tokens,) = spent.tokens.values()
        (ceiling,) = expected.tokens.values()
        assert 0 < tokens[0] < ceiling[0]
        assert tokens[1] == 8 < ceiling[1]  # four answers and four verdicts of one word
        assert spent.dollars is not None
        assert expected.dollars is not None
        assert 0 < spent.dollars < expected.dollars
        header = rows(tmp_path / "out" / "flat.jsonl")[0]["run"]
        assert header["spent"]["session"]["dollars"] == spent.dollars

    def test_an_unpriced_model_has_no_price_rather_than_none_to_pay(self) -> None:
        spent = Spent()
        spent.add("smollm2", 10, 10)
        assert (spent.dollars, str(spent)) == (None, "10 tokens in, 10 out")

    def test_turns_that_are_kept_cost_nothing_in_the_estimate(self, tmp_path: Path) -> None:
        extractor = LLMExtractor(Scripted({"": '{"nodes": [], "edges": []}'}, model="gpt-4o-mini"))
        made = experiment(tmp_path, Noting(), extractor=KeptExtractor(extractor, tmp_path / "kept.sqlite3"))
        before = estimate(made).tokens["gpt-4o-mini"]
        run_benchmark(made, tmp_path / "out")
        assert before[0] > estimate(made).tokens["gpt-4o-mini"][0] == 0


class TestCommand:
    def test_no_llm_runs_from_the_command_line_and_resumes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FORGETTING_LAB_CACHE", str(tmp_path / "cache"))
        asked = [str(ours(tmp_path)), "--conditions", "flat,none", "--no-llm", "--out", str(tmp_path / "out"),
                 "--limit", "2", "--parallel", "1"]  # fmt: skip
        found = run_command(asked)
        assert [(run["condition"], run["n"], run["errored"]) for run in found["runs"]] == [
            ("flat", 2, 0),
            ("none", 2, 0),
        ]
        assert run_command([*asked, "--resume"])["runs"] == found["runs"]

    def test_no_llm_contradicts_a_reader(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="contradict"):
            run_command([str(ours(tmp_path)), "--no-llm", "--reader", "openai", "--out", str(tmp_path)])

    def test_a_remembered_vector_is_the_embedders_own(self) -> None:
        plain, kept = LetterEmbedder(), Remembering(LetterEmbedder(), most=3)
        for texts in (["a", "b", "a"], ["c", "d"], ["a"], []):
            assert kept.embed(texts).tolist() == plain.embed(texts).tolist()
        assert kept.id == "letters"

    def test_what_is_remembered_may_be_dropped_by_another_reader_meanwhile(self) -> None:
        class Meanwhile(LetterEmbedder):
            def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
                if "late" in texts:
                    kept.embed(["x", "y", "z"])  # another reader fills the little that is kept
                return super().embed(texts, kind)

        kept = Remembering(Meanwhile(), most=3)
        kept.embed(["early"])
        assert kept.embed(["early", "late"]).tolist() == LetterEmbedder().embed(["early", "late"]).tolist()


class TestNumbers:
    def test_a_run_without_its_texts_has_the_same_figures_and_no_word_of_the_data(self, tmp_path: Path) -> None:
        made = experiment(tmp_path, Noting(frozenset({"What did the Bike cost?"})), conditions=("flat",))
        run_benchmark(made, tmp_path / "out")
        file = tmp_path / "out" / "flat.jsonl"
        (bare,) = numbers_command([str(file), "--out", str(tmp_path / "bare"), "--prefix", "our-"])["files"]
        assert Path(bare).name == "our-flat.jsonl"
        full, less = (cast(dict[str, Any], show(read_run(path))) for path in (file, bare))
        assert (less["n"], less["errored"]) == (full["n"], full["errored"]) == (3, 1)
        for metric, figure in full["overall"].items():
            assert less["overall"][metric]["mean"] == pytest.approx(figure["mean"], abs=1e-6)
        text = Path(bare).read_text(encoding="utf-8")
        assert not any(words in text for words in ("Porto", "Bike", "s1:1", "does not answer"))
        (packed,) = numbers_command([str(file), "--out", str(tmp_path / "bare"), "--prefix", "our-", "--gzip"])["files"]
        assert read_run(packed) == read_run(bare)
        with pytest.raises(InputError, match="exists"):
            numbers_command([str(file), "--out", str(tmp_path / "bare"), "--prefix", "our-"])
