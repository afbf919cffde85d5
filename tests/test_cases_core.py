"""Situations people reported to other projects: de-duplication, keeping, several at once. Each by its id.

PER-02, PER-04, PER-05, PER-08, PER-11 and DED-13 stand in test_exchange.py; DED-11 in memory/test_memory.py; CNC-01 in
memory/test_concurrency.py; CNC-03 in store/test_sqlite.py.
"""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from memory_core.exporters import export, to_document, to_json
from memory_core.importers.memories import import_memory
from memory_core.memories import FolderMemories
from memory_core.memories.opened import forget
from memory_core.memory import Memory
from memory_core.providers import ProviderSettings
from memory_core.remote import Secret
from memory_core.schema import Extraction, FoundEdge, FoundNode, Turn, utc
from memory_core.settings import Settings
from tests.fakes import LetterEmbedder
from tests.memories import fake_memory
from tests.memory.test_memory import history, titles

Vectors = dict[str, tuple[float, ...]]
ROOT = Path(__file__).parents[1]


def memory_with(vectors: Vectors, threshold: float = 0.92, floor: float = 0.75) -> Memory:
    """A memory whose embedder gives a node of that title that vector, at the paper's thresholds."""
    fixed = {f"| {title} |": vector for title, vector in vectors.items()}
    return fake_memory(embedder=LetterEmbedder(fixed=fixed, match_threshold=threshold, floor=floor))


def tell(memory: Memory, *nodes: FoundNode, edges: tuple[FoundEdge, ...] = (), day: int = 1) -> list[str]:
    """Remember a turn with these nodes; gives what became of each."""
    turn = Turn("user", "said in a turn", utc(f"2024-05-{day:02d}"), "User")
    return [placed.how for placed in memory.remember(turn, Extraction("ok", nodes, edges)).nodes]


# -- de-duplication ----------------------------------------------------------------------------------------------------


def test_ded_01_an_acronym_is_one_node_however_far_its_vectors_are() -> None:
    with memory_with({"DGQA": (1, 0, 0), "dgqa": (0.55, 0.8352, 0)}) as memory:
        tell(memory, FoundNode("Organization", "DGQA", "Agency that certifies the user's lab."))
        assert tell(memory, FoundNode("Organization", "dgqa", "Office the user emailed."), day=3) == ["title"]
        assert memory.graph.node("n1").accesses == 1
        assert memory.graph.node("n1").last_access == utc("2024-05-03")


def test_ded_03_one_title_under_two_labels_is_two_nodes_and_both_are_roots() -> None:
    fixed = {"Concept | GraphQL |": (1, 0), "Artifact | GraphQL |": (0.9, 0.4359), "GraphQL": (0.97, 0.2431)}
    with fake_memory(embedder=LetterEmbedder(fixed=fixed, match_threshold=0.92, floor=0.75)) as memory:
        tell(memory, FoundNode("Concept", "GraphQL", "Query language the user is learning."))
        tell(memory, FoundNode("Artifact", "GraphQL", "API layer in the user's shop."), day=2)
        assert memory.graph.node_count == 2
        found = memory.retrieve("What do I know about GraphQL?")
        assert {root.id for root in found.roots} == {"n1", "n2"}
        assert all(root.score > 0.75 for root in found.roots)
        assert "Query language" in found.context
        assert "API layer" in found.context


def test_ded_04_two_people_of_one_name_keep_all_they_are_known_for() -> None:
    with fake_memory(embedder=LetterEmbedder(fixed={"Sam": (1, 0)})) as memory:
        tell(memory, FoundNode("Person", "Sam Ortiz", "The user's dentist in Leeds.", {"age": "52", "city": "Leeds"}))
        tell(memory, FoundNode("Person", "Sam Ortiz", "The user's nephew.", {"age": "9", "city": "Vigo"}), day=2)
        context = memory.retrieve("Tell me about Sam Ortiz").context
        assert all(value in context for value in ("52", "Leeds", "9", "Vigo"))
        assert history(memory, "n1", "attributes.age") == [("52", True)]


def test_ded_06_one_sentence_about_two_people_is_two_people() -> None:
    with memory_with({"Ana Ruiz": (1, 0), "Lee Park": (0.95, 0.3122)}) as memory:
        tell(memory, FoundNode("Person", "Ana Ruiz", "Ana Ruiz is the CEO of Orbit Ltd."))
        assert tell(memory, FoundNode("Person", "Lee Park", "Lee Park is the CTO of Orbit Ltd.")) == ["new"]
        memory.change_settings(Settings(guards="off"))  # the paper's own rule
        assert tell(memory, FoundNode("Person", "Lee Park ", "Lee Park is the CTO of Orbit Ltd.")) == ["title"]


def test_ded_07_model_numbers_one_digit_apart_are_two_things() -> None:
    with memory_with({"KX-1603": (1, 0), "KX-1605": (0.97, 0.2431)}) as memory:
        tell(memory, FoundNode("Artifact", "KX-1603", "Router in the office."))
        assert tell(memory, FoundNode("Artifact", "KX-1605", "Router at home.")) == ["new"]
        assert titles(memory) == ["KX-1603", "KX-1605"]


@pytest.mark.parametrize(("cosine", "how"), [(0.90, "new"), (0.92, "new"), (0.93, "cosine")])
def test_ded_08_name_variants_below_the_threshold_stay_apart(cosine: float, how: str) -> None:
    """A missed merge rather than a wrong one, as in the paper; equal to the threshold is not above it."""
    with memory_with({"John T. Doering": (1, 0), "John Doering": (cosine, math.sqrt(1 - cosine**2))}) as memory:
        tell(memory, FoundNode("Person", "John T. Doering", "Landlord."))
        assert tell(memory, FoundNode("Person", "John Doering", "Landlord.")) == [how]


