"""Where evidence is lost: one hand-made memory, one turn for each step."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory_core.evaluation.fates import STAGES, fates
from memory_core.evaluation.side_by_side import side_by_side
from memory_core.memory import Memory
from memory_core.retrievers.bm25 import BM25Retriever
from memory_core.retrievers.flat import FlatRetriever
from memory_core.retrievers.graph import GraphRetriever
from memory_core.retrievers.hybrid import HybridRetriever
from tests.fakes import LetterEmbedder
from tests.memories import fake_memory

#: Axes: ask, far. Aaa is the question's entity; Bbb is near it, Ccc below the floor.
PLACES = {"Aaa": (1.0, 0.0), "Bbb": (0.9, 0.4359), "Ccc": (0.1, 0.995)}
AT = datetime(2024, 5, 1, tzinfo=UTC)
TOLD = [
    "Person:Aaa -knows-> Person:Ccc1",  # t1: root and first hop
    "Person:Ccc1 -knows-> Person:Ccc2",  # t2: second hop
    "Person:Ccc2 -knows-> Person:Ccc3",  # t3: third hop
    "Person:Bbb",  # t4: above the floor, after the root
    "Concept:Ccc9",  # t5: near nothing, tied to nothing
    "Hm.",  # t6: nothing to write
    "Goal:Ccc7",  # t7: will be deleted
]


@pytest.fixture
def memory() -> Iterator[Memory]:
    with fake_memory(embedder=LetterEmbedder(fixed=PLACES)) as made:
        for number, text in enumerate(TOLD):
            made.say(text, at=AT + timedelta(minutes=number))
        (gone,) = [node for node in made.graph.ids if made.graph.node(node).title == "Ccc7"]
        made.delete(gone, at=AT)
        yield made


def lost(memory: Memory, turn: str, **settings: Any) -> str:
    part = GraphRetriever(**{"roots": 1, "hops": 2, "cap": 15, "floor": 0.5, **settings})
    (fate,) = fates(memory, memory.retrieve("Where is Aaa?", part), part, [turn])
    assert fate.lost == "" or fate.lost in STAGES
    assert bool(fate.why) == bool(fate.lost), "a loss says why"
    return fate.lost


@pytest.mark.parametrize(
    ("turn", "stage"),
    [
        ("t1", ""), ("t2", ""), ("t3", ""), ("t4", "cut at the roots"), ("t5", "below the floor"),
        ("t6", "never written"), ("t7", "forgotten"), ("t99", "not stored"),
    ],
)  # fmt: skip
def test_each_step_of_the_graph_retriever_is_named(memory: Memory, turn: str, stage: str) -> None:
    assert lost(memory, turn) == stage


def test_one_hop_leaves_what_is_two_away(memory: Memory) -> None:
    assert lost(memory, "t3", hops=1) == "beyond the hops"


def test_a_small_cap_cuts_what_it_reached(memory: Memory) -> None:
    assert lost(memory, "t3", cap=2) == "cut by the cap"


def test_what_a_hub_leaves_out_is_cut_by_the_cap_whether_it_is_named_or_not(memory: Memory) -> None:
    for first in (100, 140, 180):
        told = "; ".join(f"Person:Aaa -knows-> Person:Ccc{number}" for number in range(first, first + 40))
        memory.say(told, at=AT + timedelta(hours=1))
    memory.say("Person:Ccc219 {mood=glad}", at=AT + timedelta(hours=2))
    found = memory.retrieve("Where is Aaa?", GraphRetriever(roots=1, hops=1, floor=0.5))
    assert "Ccc219" not in memory.titles(found.capped).values(), "only the first hundred are named"
    assert lost(memory, "t11", hops=1) == "cut by the cap"


def test_a_high_floor_leaves_no_root(memory: Memory) -> None:
    assert lost(memory, "t4", floor=0.95, roots=5) == "below the floor"


def test_of_a_node_only_the_newest_three_turns_are_brought(memory: Memory) -> None:
    for minutes in range(60, 64):
        memory.say("Person:Aaa {mood=glad}", at=AT + timedelta(minutes=minutes))
    assert lost(memory, "t8", roots=1, hops=0) == "older turn of its node"


def test_a_forgotten_turn_is_forgotten(memory: Memory) -> None:
    from memory_core.policies.random import Random

    memory.apply(memory.plan(Random(), keep=0, turns="with_nodes", at=AT), at=AT)
    assert lost(memory, "t1") == "forgotten"


@pytest.mark.parametrize("kind", [FlatRetriever, BM25Retriever, HybridRetriever])
def test_below_the_first_k_tells_the_rank(memory: Memory, kind: type[Any]) -> None:
    part = kind(k=1)
    found = memory.retrieve("Ccc9 Bbb knows Ccc3", part)
    names = [f"t{number}" for number in range(1, 8)]
    made = fates(memory, found, part, names)
    assert [fate.source_id for fate in made if fate.found] == [turn.id for turn in found.turns]
    assert {fate.lost for fate in made if not fate.found} == {"below the first k"}


def test_a_line_over_the_budget_is_a_loss_of_its_own(memory: Memory) -> None:
    memory.say("Ccc3 " * 300, at=AT + timedelta(hours=2))
    part = HybridRetriever(k=3, tokens=100)
    found = memory.retrieve("Ccc3", part)
    assert "t8" in {turn.id for turn in found.turns}
    (fate,) = fates(memory, found, part, ["t8"])
    assert (fate.lost, fate.place is not None) == ("over the budget", True)


def test_side_by_side_keeps_to_the_room_and_tells_what_only_one_brings(memory: Memory) -> None:
    parts = {"flat": FlatRetriever(), "bm25": BM25Retriever()}
    flat, bm25 = side_by_side(memory, "Bbb", parts, 30, ["t4", "t6"])
    assert flat.tokens <= 30
    assert bm25.brought[0].id == "t4"
    assert bm25.recall == 0.5
    assert bm25.only == {turn.id for turn in bm25.brought} - {turn.id for turn in flat.brought}
