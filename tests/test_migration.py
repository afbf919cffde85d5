"""A memory goes to a server and back with everything it holds; stopped anywhere, the same call goes on."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest

from memory_core import migration
from memory_core.__main__ import main
from memory_core.errors import InputError, MemoryFileError
from memory_core.exporters import to_document
from memory_core.memories import on_server
from memory_core.memory import Memory
from memory_core.migration import migrate
from memory_core.policies import make
from memory_core.store import transfer
from memory_core.store.address import Address
from memory_core.store.rows import update
from memory_core.store.sqlite import SqliteStore
from tests.pages.large import make_large

SAID = (
    "My sister Mira lives in Porto.",
    "My dog Rollo is six years old.",
    "I work at Harbor Bakery.",
    "Mira moved to Faro.",
)


class Killed(Exception):
    """The process ended here."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with a pass that was applied, one that was undone, a purge, a question, a pin and a rule."""
    path = tmp_path_factory.mktemp("source") / "all.sqlite3"
    with Memory.open(path) as memory:
        for day, text in enumerate(SAID, 1):
            memory.say(text, at=f"2024-05-0{day}T10:00:00Z")
        at = memory.clock
        assert at is not None
        memory.ask("Where does my sister live?", touch_at=at)
        memory.protect("word=Rollo")
        for act in (lambda done: memory.undo(done, at=at), lambda done: memory.purge(done, at=at), lambda done: None):
            plan = memory.plan(make("lru", {}), keep=memory.graph.node_count - 1, at=at)
            act(memory.apply(plan))
        memory.turn_vectors()
    return path


@pytest.fixture
def server(app_login: dict[str, str], on_server: str) -> str:
    return app_login["FORGETTING_LAB_MEMORY"]


def whole(path: Path) -> tuple[str, dict[str, int]]:
    with closing(SqliteStore(path, create=False, read_only=True)) as store:
        return transfer.digest(store, lambda count: None), transfer.counts(store)


def test_a_memory_goes_to_a_server_and_back_with_all_it_holds(source: Path, server: str, tmp_path: Path) -> None:
    before = sha256(source.read_bytes()).hexdigest()
    there = migrate(source, f"{server}?memory=moved")
    back = migrate(f"{server}?memory=moved", tmp_path / "back.sqlite3")
    assert [path.name for path in tmp_path.iterdir()] == ["back.sqlite3"]
    assert there.equal
    assert back.equal
    assert there.export == back.export
    assert there.rows == back.rows == whole(source)[1]
    assert whole(tmp_path / "back.sqlite3") == whole(source)
    empty = {table for table, count in there.rows.items() if not count}
    assert empty <= {"pending_vector", "pair"}, "the test memory holds rows of every other table"
    assert sha256(source.read_bytes()).hexdigest() == before


def test_what_moved_works_as_before(source: Path, server: str) -> None:
    migrate(source, f"{server}?memory=moved")
    with Memory.open(source, create=False) as here, Memory.open(f"{server}?memory=moved", create=False) as there:
        question = "Where does my sister live?"
        assert there.ask(question).answer == here.ask(question).answer
        assert there.revision == here.revision
        assert to_document(there) == to_document(here)
        undo = [change.id for change in there.changes() if change.kind == "forget" and change.state == "applied"]
        there.undo(undo[-1], at=there.clock)
        assert there.graph.node_count == here.graph.node_count + 1
        there.say("My brother Jonas plays the cello.", at="2024-06-01T10:00:00Z")
        assert there.graph.turns == here.graph.turns + 1


def targets(tmp_path: Path, server: str) -> dict[str, str | Path]:
    return {"a file": tmp_path / "new.sqlite3", "a server": f"{server}?memory=new"}


def interrupted(monkeypatch: pytest.MonkeyPatch, step: int, act: Callable[[], None]) -> None:
    """At the given commit or comparison something happens."""
    steps = iter(range(1000))
    monkeypatch.setattr(transfer, "_CHUNK", 2)
    monkeypatch.setattr(migration, "_advance", lambda meter, count: act() if next(steps) == step else None)


