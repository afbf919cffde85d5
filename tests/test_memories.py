"""A folder of memories: names that cannot lead out of it, and nothing overwritten or lost."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.errors import InputError, MemoryFileError
from memory_core.memories import FolderMemories, Memories, checked, exported
from memory_core.memories import opened as known
from memory_core.replay import missing, start
from memory_core.schema import Turn
from tests.fakes import LetterEmbedder, SpelledExtractor

AT = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[Memories]:
    folder = FolderMemories(tmp_path / "memories")
    yield folder
    folder.close()


@pytest.mark.parametrize(
    "name", ["../../outside/x", "/outside/evil", "a/b", "..", "", "nul\x00l", "a" * 65, "ok\n", "é"]
)
def test_sec_07_a_name_that_could_lead_elsewhere_is_refused(memories: Memories, tmp_path: Path, name: str) -> None:
    memories.create("kept")
    for act in (memories.create, memories.open, memories.delete, lambda it: memories.rename("kept", it)):
        with pytest.raises(InputError, match="cannot name a memory"):
            act(name)
    assert memories.names() == ["kept"]
    assert [path.name for path in tmp_path.iterdir()] == ["memories"]


@given(st.text())
def test_every_name_that_passes_stays_in_the_folder(name: str) -> None:
    memories = FolderMemories(Path("somewhere"))
    try:
        path = memories.path(name)
    except InputError:
        return
    assert path.parent == Path("somewhere").resolve()
    assert path.name == f"{checked(name)}.sqlite3"


def test_a_link_out_of_the_folder_is_no_memory(memories: Memories, tmp_path: Path) -> None:
    memories.create("real").memory.say("I ski.", at=AT)
    outside = tmp_path / "outside.sqlite3"
    memories.open("real").memory.store.copy_to(outside)
    memories.path("link").symlink_to(outside)
    assert memories.names() == ["real"]
    for act in (memories.open, memories.delete):
        with pytest.raises(InputError, match="no memory link"):
            act("link")
    assert outside.exists()


def test_one_memory_a_file_however_often_it_is_opened(memories: Memories) -> None:
    assert memories.create("one") is memories.open("one")


def test_the_embedder_is_fixed_when_a_memory_is_made(memories: Memories) -> None:
    memories.create("letters", LetterEmbedder())
    memories.close()
    with pytest.raises(MemoryFileError.__base__, match="was made with embedder letters"):
        memories.open("letters")


def test_nothing_that_exists_is_overwritten(memories: Memories) -> None:
    memories.create("a").memory.say("I ski.", at=AT)
    memories.create("b")
    for act in (lambda: memories.create("a"), lambda: memories.rename("b", "a"), lambda: memories.duplicate("b", "a")):
        with pytest.raises(InputError, match="is a memory a already"):
            act()
    assert memories.open("a").memory.graph.turns == 1


def test_rename_duplicate_and_delete_keep_every_turn(memories: Memories) -> None:
    memories.create("a").memory.say("I ski.", at=AT)
    memories.rename("a", "b")
    memories.duplicate("b", "c")
    memories.delete("b")
    assert memories.names() == ["c"]
    assert memories.open("c").memory.latest_turns(5)[0].text == "I ski."
    assert {path.suffix for path in memories.folder.glob("b*")} == set()


def test_who_looks_at_a_memory_sees_that_it_was_renamed_or_deleted(memories: Memories) -> None:
    first = memories.create("a")
    assert not first.closed
    memories.rename("a", "b")
    second = memories.open("b")
    memories.delete("b")
    assert first.closed
    assert second.closed


def said(count: int) -> list[Turn]:
    return [Turn("user", f"Person:User -knows-> Person:Friend{k}", AT, "User", "s", f"s:{k}") for k in range(count)]


def test_a_memory_that_is_written_is_neither_renamed_nor_deleted(memories: Memories) -> None:
    opened = memories.create("busy", LetterEmbedder())
    start(opened.worker, opened.memory, "talk", said(3), extractor=SpelledExtractor(), paused=True)
    for act in (lambda: memories.delete("busy"), lambda: memories.rename("busy", "idle")):
        with pytest.raises(InputError, match="stop the replay first"):
            act()


def test_of_memories_that_nobody_looks_at_only_the_last_stay_open(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "_IDLE", 2)
    for name in "abcd":
        memories.create(name)
    gc.collect()
    assert [name for name in "abcd" if memories.is_open(name)] == ["c", "d"]
    looked = memories.open("a")
    looked.memory.say("I ski.", at=AT)
    for name in "bcd":
        memories.open(name)
    gc.collect()
    assert memories.open("a") is looked, "who looks at it goes on looking at the same"
    assert looked.memory.graph.turns == 1


def test_large_memories_that_nobody_looks_at_have_less_room(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "_IDLE_NODES", 3)
    for name in "abc":
        opened = memories.create(name, LetterEmbedder())
        opened.memory.extractor = SpelledExtractor()
        opened.memory.say("Person:Mira -lives_in-> Location:Porto", at=AT)
        memories.open(name)
    del opened
    gc.collect()
    assert [name for name in "abc" if memories.is_open(name)] == ["c"]


def test_a_memory_that_is_worked_on_stays_open(memories: Memories, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "_IDLE", 1)
    opened = memories.create("busy", LetterEmbedder())
    start(opened.worker, opened.memory, "talk", said(3), extractor=SpelledExtractor(), paused=True)
    del opened
    for name in "bc":
        memories.create(name)
    gc.collect()
    assert [name for name in ("busy", "b", "c") if memories.is_open(name)] == ["busy", "c"]
    with pytest.raises(InputError, match="stop the replay first"):
        memories.delete("busy")


def wait(job) -> None:  # type: ignore[no-untyped-def]
    for _ in range(2000):
        if job.finished:
            return
        sleep(0.005)
    raise AssertionError(job.state)


def test_a_stopped_replay_loses_nothing_and_goes_on(memories: Memories) -> None:
    opened = memories.create("talk", LetterEmbedder())
    turns, reports = said(6), []
    first = start(
        opened.worker, opened.memory, "talk", turns, extractor=SpelledExtractor(), each=reports.append, paused=True
    )
    first.job.step()
    while first.job.done < 1 or first.job.state != "paused":
        sleep(0.005)
    first.job.cancel()
    wait(first.job)
    stored = opened.memory.graph.turns
    assert (first.job.state, stored) == ("cancelled", len(reports))
    assert len(missing(opened.memory, turns)) == 6 - stored
    second = start(opened.worker, opened.memory, "talk", turns, extractor=SpelledExtractor())
    wait(second.job)
    assert (second.skipped, second.counts.turns, opened.memory.graph.turns) == (stored, 6 - stored, 6)


def test_failed_turns_of_a_replay_are_counted_and_stored(memories: Memories) -> None:
    opened = memories.create("talk", LetterEmbedder())
    replay = start(opened.worker, opened.memory, "talk", said(2), extractor=SpelledExtractor(fails=True))
    wait(replay.job)
    assert (replay.counts.rejected, opened.memory.graph.turns) == (2, 2)


def test_numbers_are_made_once_a_revision(memories: Memories) -> None:
    opened = memories.create("a", LetterEmbedder())
    assert opened.numbers() is opened.numbers()
    opened.memory.say("I ski.", at=AT)
    assert opened.numbers()["turns"] == 1


@pytest.mark.parametrize(("ending", "begins"), [("json", b"{"), ("csv", b"kind,"), ("graphml", b"<"), ("html", b"<!")])
def test_an_export_is_the_bytes_of_the_file(memories: Memories, ending: str, begins: bytes) -> None:
    opened = memories.create("a", LetterEmbedder())
    opened.memory.say("I ski.", at=AT)
    assert exported(opened.memory, ending).lstrip().startswith(begins)
