"""The memories of a user on a server: as those of a folder, nothing overwritten, nothing left of what is deleted."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from memory_core.errors import InputError, MemoryFileError
from memory_core.exporters import to_document
from memory_core.in_database.memory import InDatabase
from memory_core.memories import Memories, chosen_place, on_server, watching
from memory_core.memories import server as module
from memory_core.memory import Memory
from memory_core.store.address import Address
from memory_core.store.listing import Listing

AT = "2024-05-01T10:00:00Z"


@pytest.fixture
def place(on_server: str) -> Iterator[Memories]:
    place = chosen_place()
    yield place
    place.close()


def rows(postgres: str) -> dict[str, int]:
    """Rows of every table, all users' together, as the administrator counts them."""
    with psycopg.connect(postgres) as db:
        tables = db.execute("SELECT relname FROM pg_class WHERE relnamespace = 'forgetting_lab'::regnamespace "
                            "AND relkind = 'r'").fetchall()  # fmt: skip
        return {name: db.execute(f"SELECT count(*) FROM forgetting_lab.{name}").fetchone()[0] for (name,) in tables}  # type: ignore[index]


@pytest.mark.parametrize(
    "name", ["../x", "", "a b", "a" * 65, "ok\n", "é", "x (half made)", "a'; DROP SCHEMA public; --"]
)
def test_a_name_that_could_lead_elsewhere_is_refused(place: Memories, name: str) -> None:
    place.create("kept")
    for act in (place.create, place.open, place.delete, place.exists, lambda it: place.rename("kept", it)):
        with pytest.raises(InputError, match="cannot name a memory"):
            act(name)
    assert place.names() == ["kept"]


def test_nothing_that_exists_is_overwritten(place: Memories) -> None:
    place.create("a").memory.say("I ski.", at=AT)
    place.create("b")
    for act in (lambda: place.create("a"), lambda: place.rename("b", "a"), lambda: place.duplicate("b", "a")):
        with pytest.raises(InputError, match="is a memory a already"):
            act()
    assert place.open("a").memory.graph.turns == 1


def test_who_looks_is_woken_by_what_another_process_commits(place: Memories) -> None:
    opened = place.create("a")
    seen = opened.newest
    with Memory.open(f"{os.environ['FORGETTING_LAB_MEMORIES']}?memory=a", create=False) as other:
        other.say("I ski in Zermatt.", at=AT)
    deadline = time.monotonic() + 20
    while opened.newest == seen and time.monotonic() < deadline:
        time.sleep(0.02)
    assert opened.newest == opened.memory.revision > seen


def test_rename_duplicate_and_delete_keep_every_turn_and_leave_nothing(place: Memories, postgres: str) -> None:
    before = rows(postgres)
    place.create("a").memory.say("I ski in Zermatt.", at=AT)
    document = to_document(place.open("a").memory)
    place.rename("a", "b")
    place.duplicate("b", "c")
    place.delete("b")
    assert place.names() == ["c"]
    assert to_document(place.open("c").memory) == document
    place.delete("c")
    assert rows(postgres) == before


def test_the_index_of_a_memory_goes_with_it(place: Memories, postgres: str) -> None:
    opened = place.create("indexed")
    opened.memory.say("I ski in Zermatt.", at=AT)
    memory = InDatabase(opened.memory.store, opened.memory.embedder, opened.memory.extractor, opened.memory.reader)  # type: ignore[arg-type]
    assert memory.index()
    name = f"node_vector_half_{opened.memory.store.tenant}_{opened.memory.embedder.dim}"  # type: ignore[attr-defined]
    with psycopg.connect(postgres) as db:
        found = "SELECT count(*) FROM pg_indexes WHERE indexname = %s"
        assert db.execute(found, (name,)).fetchone() == (1,)
        db.rollback()
        place.delete("indexed")
        assert db.execute(found, (name,)).fetchone() == (0,)


def test_a_memory_that_was_removed_meanwhile_says_so(place: Memories) -> None:
    opened = place.create("gone").memory
    other = Listing(place.address, place.user)  # type: ignore[attr-defined]
    other.remove("gone")
    other.close()
    with pytest.raises(MemoryFileError, match="removed meanwhile"):
        opened.say("I ski.", at=AT)


