"""Runs from anywhere are read alike, a question counts once, and an error is neither a zero nor forgotten."""

from __future__ import annotations

import json
import math
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.errors import FormatError
from memory_core.evaluation.results import Run, compare, read_run, show
from memory_core.evaluation.results.reading import Row


def jsonl(*rows: object) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def row(id: str, f1: float | None = None, judge: object = None, **more: object) -> dict[str, object]:
    scores = {} if f1 is None else {"f1": f1, "precision": f1, "recall": f1}
    return {"question_id": id, "question_type": "temporal", **scores, "judge_correct": judge, **more}


def figures(run: Run) -> dict[str, Any]:
    return cast(dict[str, Any], show(run))


def difference(a: Run, b: Run) -> dict[str, Any]:
    return cast(dict[str, Any], compare(a, b))


class TestReading:
    rows = (row("q1", 0.5, 1, predicted="blue"), row("q2", 1.0, 0, predicted="red"))

    def test_every_form_of_a_run_gives_the_same_rows(self) -> None:
        plain = read_run(jsonl(*self.rows))
        header = read_run(jsonl({"run": {"reader": "r"}}, *self.rows))
        authors = read_run(json.dumps({"summary": {"n": 2}, "questions": self.rows}).encode())
        listed = read_run(json.dumps(self.rows).encode())
        table = "question_id,question_type,f1,precision,recall,judge_correct,predicted\n"
        csv = read_run((table + "q1,temporal,.5,.5,.5,1,blue\r\nq2,temporal,1,1,1,0,red\r\n").encode())
        assert plain.rows == header.rows == authors.rows == listed.rows == csv.rows
        assert (header.meta, authors.meta) == ({"reader": "r"}, {"summary": {"n": 2}})
        assert [(r.id, r.judge, r.metrics["f1"]) for r in plain.rows] == [("q1", True, 0.5), ("q2", False, 1.0)]

    def test_imp_19_a_line_break_in_a_quoted_field_is_part_of_it(self) -> None:
        run = read_run(b'question_id,prediction,f1\nq1,"line one\nline two, with comma",0.5\nq2,ok,1.0\n')
        assert [(r.predicted, r.metrics["f1"]) for r in run.rows] == [
            ("line one\nline two, with comma", 0.5),
            ("ok", 1.0),
        ]

    def test_columns_of_other_names_are_mapped(self) -> None:
        run = read_run(b"item,score\nq1,0.25\n", {"question_id": "item", "f1": "score"})
        assert (run.rows[0].id, run.rows[0].metrics) == ("q1", {"f1": 0.25})

    def test_a_longmemeval_judge_log_is_read(self) -> None:
        run = read_run(
            jsonl({"question_id": "q1", "hypothesis": "blue", "autoeval_label": {"model": "m", "label": True}})
        )
        assert (run.rows[0].predicted, run.rows[0].judge) == ("blue", True)

    def test_a_judges_words_are_read_strictly(self) -> None:
        run = read_run(jsonl(row("q1", judge="INCORRECT"), row("q2", judge="hm"), row("q3", judge=True)))
        assert [r.judge for r in run.rows] == [False, None, True]
        assert run.problems == ("line 2 (q2): the verdict 'hm' cannot be read; unjudged.",)

    @pytest.mark.parametrize("value", ["NaN", "Infinity", "28.5", '"high"', "-0.1", "[1]"])
    def test_a_metric_that_is_no_number_from_0_to_1_is_left_out_and_named(self, value: str) -> None:
        run = read_run(f'{{"question_id": "q1", "f1": {value}, "recall": 0.5}}'.encode())
        assert run.rows[0].metrics == {"recall": 0.5}
        assert run.problems[0].startswith("line 1 (q1): f1 is")

    def test_a_bad_line_is_named_and_the_others_stay(self) -> None:
        run = read_run(jsonl(row("q1", 1.0), {"f1": 1.0}, [1]) + b"\n{cut")
        assert [r.id for r in run.rows] == ["q1"]
        assert [problem.partition(":")[0] for problem in run.problems] == ["line 4", "line 2", "line 3"]

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"", "is empty"),
            (b"[]", "holds no results"),
            (b'{"run": {}}', "holds no results"),
            (b'{"run": {"version": 99}}\n{"question_id": "q"}', "version 99"),
            (b"name,score\nq1,1\n", "no column question_id"),
            (b"question_id,f1\n", "holds no results"),
            ("question_id,f1,predicted\nq1,1,café\n".encode("latin-1"), r"not UTF-8 text \(line 2\)"),
        ],
    )
    def test_what_is_no_run_is_refused_with_its_reason(self, data: bytes, reason: str) -> None:
        with pytest.raises(FormatError, match=reason):
            read_run(data)

    def test_a_csv_row_with_other_fields_than_the_header_is_named(self) -> None:
        run = read_run(b"question_id,f1\nq1,0.5\nq2,0.5,extra\nq3\n")
        assert [r.id for r in run.rows] == ["q1"]
        assert [problem.partition(":")[0] for problem in run.problems] == ["line 3", "line 4"]

    def test_a_csv_field_of_200_kb_is_read_whole(self) -> None:
        assert read_run(b"question_id,predicted\nq1," + b"x" * 200_000 + b"\n").rows[0].words == 1

    @given(st.binary(max_size=200) | st.text(max_size=80).map(lambda text: f"question_id,f1\n{text}".encode()))
    def test_any_bytes_give_rows_or_a_clear_error(self, data: bytes) -> None:
        try:
            run = read_run(data)
        except FormatError:
            return
        json.dumps(show(run), allow_nan=False)


