"""The shipped pairs, with the real embedder: the same thing in other words is joined, different things stay apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_core.dedup import Matcher
from memory_core.embedders.minilm import MiniLM
from memory_core.graph import Graph
from memory_core.schema import FoundNode, descriptor
from memory_core.store.rows import insert

PAIRS = [json.loads(line) for line in Path("data/pairs.jsonl").read_text("utf-8").splitlines()]


def joined(pair: dict[str, Any], embedder: MiniLM, guards: bool = True) -> bool:
    """Whether the second of the pair would be merged into the first."""
    graph = Graph(embedder.dim)
    first, second = (FoundNode(pair[side]["label"], pair[side]["title"], pair[side]["content"]) for side in ("a", "b"))
    row = {"label": first.label, "title": first.title, "content": first.content, "attributes": "{}", "created": 0.0}
    vector, other = embedder.embed([descriptor(node.label, node.title, node.content) for node in (first, second)])
    graph.apply(
        [
            insert("node", id="n1", **row, turns_at_creation=1, pinned=0, forgotten_by=None),
            insert("node_vector", node="n1", vector=vector.astype(np.float16).tobytes()),
        ]
    )
    matcher = Matcher(embedder.match_threshold, guards)
    match = matcher.by_title(graph, second)
    if match.node is None:
        match = matcher.by_cosine(graph, second, graph.above(other[None], matcher.threshold)[0])
    return match.node is not None


@pytest.fixture(scope="module")
def outcomes() -> list[tuple[dict[str, Any], bool]]:
    embedder = MiniLM()
    return [(pair, joined(pair, embedder)) for pair in PAIRS]


def test_the_same_thing_in_other_words_is_joined_in_four_of_five_pairs(
    outcomes: list[tuple[dict[str, Any], bool]],
) -> None:
    same = [outcome for pair, outcome in outcomes if pair["same"]]
    assert sum(same) / len(same) >= 0.80


def test_at_most_one_in_a_hundred_different_things_is_joined(outcomes: list[tuple[dict[str, Any], bool]]) -> None:
    wrong = [pair["id"] for pair, outcome in outcomes if outcome and not pair["same"]]
    assert len(wrong) <= sum(not pair["same"] for pair in PAIRS) // 100, wrong


def test_without_guards_the_papers_rule_joins_many_different_things() -> None:
    different = [pair for pair in PAIRS if not pair["same"]][:40]
    assert sum(joined(pair, MiniLM(), guards=False) for pair in different) > 10
