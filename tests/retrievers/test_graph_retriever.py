"""P1 3.5 on graphs small enough to walk by hand."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memory_core.memory import Memory
from memory_core.protocols import Root
from memory_core.retrievers.graph import GraphRetriever
from memory_core.store.rows import insert
from memory_core.walk import Walks, breadth_first, edges_among, rank_turns
from tests.fakes import LetterEmbedder
from tests.memories import fake_memory

NEVER = 2.0  # no cosine reaches it: nothing is merged but by title


def said(*statements: str, fixed: dict[str, list[float]] | None = None) -> Memory:
    """A memory of one turn a statement; `fixed` sets the vectors of texts that contain a word."""
    memory = fake_memory(embedder=LetterEmbedder(match_threshold=NEVER, fixed=fixed or {}))
    for day, statement in enumerate(statements, start=1):
        memory.say(statement, at=f"2024-01-{day:02}T12:00:00Z")
    return memory


def walked(memory: Memory, title: str, hops: int = 2, cap: int = 15) -> tuple[list[tuple[str, int]], list[str]]:
    graph = memory.graph
    visits, capped = breadth_first(graph, [graph.ids[graph.titles.index(title)]], hops, cap)
    titles = [(graph.titles[graph.row_of[visit.id]], visit.hop) for visit in visits]
    return titles, [graph.titles[graph.row_of[node]] for node in capped]


CHAIN = ("Person:A -knows-> Person:B", "Person:B -knows-> Person:C", "Person:C -knows-> Person:D")


@pytest.mark.parametrize(
    ("hops", "expected"),
    [(0, [("A", 0)]), (1, [("A", 0), ("B", 1)]), (2, [("A", 0), ("B", 1), ("C", 2)])],
)
def test_a_walk_ends_after_its_hops(hops: int, expected: list[tuple[str, int]]) -> None:
    with said(*CHAIN) as memory:
        assert walked(memory, "A", hops) == (expected, [])


def test_edges_are_walked_both_ways() -> None:
    with said(*CHAIN) as memory:
        assert walked(memory, "C")[0] == [("C", 0), ("B", 1), ("D", 1), ("A", 2)]


def test_the_cap_keeps_the_nearest_and_names_what_it_cut() -> None:
    with said("Person:A -knows-> Person:B; Person:A -knows-> Person:C; Person:A -knows-> Person:D") as memory:
        assert walked(memory, "A", cap=3) == ([("A", 0), ("B", 1), ("C", 1)], ["D"])


def test_ret_07_a_hub_does_not_push_out_the_neighbours_of_the_root() -> None:
    hub = "; ".join(f"Person:User -knows-> Concept:Matter{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(300))
    root = "; ".join(f"Concept:Penicillin -of-> {end}" for end in ("Person:User", "Person:Lindqvist", "Event:Rash"))
    with said(hub, root) as memory:
        started = time.process_time()
        first, second = walked(memory, "Penicillin")[0], walked(memory, "Penicillin")[0]
        assert time.process_time() - started < 1
        assert first[:4] == [("Penicillin", 0), ("User", 1), ("Lindqvist", 1), ("Rash", 1)]
        assert len(first) == 15
        assert first == second


def test_ret_09_cycles_loops_and_parallel_edges_end_and_give_each_line_once() -> None:
    with said("Person:Ann -r-> Person:Bob; Person:Bob -r-> Person:Cid; Person:Cid -r-> Person:Ann") as memory:
        a, b = (memory.graph.ids[memory.graph.titles.index(title)] for title in ("Ann", "Bob"))
        for name, ends in (("e90", (a, a)), ("e91", (a, b))):
            row = {"id": name, "source": ends[0], "target": ends[1], "relationship": "r", "attributes": "{}"}
            memory.commit([insert("edge", **row, forgotten_by=None)])
        assert walked(memory, "Ann")[0] == [("Ann", 0), ("Bob", 1), ("Cid", 1)]
        lines = [line.text for line in memory.retrieve("Ann?", GraphRetriever(floor=0.0)).lines if "--" in line.text]
        assert lines == ["Ann -- r --> Bob", "Bob -- r --> Cid", "Cid -- r --> Ann", "Ann -- r --> Ann"]


def test_ret_06_every_edge_between_visited_nodes_is_told_once() -> None:
    fixed = {"Zed": [1.0], "Dale": [0.0, 1.0], "Oban": [0.0, 0.0, 1.0]}
    alias, birth = "Person:Zed -alias_of-> Person:Dale Moran", "Person:Dale Moran -born_in-> Location:Oban"
    with said(alias, birth, fixed=fixed) as memory:
        found = memory.retrieve("Who is Zed?", GraphRetriever(floor=0.9))
        assert [root.title for root in found.roots] == ["Zed"]
        assert (len(found.nodes), len(found.edges)) == (3, 2)
        told = [line.text for line in found.lines if "--" in line.text]
        assert told == ["Zed -- alias_of --> Dale Moran", "Dale Moran -- born_in --> Oban"]


def test_ret_03_below_the_floor_there_are_no_roots_and_no_padding() -> None:
    near = {"Mode": [0.61, 0.7924], "Pancake": [0.70, 0.7141], "About": [0.58, 0.8146], "Aubergines": [1.0]}
    with said("Concept:Mode; Concept:Pancake; Concept:About", fixed=near) as memory:
        found = memory.retrieve("Do I like Aubergines?", GraphRetriever(floor=0.75))
        assert [round(root.score, 2) for root in found.candidates] == [0.70, 0.61, 0.58]
        assert (found.roots, found.nodes, found.turns, found.context) == ((), (), (), "")


def test_five_roots_are_kept_best_first_and_the_rest_stay_in_the_trace() -> None:
    fixed = {f"Thing{letter}": [1.0, place / 10] for place, letter in enumerate("abcdefg")} | {"Query": [1.0]}
    with said("; ".join(f"Concept:Thing{letter}" for letter in "gfedcba"), fixed=fixed) as memory:
        found = memory.retrieve("Query?", GraphRetriever(floor=0.0))
        assert [root.title for root in found.roots] == [f"Thing{letter}" for letter in "abcde"]
        assert len(found.candidates) == 7


def test_ret_02_a_question_without_entities_brings_nothing() -> None:
    with said(*CHAIN) as memory:
        before = memory.graph.accesses.values.tolist()
        for question in ("hmm, ok then", "well, yes"):
            assert memory.retrieve(question, GraphRetriever()).nodes == ()
        assert memory.graph.accesses.values.tolist() == before


def test_of_a_node_only_its_newest_three_turns_are_ranked() -> None:
    cited = {"n1": ["t1", "t2", "t3", "t4"], "n2": ["t4", "t9"]}
    ranked = rank_turns(["n1", "n2"], cited, [Root("n1", "Mira", 0.8)])
    assert [(turn.id, turn.score) for turn in ranked] == [("t4", 0.8), ("t3", 0.8), ("t2", 0.8), ("t9", 1 / 3)]


def test_a_walk_that_starts_anew_every_second_step_is_found_where_algebra_says() -> None:
    # A - B - C from A, restart 1/2: a = 1/2 + b/4, b = a/2 + c/2, c = b/4; so b = 4a/7 and a = 1/2 + a/7
    with said("Person:A -r-> Person:B; Person:B -r-> Person:C") as memory:
        found = memory.walks().pagerank(np.array([3.0, 0.0, 0.0]), rounds=60)
        assert found.tolist() == pytest.approx([7 / 12, 1 / 3, 1 / 12])


def test_a_node_hands_itself_to_its_turns_by_the_root_of_their_number() -> None:
    with said("Person:A -r-> Person:B", "Person:A", "Person:A", "Person:A") as memory:
        said_by = memory.walks().said.toarray()
        assert said_by.tolist() == [[0.5, 1.0], [0.5, 0.0], [0.5, 0.0], [0.5, 0.0]]


def test_walks_leave_forgotten_nodes_out() -> None:
    with said("Person:A -r-> Person:B; Person:B -r-> Person:C") as memory:
        memory.delete(memory.graph.ids[1], at=memory.clock)
        walks: Walks = memory.walks()
        assert walks.steps.nnz == 0
        assert walks.said.toarray().tolist() == [[1.0, 0.0, 1.0]]
        assert edges_among(memory.graph, [memory.graph.ids[0], memory.graph.ids[2]]) == []


def test_a_speaker_may_be_a_root_but_brings_no_turns_of_its_own() -> None:
    """Nearly every turn says something of its speaker; the newest three of those answer nothing."""
    memory = said("Person:User -likes-> Concept:Rain", "Person:User {job=baker}", "Person:User {age=40}")
    found = GraphRetriever().retrieve(memory, "User")
    assert memory.graph.ids[memory.graph.titles.index("User")] in [root.id for root in found.roots]
    assert [turn.id for turn in found.turns] == ["t1"]  # by Rain, one hop on


def test_ret_14_a_graph_of_tens_of_thousands_of_nodes_answers_at_once() -> None:
    nodes, edges, dim = 27_021, 46_500, 768
    random = np.random.default_rng(14)
    vectors = random.standard_normal((nodes, dim)).astype(np.float16)
    vectors[7] = [20.0, *[0.0] * (dim - 1)]
    vectors /= np.linalg.norm(vectors.astype(np.float32), axis=1, keepdims=True).astype(np.float16)
    ends = random.integers(nodes, size=(edges, 2)).tolist()
    plain = {"label": "Concept", "content": "", "attributes": "{}", "created": 0.0, "turns_at_creation": 0, "pinned": 0}
    rows = [insert("node", id=f"n{n}", title=f"Thing {n}", **plain, forgotten_by=None) for n in range(nodes)]
    rows += [insert("node_vector", node=f"n{n}", vector=vectors[n].tobytes()) for n in range(nodes)]
    named = {"relationship": "r", "attributes": "{}", "forgotten_by": None}
    rows += [insert("edge", id=f"e{n}", source=f"n{a}", target=f"n{b}", **named) for n, (a, b) in enumerate(ends)]
    with fake_memory(embedder=LetterEmbedder(dim=dim, fixed={"": [1.0]})) as memory:
        memory.commit(rows)
        memory.retrieve("Warm", GraphRetriever())
        started = time.process_time()
        found = [memory.retrieve(f"Question number {n}", GraphRetriever()) for n in range(10)]
        assert (time.process_time() - started) / 10 < 2
        assert {one.roots[0].id for one in found} == {"n7"}
        assert all(0 < len(one.nodes) <= 15 for one in found)


def test_looking_at_signs_first_is_a_setting_that_stays_and_that_a_retrieval_tells(tmp_path: Path) -> None:
    with fake_memory(tmp_path / "m.sqlite3") as memory:
        memory.say("Person:Mira -lives_in-> Location:Porto", at="2024-01-01")
        exact = memory.retrieve("Where is Porto?", GraphRetriever())
        memory.change_settings(replace(memory.settings, search="approximate"))
        quick = memory.retrieve("Where is Porto?", GraphRetriever())
    with fake_memory(tmp_path / "m.sqlite3") as again:
        assert again.retrieve("Where is Porto?", GraphRetriever()).approximate
    assert not exact.approximate
    assert quick == replace(exact, approximate=True, ms=quick.ms)
