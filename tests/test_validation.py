"""What a model says reaches the memory only after this: each rule, and each situation seen in public trackers."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.schema import LABELS, Extraction, FoundEdge, FoundNode
from memory_core.validation import MAX_EDGES, MAX_NODES, MAX_REPLY, MAX_TITLE, read_reply, validate

MIRA = {"label": "Person", "title": "Mira Solano", "content": "Mira is the user's sister.", "attributes": {}}
PORTO = {"label": "Location", "title": "Porto", "content": "City where Mira lives.", "attributes": {}}
LIVES = {"source": "n1", "target": "n2", "relationship": "lives_in", "attributes": {}}
PLAIN = json.dumps({"nodes": {"n1": MIRA, "n2": PORTO}, "edges": {"e1": LIVES}})
LISTS = json.dumps({"nodes": [{"id": "n1", **MIRA}, {"id": "n2", **PORTO}], "edges": [{"id": "e1", **LIVES}]})


def person(title: str) -> dict[str, Any]:
    return {"label": "Person", "title": title, "content": f"{title} was mentioned.", "attributes": {}}


def reply(nodes: object, edges: object | None = None) -> str:
    return json.dumps({"nodes": nodes, "edges": {} if edges is None else edges})


def graph(found: Extraction) -> tuple[object, object]:
    return found.nodes, found.edges


PLAIN_GRAPH = graph(read_reply(PLAIN))


def test_a_clean_reply_is_ok_and_kept_to_the_letter() -> None:
    found = read_reply(PLAIN)
    assert found.status == "ok"
    assert [(node.label, node.title) for node in found.nodes] == [("Person", "Mira Solano"), ("Location", "Porto")]
    assert found.edges == (FoundEdge(0, 1, "lives_in"),)
    assert (found.drops, found.repairs, found.raw) == ((), (), PLAIN)


@pytest.mark.parametrize(
    ("raw", "repair"),
    [
        pytest.param(f"```json\n{PLAIN}\n```", "fence", id="EXT-01 a fence"),
        pytest.param(f"```\n{PLAIN}\n```\n", "fence", id="a fence without a name"),
        pytest.param(f"Here you are:\n```JSON\n{PLAIN}```\nAnything else?", "fence", id="a fence in prose"),
        pytest.param(f"```json\n{PLAIN}", "fence", id="a fence that never closes"),
        pytest.param(f"Sure! {PLAIN} I hope this helps {{smile}}.", "words", id="prose around"),
        pytest.param(f'A "quote, then: {PLAIN}', "words", id="a lone quote before"),
        pytest.param(f"I should output one person.\n</think>\n\n{PLAIN}", "reasoning", id="EXT-05 a lone </think>"),
        pytest.param(f"<think>Draft: {reply({})}</think>{PLAIN}", "reasoning", id="a draft in the reasoning"),
        pytest.param(f"<think>a</think>b</think>\n```json\n{PLAIN}\n```", "reasoning", id="two </think> and a fence"),
        pytest.param(PLAIN.replace("}}", "},}"), "commas", id="commas before closing brackets"),
        pytest.param(f"{PLAIN}\n{PLAIN}", "words", id="the same object twice"),
    ],
)
def test_what_is_mechanical_is_mended_and_told(raw: str, repair: str) -> None:
    found = read_reply(raw)
    assert graph(found) == PLAIN_GRAPH
    assert found.status == "repaired"
    assert repair in " ".join(found.repairs)
    assert found.raw == raw


@pytest.mark.parametrize(
    "raw", [f"\ufeff{PLAIN}", f"\n\n {PLAIN}\t\n", LISTS], ids=["byte order mark", "space", "EXT-12"]
)
def test_what_is_only_another_form_is_no_repair(raw: str) -> None:
    assert graph(read_reply(raw)) == PLAIN_GRAPH
    assert read_reply(raw).status == "ok"


@pytest.mark.parametrize(
    "raw", ['[["n1", "n2"], ["e1"]]', '{"nodes": "Mira", "edges": []}', '{"nodes": 3}', '"{}"', '{"edges": []}']
)
def test_ext_12_other_shapes_are_rejected_with_the_reason(raw: str) -> None:
    found = read_reply(raw)
    assert (found.status, found.nodes) == ("rejected", ())
    assert "no_json" in found.reason or "must be a list or an object" in found.reason


def test_items_of_another_shape_are_dropped_one_by_one() -> None:
    found = read_reply(reply([["n1", "Person", "Mira"], MIRA, None, "Porto"], [[0, 1], "e"]))
    assert [node.title for node in found.nodes] == ["Mira Solano"]
    assert len(found.drops) == 5


EXT_07 = PLAIN[: PLAIN.index("Porto") + 2]
EXT_08 = '{\n  "nodes": {\n' + "   \n" * 400


@pytest.mark.parametrize(
    "raw", [EXT_07, EXT_08, "", "{", f"<think>{PLAIN[:40]}"], ids=["EXT-07", "EXT-08", "nothing", "{", "think"]
)
def test_a_reply_cut_at_its_limit_is_truncated_never_empty(raw: str) -> None:
    found = read_reply(raw, "length")
    assert (found.status, found.nodes) == ("truncated", ())
    assert found.reason


def test_a_reply_that_ends_inside_its_json_is_truncated_whatever_the_server_says() -> None:
    assert read_reply(EXT_07, "stop").status == "truncated"


def test_a_reply_that_is_complete_at_its_limit_is_read() -> None:
    assert graph(read_reply(PLAIN + "\n" * 50, "length")) == PLAIN_GRAPH


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param("", id="EXT-10 nothing"),
        pytest.param("   \n", id="EXT-10 blanks"),
        pytest.param("Sure! The user seems to enjoy sailing.", id="EXT-10 prose"),
        pytest.param("**People**: Mira Solano\n**Places**: Porto", id="EXT-18 the format was ignored"),
        pytest.param("null", id="null"),
        pytest.param("[]", id="an empty list"),
        pytest.param(f"<think>I would say {PLAIN}", id="a draft in reasoning that never ended"),
    ],
)
def test_no_object_is_rejected_as_no_json_and_not_empty(raw: str) -> None:
    found = read_reply(raw)
    assert found.status == "rejected"
    assert found.reason.startswith("no_json")


@pytest.mark.parametrize(
    "raw", ['{"nodes":{},"edges":{}}', '{"nodes":[],"edges":[]}', '{"nodes": null, "edges": null}']
)
def test_ext_10_empty_is_what_the_model_said(raw: str) -> None:
    assert read_reply(raw).status == "empty"


@pytest.mark.parametrize(
    "raw", ["I'm sorry, but I can't help with that.", "I cannot extract this.", "As an AI, I must decline."]
)
def test_a_refusal_is_refused(raw: str) -> None:
    assert read_reply(raw).status == "refused"
    assert read_reply("", "refused").status == "refused"
    assert read_reply("", "error").status == "failed"


def test_two_different_graphs_are_not_guessed_between() -> None:
    found = read_reply(f"{PLAIN}\nor rather\n{reply({'n1': MIRA})}")
    assert (found.status, found.reason) == ("rejected", "the reply holds several different graphs")


def test_broken_json_says_where() -> None:
    found = read_reply('{"nodes": {"n1": oops}, "edges": {}}')
    assert found.status == "rejected"
    assert "column 18" in found.reason


def test_ext_16_no_stored_text_holds_what_xml_cannot() -> None:
    raw = (
        '{"nodes":{"n1":{"label":"Concept","title":"Half\\u0000 life",'
        '"content":"Formula $\\frac{1}{2}$ and bell \\u0007 here","attributes":{"k\\u0001":"v\\ud83d"}}},"edges":{}}'
    )
    found = read_reply(raw)
    node = found.nodes[0]
    assert (node.title, node.content) == ("Half life", "Formula $rac{1}{2}$ and bell  here")
    assert node.attributes == {"k": "v"}
    assert found.status == "repaired"


def test_a_lone_backslash_is_kept_as_written() -> None:
    found = read_reply(
        '{"nodes":[{"label":"Concept","title":"Angle","content":"\\alpha and C:\\\\dir \\u00e9"}],"edges":[]}'
    )
    assert found.nodes[0].content == "\\alpha and C:\\dir é"


def test_a_raw_line_break_in_a_string_is_read() -> None:
    assert read_reply(PLAIN.replace("sister.", "sister.\nTwin.")).nodes[0].content.endswith("\nTwin.")


def test_val_01_an_edge_to_no_node_is_dropped_by_name_or_rejects_the_reply() -> None:
    raw = reply({"n1": MIRA, "n2": PORTO}, {"e1": LIVES, "e2": {**LIVES, "target": "n9", "relationship": "married_to"}})
    found = read_reply(raw)
    assert graph(found) == PLAIN_GRAPH
    assert "e2" in found.drops[0].reason
    assert "n9" in found.drops[0].reason
    strict = read_reply(raw, on_invalid="reject")
    assert (strict.status, strict.nodes, strict.edges) == ("rejected", (), ())
    assert "e2" in strict.reason
    assert "n9" in strict.reason


def test_val_03_an_ambiguous_title_is_not_guessed() -> None:
    nodes = {"a": person("Jordan"), "b": {**PORTO, "title": "Jordan"}, "c": person("Lena Voss")}
    found = read_reply(reply(nodes, {"e1": {"source": "c", "target": "Jordan", "relationship": "visited"}}))
    assert len(found.nodes) == 3
    assert found.edges == ()
    assert "may be any of 2 nodes" in found.drops[0].reason


def test_an_edge_may_call_a_node_by_the_title_only_it_has() -> None:
    found = read_reply(reply([MIRA, PORTO], [{**LIVES, "source": "mira  solano", "target": "PORTO"}]))
    assert found.edges == (FoundEdge(0, 1, "lives_in"),)


def test_val_05_a_label_outside_the_nine_is_dropped_and_named() -> None:
    raw = reply({"n1": {"label": "City", "title": "Ghent", "content": "Where the user studies.", "attributes": {}}})
    found = read_reply(raw)
    assert (found.status, found.nodes) == ("rejected", ())
    assert "undefined label City" in found.reason
    kept = validate([{"label": "city", "title": "Ghent"}], [], synonyms={"City": "Location"})
    assert [node.label for node in kept.nodes] == ["Location"]
    with pytest.raises(ValueError, match="one of the nine"):
        validate([], [], synonyms={"City": "Town"})


def test_val_06_labels_in_any_case_become_canonical() -> None:
    nodes = {"n1": {**person("Tomas Brandt"), "label": "person"}, "n2": {**PORTO, "label": " LOCATION "}}
    assert [node.label for node in read_reply(reply(nodes)).nodes] == ["Person", "Location"]


def test_val_09_one_bad_item_at_the_end_costs_only_itself() -> None:
    nodes = {f"n{n}": {**PORTO, "label": "Artifact", "title": f"Record {n}"} for n in range(1, 8)}
    found = read_reply(reply({**nodes, "n8": {"title": "album"}}))
    assert len(found.nodes) == 7
    assert [drop.reason for drop in found.drops] == ["node n8 (album): has no label"]
    strict = read_reply(reply({**nodes, "n8": {"title": "album"}}), on_invalid="reject")
    assert (strict.status, strict.nodes) == ("rejected", ())
    assert "n8" in strict.reason


def test_val_11_attributes_come_out_flat_and_whole() -> None:
    given = {
        "address": {"city": "Lund", "zip": "222 22"},
        "jobs": [{"year": 2019, "role": "analyst"}, {"year": 2023, "role": "lead"}],
        "langs": ["sv", "de"],
        "age": 41,
        "vegan": True,
        "nothing": None,
    }
    node = read_reply(reply({"n1": {**person("Greta Lind"), "attributes": given}})).nodes[0]
    assert node.attributes == {
        "address.city": "Lund",
        "address.zip": "222 22",
        "jobs": '[{"year": 2019, "role": "analyst"}, {"year": 2023, "role": "lead"}]',
        "langs": '["sv", "de"]',
        "age": 41,
        "vegan": True,
    }


def test_attributes_as_key_value_lists_are_read() -> None:
    pairs = [{"key": "since", "value": "last May"}, {"floor": 3}]
    node = read_reply(reply([{**PORTO, "attributes": pairs}])).nodes[0]
    assert node.attributes == {"since": "last May", "floor": 3}


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ('{"x": NaN}', "is no number"),
        ('{"x": 1e999}', "is no number"),
        ('{"x": [NaN]}', "cannot be kept as JSON"),
        ('"tall"', "is no key and value"),
        ("[3]", "is no key and value"),
        ('{" ": 3}', "has no name"),
        ('{"a": {"b": 1}, "a.b": 2}', "given twice"),
    ],
)
def test_an_attribute_that_cannot_be_kept_is_dropped_alone(attributes: str, reason: str) -> None:
    raw = f'{{"nodes": [{{"label": "Location", "title": "Porto", "attributes": {attributes}}}], "edges": []}}'
    found = read_reply(raw, on_invalid="reject")
    assert len(found.nodes) == 1
    assert [(drop.kind, reason in drop.reason) for drop in found.drops] == [("attribute", True)]


def test_val_14_a_self_loop_is_not_stored() -> None:
    node = {"label": "Organization", "title": "Juniper Press", "content": ""}
    found = read_reply(reply({"n1": node}, {"e1": {"source": "n1", "target": "n1", "relationship": "publishes"}}))
    assert (len(found.nodes), found.edges) == (1, ())
    assert "joins a node to itself" in found.drops[0].reason


@pytest.mark.parametrize(
    "relationship",
    [
        "no_clear_relationship",
        "none",
        "None",
        "unrelated",
        "NO RELATION",
        "not-related",
        "n/a",
        "no direct connection",
        " ",
        "?",
    ],
)
def test_val_16_no_relationship_is_not_stored_as_one(relationship: str) -> None:
    found = read_reply(reply({"n1": MIRA, "n2": PORTO}, {"e1": {**LIVES, "relationship": relationship}}))
    assert (len(found.nodes), found.edges) == (2, ())
    assert len(found.drops) == 1


@pytest.mark.parametrize(
    "relationship", ["knows", "no_longer_lives_in", "not_fond_of", "related_to", "in_a_relationship_with"]
)
def test_val_16_relationships_that_only_look_like_it_are_kept(relationship: str) -> None:
    assert read_reply(reply({"n1": MIRA, "n2": PORTO}, {"e1": {**LIVES, "relationship": relationship}})).edges


def test_ded_19_the_speaker_is_one_node_and_third_parties_are_not_folded_in() -> None:
    turns = [
        ("user", "Skill", "Knitting", "learns"),
        ("I", "Location", "Turku", "moved_to"),
        ("Frida Kahlo", "Location", "Paris", "visited"),
    ]
    found = [
        read_reply(
            reply(
                {"n1": person(who), "n2": {**PORTO, "label": label, "title": what}},
                {"e1": {**LIVES, "relationship": how}},
            ),
            speaker="Aino",
        )
        for who, label, what, how in turns
    ]
    titles = [(each.nodes[0].title, each.edges[0].relationship, each.nodes[1].title) for each in found]
    assert titles == [
        ("Aino", "learns", "Knitting"),
        ("Aino", "moved_to", "Turku"),
        ("Frida Kahlo", "visited", "Paris"),
    ]


def test_ded_19_i_and_the_user_in_one_reply_are_one_node() -> None:
    nodes = {"a": person("I"), "b": person("The User"), "c": PORTO}
    edges = [
        {"source": "b", "target": "c", "relationship": "lives_in"},
        {"source": "me", "target": "c", "relationship": "likes"},
    ]
    found = read_reply(reply(nodes, edges), speaker="Aino")
    assert [node.title for node in found.nodes] == ["Aino", "Porto"]
    assert [(edge.source, edge.target, edge.relationship) for edge in found.edges] == [
        (0, 1, "lives_in"),
        (0, 1, "likes"),
    ]


def test_in_an_assistants_turn_i_is_the_assistant_and_you_the_user() -> None:
    nodes = [person("I"), person("you"), person("the user")]
    assert [node.title for node in read_reply(reply(nodes), role="assistant").nodes] == ["Assistant", "User"]


def test_a_pronoun_names_nobody_but_the_novel_it_is_a_novel() -> None:
    found = read_reply(reply([person("she"), {**PORTO, "label": "Artifact", "title": "It"}]))
    assert [node.title for node in found.nodes] == ["It"]


def test_the_same_thing_twice_in_a_reply_becomes_one() -> None:
    nodes = [
        {**PORTO, "attributes": {"a": 1}},
        {**PORTO, "title": "PORTO", "content": "A port.", "attributes": {"b": 2}},
        MIRA,
    ]
    edges = [{**LIVES, "source": "Mira Solano", "target": "Porto"}] * 2
    found = read_reply(reply(nodes, edges))
    assert found.nodes[0] == FoundNode("Location", "Porto", "City where Mira lives. A port.", {"a": 1, "b": 2})
    assert len(found.nodes) == 2
    assert len(found.edges) == 1


def test_a_key_given_twice_is_told() -> None:
    raw = f'{{"nodes": {{"n1": {json.dumps(MIRA)}, "n1": {json.dumps(PORTO)}}}, "edges": {{}}}}'
    found = read_reply(raw)
    assert [node.title for node in found.nodes] == ["Porto"]
    assert "stands twice" in found.drops[0].reason


@pytest.mark.parametrize("title", ["", " ", "\n\t", "\u200b", "\x00", None, True, {"a": 1}, ["Mira"]])
def test_a_title_with_nothing_to_read_is_dropped(title: object) -> None:
    found = read_reply(reply([{**MIRA, "title": title}, PORTO]))
    assert [node.title for node in found.nodes] == ["Porto"]
    assert "has no title" in found.drops[0].reason


@pytest.mark.parametrize(
    "title", ["Zoë Hiếu", "Zoe\u0308", "東京", "محمد", "🏳️‍🌈", "New  York", "O'Brien", "2021", "C++"]
)
def test_titles_of_every_script_are_kept_to_the_letter(title: str) -> None:
    assert read_reply(reply([{**PORTO, "title": title}])).nodes[0].title == title


def test_bounds_hold_and_say_what_is_beyond() -> None:
    nodes = [{**PORTO, "title": f"Place {n}", "id": f"n{n}"} for n in range(MAX_NODES + 6)]
    edges = [
        {"source": f"n{n % 60}", "target": f"n{n % 60 + 1}", "relationship": f"r{n}"} for n in range(MAX_EDGES + 2)
    ]
    found = read_reply(reply(nodes, edges))
    assert (len(found.nodes), len(found.edges)) == (MAX_NODES, MAX_EDGES)
    assert [drop.item for drop in found.drops] == ["6 more nodes", "2 more edges"]
    assert len(validate(nodes, [], limit=False).nodes) == MAX_NODES + 6
    long = read_reply(
        reply([{**PORTO, "title": "x" * 300, "content": "y" * 3000, "attributes": {f"k{n}": n for n in range(40)}}])
    )
    assert (len(long.nodes[0].title), len(long.nodes[0].content), len(long.nodes[0].attributes)) == (
        MAX_TITLE,
        2000,
        32,
    )
    assert len(long.repairs) == 2
    assert len(long.drops) == 8


def test_thousands_of_bad_items_leave_a_readable_report() -> None:
    found = read_reply(reply([{"label": "x", "title": str(n)} for n in range(20_000)]))
    assert found.status == "rejected"
    assert len(found.drops) == 201
    assert found.drops[-1].item == "19800 more items"


@pytest.mark.parametrize(
    "raw",
    [
        '"\\"' * 300_000,
        '{"a":' * 1_000,
        "[" * 100_000,
        "{" * 900_000,
        "```" * 300_000,
        '{"nodes": ["' + '\\"' * 400_000,
        "," * 900_000,
    ],
    ids=["quotes", "objects", "lists", "braces", "fences", "escapes", "commas"],
)
def test_a_hostile_reply_is_read_in_a_moment(raw: str) -> None:
    begun = time.process_time()
    assert read_reply(raw).nodes == ()
    assert time.process_time() - begun < 2


def test_a_reply_of_more_than_a_megabyte_is_rejected_and_kept_in_part() -> None:
    found = read_reply("x" * (MAX_REPLY + 1))
    assert found.status == "rejected"
    assert len(found.raw) == MAX_REPLY


def test_found_nodes_and_edges_pass_with_their_spans() -> None:
    nodes = [FoundNode("Person", "I", "", span=(0, 1)), FoundNode("Location", "Turku", "A town.", span=(10, 15))]
    found = validate(nodes, [FoundEdge(0, 1, "moved to", span=(0, 15)), FoundEdge(1, 7, "x")], speaker="Aino")
    assert found.nodes == (FoundNode("Person", "Aino", "", span=(0, 1)), nodes[1])
    assert found.edges == (FoundEdge(0, 1, "moved to", span=(0, 15)),)
    assert len(found.drops) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["label", "title", "content", "attributes", "source", "target", "id", "key", "value", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
LABEL = st.sampled_from([*LABELS, "person", "City"])
NODE = JSON | st.fixed_dictionaries(
    {"label": LABEL, "title": st.sampled_from(["a", "b", "I", ""])},
    optional={"attributes": JSON, "content": JSON, "id": JSON},
)
EDGE = JSON | st.fixed_dictionaries(
    {"source": st.sampled_from(["a", "b", "user"]), "target": st.sampled_from(["a", "b", 1]), "relationship": JSON}
)


@given(st.lists(NODE, max_size=6), st.lists(EDGE, max_size=6))
def test_whatever_comes_what_is_kept_can_be_stored_and_validates_again_as_it_is(
    nodes: list[object], edges: list[object]
) -> None:
    found = read_reply(json.dumps({"nodes": nodes, "edges": edges}))
    assert found.status in {"ok", "repaired", "empty", "rejected"}
    assert {node.label for node in found.nodes} <= set(LABELS)
    assert len({(node.label, node.title.casefold()) for node in found.nodes}) == len(found.nodes)
    for item in (*found.nodes, *found.edges):
        assert all(isinstance(value, str | int | float | bool) for value in item.attributes.values())
        json.dumps(dict(item.attributes), allow_nan=False).encode()
    for edge in found.edges:
        assert edge.source != edge.target
        assert max(edge.source, edge.target) < len(found.nodes)
    again = validate(found.nodes, found.edges)
    assert graph(again) == graph(found)


@given(st.text(max_size=200), st.sampled_from(["stop", "length", "refused", "error"]))
def test_no_text_raises_and_only_a_graph_is_ok(text: str, finish: Any) -> None:
    assert read_reply(text, finish).status in {"rejected", "truncated", "refused", "failed"}