class TestOnce:
    def test_imp_17_of_repeated_answers_the_last_counts_and_conflicts_are_reported(self) -> None:
        run = read_run(jsonl(row("q1", 1.0), row("q2", 0.0), row("q1", 0.0), row("q3", 1.0)))
        shown = figures(run)
        assert (shown["n"], round(shown["overall"]["f1"]["mean"], 4)) == (3, 0.3333)
        assert shown["duplicates"] == {"ids": 1, "conflicting": 1}
        assert "1 of these have conflicting figures: q1." in shown["problems"]

    def test_an_errored_attempt_gives_way_to_the_answer_and_is_still_shown(self) -> None:
        failed = {"question_id": "q1", "question_type": "temporal", "error": "time out"}
        for rows in ((failed, row("q1", 1.0, 1)), (row("q1", 1.0, 1), failed)):
            shown = figures(read_run(jsonl(*rows)))
            assert (shown["n"], shown["errored"], shown["retried"]) == (1, 1, 1)
            assert shown["overall"]["f1"]["mean"] == shown["errors_as_wrong"]["f1"]["mean"] == 1


class TestShow:
    def test_met_10_errors_are_counted_and_both_denominators_given(self) -> None:
        data = jsonl(
            row("1", judge="yes"), row("2", judge="yes"), row("3", judge="no"), row("4", error="x"), row("5", error="y")
        )
        shown = figures(read_run(data))
        assert (shown["n"], shown["errored"], shown["unjudged"], shown["questions"]) == (3, 2, 0, 5)
        assert shown["overall"]["judge_correct"]["mean"] == pytest.approx(2 / 3)
        assert shown["errors_as_wrong"]["judge_correct"]["mean"] == pytest.approx(2 / 5)

    def test_met_16_refusing_everything_shows_by_type_and_by_its_rate(self) -> None:
        said = {"predicted": "Not mentioned"}
        traps = [{**row(f"a{n}", judge=1, **said), "question_type": "adversarial"} for n in range(21)]
        others = [{**row(f"o{n}", judge=0, **said), "question_type": "other"} for n in range(29)]
        shown = figures(read_run(jsonl(*traps, *others)))
        assert shown["overall"]["judge_correct"]["mean"] == pytest.approx(0.42)
        assert [shown["types"][name]["judge_correct"]["mean"] for name in ("adversarial", "other")] == [1, 0]
        assert [shown["types"][name]["n"] for name in ("adversarial", "other")] == [21, 29]
        assert shown["abstention"] == {"n": 50, "k": 50, "rate": 1.0}

    def test_met_07_wilson_stands_beside_the_bootstrap_for_the_judge(self) -> None:
        judged = figures(read_run(jsonl(*(row(str(n), judge=0) for n in range(50)))))["overall"]["judge_correct"]
        assert judged["ci"] == [0, 0]
        assert judged["wilson"] == [0, pytest.approx(0.0713, abs=1e-4)]

    def test_met_18_the_length_of_an_answer_is_known_for_each_row(self) -> None:
        run = read_run(jsonl(row("q1", predicted="You mentioned the game, which was Mafia."), row("q2")))
        assert [r.words for r in run.rows] == [7, 0]
        assert figures(run)["words"] == 7

    def test_a_missing_metric_and_an_unread_verdict_have_their_own_n(self) -> None:
        shown = figures(read_run(jsonl(row("q1", 1.0, 1), row("q2", None, "hm"), row("q3", 0.0))))
        assert (shown["n"], shown["unjudged"]) == (3, 2)
        assert (shown["overall"]["f1"]["n"], shown["overall"]["judge_correct"]["n"]) == (2, 1)

    def test_evidence_metrics_of_a_run_without_a_model_are_shown(self) -> None:
        shown = figures(read_run(jsonl({**row("q1"), "fraction@5": 0.5}, {**row("q2"), "fraction@5": 1.0})))
        assert shown["overall"]["fraction@5"]["mean"] == 0.75
        assert shown["overall"]["f1"] == {"n": 0, "mean": None, "sem": None, "ci": [None, None]}

    def test_all_errored_and_one_row_are_valid_json_without_nan(self) -> None:
        for rows in ([row("q1", error="x"), row("q2", error="x")], [row("q1", 1.0, 1)]):
            json.dumps(show(read_run(jsonl(*rows))), allow_nan=False)


