"""Answers and rankings are worth what a calculation by hand says."""

from __future__ import annotations

from collections.abc import Callable
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.evaluation.metrics import (
    TokenScores,
    abstains,
    answer_length,
    fraction,
    ndcg,
    provenance_precision,
    recall_all,
    recall_any,
    token_scores,
)

names = st.sampled_from("abcdefgh")
rankings = st.lists(names, max_size=8)
evidences = st.lists(names, min_size=1, max_size=4)


class TestTokens:
    @pytest.mark.parametrize(("prediction", "gold"), [("", "blue"), ("blue", ""), ("...", "blue"), (None, "blue")])
    def test_met_14_one_side_empty_is_0(self, prediction: str | None, gold: str) -> None:
        assert token_scores(prediction, gold) == TokenScores(0, 0, 0)

    @pytest.mark.parametrize(("prediction", "gold"), [("", ""), ("the", "..."), (None, "")])
    def test_met_14_both_empty_is_1_by_convention(self, prediction: str | None, gold: str) -> None:
        assert token_scores(prediction, gold) == TokenScores(1, 1, 1)

    def test_met_18_a_long_answer_has_low_precision_and_its_length_is_known(self) -> None:
        prediction = "You mentioned that you would like to play the hidden-role party game, which was Mafia."
        scores = token_scores(prediction, "Mafia")
        assert (round(scores.precision, 4), scores.recall, round(scores.f1, 4)) == (0.0714, 1.0, 0.1333)
        assert answer_length(prediction) == 15

    def test_met_19_a_date_written_otherwise_counts_by_its_words_only(self) -> None:
        predictions = ("May 7, 2023", "2023-05-07", "8 May 2023")
        assert [round(token_scores(text, "7 May 2023").f1, 4) for text in predictions] == [1.0, 0.0, 0.6667]

    def test_repeated_words_overlap_as_often_as_both_have_them(self) -> None:
        assert token_scores("la la land", "la land land") == TokenScores(2 / 3, 2 / 3, 2 / 3)

    def test_a_number_as_gold_is_its_digits(self) -> None:
        assert token_scores("3 skis", 3) == TokenScores(0.5, 1.0, 2 / 3)

    @given(st.text(), st.text())
    def test_f1_lies_between_precision_and_recall_and_does_not_mind_the_order(self, a: str, b: str) -> None:
        there, back = token_scores(a, b), token_scores(b, a)
        assert 0 <= min(there.precision, there.recall) <= there.f1 + 1e-12
        assert there.f1 <= max(there.precision, there.recall) + 1e-12 <= 1 + 1e-9
        assert there == TokenScores(back.recall, back.precision, back.f1)


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("Not mentioned", True),
        ("No information available.", True),
        ("I don’t know", True),
        ("That is not in memory.", True),
        ("", True),
        (None, True),
        ("Blue", False),
        ("He is known for his maps", False),
    ],
)
def test_met_16_an_answer_that_says_it_has_none_is_known(text: str | None, refuses: bool) -> None:
    assert abstains(text) is refuses


class TestEvidence:
    ranking = ("a", "b", "c", "d")

    def test_hand_values(self) -> None:
        evidence = ("b", "d", "x")
        assert [recall_any(self.ranking, evidence, k) for k in (1, 2)] == [0, 1]
        assert [fraction(self.ranking, evidence, k) for k in (1, 2, 4)] == [0, 1 / 3, 2 / 3]
        assert [recall_all(self.ranking, ("b", "d"), k) for k in (3, 4)] == [0, 1]
        assert provenance_precision(self.ranking, evidence) == 0.5
        ideal = 1 + 1 / log2(3) + 1 / 2
        assert ndcg(self.ranking, evidence, 10) == pytest.approx((1 / log2(3) + 1 / log2(5)) / ideal)

    def test_a_turn_brought_twice_counts_once_and_takes_one_place(self) -> None:
        assert fraction(("a", "a", "b"), ("b",), 2) == 1
        assert ndcg(("a", "a", "b"), ("a", "b"), 2) == 1
        assert provenance_precision(("a", "a", "b"), ("a",)) == 0.5

    def test_nothing_brought_is_0(self) -> None:
        assert provenance_precision((), ("a",)) == recall_any((), ("a",), 5) == ndcg((), ("a",), 5) == 0

    @pytest.mark.parametrize(
        "metric", [recall_any, recall_all, fraction, ndcg, lambda r, e, k: provenance_precision(r, e)]
    )
    def test_a_question_without_evidence_is_refused(self, metric: Callable[..., float]) -> None:
        with pytest.raises(ValueError, match="without evidence"):
            metric(self.ranking, (), 5)

    def test_k_must_be_positive(self) -> None:
        with pytest.raises(ValueError, match="k is 0"):
            fraction(self.ranking, ("a",), 0)

    @given(rankings, evidences, st.integers(1, 8))
    def test_all_is_at_most_fraction_at_most_any(self, ranking: list[str], evidence: list[str], k: int) -> None:
        share = fraction(ranking, evidence, k)
        assert recall_all(ranking, evidence, k) <= share <= recall_any(ranking, evidence, k)

    @given(rankings, evidences, st.integers(1, 7))
    def test_looking_further_never_loses_evidence(self, ranking: list[str], evidence: list[str], k: int) -> None:
        for metric in (recall_any, recall_all, fraction):
            assert metric(ranking, evidence, k) <= metric(ranking, evidence, k + 1)

    @given(rankings, evidences, st.integers(1, 8))
    def test_ndcg_is_1_exactly_when_evidence_fills_the_first_places(
        self, ranking: list[str], evidence: list[str], k: int
    ) -> None:
        order, wanted = list(dict.fromkeys(ranking)), set(evidence)
        ideal = set(order[: min(k, len(wanted))]) <= wanted and len(order) >= min(k, len(wanted))
        assert (ndcg(ranking, evidence, k) == pytest.approx(1)) == ideal
