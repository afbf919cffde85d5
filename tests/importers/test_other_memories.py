"""Memories of Mem0, Graphiti and Letta come in with their own ids, and what their files cannot hold is said.

The files are built to the documented schemas (`importers/memories/others.py` says where they stand), not real exports.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.__main__ import main
from memory_core.errors import FormatError
from memory_core.exporters import to_document
from memory_core.importers.memories import Imported, import_memory, read_document
from memory_core.inspection.cards import turn_card
from memory_core.inspection.lines import statuses, turn_lines
from memory_core.inspection.origins import origin
from memory_core.inspection.overview import overview
from memory_core.policies.importance import Importance
from tests.memories import fake_memory

WHEN = "2024-07-01T12:00:00Z"
MEM0 = {
    "results": [
        {
            "id": "f4cb-1",
            "memory": "Alex is planning a trip to San Francisco from July 1st on, with Rollo.",
            "created_at": WHEN,
            "updated_at": WHEN,
            "user_id": "alex",
            "categories": ["travel"],
            "metadata": {"a": {"b": 1}},
            "entities": [
                {"id": "e-1", "name": "Alex", "type": "person"},
                {"id": "e-2", "name": "San Francisco", "type": "location"},
            ],
            "relations": [{"source": "e-1", "target": "e-2", "relationship": "traveling_to"}],
        },
        {
            "id": "a2b8-2",
            "memory": "Alex prefers vegetarian restaurants",
            "created_at": "2024-07-05T15:30:00Z",
            "categories": ["preferences"],
        },
    ],
    "relations": [{"source": "Alex", "relationship": "owns", "target": "Rollo"}],
}
GRAPHITI = {
    "nodes": [
        {
            "uuid": "u1",
            "name": "Mira",
            "group_id": "g",
            "labels": ["Entity", "Person"],
            "created_at": WHEN,
            "summary": "A nurse.",
            "attributes": {"job": "nurse"},
            "name_embedding": [0.1, 0.2],
        },
        {
            "uuid": "u2",
            "name": "Porto",
            "group_id": "g",
            "labels": ["Entity", "City"],
            "created_at": WHEN,
            "summary": "",
        },
        {"uuid": "u3", "name": "Faro", "group_id": "g", "labels": ["Entity"], "created_at": WHEN, "summary": ""},
    ],
    "edges": [
        {
            "uuid": "r1",
            "source_node_uuid": "u1",
            "target_node_uuid": "u2",
            "name": "LIVES_IN",
            "fact": "Mira lives in Porto",
            "episodes": ["ep1"],
            "created_at": WHEN,
            "valid_at": WHEN,
            "invalid_at": "2024-08-01T00:00:00Z",
            "attributes": {},
        },
        {
            "uuid": "r2",
            "source_node_uuid": "u1",
            "target_node_uuid": "gone",
            "name": "KNOWS",
            "fact": "",
            "episodes": [],
        },
    ],
    "episodes": [
        {
            "uuid": "ep1",
            "name": "1",
            "group_id": "g",
            "source": "message",
            "content": "Mira: I live in Porto.",
            "valid_at": WHEN,
            "entity_edges": ["r1"],
        }
    ],
}
WRAPPED = '{"type": "user_message", "message": "Hi, I am Chad."}'
LETTA = {
    "agents": [
        {
            "id": "agent-0",
            "block_ids": ["block-0"],
            "messages": [
                {"id": "m0", "role": "system", "content": [{"type": "text", "text": "You are"}], "created_at": WHEN},
                {"id": "m1", "role": "user", "content": [{"type": "text", "text": WRAPPED}], "created_at": WHEN},
                {"id": "m2", "role": "user", "content": '{"type": "heartbeat"}', "created_at": WHEN},
                {
                    "id": "m3",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Hello Chad."}],
                    "created_at": "2024-07-01T12:00:05Z",
                },
                {"id": "m4", "role": "tool", "content": "{}", "created_at": WHEN},
            ],
        }
    ],
    "blocks": [{"id": "block-0", "label": "human", "value": "First name: Chad", "description": "Key details."}],
}
PASSAGES = [{"id": "passage-7", "text": "Chad sails on Sundays.", "created_at": WHEN, "tags": ["sport"]}]


def read(tmp_path: Path, value: object, name: str = "file.json") -> tuple[dict[str, Any], Imported]:
    path = tmp_path / name
    path.write_text(json.dumps(value), "utf-8")
    found = Imported()
    return read_document(path, found), found


def test_mem0_keeps_its_ids_sentences_entities_and_relations(tmp_path: Path) -> None:
    document, found = read(tmp_path, MEM0)
    assert found.system == "Mem0"
    assert list(document["nodes"]) == ["f4cb-1", "e-1", "e-2", "a2b8-2", "entity:Rollo"]
    first = document["nodes"]["f4cb-1"]
    assert first["content"].endswith("with Rollo.")
    assert first["title"] == "Alex is planning a trip to San Francisco from July 1st on …"
    assert first["created_at"] == "2024-07-01T12:00:00+00:00"
    assert document["nodes"]["a2b8-2"]["label"] == "Preference"
    assert document["nodes"]["e-2"]["label"] == "Location"
    said = {(edge["source"], edge["relationship"], edge["target"]) for edge in document["edges"].values()}
    assert said >= {("e-1", "traveling_to", "e-2"), ("e-1", "owns", "entity:Rollo"), ("f4cb-1", "about", "e-1")}
    assert [text.split(":")[0] for text in found.missing] == ["no turns", "no access log"]
    assert found.labels["category travel -> Concept"] == 1


def test_graphiti_brings_episodes_as_turns_and_facts_with_their_times(tmp_path: Path) -> None:
    document, found = read(tmp_path, GRAPHITI)
    assert found.system == "Graphiti"
    assert {node: each["label"] for node, each in document["nodes"].items()} == {"u1": "Person", "u2": "Location", "u3": "Concept"}  # noqa: E501  # fmt: skip
    (edge,) = document["edges"].values()
    assert edge["relationship"] == "lives_in"
    assert edge["attributes"]["until"] == "2024-08-01"
    (turn,) = document["turns"]
    assert (turn["speaker"], turn["text"], turn["source_id"]) == ("Mira", "I live in Porto.", "ep1")
    assert {entry["item"] for entry in document["provenance"]} == {"r1", "u1", "u2"}
    assert any("gone" in problem for problem in found.problems), "a dangling edge is named"
    assert found.labels["City -> Location"] == 1
    assert [text.split(":")[0] for text in found.missing] == ["no access log"]


def test_letta_brings_blocks_and_what_was_said(tmp_path: Path) -> None:
    document, found = read(tmp_path, LETTA, "agent.af")
    assert found.system == "Letta"
    assert document["nodes"]["block-0"]["label"] == "Person"
    assert [(turn["role"], turn["text"]) for turn in document["turns"]] == [("user", "Hi, I am Chad."), ("assistant", "Hello Chad.")]  # noqa: E501  # fmt: skip
    assert "3 messages of system, tools and heartbeats were left out" in found.problems
    assert any(text.startswith("no archival passages") for text in found.missing)
    passages, told = read(tmp_path, PASSAGES)
    assert passages["nodes"]["passage-7"]["content"] == "Chad sails on Sundays."
    assert any(text.startswith("no turns") for text in told.missing)


@pytest.mark.parametrize("value", [MEM0, GRAPHITI, LETTA, PASSAGES], ids=["mem0", "graphiti", "letta", "passages"])
def test_every_page_works_on_them_and_a_plan_names_their_ids(tmp_path: Path, value: object) -> None:
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps(value), "utf-8")
    with fake_memory() as memory:
        import_memory(memory, path)
        known = origin(memory)
        assert known is not None
        assert known.missing
        plan = memory.plan(Importance(), keep=1)
        assert set(plan.forgotten) < set(to_document(memory)["nodes"])
        assert plan.to_json()["forgotten"] == list(plan.forgotten)
        assert sum(overview(memory).labels.values()) == memory.graph.node_count
        for line in turn_lines(memory):
            assert line.status == "unread"
            assert turn_card(memory, line.id).attempts == ()
        assert statuses(turn_lines(memory)).keys() <= {"unread"}
        memory.apply(plan)
        again = memory.say("Person:Ann", at="2025-01-01")
        assert again.added[0].id not in plan.forgotten


def test_the_command_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(MEM0), "utf-8")
    assert main(["import", str(path), "--json", f"--memory={tmp_path / 'm.sqlite3'}"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["system"] == "Mem0"
    assert "no access log" in said.err


UNREADABLE: list[Any] = [{"results": "x"}, [], {"agents": []}, {"nodes": 3}, "text"]


@pytest.mark.parametrize("value", [*UNREADABLE, {"edges": [{"source_node_uuid": 1}]}])
def test_what_is_of_nobody_is_named_or_empty_never_a_crash(tmp_path: Path, value: object) -> None:
    if value in UNREADABLE:
        with pytest.raises(FormatError, match="holds no memory"):
            read(tmp_path, value)
    else:
        assert read(tmp_path, value)[0]["nodes"] == {}


KEYS = "id uuid name memory text entities relations labels episodes content created_at attributes messages tags"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(JSON, max_size=4), st.sampled_from(["results", "nodes", "edges", "episodes", "agents", "blocks"]))
@settings(max_examples=150, deadline=None)
def test_any_values_in_their_place_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, rows: list[Any], part: str) -> None:  # noqa: E501  # fmt: skip
    base: dict[str, Any] = {"results": MEM0, "agents": LETTA, "blocks": LETTA}.get(part, GRAPHITI)  # type: ignore[assignment]
    value = base | {part: [*base.get(part, []), *rows]}
    try:
        document, _ = read(tmp_path_factory.mktemp("any"), value)
    except FormatError:
        return
    assert all(edge["source"] in document["nodes"] for edge in document["edges"].values())
