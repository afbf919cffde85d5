"""Several threads and processes on one memory: nothing lost, nothing doubled, everyone sees the same."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory_core.exporters import to_document
from memory_core.ingestion import ingest
from memory_core.memory import Memory
from memory_core.schema import utc
from memory_core.settings import Settings
from tests.memories import fake_memory
from tests.memory.test_memory import TALK, titles

pytestmark = pytest.mark.usefixtures("kind")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.sqlite3"


def name(writer: int, number: int) -> str:
    return f"Friend {'abcdefgh'[writer] * 9}{'klmno'[number] * 9}"


def people(memory: Memory, writer: int) -> None:
    for number in range(5):
        memory.say(f"Person:{name(writer, number)}", at="2024-05-01")


def test_eight_threads_on_one_memory_lose_nothing(path: Path) -> None:
    """Case CNC-01."""
    with fake_memory(path) as memory:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda writer: people(memory, writer), range(8)))
        assert sorted(titles(memory)) == sorted({name(writer, number) for writer in range(8) for number in range(5)})
        document = to_document(memory)
    with fake_memory(path) as again:
        assert to_document(again) == document
        assert len(document["nodes"]) == len(document["turns"]) == 40


def test_a_memory_object_for_each_of_eight_threads_loses_nothing(path: Path) -> None:
    memories = [fake_memory(path) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(people, memories, range(8)))
    for memory in memories:
        assert memory.stats()["nodes"] == memory.stats()["turns"] == 40
        memory.close()


WRITE = """
import sys
from pathlib import Path
from memory_core.ingestion import ingest
from tests.memories import fake_memory
from tests.memory.test_memory import TALK
from tests.memory.test_concurrency import people
memory = fake_memory(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
people(memory, int(sys.argv[2]))
done = ingest(memory, TALK)
print(done.turns, done.skipped, done.problems)
"""


def test_three_processes_that_ingest_one_file_at_once_store_each_turn_once(path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, str(path), str(number)], stdin=subprocess.PIPE, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
        for number in range(3)
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    said = [writer.communicate() for writer in writers]
    assert [errors for _, errors in said] == ["", "", ""]
    numbers = [[int(word) for word in out.split()[:2]] for out, _ in said]
    assert sum(turns for turns, _ in numbers) == len(TALK)
    assert all(turns + skipped == len(TALK) for turns, skipped in numbers)
    with fake_memory(path) as memory, fake_memory() as alone:
        sources = [turn["source_id"] for turn in to_document(memory)["turns"]]
        assert sorted(source for source in sources if source.startswith("D")) == sorted(turn.source_id for turn in TALK)
        for number in range(3):
            people(alone, number)
        ingest(alone, TALK)
        assert sorted(titles(memory)) == sorted(titles(alone))
        assert memory.graph.edge_count == alone.graph.edge_count


def test_what_one_process_writes_another_sees_before_it_reads_or_writes(path: Path) -> None:
    with fake_memory(path) as one, fake_memory(path) as other:
        one.say("Person:Mira", at="2024-05-01")
        assert other.stats()["nodes"] == 1
        assert other.say("Person:mira", at="2024-05-02").nodes[0].how == "title"
        one.change_settings(Settings(roots=7))
        assert other.retrieve("Mira").roots
        assert other.settings.roots == 7
        change = other.delete("n1", at=utc("2024-05-03"))
        assert one.retrieve("Mira").roots == ()
        one.undo(change, at=utc("2024-05-03"))
        assert other.retrieve("Mira").roots[0].id == "n1"
        assert [memory.graph.node("n1").accesses for memory in (one, other)] == [1, 1]


def test_readers_are_never_disturbed_by_a_writer(path: Path) -> None:
    with fake_memory(path) as memory:
        memory.say("Person:Mira -knows-> Person:Tom", at="2024-05-01")

        def look(_: int) -> None:
            for _ in range(6):
                memory.retrieve("Where is Mira?")
                document = to_document(memory)
                assert all(edge["target"] in document["nodes"] for edge in document["edges"].values())
                assert memory.stats()["nodes"] >= 2

        with ThreadPoolExecutor(4) as pool:
            looking = [pool.submit(look, number) for number in range(3)]
            ingest(memory, TALK)
            for future in looking:
                future.result()


def test_two_retries_of_one_turn_read_it_once(path: Path) -> None:
    from memory_core.errors import InputError
    from tests.fakes import SpelledExtractor

    with fake_memory(path, extractor=SpelledExtractor(fails=True)) as one, fake_memory(path) as other:
        one.say("Person:Mira", at="2024-05-01")
        _ = other.revision

        class Slow(SpelledExtractor):
            def extract(self, turn: object) -> object:  # type: ignore[override]
                other.retry("t1")
                return super().extract(turn)  # type: ignore[arg-type]

        with pytest.raises(InputError, match="read already"):
            one.retry("t1", Slow())
        assert one.stats()["nodes"] == 1


def test_a_load_and_an_export_are_of_one_moment(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_memory(path) as memory, fake_memory(path) as other:
        memory.say("Person:Mira", at="2024-05-01")
        query = memory.store.query

        def disturbed(sql: str, *values: object) -> list[tuple[object, ...]]:
            rows = query(sql, *values)  # type: ignore[arg-type]
            if "FROM node" in sql or "FROM turn" in sql:
                other.say("Person:Tom -knows-> Person:Ana", at="2024-05-02")
            return rows

        monkeypatch.setattr(memory.store, "query", disturbed)
        memory._load()
        assert (memory.graph.node_count, memory.graph.edge_count) == (1, 0)
        document = to_document(memory)
        cited = {entry["turn"] for entry in document["provenance"]}
        assert cited == {turn["id"] for turn in document["turns"]}
