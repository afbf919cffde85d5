"""Out of a memory and into another: the same again, to the letter, or a message that names what is wrong."""

from __future__ import annotations

import csv
import io
import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import exporters
from memory_core.errors import Cancelled, FormatError, InputError
from memory_core.exporters import export, to_document, to_graphml, to_json
from memory_core.importers.memories import import_memory
from memory_core.memory import Memory
from memory_core.schema import Extraction, FoundEdge, FoundNode, Turn, utc
from tests.memories import fake_memory
from tests.memory.test_memory import TALK
from tests.stores import FILES_ONLY

pytestmark = pytest.mark.usefixtures("kind")

ENDINGS = ("json", "csv", "graphml")


def told() -> Memory:
    memory = fake_memory()
    for turn in TALK[:12]:
        memory.add(turn)
    memory.pin("n1", True, at=utc("2024-06-01"))
    memory.edit(
        "n2", at=utc("2024-06-02"), content='with "quotes", commas; and a\nnew line', attributes={"n": 3, "ok": False}
    )
    memory.ask("Friend1?", touch_at=utc("2024-06-03"))
    memory.delete("n4", at=utc("2024-06-04"))
    return memory


def there_and_back(memory: Memory, folder: Path, ending: str) -> tuple[bytes, bytes]:
    """The bytes of an export, and of the export of a new memory that was filled from it."""
    first, second = folder / f"first.{ending}", folder / f"second.{ending}"
    export(memory, first)
    with fake_memory() as other:
        result = import_memory(other, first)
        assert result.problems == []
        export(other, second)
    return first.read_bytes(), second.read_bytes()


@pytest.mark.parametrize("ending", ENDINGS)
def test_export_import_export_is_the_same_file(tmp_path: Path, ending: str) -> None:
    with told() as memory:
        first, second = there_and_back(memory, tmp_path, ending)
        assert first == second
        assert len(first) > 500


#: Letters that break file formats: quotes, separators, markup, all line ends, right-to-left, combining, emoji.
HOSTILE = st.one_of(
    st.sampled_from(
        ["=1+2", "'=1", "''=1", "-5 °C", "@SUM(A1)", "+", "'", "a,b;c\t\"d\"", "<b>&amp;</b>", "]]>", "<!DOCTYPE x>",
         "a\rb\r\nc\nd",
         "a\u2028b\u2029c\x85d\x0be\x0cf", "👩‍👩‍👧‍👦🏳️‍🌈", "北京大学", "مرحبا بالعالم",
         "Zoe\u0308 Hiếu", "\u202eabc", "\ufeffx",
         "{'a': 1}", '{"a": 1}', "[1]", "null", "True", "1e5", "007", "\\n\\u0000", "x" * 199, "\x7f\x9f", "\U0010ffff"]
    ),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=12),
)  # fmt: skip
VALUE = st.one_of(
    HOSTILE, st.integers(-(2**62), 2**62), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)
)
NODE = st.builds(
    FoundNode, st.sampled_from(["Person", "Artifact"]), HOSTILE, st.one_of(st.just(""), HOSTILE),
    st.dictionaries(HOSTILE, VALUE, max_size=2),
)  # fmt: skip


@FILES_ONLY
@given(nodes=st.lists(NODE, min_size=2, max_size=4), said=HOSTILE, name=HOSTILE, relationship=HOSTILE)
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("ending", ENDINGS)
def test_any_words_come_back_as_the_same_file(
    tmp_path_factory: pytest.TempPathFactory,
    ending: str,
    nodes: list[FoundNode],
    said: str,
    name: str,
    relationship: str,
) -> None:
    with fake_memory() as memory:
        turn = Turn("user", f"{'word ' * 60}: {said}", utc("2024-05-01T10:00:00.123456Z"), name, name, name)
        memory.remember(turn, Extraction("ok", tuple(nodes), (FoundEdge(0, 1, f"r{relationship}", {"k": said}),)))
        first, second = there_and_back(memory, tmp_path_factory.getbasetemp(), ending)
        assert first == second


