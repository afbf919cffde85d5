"""Intervals are those the papers print, the same for the same seed, and honest at the edges."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.evaluation.statistics import estimate, paired_difference, ratio_interval, wilson

shares = st.lists(st.floats(0, 1), min_size=1, max_size=30)


class TestEstimate:
    def test_hand_values(self) -> None:
        found = estimate([0, 0, 1, 1, 1])
        assert (found.n, found.mean) == (5, 0.6)
        assert found.sem == pytest.approx(math.sqrt(0.3 / 5))  # variance 1.2 / 4

    def test_nothing_to_average_is_undefined(self) -> None:
        found = estimate([])
        assert found.n == 0
        assert all(math.isnan(value) for value in (found.mean, found.sem, found.low, found.high))

    def test_one_value_has_no_standard_error(self) -> None:
        found = estimate([0.5])
        assert math.isnan(found.sem)
        assert (found.mean, found.low, found.high) == (0.5, 0.5, 0.5)

    @pytest.mark.parametrize("value", [math.nan, math.inf])
    def test_a_value_that_is_no_number_is_refused_by_place(self, value: float) -> None:
        with pytest.raises(ValueError, match="value 1 of 2"):
            estimate([0.0, value])

    def test_the_interval_is_that_of_the_normal_law_for_many_values(self) -> None:
        values = np.random.default_rng(0).normal(size=2000)
        found = estimate(values.tolist())
        assert found.low == pytest.approx(found.mean - 1.96 * found.sem, abs=0.002)
        assert found.high == pytest.approx(found.mean + 1.96 * found.sem, abs=0.002)

    @given(shares)
    def test_the_interval_holds_the_values_range_and_repeats_for_its_seed(self, values: list[float]) -> None:
        found = estimate(values, resamples=200)
        assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
        assert found.low == estimate(values, resamples=200).low

    def test_pieces_of_a_large_bootstrap_are_one_stream(self, monkeypatch: pytest.MonkeyPatch) -> None:
        values = np.random.default_rng(1).random(50).tolist()
        whole = estimate(values)
        monkeypatch.setattr("memory_core.evaluation.statistics._CHUNK", 64 * 50)
        assert estimate(values) == whole

    def test_ten_thousand_resamples_of_500_questions_take_under_a_second(self) -> None:
        values, taken = np.random.default_rng(0).random(500).tolist(), []
        for seed in range(3):  # the quickest of three
            began = time.process_time()
            estimate(values, seed=seed)
            taken.append(time.process_time() - began)
        assert min(taken) < 1


class TestWilson:
    @pytest.mark.parametrize(
        ("k", "n", "low", "high"), [(0, 50, 0.0, 0.0713), (50, 50, 0.9287, 1.0), (227, 500, 0.4109, 0.4978)]
    )
    def test_met_07_published_limits(self, k: int, n: int, low: float, high: float) -> None:
        assert wilson(k, n) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))

    def test_met_07_the_edges_are_exact(self) -> None:
        assert wilson(0, 50)[0] == 0
        assert wilson(50, 50)[1] == 1

    def test_met_06_no_trials_are_undefined_and_impossible_counts_refused(self) -> None:
        assert all(math.isnan(limit) for limit in wilson(0, 0))
        for k, n in ((2, 1), (-1, 5), (1, 0)):
            with pytest.raises(ValueError, match="impossible"):
                wilson(k, n)

    @given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
    def test_it_holds_the_share_and_mirrors(self, counts: tuple[int, int]) -> None:
        k, n = counts
        low, high = wilson(k, n)
        assert 0 <= low <= k / n <= high <= 1
        assert wilson(n - k, n) == (pytest.approx(1 - high), pytest.approx(1 - low))


class TestPairs:
    def test_pairs_are_by_id_and_what_one_side_lacks_is_said(self) -> None:
        found = paired_difference({"a": 1.0, "b": 0.5, "x": 9.0}, {"b": 0.0, "a": 0.0, "y": 7.0})
        assert (found.n, found.diff) == (2, 0.75)
        assert (found.only_a, found.only_b) == (("x",), ("y",))

    def test_no_shared_id_is_undefined(self) -> None:
        found = paired_difference({"a": 1.0}, {"b": 1.0})
        assert found.n == 0
        assert math.isnan(found.diff)
        assert not found.significant

    def test_equal_sides_differ_by_nothing(self) -> None:
        found = paired_difference({"a": 1.0, "b": 0.0}, {"a": 1.0, "b": 0.0})
        assert (found.diff, found.low, found.high, found.p, found.significant) == (0, 0, 0, 1, False)

    def test_a_difference_on_every_question_is_as_sure_as_the_resamples_can_tell(self) -> None:
        ids = [f"q{n}" for n in range(20)]
        found = paired_difference(dict.fromkeys(ids, 1.0), dict.fromkeys(ids, 0.0))
        assert found.significant
        assert found.p == 2 / 10_001

    def test_p_is_that_of_the_exact_bootstrap(self) -> None:
        # differences 1, 1, -1: a resample's mean is at most 0 when two of three draws are -1: 3 (1/3)^2 (2/3) + (1/3)^3
        found = paired_difference({"a": 1.0, "b": 1.0, "c": 0.0}, {"a": 0.0, "b": 0.0, "c": 1.0}, resamples=200_000)
        assert found.p == pytest.approx(2 * 7 / 27, abs=0.005)

    @given(st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1))
    def test_the_other_way_round_is_the_mirror_image(self, pairs: dict[str, tuple[float, float]]) -> None:
        ours, theirs = ({id: pair[side] for id, pair in pairs.items()} for side in (0, 1))
        there = paired_difference(ours, theirs, resamples=300)
        back = paired_difference(dict(reversed(theirs.items())), ours, resamples=300)
        assert (there.diff, there.low, there.high) == pytest.approx((-back.diff, -back.high, -back.low))
        assert there.p == back.p


class TestRatio:
    def test_a_ratio_of_sums_not_a_mean_of_ratios(self) -> None:
        low, high = ratio_interval([1, 0], [1, 3])  # resamples give 1/1, 1/4 (half of them) or 0/3
        assert (low, high) == (0, 1)

    def test_without_trials_it_is_undefined(self) -> None:
        assert all(math.isnan(limit) for limit in ratio_interval([0, 0], [0, 0]))

    def test_the_same_everywhere_has_no_width(self) -> None:
        assert ratio_interval([1, 2, 3], [2, 4, 6]) == (0.5, 0.5)
