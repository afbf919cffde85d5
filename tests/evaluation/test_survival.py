"""What a prune costs, against values computed by hand and the retriever itself."""

from __future__ import annotations

import time
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core import policies
from memory_core.errors import Cancelled, InputError
from memory_core.evaluation import bench_forget
from memory_core.evaluation.cost import Figure, cost, figure_of, past_questions, pruned
from memory_core.evaluation.datasets import Benchmark, Question
from memory_core.evaluation.survival import FIGURES, Probe, random_prunes
from memory_core.evaluation.sweeps import ablation, minimum, sweep
from memory_core.importers.transcripts import Conversation
from memory_core.memory import Memory
from memory_core.retrievers.graph import GraphRetriever
from tests.forgetting_memories import SAID, START, node, told

LFU = policies.make("lfu")


def asked(of: str, text: str, answer: str, *evidence: str) -> Question:
    return Question(of, text, answer, "single-hop", "c", evidence)


#: Turns are named t1 … t10, as `told` stores them.
QUESTIONS = (
    asked("home", "Where does Lena live? Lena Harbor Street", "Harbor Street", "t2"),
    asked("maker", "Who made the Violin?", "Brandt Workshop", "t5"),
    asked("concert", "Who is at the Winter Concert?", "Lena and Marcus", "t8", "t9"),
    asked("unread", "What of the unread?", "nothing", "t6"),
    asked("job", "What is the job of User?", "baker", "t1"),
)


@pytest.fixture(scope="module")
def memory() -> Memory:
    return told()


@pytest.fixture(scope="module")
def probe(memory: Memory) -> Probe:
    return Probe.of(memory, QUESTIONS)


def alive(memory: Memory, *gone: str) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    live = memory.graph.live.values.copy()
    for title in gone:
        live[memory.graph.row_of[node(memory, title)]] = False
    return live


def kept(probe: Probe, *gone: str) -> tuple[dict[str, bool], dict[str, bool]]:
    evidence, answer = probe.kept(alive(probe.memory, *gone)[None])  # type: ignore[arg-type]
    names = [question.id for question in probe.questions]
    return (
        {names[place]: bool(value) for place, value in zip(probe.evidence.questions, evidence[0], strict=True)},
        {names[place]: bool(value) for place, value in zip(probe.answer.questions, answer[0], strict=True)},
    )


class TestSurvival:
    def test_counts_what_was_written_and_stored(self, probe: Probe) -> None:
        evidence, answer = kept(probe)
        assert set(evidence) == {"home", "maker", "concert", "job"}  # nothing was read from t6
        assert set(answer) == {
            "home",
            "maker",
            "job",
        }  # nobody said Marcus, and t6 says nothing
        assert all(evidence.values())
        assert all(answer.values())

    def test_evidence_stands_on_any_node_that_is_no_speaker_or_an_edge(self, probe: Probe) -> None:
        assert kept(probe, "Harbor Street")[0]["home"]  # Lena still cites the turn
        assert not kept(probe, "Harbor Street", "Lena")[0]["home"]
        assert kept(probe, "Winter Concert")[0]["concert"] is False  # t8: only the speaker is left
        assert kept(probe, "Lena", "User")[0]["concert"]  # the concert itself cites both

    def test_an_answer_stands_on_words_that_the_evidence_turns_set(self, probe: Probe) -> None:
        assert not kept(probe, "Harbor Street")[1]["home"]
        assert not kept(probe, "Brandt Workshop")[1]["maker"]
        assert kept(probe, "Violin")[1]["maker"]
        assert not kept(probe, "User")[1]["job"]  # an attribute of the speaker: no evidence, but an answer

    def test_many_prunes_at_once_are_the_same_as_each_alone(self, probe: Probe) -> None:
        live = random_prunes(probe.memory.graph.live.values.copy(), 4, 20, seed=3)
        evidence, answer = probe.kept(live)
        for prune, mask in enumerate(live):
            one, other = probe.kept(mask[None])
            np.testing.assert_array_equal(one[0], evidence[prune])
            np.testing.assert_array_equal(other[0], answer[prune])

    def test_flips_name_the_question_and_what_it_lost(self, probe: Probe) -> None:
        flips = {
            (flip.question, flip.figure): flip.lost
            for flip in probe.flips(alive(probe.memory, "Harbor Street", "Lena"))
        }  # type: ignore[arg-type]
        assert flips["home", "evidence_survival"] == ("t2",)
        assert flips["home", "answer_survival"] == ("harbor", "street")
        assert ("maker", "answer_survival") not in flips