def test_an_export_holds_what_the_design_lists_in_order_and_only_what_is_live() -> None:
    with told() as memory:
        document = to_document(memory)
        assert list(document) == [
            "schema",
            "embedder",
            "nodes",
            "edges",
            "turns",
            "provenance",
            "value_history",
            "access",
        ]
        assert document["embedder"] == {"id": "letters", "dim": 26}
        assert "n4" not in document["nodes"]
        assert not any("n4" in (edge["source"], edge["target"]) for edge in document["edges"].values())
        logs = [*document["provenance"], *document["value_history"], *document["access"]]
        assert "n4" not in {entry.get("item") or entry.get("node") for entry in logs}
        assert list(document["nodes"]) == sorted(document["nodes"], key=lambda name: int(name[1:]))
        assert json.loads(to_json(document), parse_constant=pytest.fail) == document


def test_vectors_go_along_only_when_asked_and_are_not_made_again(tmp_path: Path) -> None:
    with told() as memory, fake_memory() as other:
        export(memory, tmp_path / "v.json", vectors=True)
        assert len(json.loads((tmp_path / "v.json").read_text())["vectors"]) == memory.graph.node_count
        asked: list[int] = []
        import_memory(other, tmp_path / "v.json", advance=lambda done, total: asked.append(total))
        assert asked == []
        export(other, tmp_path / "w.json", vectors=True)
        assert (tmp_path / "v.json").read_bytes() == (tmp_path / "w.json").read_bytes()


@pytest.mark.parametrize("vector", [[1.0] * 25, [float("1e300")] * 26, [5.0] * 26, ["x"] * 26, None, [[1.0]] * 26])
def test_a_vector_that_is_none_is_made_anew(tmp_path: Path, vector: Any) -> None:
    with told() as memory, fake_memory() as other:
        document = to_document(memory, vectors=True)
        document["vectors"]["n1"] = vector
        (tmp_path / "v.json").write_text(json.dumps(document))
        import_memory(other, tmp_path / "v.json")
        assert other.graph.vectors.values[0].tolist() == memory.graph.vectors.values[0].tolist()


def test_an_imported_memory_goes_on_without_reusing_a_name(tmp_path: Path) -> None:
    with told() as memory, fake_memory() as other:
        export(memory, tmp_path / "m.json")
        import_memory(other, tmp_path / "m.json")
        report = other.say("Person:Zuzana -knows-> Person:Friend1", at="2024-07-01")
        assert report.turn == "t13"
        assert report.nodes[0].id not in memory.graph.row_of
        assert report.edges[0].id not in memory.graph.edge_row
        assert report.nodes[1].how == "title"
        assert [turn.id for turn in other.search_turns("Town3", 1)] == ["t4"]
        with pytest.raises(InputError, match="is not empty"):
            import_memory(other, tmp_path / "m.json")


def test_numbers_of_numpy_are_saved_as_plain_ones() -> None:
    """Case PER-05."""
    import numpy as np

    with fake_memory() as memory:
        counted = FoundNode("Artifact", "camera", "", {"score": np.float32(0.5), "count": np.int64(3)})  # type: ignore[dict-item]
        memory.remember(Turn("user", "x", utc("2024-05-01"), "User"), Extraction("ok", (counted,)))
        text = to_json(to_document(memory, vectors=True))
        attributes = json.loads(text)["nodes"]["n1"]["attributes"]
        assert attributes == {"score": 0.5, "count": 3}
        assert [type(value) for value in attributes.values()] == [int, float]


def test_formulas_in_a_table_are_text() -> None:
    from memory_core.exporters import to_csv

    with fake_memory() as memory:
        turn = Turn("user", "=HYPERLINK(1)", utc("2024-05-01"), "+Mira", "-s", "@d")
        memory.remember(turn, Extraction("ok", (FoundNode("Artifact", "=cmd|' /C calc'!A0", "\tx"),)))
        cells = [cell for row in csv.reader(io.StringIO(to_csv(to_document(memory)))) for cell in row]
        assert not any(cell[:1] in ("=", "+", "-", "@", "\t", "\r") for cell in cells)


