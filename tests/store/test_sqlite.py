"""A memory file: all of a commit or nothing, one clear line for every file that cannot be used, and no turn lost."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from memory_core.errors import MemoryFileError
from memory_core.memory import Memory
from memory_core.store import sqlite_files
from memory_core.store.sqlite import SqliteStore
from memory_core.store.sqlite_files import SCHEMA_VERSION
from tests.fakes import LetterEmbedder, SpelledExtractor

ROOT = Path(__file__).parents[2]


def opened(path: Path | str) -> Memory:
    return Memory.open(path, embedder=LetterEmbedder(), extractor=SpelledExtractor())


def one_line(error: pytest.ExceptionInfo[MemoryFileError], *words: str) -> None:
    """The message is one line that names the file and says each of the words."""
    text = str(error.value)
    assert "\n" not in text
    for word in words:
        assert word in text


# -- files that cannot be used -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is not a memory"),
        (b"role: text\nuser: hello\n" * 500, "not a memory file"),
        (b"SQLite format 3\x00" + b"\xff" * 4000, "not a memory file"),
    ],
    ids=["empty", "text", "a torn database"],
)
def test_a_file_that_is_no_memory_is_refused_and_not_touched(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "notes.sqlite3"
    path.write_bytes(content)
    with pytest.raises(MemoryFileError) as error:
        SqliteStore(path)
    one_line(error, "notes.sqlite3", why)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_another_programs_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "contacts.db"
    with sqlite3.connect(path) as foreign:
        foreign.execute("PRAGMA journal_mode = WAL")
        foreign.execute("CREATE TABLE person (name)")
    foreign.close()
    before = path.read_bytes()
    with pytest.raises(MemoryFileError) as error:
        opened(path)
    one_line(error, "contacts.db", "is not a memory", "not touched")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_memory_of_a_newer_version_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite3"
    opened(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    db.close()
    before = path.read_bytes()
    with pytest.raises(MemoryFileError) as error:
        opened(path)
    one_line(error, "m.sqlite3", "newer version", "update")
    assert path.read_bytes() == before


def test_a_path_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    with pytest.raises(MemoryFileError, match=r"There is no memory at .*absent"):
        SqliteStore(tmp_path / "absent.sqlite3", create=False)
    with pytest.raises(MemoryFileError, match="cannot be opened"):
        SqliteStore(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(MemoryFileError, match="Cannot create a memory at"):
        SqliteStore(tmp_path / "file" / "m.sqlite3")


def test_a_damaged_page_is_named_as_damage(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite3"
    with opened(path) as memory:
        for place in range(200):
            memory.say(f"Person:Name {place} | {'words ' * 40}", at="2024-01-01")
    data = bytearray(path.read_bytes())
    data[8192 * 3 :] = b"\xff" * (len(data) - 8192 * 3)
    path.write_bytes(data)
    with pytest.raises(MemoryFileError) as error:
        opened(path)
    one_line(error, "m.sqlite3", "damaged")


HOLD = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute(sys.argv[2])
if len(sys.argv) > 3:
    db.execute(sys.argv[3])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    "locks", [["BEGIN EXCLUSIVE"], ["PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE"]], ids=["write", "all"]
)
def test_a_locked_file_is_named_as_locked_and_the_memory_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locks: list[str]
) -> None:
    monkeypatch.setattr(sqlite_files, "_BUSY_MS", 100)
    path = tmp_path / "m.sqlite3"
    opened(path).close()
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path), *locks], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)  # fmt: skip
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(MemoryFileError) as error:
        opened(path).say("Person:Mira", at="2024-01-01")
    one_line(error, "m.sqlite3", "another program holds it locked")
    holder.communicate()
    with opened(path) as memory:
        assert memory.stats()["turns"] == 0
        memory.say("Person:Mira", at="2024-01-01")


def test_a_writer_waits_for_a_reader_and_a_writer(tmp_path: Path) -> None:
    """Case CNC-03: no "database is locked" while another reads or writes for a moment."""
    path = tmp_path / "m.sqlite3"
    with opened(path) as memory:
        memory.say("Person:Mira", at="2024-01-01")
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM turn").fetchone()
        memory.say("Person:Tom", at="2024-01-02")
        reader.execute("ROLLBACK")
        free = threading.Thread(target=_release, args=(path,))
        free.start()
        reader.close()
        memory.say("Person:Ana", at="2024-01-03")
        free.join()
        assert memory.stats()["nodes"] == 3


def _release(path: Path) -> None:
    db = sqlite3.connect(path, isolation_level=None, timeout=5)
    db.execute("BEGIN IMMEDIATE")
    time.sleep(0.3)
    db.execute("ROLLBACK")
    db.close()


def test_a_read_only_memory_can_be_asked_and_says_why_it_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite3"
    with opened(path) as memory:
        memory.say("Person:Mira -lives_in-> Location:Porto", at="2024-01-01")
    path.chmod(0o444)
    before = path.read_bytes()
    with opened(path) as memory:
        assert memory.retrieve("Where is Mira?").roots
        with pytest.raises(MemoryFileError) as error:
            memory.say("Person:Tom", at="2024-01-02")
        assert memory.stats()["turns"] == 1
    one_line(error, "m.sqlite3", "read-only", "make it writable")
    assert path.read_bytes() == before


def test_a_read_only_folder_can_be_asked(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    path = folder / "m.sqlite3"
    with opened(path) as memory:
        memory.say("Person:Mira", at="2024-01-01")
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        with opened(path) as memory:
            assert memory.stats()["nodes"] == 1
        assert list(folder.iterdir()) == [path]
    finally:
        folder.chmod(0o755)


def test_a_full_disk_leaves_the_memory_as_it_was_before_the_turn(tmp_path: Path) -> None:
    with opened(tmp_path / "m.sqlite3") as memory:
        memory.say("Person:Mira", at="2024-01-01")
        pages = memory.store.query("PRAGMA page_count")[0][0]
        memory.store.query(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(MemoryFileError) as error:
            memory.say(
                "Person:Tom | " + "".join(chr(0x4E00 + place % 20_000) for place in range(90_000)), at="2024-01-02"
            )
        one_line(error, "m.sqlite3", "disk is full", "free some space")
        assert [memory.stats()[part] for part in ("turns", "nodes", "revision")] == [1, 1, 1]
        memory.store.query(f"PRAGMA max_page_count = {pages + 1000}")
        assert memory.say("Person:Tom", at="2024-01-02").added[0].id == "n2"


QUOTA = """
import resource, sys
from memory_core.errors import MemoryFileError
from tests.memories import fake_memory
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
memory, kept = fake_memory(sys.argv[1]), 0
try:
    while True:
        memory.say(f"Person:Name {kept} | " + "words " * 2000, at="2024-01-01")
        kept += 1