class TestCompare:
    def test_a_minus_b_over_the_questions_both_answered(self) -> None:
        a = read_run(jsonl(row("q1", 1.0, 1), row("q2", 0.5, 0), row("q3", 1.0, 1), row("q5", error="x")))
        b = read_run(jsonl(row("q2", 0.0, 1), row("q1", 0.0, 1), row("q4", 1.0, 1), row("q5", 1.0, 1)))
        found = difference(a, b)
        assert (found["n"], found["dropped"]) == (2, 3)
        assert (found["only_a"], found["only_b"]) == (["q3"], ["q4", "q5"])
        assert (found["metrics"]["f1"]["diff"], found["metrics"]["judge_correct"]["diff"]) == (0.75, -0.5)
        assert found["metrics"]["f1"]["ci"] == [0.5, 1.0]
        assert found["metrics"]["f1"]["significant"] is True

    def test_runs_that_differ_in_more_than_memory_carry_a_warning(self) -> None:
        a, b = (read_run(jsonl({"run": {"reader": name, "judge": "j"}}, row("q1", 1.0))) for name in ("x", "y"))
        assert difference(a, b)["warnings"] == ["the runs differ in reader: x and y."]
        assert difference(a, a)["warnings"] == []

    def test_nothing_in_common_is_said_and_valid_json(self) -> None:
        found = difference(read_run(jsonl(row("q1", 1.0))), read_run(jsonl(row("q2", 1.0))))
        assert (found["n"], found["dropped"], found["metrics"]) == (0, 2, {})
        json.dumps(found, allow_nan=False)

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
    def test_a_run_does_not_differ_from_itself(self, values: list[float]) -> None:
        run = read_run(jsonl(*(row(str(n), value) for n, value in enumerate(values))))
        metric = difference(run, run)["metrics"]["f1"]
        assert (metric["diff"], metric["p"], metric["significant"]) == (0, 1, False)
        assert not math.isnan(metric["ci"][0])


def test_runs_that_begin_alike_are_told_apart() -> None:
    """The results page keeps figures by the digest: a file written anew under its name must not show the old ones."""
    one, same, other = (
        Run({}, tuple(Row(f"q{number}", metrics={"f1": last if number == 9 else 0.5}) for number in range(10)))
        for last in (0.25, 0.25, 0.75)
    )
    assert one.digest == same.digest
    assert one.digest != other.digest
