"""A pass is applied exactly as shown, and taken back exactly, in any order."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core import policies
from memory_core.errors import InputError, StalePlanError
from memory_core.memory import Memory
from memory_core.parts import retriever
from memory_core.settings import Settings
from tests.forgetting_memories import SAID, START, node, open_memory, state, titles, told
from tests.stores import FILES_ONLY

pytestmark = pytest.mark.usefixtures("kind")

LFU = policies.make("lfu")
LATER = START + timedelta(days=100)
QUESTIONS = ("Lena", "Harbor Street", "Violin", "Winter Concert", "Zermatt", "Juggling", "Quiet Mornings")


class TestApply:
    def test_forgets_exactly_the_plan(self) -> None:
        memory = told()
        plan = memory.plan(LFU, keep=4, turns="with_nodes")
        done = memory.apply(plan, at=LATER)
        gone = {of for of in memory.graph.ids if not memory.graph.is_live(of)}
        assert gone == set(plan.forgotten)
        assert {edge for edge in memory.graph.edge_ids if not memory.graph.is_live(edge)} == set(plan.edges)
        [entry] = memory.passes()
        assert (entry.id, entry.at, entry.policy, entry.nodes, entry.edges, entry.turns, entry.state, entry.left) == (
            done, LATER, "lfu", len(plan.forgotten), len(plan.edges), len(plan.turns), "applied", len(plan.forgotten),
        )  # fmt: skip

    def test_reopened_it_is_the_same(self, tmp_path: Path) -> None:
        memory = told(tmp_path / "m.sqlite3")
        memory.apply(memory.plan(LFU, keep=4, turns="with_nodes"))
        before = state(memory)
        memory.close()
        assert state(open_memory(tmp_path / "m.sqlite3")) == before

    def test_a_stale_plan_is_refused(self) -> None:
        memory = told()
        plan = memory.plan(LFU, keep=4)
        memory.say("Person:Tom", at=LATER)
        before = state(memory)
        with pytest.raises(StalePlanError, match="plan again"):
            memory.apply(plan)
        assert state(memory) == before

    def test_a_plan_of_another_memory_is_refused(self) -> None:
        plan = told().plan(LFU, keep=4)
        other = told(said=[*SAID[:-1], ("s4", "Person:User -learns-> Skill:Fencing")])
        assert other.revision == plan.revision
        with pytest.raises(StalePlanError):
            other.apply(plan)

    def test_a_rule_saved_after_planning_makes_the_plan_stale(self) -> None:
        memory = told()
        plan = memory.plan(LFU, keep=4)
        memory.protect("label=Person")
        with pytest.raises(StalePlanError):
            memory.apply(plan)

    def test_two_tabs_one_wins_the_other_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "m.sqlite3"
        told(path).close()
        tabs = [open_memory(path), open_memory(path)]
        plans = [tab.plan(LFU, keep=4) for tab in tabs]
        assert plans[0].id == plans[1].id
        outcome: list[str] = []

        def commit(tab: Memory, plan: object) -> None:
            try:
                tab.apply(plan)  # type: ignore[arg-type]
                outcome.append("applied")
            except StalePlanError:
                outcome.append("told")

        threads = [threading.Thread(target=commit, args=pair) for pair in zip(tabs, plans, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcome) == ["applied", "told"]
        assert all(len(tab.passes()) == 1 for tab in tabs)
        assert state(tabs[0]) == state(tabs[1])

    def test_nothing_forgotten_is_ever_returned(self) -> None:
        memory = told()
        plan = memory.plan(LFU, keep=3, turns="with_nodes")
        memory.apply(plan)
        gone = {*plan.forgotten, *plan.edges, *plan.turns}
        for question in QUESTIONS:
            for name in ("graph", "flat", "bm25", "hybrid"):
                found = memory.retrieve(question, retriever(name, memory.settings, 50))
                shown = {*(turn.id for turn in found.turns), *(visit.id for visit in found.nodes), *found.edges,
                         *(root.id for root in found.candidates), *found.capped,
                         *(turn for line in found.lines for turn in line.turns)}  # fmt: skip
                assert not shown & gone
        for of in plan.forgotten:
            made = memory.graph.node(of)
            assert of not in [memory.graph.ids[row] for row in memory.graph.find_title(made.label, made.title)]
        assert memory.stats()["nodes"] == 3
        assert memory.stats()["forgotten"] == 6
        assert not gone & set(memory.turn_vectors()[0])
        assert not gone & set(memory.source_turns().values())

    def test_said_again_is_a_new_node(self) -> None:
        memory = told()
        old = node(memory, "Lena")
        memory.apply(memory.plan(LFU, where="person=Lena"))
        memory.say("Person:Lena | back again", at=LATER)
        assert node(memory, "Lena") != old


class TestUndo:
    @FILES_ONLY
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.data())
    def test_of_several_passes_in_any_order_leads_back(self, data: st.DataObject) -> None:
        memory = told()
        memory.turn_vectors()
        before = state(memory)
        done = []
        for _ in range(data.draw(st.integers(1, 3))):
            name = data.draw(st.sampled_from(sorted(policies.found())))
            keep = data.draw(st.integers(0, memory.graph.node_count))
            mode = data.draw(st.sampled_from(["keep", "with_nodes"]))
            done.append(memory.apply(memory.plan(policies.make(name), keep=keep, turns=mode)))
        for of in data.draw(st.permutations(done)):
            memory.undo(of, at=LATER)
        assert state(memory) == before
        assert {entry.state for entry in memory.passes()} == {"undone"}

    def test_an_edge_waits_for_its_other_end(self) -> None:
        memory = told()
        lena, harbor = node(memory, "Lena"), node(memory, "Harbor Street")
        first = memory.apply(memory.plan(LFU, where="search=harbor"))
        second = memory.apply(memory.plan(LFU, where="search=lena"))
        edge = next(of for of in memory.graph.edge_ids if memory.graph.edge(of).target == harbor)
        assert memory.undo(first, at=LATER)["restored"] == {"nodes": 1, "edges": 0, "turns": 0}
        assert not memory.graph.is_live(edge)
        assert memory.graph.edge(edge).forgotten_by == second
        memory.undo(second, at=LATER)
        assert memory.graph.is_live(edge)
        assert memory.graph.degree.values[memory.graph.row_of[lena]] == 3

    def test_single_nodes_come_back_with_their_edges_and_turns(self) -> None:
        memory = told()
        before = state(memory)
        done = memory.apply(memory.plan(LFU, where="person=User", turns="with_nodes"))
        assert "Zermatt" not in titles(memory)
        memory.restore(done, [node(memory, "Zermatt")])
        assert "Zermatt" in titles(memory)
        assert "Juggling" not in titles(memory)
        assert memory.passes()[0].state == "applied"
        [visited] = [turn for turn in memory.turns(memory.turn_vectors()[0]) if "Zermatt" in turn.text]
        assert visited.session == "s3"
        memory.undo(done, at=LATER)
        assert state(memory)["tables"] | {"turn_vector": 0} == before["tables"] | {"turn_vector": 0}  # type: ignore[operator]

    def test_restoring_the_last_node_ends_the_pass(self) -> None:
        memory = told()
        done = memory.apply(memory.plan(LFU, where="search=violin"))
        memory.restore(done, [node(memory, "Violin")])
        assert memory.passes()[0].state == "undone"

    def test_only_what_the_pass_took_can_be_restored_from_it(self) -> None:
        memory = told()
        done = memory.apply(memory.plan(LFU, where="search=violin"))
        for of in (node(memory, "Lena"), "n999"):
            with pytest.raises(InputError, match="is not among what"):
                memory.restore(done, [of])

    def test_both_stay_when_it_was_said_again_and_the_pair_is_put_up(self) -> None:
        memory = told()
        old = node(memory, "Lena")
        done = memory.apply(memory.plan(LFU, where="person=Lena"))
        memory.say("Person:Lena -moved_to-> Location:Quarry", at=LATER)
        new = node(memory, "Lena")
        memory.undo(done, at=LATER)
        assert memory.graph.is_live(old)
        assert memory.graph.is_live(new)
        assert memory.store.query("SELECT a, b, kind, state FROM pair") == [(old, new, "restored", "open")]

    def test_a_turn_comes_back_with_the_first_node_that_cites_it(self) -> None:
        memory = told()
        first = memory.apply(memory.plan(LFU, where="search=harbor", turns="with_nodes"))
        second = memory.apply(memory.plan(LFU, where="search=lena", turns="with_nodes"))
        assert len(memory.turn_vectors()[0]) == 8  # "knows Lena" and "lives in" left with the second pass
        memory.undo(first, at=LATER)
        assert len(memory.turn_vectors()[0]) == 9
        memory.undo(second, at=LATER)
        assert len(memory.turn_vectors()[0]) == 10

    def test_a_node_deleted_by_hand_is_a_pass_too(self) -> None:
        memory = told()
        before = state(memory)
        deleted = memory.delete(node(memory, "Lena"), at=LATER)
        done = memory.apply(memory.plan(LFU, where="search=harbor"))
        memory.undo(deleted, at=LATER)
        memory.undo(done, at=LATER)
        assert state(memory) == before

    def test_twice_or_of_nothing_is_refused(self) -> None:
        memory = told()
        done = memory.apply(memory.plan(LFU, keep=4))
        memory.undo(done, at=LATER)
        with pytest.raises(InputError, match="already undone"):
            memory.undo(done, at=LATER)
        with pytest.raises(InputError, match="no change c999"):
            memory.undo("c999", at=LATER)

    def test_pins_set_while_forgotten_stay(self) -> None:
        memory = told()
        done = memory.apply(memory.plan(LFU, where="search=violin"))
        with pytest.raises(InputError, match="no live node"):
            memory.pin(node(memory, "Violin"), True, at=LATER)
        memory.undo(done, at=LATER)
        memory.pin(node(memory, "Violin"), True, at=LATER)


class TestByItself:
    def test_every_so_many_turns_by_the_same_engine(self) -> None:
        memory = open_memory()
        memory.change_settings(Settings(forget_every=5, forget_policy="fifo", forget_threshold=0.5))
        for day, (session, text) in enumerate(SAID):
            memory.say(text, at=START + timedelta(days=day), session=session)
        assert [entry.by for entry in memory.passes()] == ["automatic", "automatic"]
        by_hand = told(said=SAID[:5]).plan(policies.make("fifo"), threshold=0.5, idle_days=30.0)
        assert memory.passes()[0].nodes == len(by_hand.forgotten)

    def test_page_command_and_automatic_pass_give_the_same_plan(self) -> None:
        memory = open_memory()
        memory.change_settings(Settings(forget_every=10, forget_threshold=0.62))
        twin = open_memory()
        twin.change_settings(Settings(forget_every=0, forget_threshold=0.62))
        for day, (session, text) in enumerate(SAID):
            for one in (memory, twin):
                one.say(text, at=START + timedelta(days=day), session=session)
        plan = twin.plan(policies.make("importance"), threshold=0.62)
        assert memory.passes()[0].summary["plan"] == plan.id
        assert plan.forgotten

    def test_pins_and_rules_hold(self) -> None:
        memory = told()
        memory.protect("word=violin")
        memory.pin(node(memory, "Zermatt"), True, at=START)
        memory.change_settings(Settings(forget_every=11, forget_policy="lru", forget_threshold=1.0))
        memory.say("Concept:Dusk", at=LATER)
        assert titles(memory) == {"Violin", "Zermatt"}

    def test_p1_forgets_nothing_in_a_young_memory(self) -> None:
        memory = open_memory()
        memory.change_settings(Settings(forget_every=2))
        for day, (session, text) in enumerate(SAID):
            memory.say(text, at=START + timedelta(days=90 * day), session=session)
        assert memory.passes() == []


class TestGhosts:
    def test_a_question_for_what_was_forgotten_is_a_ghost_hit(self) -> None:
        memory = told()
        done = memory.apply(memory.plan(LFU, where="search=juggling"), at=LATER)
        before = state(memory)
        [ghost] = [ghost for ghost in memory.ghosts("What about Juggling?") if ghost.title == "Juggling"]
        assert ghost.forgotten_by == done
        assert state(memory) == before
        memory.restore(done, [ghost.id])
        assert memory.ghosts("What about Juggling?") == ()

    def test_stored_questions_are_counted_from_the_pass_on(self) -> None:
        memory = told()
        memory.touch(memory.retrieve("What about Juggling?"), LATER - timedelta(days=1))
        memory.apply(memory.plan(LFU, where="search=juggling"), at=LATER)
        memory.touch(memory.retrieve("What about Juggling?"), LATER + timedelta(days=1))
        [hit] = memory.ghost_hits()
        assert hit.at == LATER + timedelta(days=1)

    def test_the_forgotten_can_be_searched(self) -> None:
        memory = told()
        memory.apply(memory.plan(LFU, where="person=Lena"))
        assert memory.search_forgotten("harbor") == [node(memory, "Harbor Street")]
        assert memory.search_forgotten("violin") == []
        assert len(memory.search_forgotten()) == 2
