"""Planning finds out everything and changes nothing."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import policies
from memory_core.errors import InputError
from memory_core.forgetting.cuts import Cut, choose, worst_first
from memory_core.forgetting.documents import forget_document, history_document, parse_sets
from memory_core.memory import Memory
from tests.forgetting_memories import START, node, told
from tests.stores import FILES_ONLY

pytestmark = pytest.mark.usefixtures("kind")

LFU = policies.make("lfu")
IMPORTANCE = policies.make("importance")
Floats = st.floats(0, 1)


def going(memory: Memory, **cut: object) -> set[str]:
    """Titles of the nodes a plan with `lfu` forgets."""
    plan = memory.plan(LFU, **cut)
    return {memory.graph.node(of).title for of in plan.forgotten}


class TestPlan:
    @FILES_ONLY
    def test_changes_nothing(self, tmp_path: Path) -> None:
        memory = told(tmp_path / "m.sqlite3")
        dump = list(sqlite3.connect(memory.store.path).iterdump())
        for name in policies.found():
            memory.plan(policies.make(name), keep=3, turns="with_nodes")
            memory.plan(policies.make(name), threshold=0.5)
            memory.plan(policies.make(name), bytes=900)
        assert list(sqlite3.connect(memory.store.path).iterdump()) == dump

    def test_same_choices_same_id_and_any_other_choice_another(self) -> None:
        memory = told()
        base = memory.plan(IMPORTANCE, keep=5)
        assert memory.plan(IMPORTANCE, keep=5).id == base.id
        others = [
            memory.plan(IMPORTANCE, keep=4),
            memory.plan(IMPORTANCE, threshold=0.3),
            memory.plan(policies.make("importance", {"half_life": 30}), keep=5),
            memory.plan(IMPORTANCE, keep=5, turns="with_nodes"),
            memory.plan(IMPORTANCE, keep=5, where="session=s1"),
            memory.plan(IMPORTANCE, keep=5, at=START + timedelta(days=900)),
            memory.plan(IMPORTANCE, keep=5, turn=4000),
            memory.plan(IMPORTANCE, keep=5, idle_days=30),
            memory.plan(LFU, keep=5),
        ]
        memory.pin(base.forgotten[0], True, at=START)
        others.append(memory.plan(IMPORTANCE, keep=5))
        assert len({base.id, *(plan.id for plan in others)}) == 11

    def test_counts_what_goes(self) -> None:
        memory = told()
        plan = memory.plan(IMPORTANCE, where="person=Lena")
        told_of = {memory.graph.node(of).title for of in plan.forgotten}
        assert told_of == {"Lena", "Harbor Street"}  # the concert is also the user's
        assert len(plan.edges) == 3  # knows, lives_in, plays_at
        assert plan.nodes_before == 9

    def test_frees_exactly_the_bytes_it_says(self) -> None:
        for mode in ("keep", "with_nodes"):
            memory = told()
            memory.turn_vectors()
            before = memory.bytes_live()["total"]
            plan = memory.plan(IMPORTANCE, keep=2, turns=mode)
            memory.apply(plan)
            assert before - memory.bytes_live()["total"] == plan.bytes_live_freed > 0
            assert plan.bytes_live == before

    def test_a_cut_by_bytes_fits_and_tells_its_gap(self) -> None:
        memory = told()
        total = memory.bytes_live()["total"]
        for share in (0.9, 0.7, 0.5):
            plan = memory.plan(IMPORTANCE, bytes=int(total * share))
            assert total - plan.bytes_live_freed <= total * share
            assert plan.gap is not None
            assert 0 <= plan.gap < 0.5

    def test_turns_leave_only_when_nothing_but_a_speaker_cites_them(self) -> None:
        memory = told()
        plan = memory.plan(LFU, where="search=juggling", turns="with_nodes")
        assert [memory.turn(turn).text for turn in plan.turns] == ["Person:User -learns-> Skill:Juggling"]
        plan = memory.plan(LFU, where="search=harbor", turns="with_nodes")
        assert plan.turns == ()  # Lena, who is no speaker, still cites the turn

    def test_turns_without_any_node_stay(self) -> None:
        memory = told()
        plan = memory.plan(LFU, where="after=2023-01-01", turns="with_nodes")
        assert plan.everything
        assert "nothing to read here" not in [memory.turn(turn).text for turn in plan.turns]

    def test_an_empty_memory_has_an_empty_plan(self) -> None:
        memory = told(said=())
        for name in policies.found():
            plan = memory.plan(policies.make(name), keep=0)
            assert plan.forgotten == ()
            assert not plan.everything
            memory.undo(memory.apply(plan), at=START)

    def test_says_when_everything_or_nothing_goes(self) -> None:
        memory = told()
        assert "all 9 nodes" in (memory.plan(LFU, keep=0).warning() or "")
        nothing = memory.plan(IMPORTANCE, threshold=0.10)
        assert nothing.nothing
        assert "the lowest score is" in (nothing.warning() or "")

    @pytest.mark.parametrize(
        "cut",
        [{}, {"keep": 3, "threshold": 0.1}, {"keep": -1}, {"threshold": float("nan")}, {"threshold": float("inf")},
         {"bytes": -5}, {"keep": 3, "turns": "all"},
         {"keep": 3, "idle_days": 0}, {"keep": 3, "idle_days": float("nan")}],
    )  # fmt: skip
    def test_senseless_cuts_are_refused(self, cut: dict[str, object]) -> None:
        with pytest.raises(InputError):
            told().plan(IMPORTANCE, **cut)

    def test_the_clock_can_be_moved(self) -> None:
        memory = told()
        now, later = memory.plan(IMPORTANCE, keep=5), memory.plan(IMPORTANCE, keep=5, at="2026-01-01", turn=5000)
        assert (later.scores.parts["recency"] < now.scores.parts["recency"]).all()
        assert (later.scores.parts["turns"] < now.scores.parts["turns"]).all()
        assert now.at == memory.clock

    def test_an_idle_year_counts_as_a_month(self) -> None:
        memory = told(said=[("s1", "Concept:Old")])
        memory.say("Concept:New", at=START + timedelta(days=365))
        policy = policies.make("ebbinghaus", {"strength": 30, "gain": 0})
        view_age = {idle: memory.plan(policy, keep=1, idle_days=idle).scores.score[0] for idle in (None, 30.0)}
        assert view_age[None] == pytest.approx(np.exp(-365 / 30))
        assert view_age[30.0] == pytest.approx(np.exp(-1))

    def test_a_year_after_the_last_turn_counts_as_a_month_too(self) -> None:
        memory = told(said=[("s1", "Concept:Old")])
        plan = memory.plan(policies.make("ebbinghaus", {"strength": 30, "gain": 0}), keep=1, idle_days=30,
                           at=START + timedelta(days=365))  # fmt: skip
        assert plan.scores.score[0] == pytest.approx(np.exp(-1))


class TestDocuments:
    def test_forget_and_history_have_the_keys_of_the_commands(self) -> None:
        memory = told()
        plan = memory.plan(LFU, keep=4)
        assert {"plan", "policy", "parameters", "at", "nodes_before", "forgotten", "edges", "turns", "bytes_live_freed",
                "applied"} <= forget_document(plan).keys()  # fmt: skip
        done = memory.apply(plan)
        document = forget_document(plan, done)
        assert (document["applied"], document["id"]) == (True, done)
        memory.pin(memory.graph.ids[0], True, at=START)
        history = history_document(memory)
        assert {"id", "at", "policy", "parameters", "nodes", "edges", "state"} <= history["passes"][0].keys()  # type: ignore[index]
        assert [change["kind"] for change in history["changes"]][-1] == "pin"  # type: ignore[attr-defined]
        json.dumps([document, history], allow_nan=False)

    def test_parameters_of_a_command_are_name_and_value(self) -> None:
        with pytest.raises(InputError, match="name=value"):
            parse_sets(["half_life"])


class TestCuts:
    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.tuples(Floats, st.integers(0, 3)), min_size=1, max_size=40), st.data())
    def test_a_stricter_cut_forgets_a_superset(self, nodes: list[tuple[float, int]], data: st.DataObject) -> None:
        score, created = np.array([value for value, _ in nodes]), np.array([float(when) for _, when in nodes])
        free = np.array(data.draw(st.lists(st.booleans(), min_size=len(nodes), max_size=len(nodes))))
        for kind, high in (("threshold", st.floats(0, 1)), ("keep", st.integers(0, len(nodes)))):
            low, top = sorted([data.draw(high), data.draw(high)])
            gentle, strict = (low, top) if kind == "threshold" else (top, low)
            few, many = (
                choose(Cut(kind, float(value)), score, created, free, score, 0.0).forgotten
                for value in (gentle, strict)
            )  # type: ignore[arg-type]
            assert not (few & ~many).any()
            assert not (many & ~free).any()

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.tuples(st.floats(0.01, 1), st.integers(1, 30)), min_size=1, max_size=12), st.integers(0, 200))
    def test_bytes_fill_the_room_near_the_best_that_fits(self, nodes: list[tuple[float, int]], room: int) -> None:
        score, sizes = np.array([value for value, _ in nodes]), np.array([float(size) for _, size in nodes])
        chosen = choose(Cut("bytes", float(room)), score, np.zeros(len(nodes)), np.ones(len(nodes), bool), sizes, 0.0)
        kept = ~chosen.forgotten
        assert sizes[kept].sum() <= room
        best = max(
            sum(score[place] for place in range(len(nodes)) if pick >> place & 1)
            for pick in range(1 << len(nodes))
            if sum(sizes[place] for place in range(len(nodes)) if pick >> place & 1) <= room
        )
        assert chosen.gap is not None
        relaxed = score[kept].sum() / (1 - chosen.gap) if chosen.gap < 1 else best
        assert best <= relaxed + 1e-9

    def test_ties_keep_the_newest_then_the_first_id(self) -> None:
        assert worst_first(np.zeros(3), np.array([2.0, 1.0, 1.0])).tolist() == [2, 1, 0]

    def test_keep_counts_what_is_protected(self) -> None:
        memory = told()
        plan = memory.plan(LFU, keep=4)
        memory.pin(plan.forgotten[0], True, at=START)
        again = memory.plan(LFU, keep=4)
        assert len(again.forgotten) == len(plan.forgotten)
        assert plan.forgotten[0] not in again.forgotten

    def test_keep_more_than_there_is_forgets_nothing(self) -> None:
        assert told().plan(LFU, keep=1000).nothing


class TestWhere:
    def test_takes_all_it_selects(self) -> None:
        memory = told()
        assert going(memory, where="label=organization") == {"Brandt Workshop"}
        assert going(memory, where="search=CONCERT") == {"Winter Concert"}
        assert going(memory, where="session=s2") == {"Violin", "Brandt Workshop"}
        assert going(memory, where="person=lena") == {"Lena", "Harbor Street"}

    def test_a_session_takes_only_what_is_known_from_nowhere_else(self) -> None:
        assert going(told(), where="session=s1") == {"Harbor Street", "Quiet Mornings"}

    def test_dates_bound_every_turn_of_a_node(self) -> None:
        assert going(told(), where="after=2024-01-04 before=2024-01-06") == {"Violin", "Brandt Workshop"}

    def test_conditions_all_hold(self) -> None:
        assert going(told(), where="session=s3 label=Location") == {"Zermatt"}
        assert going(told(), where=["session=s3", "label=Location"]) == {"Zermatt"}

    def test_limits_a_cut(self) -> None:
        memory = told()
        alone = going(memory, keep=7)
        limited = going(memory, keep=7, where="session=s2")
        assert len(alone) == len(limited) == 2
        assert limited == {"Violin", "Brandt Workshop"}

    def test_a_person_who_spoke_takes_what_hangs_on_them_alone(self) -> None:
        gone = going(told(), where="person=User")
        assert {"User", "Zermatt", "Juggling", "Quiet Mornings"} <= gone
        assert "Lena" not in gone
        assert "Harbor Street" not in gone

    def test_nobody_by_that_name_is_nothing_to_forget(self) -> None:
        assert told().plan(LFU, where="person=Nobody").nothing

    @pytest.mark.parametrize("where", ["Lena", "who=Lena", "label=City", "after=May", "person=", 'person="Lena', "  "])
    def test_what_is_not_understood_is_told_with_the_grammar(self, where: str) -> None:
        with pytest.raises(InputError, match=r"person=|choose one of|write it as"):
            told().plan(LFU, where=where)


class TestProtection:
    def test_pins_and_rules_hold_against_every_policy_and_selection(self) -> None:
        memory = told()
        memory.pin(node(memory, "Zermatt"), True, at=START)
        memory.protect("label=skill")
        memory.protect("word=Harbor")
        for name in policies.found():
            for cut in ({"keep": 0}, {"threshold": 1.0}, {"bytes": 0}, {"where": "after=2020-01-01"}):
                plan = memory.plan(policies.make(name), **cut)
                left = {memory.graph.node(of).title for of in plan.node_ids} - {
                    memory.graph.node(of).title for of in plan.forgotten
                }
                assert {"Zermatt", "Juggling", "Harbor Street"} <= left
                assert not plan.everything

    def test_a_speaker_protects_what_was_read_from_their_turns(self) -> None:
        memory = told()
        memory.say("Artifact:Compass", at=START + timedelta(days=20), speaker="Tom")
        memory.protect("speaker=tom")
        assert memory.plan(LFU, keep=0).held.sum() == 1

    def test_rules_are_saved_with_the_memory_and_can_be_taken_away(self, tmp_path: Path) -> None:
        memory = told(tmp_path / "m.sqlite3")
        memory.protect("word=violin")
        memory.close()
        again = told(tmp_path / "m.sqlite3", said=())
        assert [str(rule) for rule in again.rules()] == ["word=violin"]
        assert again.unprotect("word=violin") == ()
        with pytest.raises(InputError, match="no rule word=violin"):
            again.unprotect("word=violin")

    @pytest.mark.parametrize("rule", ["Preference", "label=Mood", "age=3", "word="])
    def test_rules_that_are_none_are_refused(self, rule: str) -> None:
        with pytest.raises(InputError):
            told().protect(rule)


class TestCases:
    """Failing situations from public trackers, by their id."""

    def test_for_01_a_last_access_in_the_future_is_now(self) -> None:
        memory = told(said=[("s", "Concept:Tide")])
        ahead = datetime(2025, 6, 11, tzinfo=UTC)
        memory.edit(node(memory, "Tide"), at=ahead, content="rises")
        memory.plan(IMPORTANCE, keep=1)
        for days in (10, 3650):
            plan = memory.plan(IMPORTANCE, keep=1, at=ahead - timedelta(days=days), turn=1)
            assert plan.scores.parts["recency"][0] == pytest.approx(0.35, abs=1e-12)
            assert plan.scores.score[0] <= 1

    def test_for_02_naive_times_are_utc(self) -> None:
        scores = []
        for at in (
            "2025-05-01T12:00:00",
            "2025-05-01T12:00:00+00:00",
            "2025-05-01T14:00:00+02:00",
            "2025-05-01T12:00:00Z",
        ):
            memory = told(said=())
            memory.say("Concept:Tide", at=at)
            plan = memory.plan(IMPORTANCE, keep=1, at="2025-05-31T12:00:00Z")
            scores.append(plan.scores.parts["recency"][0] / 0.35)
        assert scores == pytest.approx([0.5 ** (30 / 90)] * 4, abs=1e-12)
        assert scores[0] == pytest.approx(0.7937, abs=1e-4)

    def test_for_04_times_do_not_drift_over_reopening(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TZ", "America/Los_Angeles")
        memory = told(tmp_path / "m.sqlite3", said=())
        memory.say("Concept:Tide", at="2025-02-10T08:00:00Z")
        for _ in range(3):
            memory.close()
            memory = told(tmp_path / "m.sqlite3", said=())
        assert memory.graph.node(node(memory, "Tide")).created_at == datetime(2025, 2, 10, 8, tzinfo=UTC)

    def test_for_06_never_accessed_falls_back_to_creation(self) -> None:
        memory = told(said=())
        memory.say("Concept:Tide", at="2025-06-01T00:00:00Z")
        plan = memory.plan(IMPORTANCE, threshold=0.10, at="2025-06-11T00:00:00Z", turn=1201)
        assert plan.scores.score[0] == pytest.approx(0.35 * 0.5 ** (10 / 90) + 0.2 * 0.5**1.2, abs=1e-9)
        assert plan.nothing

    def test_for_10_scores_are_computed_when_asked_never_stored(self) -> None:
        memory = told(said=())
        memory.say("Concept:Tide {importance_score=0.62}", at="2023-01-01T00:00:00Z")
        plan = memory.plan(IMPORTANCE, threshold=0.10, at="2025-01-01T00:00:00Z", turn=3001)
        assert plan.scores.score[0] == pytest.approx(0.35 * 0.5 ** (731 / 90) + 0.2 * 0.125, abs=1e-9)
        assert len(plan.forgotten) == 1

    def test_for_12_everything_pruned_leaves_a_memory_that_works(self, tmp_path: Path) -> None:
        memory = told(tmp_path / "m.sqlite3")
        plan = memory.plan(LFU, keep=0)
        assert plan.everything
        memory.apply(plan)
        assert memory.stats()["nodes"] == memory.stats()["edges"] == 0
        assert memory.ask("Where does Lena live?").retrieval.nodes == ()
        memory.close()
        again = told(tmp_path / "m.sqlite3", said=())
        assert again.plan(LFU, keep=0).forgotten == ()
        again.say("Person:Lena", at=START + timedelta(days=99))
        assert again.stats()["nodes"] == 1

    def test_for_14_old_but_used_yesterday_stays(self) -> None:
        memory = told(said=())
        memory.say("Concept:Tide", at="2023-06-11T00:00:00Z")
        for touched in range(50):
            memory.edit(node(memory, "Tide"), at=datetime(2025, 6, 10, tzinfo=UTC), content=f"look {touched}")
        plan = memory.plan(IMPORTANCE, threshold=0.10, at="2025-06-11T00:00:00Z", turn=6001)
        assert plan.scores.parts["recency"][0] == pytest.approx(0.35 * 0.5 ** (1 / 90), abs=1e-9)
        assert plan.nothing

    @pytest.mark.filterwarnings("error::RuntimeWarning")
    def test_for_16_a_fresh_graph_divides_by_no_zero(self) -> None:
        memory = told(said=[("s", "Concept:One; Concept:Two; Concept:Three")])
        parts = memory.plan(IMPORTANCE, keep=1).scores.parts
        assert parts["frequency"].tolist() == parts["centrality"].tolist() == [0.0, 0.0, 0.0]
