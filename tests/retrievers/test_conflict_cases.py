"""Situations in which stored facts contradict each other, reported elsewhere, with the outcome wanted here."""

from __future__ import annotations

from memory_core.extractors.embedded import Embedded
from memory_core.memory import Memory
from memory_core.retrievers.graph import GraphRetriever
from memory_core.retrievers.hybrid import HybridRetriever
from memory_core.schema import Turn, utc
from tests.fakes import LetterEmbedder
from tests.memories import fake_memory

NEVER = LetterEmbedder(match_threshold=2.0, floor=0.0)


def edges(memory: Memory) -> list[tuple[str, str, bool]]:
    """(relationship, title of the target, whether it holds) of every live edge, as stored."""
    found = [memory.graph.edge(memory.graph.edge_ids[row]) for row in memory.graph.live_edges()]
    title = {node: memory.graph.titles[row] for node, row in memory.graph.row_of.items()}
    return [(edge.relationship, title[edge.target], "until" not in edge.attributes) for edge in found]


def test_con_01_a_reversed_preference_leaves_one_current_statement_and_it_is_negative() -> None:
    with fake_memory(embedder=NEVER) as memory:
        memory.say("Person:User -loves-> Concept:Sichuan food", at="2024-01-01")
        memory.say("Person:User -hates-> Concept:Sichuan food", at="2024-02-01")
        assert edges(memory) == [("loves", "Sichuan food", False), ("hates", "Sichuan food", True)]
        for part in (GraphRetriever(), HybridRetriever()):
            told = [line for line in memory.retrieve("Do I like Sichuan food?", part).lines if "-->" in line.text]
            assert ["hates" in line.text and not line.superseded for line in told] == [True, False]


def test_con_02_the_current_home_is_the_newest_in_every_context() -> None:
    with fake_memory(embedder=NEVER) as memory:
        memory.say("Person:Elena -lives_in-> Location:Osaka", at="2023-03-01T10:00:00Z")
        memory.say("Person:Elena -lives_in-> Location:Berlin", at="2023-09-01T10:00:00Z")
        for part in (GraphRetriever(), HybridRetriever()):
            told = [line for line in memory.retrieve("Where does Elena live?", part).lines if "-->" in line.text]
            assert [("Berlin" in line.text, line.superseded) for line in told] == [(True, False), (False, True)]
            assert "until 2023-09-01, no longer current" in told[1].text


def test_con_03_a_number_takes_its_newest_value_and_keeps_the_old_as_history() -> None:
    with fake_memory(embedder=NEVER) as memory:
        memory.say("Concept:Monthly rent {amount=900} | Rent is 900 euros.", at="2023-01-05")
        memory.say("Concept:Monthly rent {amount=950} | Rent went up to 950 euros.", at="2023-07-05")
        assert memory.graph.node_count == 1
        assert memory.graph.node("n1").attributes == {"amount": "950"}
        said = [(one.value, one.current) for one in memory.history_of("n1") if one.field == "attributes.amount"]
        assert said == [("900", False), ("950", True)]
        context = memory.retrieve("What is the Monthly rent?", GraphRetriever()).context
        assert "950" in context
        assert "900" not in context


def test_con_03_an_older_value_that_arrives_late_goes_to_history() -> None:
    with fake_memory(embedder=NEVER) as memory:
        memory.say("Concept:Monthly rent {amount=950}", at="2023-07-05")
        memory.say("Concept:Monthly rent {amount=900}", at="2023-01-05")
        assert memory.graph.node("n1").attributes == {"amount": "950"}


def test_con_07_a_recommendation_of_the_assistant_is_no_preference_of_the_user() -> None:
    text = "For Lisbon I would recommend the Miradouro da Graca and a pastel de nata at Manteigaria."
    found = Embedded().extract(Turn("assistant", text, utc("2024-01-01"), "Assistant"))
    users = {place for place, node in enumerate(found.nodes) if node.title == "User"}
    likings = ("like", "love", "prefer", "enjoy", "visit")
    assert found.nodes
    assert not [edge for edge in found.edges if edge.source in users and edge.relationship.startswith(likings)]


def test_con_09_thanks_after_a_recalled_fact_store_nothing_new() -> None:
    with fake_memory(embedder=NEVER, extractor=Embedded()) as memory:
        memory.say("My sister Mira Solano lives in Porto.", at="2024-01-01")
        before = (memory.graph.node_count, memory.graph.edge_count, memory.graph.accesses.values.tolist())
        assert memory.retrieve("Where does Mira Solano live?", HybridRetriever()).context
        memory.say("thanks, that helps", at="2024-01-02")
        assert (memory.graph.node_count, memory.graph.edge_count, memory.graph.accesses.values.tolist()) == before
