"""The command line: one JSON object, the keys the design lists, one line for an error, exit codes 0, 1 and 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memory_core.__main__ import main

ROOT = Path(__file__).parents[1]
Run = Callable[..., dict[str, Any]]
Fail = Callable[..., str]
TALK = [
    ("user", "My sister Mira lives in Porto and works as a nurse."),
    ("assistant", "Porto is lovely. I recommend the Livraria Lello bookshop."),
    ("user", "I bought a red Gazelle bicycle last week."),
    ("user", "Mira moved to Lisbon in May."),
]


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    lines = [
        {"role": role, "speaker": role.title(), "text": text, "at": f"2024-05-0{day}T10:00:00Z"}
        for day, (role, text) in enumerate(TALK, 1)
    ]
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("FORGETTING_LAB_MEMORY", str(tmp_path / "m.sqlite3"))
    monkeypatch.setenv("FORGETTING_LAB_CACHE", str(tmp_path / "cache"))

    def command(*arguments: object) -> dict[str, Any]:
        code = main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        assert (code, said.err) == (0, "")
        value = json.loads(said.out, parse_constant=pytest.fail)
        assert isinstance(value, dict)
        assert said.out.count("\n") == 1
        return value

    return command


@pytest.fixture
def fail(run: Run, capsys: pytest.CaptureFixture[str]) -> Fail:
    def command(*arguments: object) -> str:
        assert main([*map(str, arguments), "--json"]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("error: ")
        assert said.err.count("\n") == 1
        return said.err

    return command


def has(value: dict[str, Any], keys: str) -> None:
    assert set(keys.split()) <= value.keys()


# -- each command ------------------------------------------------------------------------------------------------------


def test_ingest_counts_what_became_of_the_turns(run: Run, talk: Path) -> None:
    done = run("ingest", talk)
    has(done, "turns nodes edges merged rejected seconds statuses")
    assert done["turns"] == sum(done["statuses"].values()) == 4
    assert done["nodes"] > 3
    again = run("ingest", talk)
    assert (again["turns"], again["skipped"]) == (0, 4)


def test_ingest_of_part_of_a_file_goes_on_where_it_stopped(run: Run, talk: Path) -> None:
    assert run("ingest", talk, "--limit", 2)["turns"] == 2
    assert run("ingest", talk)["turns"] == 2
    assert run("stats")["turns"] == 4


def test_stats_hold_counts_bytes_and_identity(run: Run, talk: Path) -> None:
    run("ingest", talk)
    stats = run("stats")
    has(stats, "nodes edges turns labels forgotten bytes_live bytes_on_disk embedder clock")
    assert set(stats["bytes_live"]) == {"vectors", "text", "graph", "index", "total"}
    assert stats["bytes_live"]["total"] == sum(size for part, size in stats["bytes_live"].items() if part != "total")
    assert sum(stats["labels"].values()) == stats["nodes"]
    assert stats["clock"] == "2024-05-04T10:00:00+00:00"
    assert stats["bytes_on_disk"] > 10_000


@pytest.mark.parametrize("retriever", ["graph", "flat", "bm25", "hybrid"])
def test_ask_answers_with_its_turns_and_the_whole_trace(run: Run, talk: Path, retriever: str) -> None:
    run("ingest", talk)
    asked = run("ask", "Where does my sister Mira live?", "--retriever", retriever, "--k", 2)
    has(asked, "answer context context_tokens roots nodes edges turns")
    assert "Lisbon" in asked["answer"] or "Porto" in asked["answer"]
    assert all(set(turn) >= {"id", "source_id", "score"} for turn in asked["turns"])
    assert all(set(root) >= {"id", "title", "score"} for root in asked["roots"])
    assert asked["context_tokens"] > 0
    assert run("history")["changes"] == run("history")["changes"]


def test_ask_says_when_the_memory_does_not_hold_it(run: Run, talk: Path) -> None:
    run("ingest", talk)
    asked = run("ask", "What is the boiling point of tungsten?")
    assert asked["answer"] is None
    assert asked["reason"].startswith("Not in memory")


def test_asking_changes_nothing_unless_told_to(run: Run, talk: Path) -> None:
    run("ingest", talk)
    before = run("stats")["revision"]
    run("ask", "Where does Mira live?")
    assert run("stats")["revision"] == before
    assert run("ask", "Where does Mira live?", "--touch", "--at", "2024-06-01")["touched"]
    assert run("stats")["revision"] == before + 1


def test_history_lists_changes_and_undo_takes_one_back(run: Run, talk: Path) -> None:
    run("ingest", talk)
    history = run("history")
    has(history, "passes changes")
    merges = [change for change in history["changes"] if change["kind"] == "merge"]
    assert merges
    assert all({"id", "at", "kind", "by", "state"} <= set(change) for change in history["changes"])
    nodes = run("stats")["nodes"]
    undone = run("undo", merges[-1]["id"])
    assert undone["id"] == merges[-1]["id"]
    assert set(undone["restored"]) == {"nodes", "edges", "turns"}
    assert run("stats")["nodes"] == nodes + 1
    assert [change["state"] for change in run("history")["changes"] if change["id"] == undone["id"]] == ["undone"]


@pytest.mark.parametrize("ending", ["json", "csv", "graphml"])
def test_export_and_import_count_the_same(run: Run, talk: Path, tmp_path: Path, ending: str) -> None:
    run("ingest", talk)
    out = run("export", tmp_path / f"m.{ending}")
    has(out, "nodes edges turns")
    back = run("import", tmp_path / f"m.{ending}", "--memory", tmp_path / "new.sqlite3")
    assert [back[key] for key in ("nodes", "edges", "turns")] == [out[key] for key in ("nodes", "edges", "turns")]
    assert run("stats", "--memory", tmp_path / "new.sqlite3")["nodes"] == out["nodes"]
    assert run("export", tmp_path / f"again.{ending}", "--memory", tmp_path / "new.sqlite3") == out
    assert (tmp_path / f"again.{ending}").read_bytes() == (tmp_path / f"m.{ending}").read_bytes()


def test_a_picture_is_one_page_without_the_network(run: Run, talk: Path, tmp_path: Path) -> None:
    run("ingest", talk)
    assert run("export", tmp_path / "m.html")["nodes"] > 3
    page = (tmp_path / "m.html").read_text("utf-8")
    assert "Porto" in page
    assert not any(f'{attribute}="http' in page for attribute in ("src", "href"))


def haystack(number: int) -> dict[str, Any]:
    return {
        "question_id": f"q{number}", "question_type": "single-session-user", "question_date": "2023/06/30 (Fri) 22:00",
        "question": "Where does Mira live?", "answer": "Porto", "answer_session_ids": ["s1"],
        "haystack_session_ids": [f"s{number}"], "haystack_dates": ["2023/05/30 (Tue) 08:00"],
        "haystack_sessions": [[
            {"role": "user", "content": "My sister Mira lives in Porto.", "has_answer": True},
            {"role": "assistant", "content": "What a beautiful city!", "has_answer": False},
        ]],
    }  # fmt: skip


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    path = tmp_path / "bench.json"
    path.write_text(json.dumps([haystack(1), haystack(2)]))
    return path


def test_several_conversations_never_mix_by_themselves(run: Run, fail: Fail, bench: Path) -> None:
    said = fail("ingest", bench)
    assert "q1, q2" in said
    assert "--pooled" in said
    assert not Path(os.environ["FORGETTING_LAB_MEMORY"]).exists()
    assert run("ingest", bench, "--conversation", "q2")["turns"] == 2
    assert "q9" in fail("ingest", bench, "--conversation", "q9")


def test_pooled_puts_every_session_into_one_memory(run: Run, bench: Path) -> None:
    assert run("ingest", bench, "--pooled")["turns"] == 4


@pytest.mark.parametrize("options", [[], ["--pooled"]])
def test_bench_coverage_prints_plain_numbers_and_intervals(run: Run, bench: Path, options: Sequence[str]) -> None:
    found = run("bench", "coverage", *options, bench)
    has(found, "n n_answer write_coverage answer_coverage stored_share nodes_per_turn labels merged write_coverage_ci")
    assert (found["n"], found["n_answer"]) == (2, 2)
    assert (found["write_coverage"], found["answer_coverage"]) == (1.0, 1.0)
    assert 0 < found["stored_share"] <= 1
    assert found["write_coverage_ci"][0] < 1
    assert sum(found["labels"].values()) > 0
    assert run("bench", "coverage", bench, *options) == found


def test_bench_extraction_scores_a_gold_file(run: Run, tmp_path: Path) -> None:
    gold = {
        "id": "g1", "turn": {"role": "user", "speaker": "User", "text": "My sister Mira lives in Porto."},
        "nodes": [{"label": "Person", "title": "Mira"}, {"label": "Location", "title": "Porto"},
                  {"label": "Person", "title": "User", "optional": True}],
        "edges": [{"source": "Mira", "relationship": "lives_in", "target": "Porto"}], "negated": [],
    }  # fmt: skip
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps(gold))
    found = run("bench", "extraction", path)
    has(found, "n nodes edges negated_as_true")
    assert found["n"] == 1
    assert set(found["nodes"]) >= {"precision", "recall", "f1", "label_accuracy"}
    assert set(found["edges"]) >= {"precision", "recall", "f1", "relationship_accuracy"}
    assert (found["nodes"]["recall"], found["edges"]["recall"]) == (1.0, 1.0)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["stats"], ["ask", "hello?"], ["history"], ["undo", "c1"], ["export", "m.json"]])
def test_without_a_memory_a_command_says_so_and_makes_none(fail: Fail, command: list[str]) -> None:
    assert "There is no memory at" in fail(*command)
    assert not Path(os.environ["FORGETTING_LAB_MEMORY"]).exists()


@pytest.mark.parametrize(
    ("content", "command"),
    [
        (None, "ingest"), (b"", "ingest"), (b"\x00\x01\x02\x03", "ingest"), (b"dear diary", "ingest"),
        (None, "import"), (b"", "import"), (b'{"nodes": {', "import"), (b"[]", "import"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_named_and_no_memory_is_made(
    fail: Fail, tmp_path: Path, content: bytes | None, command: str
) -> None:
    path = tmp_path / "odd.json"
    if content is not None:
        path.write_bytes(content)
    assert "odd.json" in fail(command, path)
    assert not Path(os.environ["FORGETTING_LAB_MEMORY"]).exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["retrieval", "{}/asked.jsonl"], "No question"),
        (["numbers", "{}/none.json", "--out", "{}/bare"], "none.json is no run file"),
        (["numbers", "{}/none.json", "--out", "{}/none.json"], "choose another --out"),
        (["speed", "--vectors", "{}/absent", "--against="], "absent cannot be read"),
    ],
)
def test_a_measurement_that_has_nothing_to_measure_says_so(
    fail: Fail, tmp_path: Path, given: list[str], said: str
) -> None:
    (tmp_path / "none.json").write_text("[]")
    turn = {"role": "user", "speaker": "Mira", "text": "Tea.", "at": "2024-01-01", "session": "s1", "id": "a"}
    asked = {"id": "q1", "type": "single", "question": "Where is Ana?", "answer": "", "evidence": []}
    (tmp_path / "asked.jsonl").write_text(json.dumps(turn))
    (tmp_path / "asked_questions.jsonl").write_text(json.dumps(asked))
    assert said in fail("bench", *(word.format(tmp_path) for word in given))


def test_errors_name_the_thing_and_the_fix(run: Run, fail: Fail, talk: Path, tmp_path: Path) -> None:
    run("ingest", talk)
    assert "c99" in fail("undo", "c99")
    assert ".docx" in fail("export", tmp_path / "m.docx") or "ending" in fail("export", tmp_path / "m.docx")
    assert "not empty" in fail("import", _export(run, tmp_path))
    assert "question is empty" in fail("ask", " ")
    assert "soon" in fail("ask", "hello?", "--touch", "--at", "soon")
    assert "error" in fail("bench", "coverage", tmp_path / "absent.json")
    (tmp_path / "m.sqlite3").write_bytes(b"SQLite format 3\x00 broken")
    assert "not a memory file" in fail("stats")


def _export(run: Run, folder: Path) -> Path:
    run("export", folder / "m.json")
    return folder / "m.json"


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["dream"], ["ingest"], ["ingest", "x", "--format", "docx"], ["ingest", "x", "--limit", "0"],
        ["ingest", "x", "--limit", "-3"], ["ask"], ["ask", "x", "--k", "none"], ["ask", "x", "--k", "9" * 20],
        ["ask", "x", "--retriever", "magic"],
        ["undo"], ["bench"], ["bench", "beauty"], ["bench", "coverage"], ["bench", "extraction"], ["stats", "extra"],
    ],
)  # fmt: skip
def test_wrong_usage_ends_with_two_and_says_how(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert "usage:" in said.err


def test_a_question_of_broken_letters_is_asked_without_them(run: Run, talk: Path) -> None:
    run("ingest", talk)
    assert run("ask", "\udcffWhere is Mira?")["question"] == " Where is Mira?"


def test_without_json_people_can_read_it(run: Run, talk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("ingest", talk)
    assert main(["stats"]) == 0
    assert "turns: 4\n" in capsys.readouterr().out


def test_as_a_process_it_keeps_to_its_streams(tmp_path: Path, talk: Path) -> None:
    def process(*arguments: object, stdout: Any = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "FORGETTING_LAB_MEMORY": str(tmp_path / "p.sqlite3"), "LC_ALL": "C"}
        command = [sys.executable, "-m", "memory_core", *map(str, arguments)]
        return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)

    done = process("ingest", talk, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["turns"] == 4
    read, write = os.pipe()
    os.close(read)  # as `| head` does when it has seen enough
    with os.fdopen(write, "wb") as closed:
        cut = process("stats", "--json", stdout=closed)
    assert (cut.returncode, cut.stderr) == (0, "")
    bad = process("undo", "c9")
    assert (bad.returncode, bad.stdout, bad.stderr.count("\n")) == (1, "", 1)