def test_a_listing_that_was_cut_off_connects_anew(place: Memories, postgres: str) -> None:
    place.create("a")
    with psycopg.connect(postgres) as db:
        db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'forgetting_lab'")
    assert place.names() == ["a"]
    with psycopg.connect(postgres) as db:
        db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'forgetting_lab'")
    place.delete("a")
    assert place.names() == []


def test_two_who_begin_one_memory_at_once_lose_no_turn(place: Memories, app_login: dict[str, str]) -> None:
    def say(number: int) -> None:
        with Memory.open(f"{app_login['FORGETTING_LAB_MEMORY']}?memory=both") as memory:
            memory.say(f"I ate {number} plums.", at=AT)

    threads = [threading.Thread(target=say, args=(number,)) for number in (3, 4, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = sorted(turn.text for turn in place.open("both").memory.latest_turns(9))
    assert texts == ["I ate 3 plums.", "I ate 4 plums.", "I ate 5 plums."]


def test_what_is_new_in_a_copy_is_followed_and_nothing_is_counted_twice(place: Memories) -> None:
    memory = place.create("a").memory
    memory.say("My sister Mira lives in Porto.", at=AT)
    memory.ask("Where does my sister live?", touch_at=memory.clock)
    place.duplicate("a", "b")
    copy = place.open("b").memory
    with Memory.open(place.at("b"), create=False, user=place.user) as other:  # type: ignore[attr-defined]
        for text in ("I ski in Zermatt.", "I ate two plums."):
            other.say(text, at=AT)
            assert copy.scoring_view().accesses.tolist() == other.scoring_view().accesses.tolist()


def test_a_memory_that_took_anothers_place_is_opened_anew(place: Memories) -> None:
    first = place.create("a")
    first.memory.say("I ski in Zermatt.", at=AT)
    other = Listing(place.address, place.user)  # type: ignore[attr-defined]
    other.remove("a")
    other.close()
    with Memory.open(place.at("a"), user=place.user) as memory:  # type: ignore[attr-defined]
        memory.say("I ate two plums.", at=AT)
    now = place.open("a")
    assert now.replaced
    assert [turn.text for turn in now.memory.latest_turns(9)] == ["I ate two plums."]
    assert place.open("a") is now


def test_who_gives_another_key_or_none_shares_nothing_with_who_gave_the_right_one(place: Memories) -> None:
    place.create("a").memory.say("I ski in Zermatt.", at=AT)
    for key, says in (("", "asks who"), (f"user:{'0' * 64}", "does not know")):
        stranger = on_server(replace(place.address, key=key), place.user)  # type: ignore[attr-defined]
        with pytest.raises(MemoryFileError, match=says):
            stranger.names()
        with pytest.raises(MemoryFileError, match=says):
            stranger.open("a")


def test_a_copy_that_fails_leaves_nothing(place: Memories, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place.create("a").memory.say("I ski in Zermatt.", at=AT)
    before = rows(postgres)

    def fails(target: object) -> None:
        raise MemoryFileError("The server is not there.")

    with monkeypatch.context() as patch:
        patch.setattr(module, "finish", fails)
        with pytest.raises(MemoryFileError, match="not there"):
            place.duplicate("a", "b")
    assert (place.names(), rows(postgres)) == (["a"], before)
    place.duplicate("a", "b")


def test_a_server_that_does_not_answer_keeps_only_those_waiting_who_ask_it(
    place: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.names() == []
    answer = threading.Event()

    def slow(address: object, user: str) -> None:
        answer.wait(30)
        raise MemoryFileError("The server did not answer in time.")

    def ask() -> None:
        with pytest.raises(MemoryFileError):
            on_server(Address.parse("postgresql://lab.invalid/db")).names()

    monkeypatch.setattr(module, "Listing", slow)
    waiting = threading.Thread(target=ask)
    waiting.start()
    time.sleep(0.1)
    assert place.names() == []
    assert waiting.is_alive()
    answer.set()
    waiting.join()


def test_nobody_listens_for_who_no_longer_looks(place: Memories, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_UNWATCHED", 0.1)
    monkeypatch.setattr(watching, "_PATIENCE", 0.1)
    store = place.create("a").memory.store
    watch = watching.Watch(store)
    for revision in (1, 2):
        assert watch.revision == revision
        listening = watch._thread
        assert listening is not None
        listening.join(10)
        assert not listening.is_alive()
        store.commit([], revision)
