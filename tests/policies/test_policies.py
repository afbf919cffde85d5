"""One contract for every policy in the folder, and each policy's hand values."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import policies
from memory_core.errors import InputError
from memory_core.policies.act_r import ActR
from memory_core.policies.budgeted import Budgeted
from memory_core.policies.ebbinghaus import Ebbinghaus
from memory_core.policies.generative_agents import GenerativeAgents
from memory_core.policies.importance import Importance
from memory_core.protocols import Policy, Said, ScoringView

EPOCH = datetime.fromtimestamp(0, UTC)
NAMES = sorted(policies.found())
DESIGNED = set(
    "importance budgeted lru lfu fifo degree random ebbinghaus act_r generative_agents fademem coverage".split()
)


def some_view(n: int, seed: int = 0, span_days: float = 900.0, most: int = 60) -> ScoringView:
    """A view with everything in it, drawn from a seed."""
    random = np.random.default_rng(seed)
    rows = random.integers(0, max(n, 1), 2 * n)
    elements = random.integers(0, max(n, 1), 3 * n)
    ends = random.integers(0, max(n, 1), (n, 2))
    said = Said(
        random.integers(0, max(n, 1), 3 * n), elements, ends, np.arange(n), random.integers(0, max(n, 1), n),
        np.arange(n) // 3, random.integers(1, 9, n), max(n, 1),
    )  # fmt: skip
    view = ScoringView.of(
        days=(random.random(n) * span_days).tolist(),
        accesses=random.integers(0, most + 1, n).tolist(),
        degree=random.integers(0, most + 1, n).tolist(),
        turns=5000,
        accessed=[(int(row), float(days)) for row, days in zip(rows, random.random(2 * n) * span_days, strict=True)],
        said=lambda: said,
    )
    return replace(
        view,
        similarity=random.random(n),
        poignancy=np.where(random.random(n) < 0.5, np.nan, random.random(n) * 10),
        turns_at_creation=random.integers(0, 5000, n),
    )


@pytest.fixture(params=NAMES)
def policy(request: pytest.FixtureRequest) -> Policy:
    return policies.make(request.param)


def test_every_policy_of_the_design_is_found() -> None:
    assert set(NAMES) >= DESIGNED


class TestEveryPolicy:
    def test_meets_the_protocol(self, policy: Policy) -> None:
        assert isinstance(policy, Policy)

    @pytest.mark.parametrize("n", [0, 1, 2, 50])
    def test_scores_are_finite_and_within_0_and_1_one_a_node(self, policy: Policy, n: int) -> None:
        score = policy.score(some_view(n), EPOCH).score
        assert score.shape == (n,)
        assert np.isfinite(score).all()
        assert ((score >= 0) & (score <= 1)).all()

    def test_parts_sum_to_the_score(self, policy: Policy) -> None:
        scores = policy.score(some_view(50), EPOCH)
        np.testing.assert_allclose(sum(scores.parts.values()), scores.score, atol=1e-9)

    def test_is_pure(self, policy: Policy) -> None:
        view = some_view(50)
        before = [np.array(getattr(view, field.name)) for field in fields(view) if field.name not in ("ids", "said")]
        first, second = policy.score(view, EPOCH).score, policy.score(view, EPOCH).score
        after = [np.array(getattr(view, field.name)) for field in fields(view) if field.name not in ("ids", "said")]
        np.testing.assert_array_equal(first, second)
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(old, new)

    @pytest.mark.filterwarnings("error::RuntimeWarning")
    @pytest.mark.parametrize("days", [0.0, -3650.0, 40_000.0])
    def test_stands_times_now_in_the_future_and_long_ago(self, policy: Policy, days: float) -> None:
        view = ScoringView.of(days=[days, 10.0], accesses=[3, 0], degree=[0, 0], accessed=[(0, days)])
        score = policy.score(view, EPOCH).score
        assert np.isfinite(score).all()
        assert ((score >= 0) & (score <= 1)).all()

    @pytest.mark.filterwarnings("error::RuntimeWarning")
    def test_stands_counts_of_zero_and_an_outlier(self, policy: Policy) -> None:
        for accesses, degree in (([0, 0, 0], [0, 0, 0]), ([1, 2, 1_000_000], [0, 1, 5000])):
            score = policy.score(ScoringView.of(days=[1, 2, 3], accesses=accesses, degree=degree), EPOCH).score
            assert ((score >= 0) & (score <= 1)).all()

    def test_every_parameter_is_a_slider_with_a_label(self, policy: Policy) -> None:
        for parameter in policies.parameters(policy):
            assert parameter.label
            assert parameter.choices or parameter.low <= parameter.default <= parameter.high  # type: ignore[operator]
            assert parameter.choices or parameter.low < parameter.high

    def test_every_end_of_every_slider_gives_scores(self, policy: Policy) -> None:
        name, view = policies.name_of(policy), some_view(30)
        for parameter in policies.parameters(policy):
            for value in parameter.choices or (parameter.low, parameter.high):
                score = policies.make(name, {parameter.name: value}).score(view, EPOCH).score
                assert ((score >= 0) & (score <= 1)).all(), (parameter.name, value)

    def test_says_formula_and_source_with_a_value_to_run(self, policy: Policy) -> None:
        text = type(policy).__doc__ or ""
        assert ">>>" in text
        assert len(text) > 200

    def test_is_fast(self, policy: Policy) -> None:
        """27,021 nodes within 10 ms on a quiet machine; the limit here leaves room for a busy one."""
        view = some_view(27_021)
        policy.score(view, EPOCH)
        taken = []
        for _ in range(5):
            started = time.process_time()
            policy.score(view, EPOCH)
            taken.append(time.process_time() - started)
        assert min(taken) < (2.5 if policies.name_of(policy) == "coverage" else 0.05)


class TestMaking:
    def test_unknown_names_list_the_known(self) -> None:
        with pytest.raises(InputError, match="no policy lsu: choose one of act_r"):
            policies.make("lsu")
        with pytest.raises(InputError, match="no parameter halflife: it has recency"):
            policies.make("importance", {"halflife": 3})
        with pytest.raises(InputError, match="it has none"):
            policies.make("lru", {"seed": 3})

    @pytest.mark.parametrize("value", ["many", "nan", "inf", "-1", "1e9"])
    def test_values_outside_their_range_are_refused(self, value: str) -> None:
        with pytest.raises(InputError, match="half_life"):
            policies.make("importance", {"half_life": value})

    def test_text_from_a_command_becomes_a_number_or_a_choice(self) -> None:
        assert policies.make("random", {"seed": "7"}) == policies.make("random", {"seed": 7})
        assert policies.values_of(policies.make("importance", {"turns_from": "access"}))["turns_from"] == "access"
        with pytest.raises(InputError, match="turns_from is birth; choose one of creation, access"):
            policies.make("importance", {"turns_from": "birth"})
        with pytest.raises(InputError, match="whole number"):
            policies.make("random", {"seed": 1.5})


def one(policy: Policy, **of: float) -> float:
    given = {"days": 0.0, "accesses": 0, "degree": 0, "turns": 0} | of
    return float(policy.score(ScoringView.of_one(**given), EPOCH).score[0])  # type: ignore[arg-type]


class TestImportance:
    """P1 3.6: .35 recency + .25 frequency + .20 centrality + .20 turns."""

    def test_hand_value(self) -> None:
        assert one(Importance(), days=90, turns=1000) == pytest.approx(0.275, abs=1e-12)  # .175 + 0 + 0 + .10

    def test_a_new_node_without_edges_scores_its_recency_and_turns(self) -> None:
        assert one(Importance()) == pytest.approx(0.55)

    def test_frequency_never_reaches_its_weight(self) -> None:
        parts = Importance().score(ScoringView.of(days=[0, 0], accesses=[3, 1]), EPOCH).parts
        np.testing.assert_allclose(parts["frequency"], 0.25 * np.log([4, 2]) / np.log(5))

    def test_two_immunities(self) -> None:
        """Degree 3 alone and 1,000 turns alone each hold a node above .10, however old it is."""
        assert one(Importance(), days=1e6, degree=3, turns=1_000_000) == pytest.approx(0.1156, abs=5e-5)
        assert one(Importance(), days=1e6, degree=2, turns=1_000_000) < 0.10
        assert one(Importance(), days=1e6, turns=999) > 0.10
        assert one(Importance(), days=1e6, turns=1001) < 0.10

    def test_centrality_is_full_at_ten_edges(self) -> None:
        assert one(Importance(), degree=10) == one(Importance(), degree=500) == pytest.approx(0.75)

    def test_turns_can_count_from_the_last_access(self) -> None:
        view = replace(ScoringView.of_one(days=0, accesses=1, degree=0, turns=1000), turns_at_access=np.array([1000]))
        from_creation = Importance().score(view, EPOCH).parts["turns"][0]
        from_access = Importance(turns_from="access").score(view, EPOCH).parts["turns"][0]
        assert (from_creation, from_access) == (pytest.approx(0.1), pytest.approx(0.2))

    def test_weights_are_divided_by_their_sum(self) -> None:
        assert one(Importance(1, 1, 1, 1)) == pytest.approx(0.5)
        with pytest.raises(InputError, match="All weights are zero"):
            one(Importance(0, 0, 0, 0))


class TestOthers:
    def test_budgeted_halves_its_recency_in_90_days(self) -> None:
        """P2 eqs. 2 to 5 with a = b = g = 1/3."""
        assert one(Budgeted(), days=90) == pytest.approx(1 / 6)
        view = replace(ScoringView.of_one(days=90, accesses=3, degree=0, turns=0), similarity=np.array([0.6]))
        assert Budgeted().score(view, EPOCH).score[0] == pytest.approx((0.5 + np.log(4) / np.log(5) + 0.6) / 3)

    def test_budgeted_counts_from_insertion_or_access(self) -> None:
        view = replace(ScoringView.of_one(days=90, accesses=0, degree=0, turns=0), last_access=np.zeros(1))
        assert Budgeted(since="access").score(view, EPOCH).score[0] == pytest.approx(1 / 3)

    def test_ebbinghaus(self) -> None:
        assert one(Ebbinghaus(), days=3, accesses=2) == pytest.approx(np.exp(-1))

    def test_act_r_sums_over_every_access(self) -> None:
        view = ScoringView.of(days=[1.0], accessed=[(0, 0.5), (0, 0.0)])
        assert ActR().activation(view, 0.0)[0] == pytest.approx(np.log(25**-0.5 + 13**-0.5 + 1))

    def test_generative_agents_reads_poignancy(self) -> None:
        view = replace(ScoringView.of(days=[0, 0, 0]), poignancy=np.array([10.0, np.nan, 0.0]))
        parts = GenerativeAgents().score(view, EPOCH).parts["importance"]
        np.testing.assert_allclose(parts, np.array([1.0, 0.5, 0.0]) / 3)

    def test_ranked_policies_say_so(self) -> None:
        ranked = {name for name in NAMES if policies.make(name).score(some_view(9), EPOCH).ranks}
        assert ranked == {"act_r", "coverage", "degree", "fifo", "lfu", "lru", "random"}

    @settings(max_examples=30, deadline=None)
    @given(st.lists(st.integers(0, 20), min_size=1, max_size=30))
    def test_more_accesses_never_rank_lower(self, accesses: list[int]) -> None:
        score = policies.make("lfu").score(ScoringView.of(days=[1] * len(accesses), accesses=accesses), EPOCH).score
        order = np.argsort(accesses, kind="stable")
        assert (np.diff(score[order]) >= 0).all()