class TestRecall:
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.integers(0, 9), st.integers(0, 1000), st.sampled_from(["keep", "with_nodes"]))
    def test_equals_the_graph_retriever_on_the_pruned_memory(self, forget: int, seed: int, mode: str) -> None:
        memory = told(said=[*SAID, *((f"s{n}", f"Person:Lena -met-> Person:Lenard{n}") for n in range(8))])
        plan = memory.plan(policies.make("random", {"seed": seed}), keep=memory.graph.node_count - forget, turns=mode)
        probe = Probe.of(memory, QUESTIONS).without(plan.turns)
        live = memory.graph.live.values.copy()
        live[memory.graph.live_rows()] = ~plan.fate
        ours = [probe.recall.ranking(place, live) for place in range(len(QUESTIONS))]
        memory.apply(plan)
        found = [GraphRetriever.of(memory.settings).retrieve(memory, question.text) for question in QUESTIONS]
        theirs = [tuple(turn.source_id for turn in memory.turns([one.id for one in each.turns[:5]])) for each in found]
        assert ours == theirs

    def test_a_duplicate_with_the_plan_applied_is_what_any_retriever_can_run_on(self, memory: Memory) -> None:
        plan = memory.plan(LFU, keep=4, turns="with_nodes")
        before = memory.revision
        with pruned(memory, plan) as copy:
            assert copy.graph.node_count == 4
            assert copy.stats()["turns"] == 10 - len(plan.turns)
        assert memory.revision == before
        assert memory.graph.node_count == 9


class TestCost:
    def test_chance_is_a_lift_of_1_and_half_the_loss_a_ratio_of_half(self) -> None:
        figure = Figure(10, value=0.9, before=1.0, mean=0.8, low=0.7, high=0.88)
        assert figure.loss_ratio == pytest.approx(0.5)
        assert figure.lift == pytest.approx(1.125)
        assert figure.above_band
        assert Figure(10, 0.8, 1.0, 0.8, 0.7, 0.9).loss_ratio == pytest.approx(1.0)

    def test_the_band_holds_the_middle_95_of_the_prunes(self) -> None:
        band = np.repeat(np.linspace(0, 1, 201)[:, None], 3, axis=1)
        figure = figure_of(np.ones(3), np.ones(3), band)
        assert (figure.low, figure.mean, figure.high) == pytest.approx((0.025, 0.5, 0.975))

    def test_what_cannot_be_counted_is_no_number(self) -> None:
        assert np.isnan(figure_of(np.zeros(0), np.zeros(0), np.zeros((5, 0))).value)
        assert Figure(3, 1.0, 1.0, 1.0, 1.0, 1.0).loss_ratio is None  # chance lost nothing

    def test_forgetting_nothing_costs_nothing(self, memory: Memory, probe: Probe) -> None:
        found = cost(probe, memory.plan(LFU, keep=9), prunes=20)
        for name in FIGURES:
            figure = found.figures[name]
            assert figure.value == figure.before == pytest.approx(figure.mean)
        assert found.flips == ()

    def test_is_counted_once_a_plan_and_the_same_for_a_seed(self, memory: Memory, probe: Probe) -> None:
        plan = memory.plan(LFU, keep=5)
        assert cost(probe, plan, prunes=20) is cost(probe, memory.plan(LFU, keep=5), prunes=20)
        assert cost(probe, plan, prunes=20).figures == cost(Probe.of(memory, QUESTIONS), plan, prunes=20).figures

    def test_random_prunes_take_as_many_and_never_what_is_pinned(self) -> None:
        memory = told()
        memory.pin(node(memory, "Violin"), True, at=START)
        plan = memory.plan(LFU, keep=3)
        from memory_core.evaluation.survival import masks

        live, band = masks(memory, plan, 50, seed=0)
        assert live.sum() == 3
        assert (band.sum(axis=1) == 3).all()
        assert band[:, memory.graph.row_of[node(memory, "Violin")]].all()

    def test_can_be_stopped(self, memory: Memory) -> None:
        def stop(message: str) -> None:
            if message == "graph recall@5":
                raise Cancelled("stopped")

        with pytest.raises(Cancelled):
            cost(Probe.of(memory, QUESTIONS), memory.plan(LFU, keep=5), advance=stop)

    def test_ones_own_questions_are_a_probe_set(self) -> None:
        memory = told()
        memory.touch(memory.retrieve("Where is the Violin?"), START + timedelta(days=50))
        [question] = past_questions(memory)
        assert "t4" in question.evidence
        probe = Probe.of(memory, [question])
        found = cost(probe, memory.plan(LFU, where="search=violin"), prunes=20)
        assert found.figures["graph_recall@5"].before == 1.0
        assert found.figures["graph_recall@5"].value < 1.0

    def test_two_hundred_prunes_of_a_large_memory_are_judged_within_three_seconds(self) -> None:
        memory = told()
        probe = Probe.of(memory, QUESTIONS * 100)
        rows = np.ones(27_021, np.bool_)
        started = time.process_time()
        live = random_prunes(rows, 2_702, 200, seed=0)
        probe.kept(live[:, : len(memory.graph.ids)])
        assert time.process_time() - started < 3