except MemoryFileError as error:
    print(kept, memory.stats()["turns"], memory.graph.turns, error, sep="|")
"""


def test_a_quota_that_is_used_up_loses_no_turn(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite3"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    run = subprocess.run([sys.executable, "-c", QUOTA, str(path), "600000"], capture_output=True, text=True, cwd=ROOT)
    assert run.stderr == ""
    kept, stored, known, message = run.stdout.strip().split("|")
    assert int(kept) > 0
    assert kept == stored == known
    assert "m.sqlite3: the disk is full" in message
    with opened(path) as memory:
        assert memory.stats()["turns"] == int(kept)


# -- new files ---------------------------------------------------------------------------------------------------------


def test_two_that_create_one_memory_at_once_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, made = tmp_path / "m.sqlite3", sqlite_files._TABLES

    class Late(type(made)):  # type: ignore[misc]
        def read_text(self, *given: str) -> str:
            monkeypatch.setattr(sqlite_files, "_TABLES", made)
            with opened(path) as faster:
                faster.say("Person:Mira", at="2024-01-01")
            return made.read_text(*given)

    monkeypatch.setattr(sqlite_files, "_TABLES", Late(made))
    with opened(path) as slower:
        assert slower.stats()["turns"] == 1
    assert list(tmp_path.iterdir()) == [path]


def test_the_log_of_a_deleted_memory_is_not_read_into_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite3"
    with opened(path) as memory:
        memory.say("Person:Mira", at="2024-01-01")
        log = Path(f"{path}-wal").read_bytes()
    path.unlink()
    Path(f"{path}-wal").write_bytes(log)
    with opened(path) as memory:
        assert memory.stats()["turns"] == 0


# -- a process that dies -----------------------------------------------------------------------------------------------

TALK = """
import sys
from memory_core.memory import Memory
from tests.fakes import LetterEmbedder, SpelledExtractor
memory = Memory.open(sys.argv[1], embedder=LetterEmbedder(), extractor=SpelledExtractor())
print("open", flush=True)
for number in range(memory.graph.turns, 100000):
    memory.say(f"Person:Name{number} -lives_in-> Location:Porto", at="2024-01-01")
    print(number, flush=True)
"""


def test_kill_loses_no_acknowledged_turn_and_the_memory_opens() -> None:
    dice = random.Random(5)
    with tempfile.TemporaryDirectory() as folder:
        path, turns = Path(folder, "m.sqlite3"), 0
        for _ in range(9):
            talk = subprocess.Popen([sys.executable, "-c", TALK, str(path)], stdout=subprocess.PIPE, cwd=ROOT)
            assert talk.stdout is not None
            talk.stdout.readline()
            time.sleep(dice.uniform(0, 0.15))
            os.kill(talk.pid, signal.SIGKILL)
            acknowledged = [int(line) for line in talk.communicate()[0].split()]
            with opened(path) as memory:
                assert memory.store.query("PRAGMA integrity_check") == [("ok",)]
                assert memory.graph.turns >= max(acknowledged, default=turns - 1) + 1
                assert memory.graph.turns <= max(acknowledged, default=turns - 1) + 2
                assert memory.graph.edge_count == memory.graph.turns == memory.stats()["turns"]
                turns = memory.graph.turns
        assert turns > 9


def test_a_copy_is_made_while_others_use_the_memory(tmp_path: Path) -> None:
    with opened(tmp_path / "m.sqlite3") as memory, memory.store.lock:
        memory.say("Person:Mira", at="2024-05-01")
        copying = threading.Thread(target=memory.store.copy_to, args=(tmp_path / "copy.sqlite3",))
        copying.start()
        copying.join(20)
        assert not copying.is_alive()
    with opened(tmp_path / "copy.sqlite3") as copy:
        assert copy.graph.titles == ["Mira"]