# -- nothing half ------------------------------------------------------------------------------------------------------


def test_a_failed_export_leaves_what_stood_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import memory_core.exporters as exporters

    with told() as memory:
        for ending in (*ENDINGS, "html"):
            (tmp_path / f"m.{ending}").write_text("before")
        monkeypatch.setattr(
            exporters.os, "replace", lambda *given: (_ for _ in ()).throw(OSError(28, "No space left on device"))
        )
        for ending in (*ENDINGS, "html"):
            with pytest.raises(InputError, match=f"m.{ending} cannot be written: No space left"):
                export(memory, tmp_path / f"m.{ending}")
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
            f"m.{ending}" for ending in (*ENDINGS, "html")
        )
        assert {path.read_text() for path in tmp_path.iterdir()} == {"before"}
        monkeypatch.undo()
        with pytest.raises(InputError, match="the ending says the format"):
            export(memory, tmp_path / "m.docx")
        (tmp_path / "folder.json").mkdir()
        with pytest.raises(InputError, match=r"folder.json cannot be written"):
            export(memory, tmp_path / "folder.json")


def test_a_stopped_import_leaves_the_memory_empty(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise Cancelled("stopped")

    with told() as memory, fake_memory() as other:
        export(memory, tmp_path / "m.json")
        with pytest.raises(Cancelled):
            import_memory(other, tmp_path / "m.json", advance=stop)
        assert other.revision == 0
        assert import_memory(other, tmp_path / "m.json").nodes == memory.graph.node_count


def test_a_new_item_never_has_the_id_of_one_of_the_other_kind(tmp_path: Path) -> None:
    nodes = [{"id": name, "title": title, "label": "Person"} for name, title in (("e1", "Ann"), ("x", "Bob"))]
    edges = [{"id": "n1", "source": "e1", "target": "x", "relationship": "knows"}]
    (tmp_path / "m.json").write_text(json.dumps({"nodes": nodes, "edges": edges}))
    with fake_memory() as memory:
        import_memory(memory, tmp_path / "m.json")
        report = memory.say("Person:Ann -likes-> Person:Zuzana", at="2024-07-01")
        assert ([node.id for node in report.added], [edge.id for edge in report.edges]) == (["n2"], ["e2"])
        assert [cited.turn for cited in memory.citations("e2")] == [report.turn]


# -- files that are wrong ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"nodes": {"a": {"label": "Per', r"bad.json is damaged: .*line 1 column"),
        ("", r"bad.json is empty"),
        ("[1,2,3]", r"bad.json holds no memory"),
        ("null", r"bad.json holds no memory"),
        ('{"nodes": 3}', r"bad.json holds no memory"),
        ('{"schema": 99, "nodes": {}}', r"bad.json has schema 99"),
        ('{"nodes": {"a": {"label": "Person", "title": "A", "attributes": {"r": NaN}}}}', r"damaged: NaN is not JSON"),
        (
            '{"nodes": {"a": {"label": "Person", "title": "A"}, "a": {"label": "Person", "title": "B"}}}',
            r"'a' stands twice",
        ),
        ("[" * 100_000, r"bad.json"),
        ("\x00\x01\x02", r"NUL bytes"),
    ],
    ids=range(10),
)
def test_a_file_that_is_broken_is_named_and_no_empty_memory_takes_its_place(
    tmp_path: Path, text: str, why: str
) -> None:
    """Cases PER-02 and PER-04."""
    path = tmp_path / "bad.json"
    path.write_text(text)
    with fake_memory() as memory:
        with pytest.raises(FormatError, match=why) as error:
            import_memory(memory, path)
        assert "\n" not in str(error.value)
        assert memory.revision == 0
    assert path.read_text() == text