def test_ded_15_case_and_spaces_are_one_title_apostrophes_are_not() -> None:
    words = ("New  York", "new york", "O'Brien", "Obrien")
    vectors = {word: tuple(1.0 if place == other else 0.0 for other in range(4)) for place, word in enumerate(words)}
    with memory_with(vectors) as memory:
        for word in words:
            tell(memory, FoundNode("Concept", word, ""))
        assert titles(memory) == ["New  York", "O'Brien", "Obrien"]


def test_ded_19_whoever_speaks_is_one_node_and_nobody_else_is() -> None:
    with fake_memory() as memory:
        for who, label, what, how in (
            ("user", "Skill", "Knitting", "learns"),
            ("I", "Location", "Turku", "moved_to"),
            ("Frida Kahlo", "Location", "Paris", "visited"),
        ):
            tell(memory, FoundNode("Person", who, ""), FoundNode(label, what, ""), edges=(FoundEdge(0, 1, how),))
        graph = memory.graph
        people = [row for row in graph.live_rows() if graph.node(graph.ids[row]).label == "Person"]
        assert [graph.titles[row] for row in people] == ["User", "Frida Kahlo"]
        known = {graph.relationships[edge]: graph.titles[other] for edge, other in graph.neighbours(people[0])}
        assert known == {"learns": "Knitting", "moved_to": "Turku"}


# -- keeping -----------------------------------------------------------------------------------------------------------


def test_per_02_a_broken_memory_file_is_kept_and_never_opened_as_an_empty_one(tmp_path: Path) -> None:
    from memory_core.errors import MemoryFileError

    for content in ('{"nodes": {"a": {"label": "Per', "", "[1,2,3]", "null"):
        path = tmp_path / "graph.json"
        path.write_text(content)
        with pytest.raises(MemoryFileError, match=r"graph.json"):
            fake_memory(path)
        assert path.read_text() == content


def test_per_04_no_file_of_ours_holds_nan(tmp_path: Path) -> None:
    with fake_memory() as memory:
        tell(memory, FoundNode("Artifact", "lens", "", {"ratio": math.inf, "score": math.nan, "mm": 50}))
        text = to_json(to_document(memory, vectors=True))
        document = json.loads(text, parse_constant=lambda name: pytest.fail(name))
        assert document["nodes"]["n1"]["attributes"] == {"mm": 50}
        drops = memory.attempts("t1")[0].report["drops"]
        assert len(drops) == 2
        export(memory, tmp_path / "m.html")
        assert "NaN" not in (tmp_path / "m.html").read_text("utf-8").partition('"nodes"')[2][:2000]


AGAIN = """
import sys
from tests.fakes import LetterEmbedder
from tests.memories import fake_memory
embedder = LetterEmbedder(fixed={"| Kofi Mensah |": (1, 0), "| kofi mensah |": (0, 1)})
with fake_memory(sys.argv[1], embedder=embedder) as memory:
    print([node.how for node in memory.say("Person:kofi mensah", at="2024-05-02").nodes], memory.stats()["nodes"])
"""


def test_per_10_a_restart_finds_what_was_stored_by_its_title(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite3"
    with fake_memory(path, embedder=LetterEmbedder(fixed={"| Kofi Mensah |": (1, 0)})) as memory:
        memory.say("Person:Kofi Mensah", at="2024-05-01")
    run = subprocess.run([sys.executable, "-c", AGAIN, str(path)], capture_output=True, text=True, cwd=ROOT)
    assert (run.stdout, run.stderr) == ("['title'] 1\n", "")


def test_per_11_what_was_saved_last_outlives_a_save_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory is a transactional database and an export appears whole or not at all, so no second copy is kept:
    what stood at the path before is what can be loaded."""
    import memory_core.exporters as exporters
    from memory_core.errors import InputError

    with fake_memory() as memory, fake_memory() as other:
        memory.say("Person:Mira", at="2024-05-01")
        export(memory, tmp_path / "m.json")
        memory.say("Person:Tom", at="2024-05-02")

        def full(*given: object, **more: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(exporters.Path, "write_text", full)
        with pytest.raises(InputError, match="No space left"):
            export(memory, tmp_path / "m.json")
        monkeypatch.undo()
        assert import_memory(other, tmp_path / "m.json").nodes == 1
        assert [path.name for path in tmp_path.iterdir()] == ["m.json"]


# -- several at once ---------------------------------------------------------------------------------------------------


def test_cnc_05_nobody_sees_another_ones_memory_or_key(tmp_path: Path) -> None:
    memories = FolderMemories(tmp_path)
    ana, ben = memories.create("ana", LetterEmbedder()), memories.create("ben", LetterEmbedder())
    try:
        ana.memory.say("My name is Ana and I live in Porto.", at="2024-05-01")
        assert memories.open("ben").memory.stats()["nodes"] == 0
        assert memories.open("ana") is ana
        mine = ProviderSettings("openai", api_key=Secret("sk-test-AAA"))
        for shown in (repr(mine), str(mine.public()), repr(ana), repr(ben), repr(vars(ana))):
            assert "sk-test-AAA" not in shown
        with pytest.raises(TypeError):
            pickle.dumps(mine)
        assert "sk-test-AAA" not in repr(ProviderSettings.from_env("extractor", {}))
    finally:
        forget(ana.key)
        forget(ben.key)
