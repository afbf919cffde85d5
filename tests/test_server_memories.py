"""The memories of a user on a server: as those of a folder, nothing overwritten, nothing left of what is deleted."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest

from memory_core.errors import InputError, MemoryFileError
from memory_core.exporters import to_document
from memory_core.in_database.memory import InDatabase
from memory_core.memories import Memories, chosen_place
from memory_core.memory import Memory
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