def test_one_missing_comma_in_a_thousand_nodes_is_found(tmp_path: Path) -> None:
    """Case PER-11."""
    nodes = {f"n{place}": {"label": "Person", "title": f"Name {place}"} for place in range(1, 1001)}
    lines = json.dumps({"nodes": nodes, "edges": {}}, indent=1).split("\n")
    broken = next(place for place, line in enumerate(lines) if '"n600"' in line) + 1
    lines[broken] = lines[broken].rstrip(",")
    (tmp_path / "m.json").write_text("\n".join(lines))
    with fake_memory() as memory, pytest.raises(FormatError, match=f"m.json is damaged: .*line {broken + 2} "):
        import_memory(memory, tmp_path / "m.json")


DAMAGE: list[tuple[tuple[Any, ...], Any, str]] = [
    (("nodes", "n1", "label"), "Animal", "nodes n1 .*label 'Animal'"),
    (("nodes", "n1", "title"), "  ", "nodes n1 "),
    (("nodes", "n1", "title"), "\ud800", "nodes n1 .*surrogate"),
    (("nodes", "n1", "title"), "a\x00b", "nodes n1 .*NUL"),
    (("nodes", "n1\x00"), {}, "nodes n1.*NUL"),
    (("nodes", "n1", "pinned"), "False", "nodes n1 .*'False' is neither true nor false"),
    (("turns", 0, "text"), "a\x00b", "turns 1 .*NUL"),
    (("turns",), 5, "turns of the file is no list"),
    (("provenance",), 7, "provenance of the file is no list"),
    (("edges",), [1], "edges of the file is no object"),
    (("embedder",), "x", "embedder of the file is no object"),
    (("embedder",), [1], "embedder of the file is no object"),
    (("vectors",), [1], "vectors of the file is no object"),
    (("nodes", "n1", "attributes"), ["x"], "nodes n1 .*no mapping"),
    (("nodes", "n1", "attributes"), {"a": {"b": 1}}, "nodes n1 "),
    (("nodes", "n1", "attributes"), {"a": None}, "nodes n1 "),
    (("nodes", "n1", "attributes"), {"a": 10**400}, "nodes n1 .*64 bits"),
    (("nodes", "n1", "created_at"), "soon", "nodes n1 .*ISO 8601"),
    (("nodes", "n1", "turns_at_creation"), 2**70, "nodes n1 .*no place or count"),
    (("nodes", "n1"), None, "nodes n1 "),
    (("edges", "e1", "target"), "n99", "edges e1 .*no node n99"),
    (("edges", "e1", "target"), "n4", "edges e1 .*no node n4"),
    (("edges", "n1"), {"source": "n1", "target": "n2", "relationship": "x", "attributes": {}}, "edges n1 .*same id"),
    (("turns", 0, "role"), "system", "turns 1 .*role 'system'"),
    (("turns", 1, "position"), 0, "turns 2 "),
    (("turns", 1, "id"), "t1", "turns 2 "),
    (("turns", 1, "at"), "9999-12-31T23:59:59.999999", "turns 2 .*beyond"),
    (("provenance", 0, "turn"), "t99", "provenance 1 .*no turn t99"),
    (("provenance", 0, "item"), "n99", "provenance 1 .*n99"),
    (("provenance", 0, "start"), -1, "provenance 1 "),
    (("value_history", 0, "item"), "e99", "value_history 1 .*e99"),
    (("value_history", 0, "value"), [1], "value_history 1 "),
    (("access", 0, "node"), "n99", "access 1 .*n99"),
    (("access", 0, "kind"), "purchase", "access 1 .*purchase"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "value", "why"), DAMAGE, ids=[".".join(map(str, place)) for place, _, _ in DAMAGE])
def test_one_wrong_entry_of_an_export_is_named_and_nothing_is_stored(
    tmp_path: Path, place: tuple[Any, ...], value: Any, why: str
) -> None:
    with told() as memory, fake_memory() as other:
        document = to_document(memory)
        inner = document
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        (tmp_path / "m.json").write_text(json.dumps(document))
        with pytest.raises(FormatError, match=why) as error:
            import_memory(other, tmp_path / "m.json")
        assert "\n" not in str(error.value)
        assert other.revision == 0


