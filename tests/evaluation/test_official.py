"""The data sets' own scores, worked by hand from their published code, under names of their own."""

from __future__ import annotations

from math import log2

import pytest

from memory_core.evaluation import metrics
from memory_core.evaluation.official import (
    locomo_f1,
    locomo_recall,
    longmemeval_accuracy,
    longmemeval_retrieval,
)


class TestLocomo:
    def test_words_are_stemmed_and_joined_by_nothing(self) -> None:
        assert locomo_f1("She has been running, and swims", "runs and swimming", "single-hop") == pytest.approx(
            2 * 2 / (5 + 2)
        )

    def test_each_of_several_answers_takes_its_best_match(self) -> None:
        assert locomo_f1("pottery, camping", "camping, pottery, painting", "multi-hop") == pytest.approx(2 / 3)
        assert locomo_f1("pottery, camping", "camping, pottery, painting", "single-hop") == pytest.approx(4 / 5)

    def test_a_remark_after_the_semicolon_is_no_answer(self) -> None:
        assert locomo_f1("yes", "Yes; because she likes it", "open-domain") == 1
        assert locomo_f1("yes", "Yes; because she likes it", "temporal") < 1

    @pytest.mark.parametrize(
        ("said", "score"), [("Not mentioned.", 1), ("No information available", 1), ("Unknown", 0), ("A trip", 0)]
    )
    def test_adversarial_wants_the_words_that_nothing_is_known(self, said: str, score: int) -> None:
        assert locomo_f1(said, "A trip", "adversarial") == score

    def test_nothing_said_is_0_and_no_evidence_is_recalled(self) -> None:
        assert locomo_f1("", "Porto", "temporal") == 0
        assert locomo_recall(["D1:1"], []) == 1
        assert locomo_recall(["D1:1", "D2:1"], ["D1:1", "D3:1"]) == 0.5


class TestLongMemEval:
    turns = ("a:0", "a:1", "b:0", "c:0")
    users = ("a:0", "b:0", "c:0")

    def test_only_user_turns_count(self) -> None:
        figures = longmemeval_retrieval(["a:1", "b:0", "a:0"], ["a:0", "a:1"], self.users, [1, 2])
        assert (figures["longmemeval_recall_any@1"], figures["longmemeval_recall_any@2"]) == (0, 1)
        assert longmemeval_retrieval(["a:1"], ["a:1"], self.users) == {}

    def test_its_gain_discounts_from_the_third_place_on_ours_from_the_second(self) -> None:
        figures = longmemeval_retrieval(["b:0", "a:0"], ["a:0"], self.users, [5])
        assert figures["longmemeval_ndcg_any@5"] == 1
        assert metrics.ndcg(["b:0", "a:0"], ["a:0"], 5) == pytest.approx(1 / log2(3))
        third = longmemeval_retrieval(["b:0", "c:0", "a:0"], ["a:0"], self.users, [5])
        assert third["longmemeval_ndcg_any@5"] == pytest.approx(1 / log2(3))

    def test_sessions_are_counted_until_k_of_them_are_there(self) -> None:
        users = ("a:0", "a:2", "a:4", "b:0")
        figures = longmemeval_retrieval(["a:0", "a:2", "a:4", "b:0"], ["b:0"], users, [2])
        assert figures["longmemeval_recall_any@2"] == 0
        assert figures["longmemeval_session_recall_any@2"] == 1

    def test_accuracy_by_type_and_on_abstention(self) -> None:
        verdicts = [("q1", "a", True), ("q2", "a", True), ("q3", "a", False), ("q4_abs", "b", False)]
        found = longmemeval_accuracy(verdicts)
        assert found == {"overall": 0.5, "task_averaged": pytest.approx(1 / 3), "abstention": 0}
        assert longmemeval_accuracy([]) == {"overall": None, "task_averaged": None, "abstention": None}
