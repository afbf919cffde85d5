"""What is purged is gone from every table, every file and every index, and nothing else is."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import string
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from memory_core import policies
from memory_core.errors import Cancelled, InputError, MemoryFileError
from memory_core.memory import Memory
from memory_core.memory.reembedding import reembed
from memory_core.schema import Extraction, FoundNode
from memory_core.store.rows import insert
from tests.fakes import LetterEmbedder
from tests.forgetting_memories import SAID, START, node, open_memory, state, titles, told
from tests.stores import FILES_ONLY

pytestmark = pytest.mark.usefixtures("kind")

LFU = policies.make("lfu")
LATER = START + timedelta(days=100)


def token(seed: int) -> str:
    """A word that stands nowhere else."""
    return "".join(random.Random(seed).choices(string.ascii_lowercase, k=14)).capitalize()


SELECTED = "label=Concept session=s9"


def purge_selected(memory: Memory, *selections: str) -> list[dict[str, int]]:
    """Forget and purge what each selection names, with its turns; returns the counts."""
    plans = (memory.plan(LFU, where=where, turns="with_nodes") for where in selections)
    return [cast(dict[str, int], memory.purge(memory.apply(plan), at=LATER)["purged"]) for plan in plans]


def stopped(done: int, total: int) -> None:
    """Ends a re-embedding once its first vectors are kept."""
    raise Cancelled("stopped")


def files_with(folder: Path, word: str) -> list[str]:
    """Files of a memory that hold the word, in any case, plain or in a compressed or packed row."""
    wanted = word.lower()
    found = [path.name for path in folder.iterdir() if wanted.encode() in path.read_bytes().lower()]
    for path in folder.glob("*.sqlite3"):
        with sqlite3.connect(path) as db:
            found += [path.name for line in _rows(db) if wanted in line.lower()]
    return found


def _rows(db: sqlite3.Connection) -> list[str]:
    import zlib

    lines = []
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for row in db.execute(f"SELECT * FROM {table}").fetchall():
            for value in row:
                if isinstance(value, bytes):
                    try:
                        value = zlib.decompress(value).decode(errors="replace")
                    except zlib.error:
                        value = value.decode(errors="replace")
                lines.append(str(value))
    return lines


class TestPurge:
    @FILES_ONLY
    @pytest.mark.parametrize("seed", range(4))
    def test_a_word_said_only_in_what_was_purged_is_in_no_file(self, tmp_path: Path, seed: int) -> None:
        word, other = token(seed), token(seed + 100)
        memory = told(tmp_path / "m.sqlite3")
        memory.say(f"Person:User -met-> Person:{word} {{town={word}ville}} | called {word}", at=LATER, session="s9")
        memory.say(f"Person:{word} -runs-> Organization:{word} Works", at=LATER, session="s9")
        memory.say(
            f"Person:User {{nickname={word}}} -joins-> Organization:{word} Works | {word} again", at=LATER, session="s9"
        )
        memory.say(f"Concept:{other}", at=LATER, session="s9")
        memory.turn_vectors()
        memory.pin(node(memory, word), True, at=LATER)
        memory.pin(node(memory, word), False, at=LATER)
        memory.edit(node(memory, word), at=LATER, content=f"{word} edited")
        done = memory.apply(memory.plan(LFU, where=f"search={word} session=s9", turns="with_nodes"))
        result = memory.purge(done, at=LATER)
        assert result["purged"] == {"nodes": 2, "edges": 3, "turns": 3}
        assert result["receipt"]["rewritten"] is True  # type: ignore[index]
        assert word.lower() not in json.dumps(result).lower()
        assert files_with(tmp_path, word) == []
        memory.close()
        assert files_with(tmp_path, word) == []
        assert files_with(tmp_path, other) != []

    def test_a_speaker_keeps_what_was_said_elsewhere(self) -> None:
        memory = told()
        memory.say("Person:User {job=florist} -visits-> Location:Quarry", at=LATER, session="s9")
        user = node(memory, "User")
        assert memory.graph.node(user).attributes["job"] == "florist"
        memory.purge(memory.apply(memory.plan(LFU, where="search=quarry", turns="with_nodes")))
        assert memory.graph.node(user).attributes["job"] == "baker"

    def test_everything_else_is_as_it_was(self) -> None:
        memory, twin = told(), told()
        for one in (memory, twin):
            one.turn_vectors()
            done = one.apply(one.plan(LFU, where="session=s2", turns="with_nodes"))
        memory.purge(done)
        ours, theirs = state(memory), state(twin)
        for name in ("nodes", "edges", "bm25", "bytes"):
            assert ours[name] == theirs[name]
        assert len(ours["tables"]["node"]) == len(theirs["tables"]["node"]) - 2  # type: ignore[index,arg-type]

    def test_a_turn_that_something_live_cites_keeps_its_words_and_is_counted(self) -> None:
        memory = told()
        done = memory.apply(memory.plan(LFU, where="search=harbor", turns="with_nodes"))
        result = memory.purge(done)
        assert result["receipt"]["turns_kept"] == 1  # type: ignore[index]
        assert [turn.id for turn in memory.search_turns("harbor", 5)] == ["t2"]
        [attempt] = memory.attempts("t2")
        assert attempt.raw == ""
        assert [row["title"] for row in attempt.report["nodes"]] == ["Lena"]

    @FILES_ONLY
    def test_the_disk_shrinks_at_purge_the_live_bytes_at_apply(self, tmp_path: Path) -> None:
        memory = open_memory(tmp_path / "m.sqlite3")
        for number in range(300):
            memory.say(f"Concept:{token(number)} | {token(number) * 30}", at=START + timedelta(hours=number))
        memory.turn_vectors()
        memory.store.rewrite()
        disk, live = memory.store.bytes_on_disk(), memory.bytes_live()["total"]
        done = memory.apply(memory.plan(LFU, keep=10, turns="with_nodes"))
        assert memory.bytes_live()["total"] < live / 5
        assert memory.store.bytes_on_disk() >= disk
        receipt = memory.purge(done)["receipt"]
        assert memory.store.bytes_on_disk() == receipt["bytes_on_disk"] < disk / 2  # type: ignore[index]

    def test_places_of_turns_are_never_used_again(self) -> None:
        memory = told()
        memory.say("Concept:Dusk", at=LATER)
        memory.purge(memory.apply(memory.plan(LFU, where="search=dusk", turns="with_nodes")))
        report = memory.say("Concept:Dawn", at=LATER)
        assert report.turn == "t12"
        assert memory.turn("t12").position == 11

    def test_other_passes_can_still_be_undone(self) -> None:
        memory = told()
        first = memory.apply(memory.plan(LFU, where="search=violin"))
        second = memory.apply(memory.plan(LFU, where="search=brandt"))
        memory.purge(first)
        memory.undo(second, at=LATER)
        assert "Brandt Workshop" in titles(memory)
        assert [(entry.state, entry.left) for entry in memory.passes()] == [("purged", 0), ("undone", 0)]

    def test_there_is_no_way_back(self) -> None:
        memory = told()
        done = memory.apply(memory.plan(LFU, where="search=violin"))
        memory.purge(done)
        for act in (lambda: memory.undo(done, at=LATER), lambda: memory.purge(done)):
            with pytest.raises(InputError, match="purged"):
                act()
        with pytest.raises(InputError, match="no forgetting pass c999"):
            memory.purge("c999")

    def test_what_was_undone_cannot_be_purged(self) -> None:
        memory = told()
        done = memory.apply(memory.plan(LFU, where="search=violin"))
        memory.undo(done, at=LATER)
        with pytest.raises(InputError, match="undone"):
            memory.purge(done)
        assert "Violin" in titles(memory)

    def test_a_node_deleted_by_hand_can_be_purged(self, tmp_path: Path) -> None:
        memory = told(tmp_path / "m.sqlite3", said=[*SAID, ("s5", "Concept:Zibeline")])
        memory.purge(memory.delete(node(memory, "Zibeline"), at=LATER))
        assert memory.store.query("SELECT count(*) FROM node WHERE title = 'Zibeline'")[0][0] == 0

    @FILES_ONLY
    @pytest.mark.parametrize("selections", [[SELECTED], ["search=quarry", SELECTED]], ids=["at once", "in two steps"])
    def test_what_was_merged_into_it_goes_with_it(self, tmp_path: Path, selections: list[str]) -> None:
        memory = told(tmp_path / "m.sqlite3")
        for title in ("Keepme", "Zebedezz One", "Zebedezz Two -near-> Concept:Quarry"):
            memory.say(f"Concept:{title}", at=LATER, session="s9")
        memory.merge(node(memory, "Zebedezz One"), node(memory, "Zebedezz Two"), at=LATER)
        memory.merge(node(memory, "Keepme"), node(memory, "Zebedezz One"), at=LATER)
        purge_selected(memory, *selections)
        assert files_with(tmp_path, "zebedezz") == []

    @FILES_ONLY
    def test_what_another_reading_of_its_turn_had_ended_goes_with_it(self, tmp_path: Path) -> None:
        memory = told(tmp_path / "m.sqlite3")
        turn = memory.say("Concept:Zebedezz -zebedezz_of-> Location:Quarry", at=LATER, session="s9").turn
        memory.reread(turn, Extraction("ok", (FoundNode("Concept", "Other", ""),)), at=LATER)
        assert purge_selected(memory, SELECTED) == [{"nodes": 3, "edges": 1, "turns": 1}]
        assert files_with(tmp_path, "zebedezz") == []

    @FILES_ONLY
    def test_its_title_goes_from_a_deletion_that_was_undone(self, tmp_path: Path) -> None:
        memory = told(tmp_path / "m.sqlite3")
        memory.say("Concept:Zebedezz", at=LATER, session="s9")
        memory.undo(memory.delete(node(memory, "Zebedezz"), at=LATER), at=LATER)
        purge_selected(memory, SELECTED)
        assert files_with(tmp_path, "zebedezz") == []

    @FILES_ONLY
    @pytest.mark.parametrize("search", ["Zebedezz", "bedez"])
    def test_the_words_that_had_found_it_go_from_a_pass_that_was_undone(self, tmp_path: Path, search: str) -> None:
        memory = told(tmp_path / "m.sqlite3")
        memory.say("Concept:Zebedezz", at=LATER, session="s9")
        memory.undo(memory.apply(memory.plan(LFU, where=f"search={search}")), at=LATER)
        purge_selected(memory, SELECTED)
        assert files_with(tmp_path, "bedez") == []

    def test_its_title_goes_from_a_pass_that_took_something_else(self) -> None:
        memory = told()
        memory.say("Organization:Zebedezz Works", at=LATER, session="s8")
        other = memory.apply(memory.plan(LFU, where="search=zebedezz label=Organization"))
        memory.say("Concept:Zebedezz", at=LATER, session="s9")
        purge_selected(memory, SELECTED)
        assert memory.passes()[0].summary["where"] == "search='…' label=Organization"
        memory.undo(other, at=LATER)
        assert "Zebedezz Works" in titles(memory)

    @FILES_ONLY
    def test_it_goes_from_what_other_turns_were_told_apart_by(self, tmp_path: Path) -> None:
        memory = told(tmp_path / "m.sqlite3")
        memory.say("Person:Max {birthday=zebedezz}", at=LATER, session="s9")
        other = memory.say("Person:Max {birthday=monday}", at=LATER, session="s8")
        assert [held.homonym for held in other.nodes[0].held] == [True]
        purge_selected(memory, "search=zebedezz")
        assert files_with(tmp_path, "zebedezz") == []
        [attempt] = memory.attempts(other.turn)
        assert [(row["title"], row["held"]) for row in attempt.report["nodes"]] == [("Max", [])]

    @FILES_ONLY
    def test_a_question_asked_in_it_goes_from_a_reembedding_that_was_stopped(self, tmp_path: Path) -> None:
        memory = told(tmp_path / "m.sqlite3")
        turn = memory.say("Concept:Zebedezz", at=LATER, session="s9").turn
        memory.ask("Where is Zebedezz?", touch_at=LATER)
        answer = json.dumps({"question": "Where is Zebedezz?", "turns": [turn]})
        memory.commit([insert("meta", key=f"answer:{turn}", value=answer)])
        with pytest.raises(Cancelled):
            reembed(memory, LetterEmbedder(id="other", match_threshold=0.9999), stopped)
        assert memory.store.query("SELECT 1 FROM pending_vector WHERE item = 'question 1'")
        purge_selected(memory, SELECTED)
        assert files_with(tmp_path, "zebedezz") == []

    @FILES_ONLY
    def test_a_reader_in_the_way_leaves_the_rewriting_for_later(self, tmp_path: Path) -> None:
        path, word = tmp_path / "m.sqlite3", token(7)
        memory = told(path, said=[*SAID, ("s5", f"Concept:{word}")])
        done = memory.apply(memory.plan(LFU, where=f"search={word}", turns="with_nodes"))
        reader = sqlite3.connect(path)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM node").fetchall()
        memory.store.query("PRAGMA busy_timeout = 50")
        receipt = memory.purge(done)["receipt"]
        assert receipt["rewritten"] is False  # type: ignore[index]
        reader.close()
        memory.close()
        open_memory(path).close()
        assert files_with(tmp_path, word) == []


ACTS = {
    "apply": "memory.apply(memory.plan(policy, keep=20, turns='with_nodes'))",
    "undo": "memory.undo(memory.passes()[-1].id, at=START)",
    "purge": "memory.purge(memory.passes()[-1].id)",
}
_CHILD = """
import sys
sys.path.insert(0, {root!r})
from memory_core import policies
from tests.forgetting_memories import START, open_memory
memory = open_memory({path!r})
policy = policies.make("fifo")
print("ready", flush=True)
{act}
print("done", flush=True)
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A memory large enough to be killed in the middle: before and after a pass."""
    folder = tmp_path_factory.mktemp("many")
    memory = open_memory(folder / "live.sqlite3")
    for number in range(400):
        memory.say(
            f"Concept:{token(number)} -near-> Location:{token(number + 1000)}", at=START + timedelta(hours=number)
        )
    shutil.copy(memory.store.path, folder / "unused")
    memory.store.copy_to(folder / "before.sqlite3")
    memory.apply(memory.plan(policies.make("fifo"), keep=20, turns="with_nodes"))
    memory.store.copy_to(folder / "after.sqlite3")
    memory.close()
    return {"before": folder / "before.sqlite3", "after": folder / "after.sqlite3"}


@FILES_ONLY
class TestKilled:
    @pytest.mark.parametrize("act", ACTS)
    @pytest.mark.parametrize("delay", [0.0, 0.004, 0.012, 0.03])
    def test_all_or_nothing_on_reopening(self, many: dict[str, Path], tmp_path: Path, act: str, delay: float) -> None:
        path = tmp_path / "m.sqlite3"
        shutil.copy(many["before" if act == "apply" else "after"], path)
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD.format(root=os.getcwd(), path=str(path), act=ACTS[act])],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(delay)
        child.kill()
        finished = "done" in child.stdout.read()
        child.wait()
        with open_memory(path) as memory:
            nodes, forgotten = memory.graph.node_count, memory.stats()["forgotten"]
            whole, pruned, purged = (800, 0), (20, 780), (20, 0)
            possible = {"apply": (whole, pruned), "undo": (pruned, whole), "purge": (pruned, purged)}[act]
            assert (nodes, forgotten) in possible
            if finished:
                assert (nodes, forgotten) == possible[1]
            assert memory.store.query("PRAGMA integrity_check") == [("ok",)]
            assert len(memory.search_turns(token(5), 5)) == (1 if nodes == 800 else 0)
            assert memory.store.meta("rewrite") == ""
        if (nodes, forgotten) == purged:
            assert files_with(tmp_path, token(5)) == []

    def test_killed_between_erasing_and_rewriting_it_is_finished_at_the_next_opening(
        self, many: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "m.sqlite3"
        shutil.copy(many["after"], path)
        memory = open_memory(path)
        monkeypatch.setattr(Memory, "rewrite_when_due", lambda self: False)
        memory.purge(memory.passes()[-1].id)
        memory.close()
        monkeypatch.undo()
        size = path.stat().st_size
        with open_memory(path) as memory:
            assert memory.store.meta("rewrite") == ""
        assert path.stat().st_size < size / 2


@FILES_ONLY
class TestDiskFull:
    def test_apply_leaves_the_memory_as_it_was(self, many: dict[str, Path], tmp_path: Path) -> None:
        path = tmp_path / "m.sqlite3"
        shutil.copy(many["before"], path)
        memory = open_memory(path)
        before = state(memory)
        pages = memory.store.query("PRAGMA page_count")[0][0]
        memory.store.query(f"PRAGMA max_page_count = {pages}")
        plan = memory.plan(policies.make("fifo"), keep=20, turns="with_nodes")
        with pytest.raises(MemoryFileError, match="disk is full"):
            memory.apply(plan)
        assert state(memory) == before
        assert state(open_memory(path)) == before

    def test_purge_erases_and_rewrites_when_there_is_room_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, word = tmp_path / "m.sqlite3", token(9)
        memory = told(path, said=[*SAID, ("s5", f"Concept:{word}")])
        done = memory.apply(memory.plan(LFU, where=f"search={word}", turns="with_nodes"))

        def full(store: object) -> bool:
            raise MemoryFileError("the disk is full")

        monkeypatch.setattr(type(memory.store), "rewrite", full)
        assert memory.purge(done)["receipt"]["rewritten"] is False  # type: ignore[index]
        monkeypatch.undo()
        memory.close()
        open_memory(path).close()
        assert files_with(tmp_path, word) == []

    def test_what_is_written_while_the_file_is_rewritten_stays_and_it_is_rewritten_once_more(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "m.sqlite3"
        memory, other = told(path), open_memory(path)
        done = memory.apply(memory.plan(LFU, keep=5))

        def meanwhile(store: object) -> bool:
            other.say("Person:Ana", at=LATER)
            return True

        with monkeypatch.context() as patch:
            patch.setattr(type(memory.store), "rewrite", meanwhile)
            assert memory.purge(done)["receipt"]["rewritten"] is True  # type: ignore[index]
        assert memory.store.meta("rewrite") == "due"
        for opened in (other, memory):
            opened.close()
        with open_memory(path) as again:
            assert again.store.meta("rewrite") == ""
            assert "Ana" in titles(again)


class TestConcurrency:
    def test_cnc_01_parallel_writes_in_one_process(self, tmp_path: Path) -> None:
        from concurrent.futures import ThreadPoolExecutor

        memory = open_memory(tmp_path / "m.sqlite3")

        def store(thread: int) -> None:
            for number in range(5):
                memory.say(f"Person:{token(10 * thread + number)}", at=START)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(store, range(8)))
        assert memory.graph.node_count == 40
        memory.close()
        assert open_memory(tmp_path / "m.sqlite3").graph.node_count == 40

    @FILES_ONLY
    def test_cnc_03_a_writer_waits_for_a_reader(self, tmp_path: Path) -> None:
        memory = told(tmp_path / "m.sqlite3")
        reader = sqlite3.connect(tmp_path / "m.sqlite3")
        cursor = reader.execute("SELECT * FROM node")
        cursor.fetchone()
        memory.apply(memory.plan(LFU, keep=4))
        assert len(cursor.fetchall()) == 8
        reader.close()

    def test_cnc_05_two_memories_share_nothing(self, tmp_path: Path) -> None:
        ana, ben = told(tmp_path / "ana.sqlite3"), open_memory(tmp_path / "ben.sqlite3")
        ana.protect("word=violin")
        assert ben.graph.node_count == 0
        assert ben.rules() == ()
        assert ben.scoring_view().ids == ()