@pytest.mark.parametrize("part", ["turns", "provenance"])
def test_an_entry_given_twice_is_named(tmp_path: Path, part: str) -> None:
    with told() as memory, fake_memory() as other:
        document = to_document(memory)
        document[part].append(document[part][0])
        (tmp_path / "m.json").write_text(json.dumps(document))
        with pytest.raises(FormatError, match=f"{part} {len(document[part])} .*given twice"):
            import_memory(other, tmp_path / "m.json")


@FILES_ONLY
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_cut_or_garbled_anywhere_is_read_or_refused_never_a_crash(tmp_path: Path, ending: str) -> None:
    dice = random.Random(3)
    with told() as memory:
        export(memory, tmp_path / f"m.{ending}")
    text = (tmp_path / f"m.{ending}").read_text("utf-8")
    for _ in range(40):
        place = dice.randrange(len(text))
        garbled = (
            text[:place]
            + dice.choice(["", "\x01", '"', "<", "]", "999", "\n,", "é"])
            + text[place + dice.randrange(4) :]
        )
        (tmp_path / f"g.{ending}").write_text(dice.choice([garbled, text[:place]]), "utf-8")
        with fake_memory() as other:
            refused = ""
            try:
                import_memory(other, tmp_path / f"g.{ending}")
            except InputError as error:
                refused = str(error)
            assert "\n" not in refused
            assert other.revision == (not refused)
            to_json(to_document(other))


# -- graphs of others --------------------------------------------------------------------------------------------------

P1 = {
    "nodes": {
        "node_1": {"label": "Person", "title": "user", "content": "The user.", "attributes": {}, "access_count": 3,
                   "created_at": "2023-05-20T02:21:00", "last_accessed_at": "2023-06-01T00:00:00",
                   "turns_at_creation": 4},
        "node_2": {"label": "Hobby", "title": "pottery", "content": "",
                   "attributes": {"since": "2021", "tools": ["wheel"]}},
        "node_3": {"label": "city", "title": "Ghent", "content": "A city."},
        "node_4": {"label": "Person", "title": ""},
        "node_5": "not a node",
    },
    "edges": {
        "edge_1": {"source": "node_1", "target": "node_2", "relationship": "enjoys", "attributes": {}},
        "edge_2": {"source": "node_1", "target": "node_9", "relationship": "knows"},
        "edge_3": {"source": "node_1", "target": "node_3", "relationship": ""},
        "node_1": {"source": "node_2", "target": "node_3", "relationship": "made_in"},
    },
}  # fmt: skip


def test_a_graph_of_the_paper_comes_in_and_what_had_to_change_is_counted(tmp_path: Path) -> None:
    (tmp_path / "p1.json").write_text(json.dumps(P1))
    with fake_memory() as memory:
        result = import_memory(memory, tmp_path / "p1.json")
        assert (result.nodes, result.edges, result.turns) == (3, 2, 0)
        assert dict(result.labels) == {"Hobby -> Concept": 1, "city -> Location": 1}
        left = [problem for problem in result.problems if "left out" in problem]
        assert left == [
            "node node_5 was left out: it is no object",
            "node node_4 was left out: it has no title",
            "edge edge_2 (node_1 - node_9) was left out: no node node_9",
            "edge edge_3 (node_1 - node_3) was left out: no relationship",
        ]
        user, pottery = memory.graph.node("node_1"), memory.graph.node("node_2")
        assert (user.accesses, user.last_access, user.turns_at_creation) == (3, utc("2023-06-01"), 4)
        assert user.created_at == utc("2023-05-20T02:21:00")
        assert dict(pottery.attributes) == {"since": "2021", "tools": '["wheel"]', "original_label": "Hobby"}
        assert memory.graph.edge("edge:node_1").relationship == "made_in"
        assert memory.retrieve("Ghent?").roots[0].title == "Ghent"