class TestSweeps:
    def test_a_point_for_every_combination(self, probe: Probe) -> None:
        points = sweep(probe, "importance", {"half_life": [1, 30, 365], "keep": [8, 5, 2]})
        assert [tuple(point.values.values()) for point in points][:4] == [(1, 8), (1, 5), (1, 2), (30, 8)]
        assert [point.nodes for point in points[:3]] == [8, 5, 2]

    def test_the_front_holds_what_nothing_else_beats(self, probe: Probe) -> None:
        points = sweep(probe, "lfu", {"keep": range(10)}, front="answer_survival")
        best = [point for point in points if point.best]
        assert best
        for one in best:
            assert not any(
                other.nodes <= one.nodes and other.figures["answer_survival"] > one.figures["answer_survival"]
                for other in points
            )
        assert [point.figures["answer_survival"] for point in best] == sorted(
            {point.figures["answer_survival"] for point in best}
        )

    def test_p2s_objective(self, probe: Probe) -> None:
        """L(keep) = 1 - recall + eta kept / B0: with eta 0 only recall counts, with a large one only size."""
        points = sweep(probe, "lfu", {"keep": range(10)})
        whole = points[-1]
        assert whole.objective(eta=0.5) == pytest.approx(1 - whole.figures["graph_recall@5"] + 0.5)
        assert minimum(points, eta=100).nodes == 0
        assert minimum(points, "answer_survival", eta=0).figures["answer_survival"] == 1.0

    def test_leaving_a_term_out(self, probe: Probe) -> None:
        found = ablation(probe, keep=5)
        assert list(found) == ["", "recency", "frequency", "centrality", "turns"]
        assert {point.nodes for point in found.values()} == {5}
        assert len({point.plan for point in found.values()}) == 5

    def test_senseless_axes_are_refused(self, probe: Probe) -> None:
        for axes in ({}, {"keep": []}, {"keep": [1], "half_life": [1], "recency": [1]}):
            with pytest.raises(InputError):
                sweep(probe, "importance", axes)
        with pytest.raises(InputError, match="no parameter"):
            sweep(probe, "importance", {"halflife": [1]}, fixed={"keep": 3})


class TestBench:
    def test_gives_every_policy_at_every_size_beside_chance(self, memory: Memory) -> None:
        benchmark = Benchmark("toy", "ours", "0" * 64, (Conversation("c", ()),), QUESTIONS)
        found = bench_forget.report(benchmark, [("c", memory)], ["lfu", "coverage"], (1.0, 0.5), prunes=50)
        rows: list[dict[str, object]] = found["rows"]  # type: ignore[assignment]
        assert [(row["policy"], row["kept"]) for row in rows] == [
            ("lfu", 1.0),
            ("coverage", 1.0),
            ("lfu", 0.5),
            ("coverage", 0.5),
        ]
        assert found["n_figures"] == {"evidence_survival": 4, "answer_survival": 3, "graph_recall@5": 5}
        for name in FIGURES:
            assert rows[0][name] == found["before"][name]  # type: ignore[index]
            for band in found["random"]:  # type: ignore[attr-defined]
                assert band[name]["low"] - 1e-9 <= band[name]["mean"] <= band[name]["high"] + 1e-9
        ratio = rows[2]["loss_ratio"]["answer_survival"]  # type: ignore[index]
        chance = found["random"][1]["answer_survival"]["mean"]  # type: ignore[index]
        assert ratio == pytest.approx((1 - rows[2]["answer_survival"]) / (1 - chance))  # type: ignore[operator]

    def test_unknown_policies_and_shares_are_refused(self) -> None:
        assert bench_forget.check(["all"], (0.5,)) == sorted(policies.found())
        with pytest.raises(InputError, match="no policy"):
            bench_forget.check(["lsu"], (0.5,))
        for keep in ((), (1.5,), (-0.1,)):
            with pytest.raises(InputError, match="between 0 and 1"):
                bench_forget.check([], keep)
