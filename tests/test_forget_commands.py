"""forget, history, undo, purge and protect from the command line: the same numbers as the pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory_core.__main__ import main
from memory_core.exporters import to_document
from memory_core.memory import Memory
from tests.fakes import LetterEmbedder, SpelledExtractor


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("memory_core.parts.EMBEDDERS", (LetterEmbedder(),))
    monkeypatch.setattr("memory_core.parts.default_extractor", SpelledExtractor)
    with Memory.open(tmp_path / "m.sqlite3", embedder=LetterEmbedder(), extractor=SpelledExtractor()) as memory:
        for day, name in enumerate(["Anchor", "Bell", "Cup", "Drum"], 1):
            memory.say(f"Person:User -owns-> Artifact:{name}", at=f"2024-01-{day:02}")
    return tmp_path / "m.sqlite3"


def run(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> Any:
    assert main([*words, "--memory", str(path), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def exported(path: Path) -> dict[str, Any]:
    with Memory.open(path, embedder=LetterEmbedder(), extractor=SpelledExtractor()) as memory:
        return to_document(memory)


def test_a_plan_changes_nothing_and_says_what_would_go(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = exported(path)
    plan = run(capsys, path, "forget", "--keep", "3")
    wanted = {"plan", "policy", "parameters", "at", "nodes_before", "forgotten", "edges", "turns", "bytes_live_freed"}
    assert wanted <= plan.keys()
    assert (plan["nodes_before"], len(plan["forgotten"]), plan["applied"]) == (5, 2, False)
    assert "id" not in plan
    assert exported(path) == before


def test_the_same_plan_is_applied_undone_and_purged(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = exported(path)
    plan = run(capsys, path, "forget", "--keep", "3")
    done = run(capsys, path, "forget", "--keep", "3", "--apply")
    assert done["applied"]
    assert done["plan"] == plan["plan"]
    assert run(capsys, path, "history")["passes"][0]["state"] == "applied"
    assert run(capsys, path, "undo", done["id"])["restored"]["nodes"] == 2
    assert exported(path) == before
    again = run(capsys, path, "forget", "--keep", "3", "--apply")
    receipt = run(capsys, path, "purge", again["id"])
    assert receipt["purged"]["nodes"] == 2
    assert main(["undo", again["id"], "--memory", str(path)]) == 1


def test_without_a_cut_the_papers_threshold_holds_and_a_selection_takes_all_it_selects(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, path, "forget")["cut"] == "threshold=0.1"
    assert len(run(capsys, path, "forget", "--where", "search=Bell")["forgotten"]) == 1


def test_a_rule_keeps_what_it_names(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, path, "protect", "word=bell")["rules"] == ["word=bell"]
    gone = run(capsys, path, "forget", "--keep", "0")["forgotten"]
    with Memory.open(path, embedder=LetterEmbedder(), extractor=SpelledExtractor()) as memory:
        assert "Bell" not in {memory.graph.node(node).title for node in gone}
    assert run(capsys, path, "protect", "word=bell", "--remove")["rules"] == []


#: Times that are none in UTC.
BEYOND = (
    ["--at", "9999-12-31T23:59:59-12:00"],
    ["--at", "0001-01-01T00:00:00+14:00"],
    ["--where", "after=9999-12-31T23:59:59-12:00"],
)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["forget", "--threshold", "nan"], "threshold"),
        (["forget", "--keep", "2", "--bytes", "9"], "one"),
        (["forget", "--set", "half_life"], "name=value"),
        (["forget", "--set", "colour=red"], "colour"),
        (["forget", "--where", "shape=round"], "shape"),
        (["forget", "--at", "yesterday"], "ISO"),
        *((["forget", *words], words[-1][-20:]) for words in BEYOND),
        *((["undo", "c1", *words], words[-1][-20:]) for words in BEYOND[:-1]),
        *((["ask", "Bell?", "--touch", *words], words[-1][-20:]) for words in BEYOND[:-1]),
        (["undo", "c999"], "c999"),
        (["purge", "c999"], "c999"),
    ],
)
def test_wrong_words_are_one_line_with_the_thing_in_it(
    words: list[str], said: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--memory", str(path), "--json"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: ")
    assert said in told.err
    assert told.err.count("\n") == 1
