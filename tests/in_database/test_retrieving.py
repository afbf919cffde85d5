"""What the server finds is what the graph in RAM finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core.demo import demo_turns
from memory_core.errors import EmbedderMismatchError
from memory_core.graph import Graph
from memory_core.in_database import InDatabase
from memory_core.in_database.retrieving import BY_INDEX, SEARCHING
from memory_core.memory import Memory
from memory_core.policies import make as policy
from memory_core.protocols import Floats, Kind, Retrieval
from memory_core.retrievers.graph import GraphRetriever
from memory_core.store.rows import RowChange, insert
from memory_core.walk import CAPPED
from tests.in_database.conftest import Make

START = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = "Ada Bede Cleo Dan Eve Fay Gus Hal Ida Jon".split()
LABELS = ("Person", "Location", "Concept")


def told(memory: Memory, statements: list[str]) -> None:
    for hour, text in enumerate(statements):
        memory.say(text, at=START + timedelta(hours=hour), speaker=NAMES[hour % 3])


def same(one: Retrieval, other: Retrieval) -> bool:
    return replace(one, ms={}) == replace(other, ms={})


@st.composite
def statements(draw: st.DrawFn) -> list[str]:
    node = st.builds("{}:{}".format, st.sampled_from(LABELS), st.sampled_from(NAMES))
    edge = st.builds("{} -{}-> {}".format, node, st.sampled_from(("knows", "likes")), node)
    return draw(st.lists(st.lists(edge, min_size=1, max_size=4).map("; ".join), min_size=1, max_size=6))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=statements(),
    asked=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
    part=st.builds(
        GraphRetriever,
        roots=st.integers(1, 6), hops=st.integers(0, 3), cap=st.integers(1, 8), floor=st.sampled_from((0.0, 0.4, 0.9)),
    ),
    keep=st.integers(0, 12),
)  # fmt: skip
def test_any_memory_any_parameters_the_same_retrieval(
    both: Make, said: list[str], asked: list[str], part: GraphRetriever, keep: int
) -> None:
    ram, there = both()
    told(ram, said)
    question = f"about {' and '.join(asked)}"
    assert same(ram.retrieve(question, part), there.retrieve(question, part))
    plan = ram.plan(policy("importance"), keep=keep, turns="with_nodes")
    ram.apply(plan)
    assert same(ram.retrieve(question, part), there.retrieve(question, part))
    ram.close()
    there.close()


def test_loops_parallel_edges_and_ties_of_equal_vectors_are_told_in_the_same_order(both: Make) -> None:
    ram, there = both()
    told(ram, ["Person:Ada -knows-> Person:Bede; Person:Bede -knows-> Concept:Ada; Concept:Dab -likes-> Person:Bad"])
    ids = [ram.graph.ids[row] for row in range(2)]
    for name, ends in (("e90", (ids[0], ids[0])), ("e91", (ids[1], ids[0])), ("e92", (ids[0], ids[1]))):
        row = {"id": name, "source": ends[0], "target": ends[1], "relationship": "r", "attributes": "{}"}
        ram.commit([insert("edge", **row, forgotten_by=None)])
    found = there.retrieve("Who is Ada, and Bad?", GraphRetriever(floor=0.0))
    assert [root.title for root in found.roots][:2] == ["Ada", "Ada"]
    assert same(ram.retrieve("Who is Ada, and Bad?", GraphRetriever(floor=0.0)), found)


def test_a_hub_is_cut_at_the_same_place(both: Make) -> None:
    ram, there = both()
    names = [f"Matter{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(600)]
    told(ram, ["; ".join(f"Person:Ada -knows-> Concept:{name}" for name in names)])
    found = there.retrieve("Where is Ada?")
    assert (len(found.nodes), len(found.capped)) == (15, CAPPED)
    assert same(ram.retrieve("Where is Ada?"), found)


def test_a_question_without_entities_and_an_empty_memory_bring_nothing(both: Make) -> None:
    ram, there = both()
    for question in ("well, yes?", "Where is Ada?"):
        assert same(ram.retrieve(question), there.retrieve(question))
    told(ram, ["Person:Ada -knows-> Person:Bede"])
    found = there.retrieve("well, yes?")
    assert (found.candidates, found.nodes, found.turns, found.lines) == ((), (), (), ())


def test_an_answer_is_the_one_given_in_ram(both: Make) -> None:
    ram, there = both()
    told(ram, ["Person:Ada -lives_in-> Location:Oban", "Person:Bede -knows-> Person:Ada"])
    assert there.ask("Where does Ada live?").answer == ram.ask("Where does Ada live?").answer
    assert there.titles(["n1"]) == ram.titles(["n1"])


def test_a_memory_that_was_re_embedded_meanwhile_is_not_asked_with_the_old_embedder(both: Make) -> None:
    ram, there = both()
    told(ram, ["Person:Ada -knows-> Person:Bede"])
    assert there.retrieve("Who is Ada?").roots
    ram.store.commit([insert("meta", key="embedder", value="another")], ram.revision)
    with pytest.raises(EmbedderMismatchError, match="was made with embedder another"):
        there.retrieve("Who is Ada?")


def test_the_demo_memory_read_by_the_embedded_parts_is_found_alike(postgres: str) -> None:
    address = f"{postgres}?memory=demo"
    asked = ("Who is Priya Raman?", "Where does Danny live?", "What is said of Bristol?", "Where do I live now?")
    with Memory.open(address) as ram, InDatabase.open(address) as there:
        there.exact = True
        for turn in demo_turns()[:24]:
            ram.add(turn)
        for question in asked:
            assert same(ram.retrieve(question), there.retrieve(question))
        assert sum(bool(there.retrieve(question).nodes) for question in asked) >= 3


# -- the index ---------------------------------------------------------------------------------------------------------


class Clustered:
    """Vectors by the number that a text ends with: 25 to a cluster, so that neighbours compete."""

    id, dim, match_threshold, floor, languages = "clustered", 48, 2.0, 0.0, ("*",)

    def embed(self, texts: list[str], kind: Kind = "document") -> Floats:
        return np.stack([self.one(int(text.rpartition("o")[2], 16), kind) for text in texts])

    def one(self, number: int, kind: Kind) -> Floats:
        centre = np.random.default_rng(number % 160).standard_normal(self.dim)
        own = np.random.default_rng([number, kind == "query"]).standard_normal(self.dim)
        vector = centre + (0.4 if kind == "document" else 0.5) * own
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def filled(memory: Memory, nodes: int) -> None:
    """Nodes with vectors, each with an edge to the one before."""
    embedder = Clustered()
    rows = [
        insert("node", id=f"n{n}", label="Concept", title=f"Number {n}", content="", attributes="{}", pinned=0,
               created=START.timestamp() + n, turns_at_creation=1, forgotten_by=None) for n in range(nodes)
    ]  # fmt: skip
    rows += [
        insert("node_vector", node=f"n{n}", vector=embedder.one(n, "document").astype(np.float16).tobytes())
        for n in range(nodes)
    ]
    rows += [
        insert("edge", id=f"e{n}", source=f"n{n}", target=f"n{n - 1}", relationship="follows", attributes="{}",
               forgotten_by=None) for n in range(1, nodes)
    ]  # fmt: skip
    memory.commit(rows)


def recall(exact: InDatabase, indexed: InDatabase, questions: int) -> float:
    """Share of the five true roots that the index finds, and the walk is the same where it finds all."""
    found = 0
    for number in range(questions):
        question = f"what of No{number * 37:x}"
        true, near = exact.retrieve(question), indexed.retrieve(question)
        assert len(near.roots) == 5
        found += len({root.id for root in true.roots} & {root.id for root in near.roots})
        assert true.roots != near.roots or [visit.id for visit in true.nodes] == [visit.id for visit in near.nodes]
    return found / (5 * questions)


@pytest.fixture
def indexed(both: Make) -> Iterator[tuple[Memory, InDatabase, InDatabase]]:
    """3,000 nodes beside another memory of as many: in RAM, exact, and by the index."""
    other, _ = both(Clustered())
    filled(other, 3000)
    ram, exact = both(Clustered())
    filled(ram, 3000)
    there = InDatabase(exact.store, exact.embedder, exact.extractor, exact.reader)
    assert there.index()
    assert not there.index()
    yield ram, exact, there
    there.store.query("SELECT drop_index()")  # while any memory has an index, no purge rewrites the tables


def test_the_index_finds_at_least_98_of_100_true_roots_also_when_most_nodes_are_forgotten(
    indexed: tuple[Memory, InDatabase, InDatabase],
) -> None:
    ram, exact, there = indexed
    assert recall(exact, there, 60) >= 0.98
    plan = exact.plan(policy("importance"), keep=300)
    exact.apply(plan)
    assert recall(exact, there, 60) >= 0.98
    kept = set(ram.graph.ids) - set(plan.forgotten)
    assert {root.id for root in there.retrieve("what of No3").candidates} <= kept


def test_the_index_is_what_is_searched(indexed: tuple[Memory, InDatabase, InDatabase]) -> None:
    *_, there = indexed
    sql = BY_INDEX.format(tenant=there.store.tenant, dim=48)
    with there.store.snapshot():
        there.store.query(SEARCHING, "off", "40")
        steps = [step for (step,) in there.store.query(f"EXPLAIN {sql}", str([0.1] * 48), 100)]
    assert any(f"Index Scan using node_vector_half_{there.store.tenant}_48" in step for step in steps)


def test_no_query_brings_the_memory_here(
    indexed: tuple[Memory, InDatabase, InDatabase], monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, there = indexed
    brought: list[int] = []
    ask, follow = there.store.query, Graph.apply

    def counting(sql: str, *values: object) -> list[tuple[object, ...]]:
        rows = ask(sql, *values)  # type: ignore[arg-type]
        brought.append(len(rows))
        return rows

    def small(graph: Graph, changes: Iterable[RowChange]) -> None:
        rows = list(changes)
        assert {row.table for row in rows} <= {"node", "edge"}, "a vector was loaded"
        follow(graph, rows)
        assert len(graph.ids) <= 15

    monkeypatch.setattr(there.store, "query", counting)
    monkeypatch.setattr(Graph, "apply", small)
    monkeypatch.setattr(Memory, "_load", None)  # whoever loads a memory fails
    found = there.ask("what of No3").retrieval
    assert found.roots
    assert there.plan(policy("importance"), keep=2990).nodes_before == 3000
    assert max(brought) <= 100
