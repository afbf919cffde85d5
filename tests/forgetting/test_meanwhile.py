"""What another process does while this one plans, forgets or takes back never leaves half a truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_core import policies
from memory_core.errors import StalePlanError
from memory_core.forgetting import forgetting, passes, plan
from memory_core.memory import Memory
from memory_core.schema import Extraction, FoundNode
from tests.forgetting_memories import START, node, open_memory, told

LFU = policies.make("lfu")
HANGING = """
    SELECT edge.id FROM edge JOIN node ON node.id IN (source, target)
    WHERE edge.forgotten_by IS NULL AND node.forgotten_by IS NOT NULL"""
Act = Callable[[Memory], object]


def meanwhile(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, act: Callable[[], object]) -> None:
    """Let `act` happen once, just after the function `name` of a module has done its work."""
    real, done = getattr(where, name), list[object]()

    def then(*given: Any, **named: Any) -> object:
        found = real(*given, **named)
        if not done:
            done.append(act())
        return found

    monkeypatch.setattr(where, name, then)


def pinned(memory: Memory) -> object:
    return memory.pin(node(memory, "Lena"), True, at=START)


def said(memory: Memory) -> object:
    return memory.say("Person:Lena -likes-> Concept:Quiet Mornings", at=START + timedelta(days=20))


def renamed(memory: Memory) -> object:
    return memory.edit(node(memory, "Lena"), title="Magdalena", at=START)


@pytest.mark.parametrize("act", [pinned, said, renamed])
def test_a_plan_is_of_one_moment_and_stale_when_another_process_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Act
) -> None:
    memory, other = told(tmp_path / "m.sqlite3"), open_memory(tmp_path / "m.sqlite3")
    before = memory.revision
    meanwhile(monkeypatch, plan, "scored", lambda: act(other))
    made = memory.plan(LFU, where="search=Lena")
    assert made.revision == before < memory.revision
    with pytest.raises(StalePlanError):
        memory.apply(made)


def test_a_pass_taken_back_leaves_no_edge_to_what_another_process_forgot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = told(tmp_path / "m.sqlite3"), open_memory(tmp_path / "m.sqlite3")
    done = memory.apply(memory.plan(LFU, where="search=Winter"))
    meanwhile(monkeypatch, passes, "_edges_of", lambda: other.apply(other.plan(LFU, where="search=Lena")))
    memory.undo(done, at=START)
    assert memory.store.query(HANGING) == []
    assert memory.graph.is_live(node(memory, "Winter Concert"))


def test_a_pass_that_is_due_is_planned_again_when_another_process_was_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = told(tmp_path / "m.sqlite3"), open_memory(tmp_path / "m.sqlite3")
    turns = memory.graph.turns
    memory.change_settings(replace(memory.settings, forget_every=turns + 1, forget_threshold=0.99))
    meanwhile(monkeypatch, forgetting, "plan_forgetting", lambda: pinned(other))
    assert memory.say("Concept:New Thing", at=START + timedelta(days=900)).turn == f"t{turns + 1}"
    assert [one.by for one in memory.passes()] == ["automatic"]
    assert memory.graph.is_live(node(memory, "Lena"))


def reread(memory: Memory, *titles: str) -> str:
    found = tuple(FoundNode("Person", title, "", {}, (0, 3)) for title in titles)
    return memory.reread("t1", Extraction("ok", found, (), extractor="x"), at=START)[0]


@pytest.mark.parametrize("later", ["Person:Lena", "Person:Lena -likes-> Concept:Tea"])
def test_a_node_that_a_reading_brought_stays_at_its_undo_when_a_later_turn_names_it(tmp_path: Path, later: str) -> None:
    memory = open_memory(tmp_path / "m.sqlite3")
    memory.say("Concept:Old", at=START)
    change = reread(memory, "Lena")
    memory.say(later, at=START + timedelta(days=1))
    assert memory.undo(change, at=START)["kept"] == 1
    memory.close()
    with open_memory(tmp_path / "m.sqlite3") as again:
        lena = node(again, "Lena")
        assert again.graph.is_live(lena)
        assert again.graph.is_live(node(again, "Old"))
        assert again.store.query("SELECT turn FROM provenance WHERE item = ?", lena) == [("t2",)]
        assert len(again.scoring_view().ids) == again.graph.node_count


def test_an_edge_that_a_reading_ended_waits_at_its_undo_for_the_pass_that_took_an_end(tmp_path: Path) -> None:
    memory = open_memory(tmp_path / "m.sqlite3")
    memory.say("Person:Ann -knows-> Concept:Tea", at=START)
    change = reread(memory, "Ann")
    gone = memory.apply(memory.plan(LFU, where="label=Person"))
    memory.undo(change, at=START)
    assert memory.store.query(HANGING) == []
    memory.undo(gone, at=START)
    assert memory.graph.edge_count == 1


def test_a_memory_of_an_age_before_1970_has_the_same_clock_when_it_is_opened_again(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.sqlite3") as memory:
        memory.say("Concept:Old Thing", at="1950-01-01T00:00:00Z")
        clock = memory.clock
    with open_memory(tmp_path / "m.sqlite3") as again:
        assert again.clock == clock
        assert str(clock).startswith("1950-01-01")