@pytest.mark.parametrize("kind", ["a file", "a server"])
@pytest.mark.parametrize("step", [1, 7, 20, 48])
def test_killed_anywhere_the_same_call_goes_on(
    kind: str, step: int, source: Path, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill() -> None:
        raise Killed

    target = targets(tmp_path, server)[kind]
    with monkeypatch.context() as patch:
        interrupted(patch, step, kill)
        with pytest.raises(Killed):
            migrate(source, target)
    assert not (tmp_path / "new.sqlite3").exists()
    assert on_server(Address.given(server)).names() == [], "a half-made copy is no memory"
    done = migrate(source, target)
    assert done.already >= min(step, 20)
    assert done.equal
    assert done.rows == whole(source)[1]


def test_a_killed_process_loses_nothing(server: str, tmp_path: Path) -> None:
    make_large(tmp_path / "source.sqlite3", 2000)
    command = [sys.executable, "-m", "memory_core", "migrate", str(tmp_path / "source.sqlite3"), f"{server}?memory=big"]
    half = "big (half made)"
    listing = on_server(Address.given(server))._listing()
    with subprocess.Popen(command) as process:
        while not listing.holds(half):
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(0.1)
        process.kill()
    done = migrate(tmp_path / "source.sqlite3", f"{server}?memory=big")
    assert done.equal
    assert done.rows["node"] == 2000
    assert listing.names() == ["big"]


def cut_off(postgres: str) -> None:
    with psycopg.connect(postgres) as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'forgetting_lab'")


def test_a_source_that_is_cut_off_says_so_and_the_same_call_goes_on(
    source: Path, server: str, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(source, f"{server}?memory=cut")
    with monkeypatch.context() as patch:
        interrupted(patch, 9, lambda: cut_off(postgres))
        with pytest.raises(MemoryFileError, match="closed the connection") as told:
            migrate(f"{server}?memory=cut", tmp_path / "x")
    assert Address.parse(server).password not in str(told.value)
    assert not (tmp_path / "x").exists()
    done = migrate(f"{server}?memory=cut", tmp_path / "x")
    assert done.already > 10
    assert done.equal


def test_a_target_that_is_cut_off_between_two_commits_is_taken_up_at_once(
    source: Path, server: str, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(monkeypatch, 9, lambda: cut_off(postgres))
    done = migrate(source, f"{server}?memory=cut")
    assert done.equal
    assert done.rows == whole(source)[1]


@pytest.mark.parametrize("kind", ["a file", "a server"])
def test_what_holds_something_is_refused_and_what_is_empty_makes_room(
    kind: str, source: Path, server: str, tmp_path: Path
) -> None:
    target = targets(tmp_path, server)[kind]
    with Memory.open(target) as memory:
        memory.retrying(lambda: memory.commit([]))
    assert migrate(source, target).equal
    with pytest.raises(InputError, match="holds a memory already"):
        migrate(source, target)
    with Memory.open(target, create=False) as memory:
        assert memory.graph.turns == len(SAID)


@pytest.mark.parametrize("kind", ["a file", "a server"])
def test_a_source_that_changed_meanwhile_is_begun_again(
    kind: str, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill() -> None:
        raise Killed

    with Memory.open(tmp_path / "source.sqlite3") as memory:
        memory.say(SAID[0], at="2024-05-01T10:00:00Z")
    target = targets(tmp_path, server)[kind]
    with monkeypatch.context() as patch:
        interrupted(patch, 5, kill)
        with pytest.raises(Killed):
            migrate(tmp_path / "source.sqlite3", target)
    with Memory.open(tmp_path / "source.sqlite3") as memory:
        memory.say(SAID[3], at="2024-05-02T10:00:00Z")
    done = migrate(tmp_path / "source.sqlite3", target)
    assert (done.already, done.equal, done.rows["turn"]) == (0, True, 2)


@pytest.mark.parametrize("kind", ["a file", "a server"])
def test_what_came_to_the_target_meanwhile_is_not_overwritten(
    kind: str, source: Path, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = targets(tmp_path, server)[kind]

    def say() -> None:
        with Memory.open(target) as memory:
            memory.say("I bake rye bread.", at="2024-05-01T10:00:00Z")

    interrupted(monkeypatch, 9, say)
    with pytest.raises(InputError, match="holds a memory already"):
        migrate(source, target)
    with Memory.open(target, create=False) as memory:
        assert [turn.text for turn in memory.latest_turns(9)] == ["I bake rye bread."]


@pytest.mark.parametrize("kind", ["a file", "a server"])
def test_a_copy_that_is_not_equal_is_begun_anew_by_the_next_call(
    kind: str, source: Path, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = targets(tmp_path, server)[kind]
    with monkeypatch.context() as patch:
        differing = iter("ab")
        patch.setattr(migration, "_export", lambda store: next(differing))
        with pytest.raises(MemoryFileError, match="not equal"):
            migrate(source, target)
    done = migrate(source, target)
    assert (done.already, done.equal) == (0, True)


def test_a_text_that_no_server_can_hold_is_named(server: str, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "nul.sqlite3") as memory:
        memory.say(SAID[0], at="2024-05-01T10:00:00Z")
        memory.store.commit([update("turn", "t1", {"text": SAID[0]}, {"text": "a\x00b"})], 1)
    with pytest.raises(InputError, match=r"'a\\x00b' holds a NUL character"):
        migrate(tmp_path / "nul.sqlite3", f"{server}?memory=nul")
    assert on_server(Address.given(server)).names() == []
    assert migrate(tmp_path / "nul.sqlite3", tmp_path / "copy.sqlite3").equal


def test_mistakes_are_told_in_one_line(
    source: Path, server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.txt").write_text("no memory")
    wrong = server.replace(Address.parse(server).password, "s3cret")
    for source_of, target, says in (
        (source, source, "the same memory"),
        (tmp_path / "none", server, "no memory at"),
        (source, tmp_path / "text.txt", "not a memory"),
        (source, wrong, "refused user forgetting_lab"),
        (source, "postgresql://s3cret@:1:2/", "cannot be read"),
        (f"{server}?memory=none", tmp_path / "y", "no memory at"),
    ):
        assert main(["migrate", str(source_of), str(target)]) == 1
        error = capsys.readouterr().err
        assert says in error
        assert error.count("\n") == 1
        assert "s3cret" not in error
        assert Address.parse(server).password not in error