@pytest.mark.parametrize(
    ("given", "moment"),
    [
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00+00:00"),
        (1714557600, "2024-05-01T10:00:00+00:00"),
        ("1714557600.5", "2024-05-01T10:00:00.500000+00:00"),
        (1714557600000, "2024-05-01T10:00:00+00:00"),
        ("20240501", "2024-05-01T00:00:00+00:00"),
        ("spring", "1970-01-01T00:00:00+00:00"),
        (None, "1970-01-01T00:00:00+00:00"),
        (1e300, "1970-01-01T00:00:00+00:00"),
    ],
)
def test_times_of_others_are_read_as_they_are_meant(tmp_path: Path, given: Any, moment: str) -> None:
    (tmp_path / "g.json").write_text(json.dumps({"nodes": [{"id": 7, "name": "Mira", "created_at": given}]}))
    with fake_memory() as memory:
        result = import_memory(memory, tmp_path / "g.json")
        assert memory.graph.node("7").created_at.isoformat() == moment
        assert len(result.problems) == (moment < "1971")


def test_a_list_of_nodes_with_ids_given_twice_loses_none_in_silence(tmp_path: Path) -> None:
    nodes = [{"id": "a", "title": "One"}, {"id": "a", "title": "Two"}, {"title": "Three"}, 5]
    (tmp_path / "g.json").write_text(
        json.dumps({"nodes": nodes, "edges": [{"from": "a", "to": "node3", "type": "near"}]})
    )
    with fake_memory() as memory:
        result = import_memory(memory, tmp_path / "g.json")
        assert (result.nodes, result.edges) == (2, 1)
        assert result.problems[:2] == [
            "node a was left out: its id is given twice",
            "node node4 was left out: it is no object",
        ]


def test_graphml_of_another_program_comes_in(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_node(1, label="Person", name="Ana", age=31)
    graph.add_node(2, label="company", name="Orbit")
    graph.add_edge(1, 2, relation="works at", since=2020)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    with fake_memory() as memory:
        result = import_memory(memory, tmp_path / "g.graphml")
        assert (result.nodes, result.edges, dict(result.labels)) == (2, 1, {"company -> Organization": 1})
        edge = memory.graph.edge(memory.graph.edge_ids[0])
        assert edge.relationship == "works at"


def test_values_graphml_does_not_know_are_text_in_it() -> None:
    """Case PER-08."""
    attributes = {"colour": None, "lens": {"mm": 50}, "tags": ["old", "film"]}
    node = {"label": "Artifact", "title": "Camera", "content": "", "attributes": attributes, "created_at": None}
    text = to_graphml({"nodes": {"n1": node}, "edges": {}})
    again = nx.parse_graphml(text).nodes["n1"]
    assert again["title"] == "Camera"
    assert json.loads(again["attributes"]) == attributes


def test_entities_of_xml_are_refused(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaa">]><graphml>&a;</graphml>'
    (tmp_path / "g.graphml").write_text(bomb)
    with fake_memory() as memory, pytest.raises(FormatError, match="declares XML entities"):
        import_memory(memory, tmp_path / "g.graphml")


def test_one_title_in_two_forms_is_one_node_in_every_file(tmp_path: Path) -> None:
    """Case DED-13."""
    for ending in ENDINGS:
        with fake_memory() as memory, fake_memory() as other:
            memory.say("Person:Zo\u00eb Hi\u1ebfu", at="2024-05-01")
            export(memory, tmp_path / f"m.{ending}")
            import_memory(other, tmp_path / f"m.{ending}")
            assert other.say("Person:Zoe\u0308 Hie\u0302\u0301u", at="2024-05-02").nodes[0].how == "title"
            assert other.graph.titles == ["Zo\u00eb Hi\u1ebfu"]


def test_others_write_while_an_export_is_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    together = exporters._document

    def during(read: exporters._Read) -> dict[str, Any]:
        with ThreadPoolExecutor(1) as other:
            other.submit(memory.say, "Person:Otto", at="2024-06-01").result(30)
        return together(read)

    with fake_memory() as memory:
        memory.say("Person:Mira -lives_in-> Location:Porto", at="2024-05-01")
        monkeypatch.setattr(exporters, "_document", during)
        document = to_document(memory)
        assert [node["title"] for node in document["nodes"].values()] == ["Mira", "Porto"]
        assert len(document["turns"]) == 1
        assert memory.graph.titles == ["Mira", "Porto", "Otto"]
