"""What every store promises, over a file and over a real PostgreSQL: the same rows, answers and faults."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import policies
from memory_core.errors import MemoryFileError
from memory_core.exporters import to_document
from memory_core.memory import Memory
from memory_core.store.contract import StaleRevisionError, Store
from memory_core.store.copying import COLUMNS, rows_of
from memory_core.store.opening import open_store
from memory_core.store.rows import KEYS, RowChange, Value, insert, update
from memory_core.store.sqlite import SqliteStore
from tests.fakes import LetterEmbedder, SpelledExtractor
from tests.forgetting_memories import SAID, START, told
from tests.stores import place

pytestmark = pytest.mark.usefixtures("kind")


@pytest.fixture
def where(tmp_path: Path) -> Path | str | None:
    return place(tmp_path / "m.sqlite3")


@pytest.fixture
def store(where: Path | str) -> Iterator[Store]:
    with_closing = open_store(where)
    yield with_closing
    with_closing.close()


def turn_row(position: int, text: str, **other: Value) -> RowChange:
    row: dict[str, Value] = {
        "position": position, "id": f"t{position + 1}", "source_id": "", "session": "", "role": "user",
        "speaker": "Mira", "text": text, "at": 0.0, "forgotten_by": None,
    }  # fmt: skip
    return insert("turn", **(row | other))


def node_row(number: int, title: str) -> RowChange:
    return insert("node", id=f"n{number}", label="Concept", title=title, content="", attributes="{}", created=0.0,
                  turns_at_creation=1, pinned=0, forgotten_by=None)  # fmt: skip


# -- commits -----------------------------------------------------------------------------------------------------------


def test_a_commit_is_whole_or_nothing(store: Store) -> None:
    store.commit([turn_row(0, "first")], 0)
    twice = [turn_row(1, "second"), insert("meta", key="kept", value="no"), turn_row(0, "first again")]
    with pytest.raises(MemoryFileError):
        store.commit(twice, 1)
    assert store.query("SELECT text FROM turn") == [("first",)]
    assert store.meta("kept", "absent") == "absent"
    assert store.revision() == 1
    assert store.commit([turn_row(1, "second")], 1) == 2


def test_whoever_is_behind_is_told_and_changes_nothing(store: Store, where: Path | str) -> None:
    other = open_store(where, create=False)
    store.commit([turn_row(0, "first")], 0)
    with pytest.raises(StaleRevisionError):
        other.commit([turn_row(0, "mine")], 0)
    assert other.query("SELECT text FROM turn") == [("first",)]
    assert other.commit([turn_row(1, "mine")], other.revision()) == 2
    other.close()


def test_what_is_derived_counts_as_no_revision(store: Store) -> None:
    assert store.commit([insert("turn_vector", turn="t1", vector=b"\x00\x3c\x00\x00")], 0, count=False) == 0
    assert store.revision() == 0
    assert store.query("SELECT vector FROM turn_vector") == [(b"\x00\x3c\x00\x00",)]


def test_rows_come_back_as_they_were_given_in_the_order_they_came(store: Store) -> None:
    rows: dict[str, list[RowChange]] = {
        "turn": [turn_row(0, "é\n\t'\"%?$1 {} \\"), turn_row(1, "日本語 🦊", forgotten_by="c1", at=-1.5)],
        "node": [node_row(9, "b"), node_row(10, "a"), node_row(1, "Z")],
        "edge": [insert("edge", id=f"e{n}", source="n9", target="n1", relationship="r", attributes="{}",
                        forgotten_by=None) for n in (2, 1)],
        "access": [insert("access", id=n, node="n9", at=1.25, turn=2, kind="merge") for n in (1, 2)],
        "provenance": [insert("provenance", item="n1", turn="t1", start=None, stop=None),
                       insert("provenance", item="n9", turn="t1", start=0, stop=5)],
        "question": [insert("question", id=1, text="?", at=2.0, vector=bytes(range(256)))],
        "pair": [insert("pair", id=1, a="n9", b="n1", kind="near", reason="", similarity=None, state="open"),
                 insert("pair", id=2, a="n9", b="n1", kind="near", reason="", similarity=1, state="open")],
        "change": [insert("change", id="c2", number=2, at=0.0, kind="pin", made_by="user", state="applied",
                          summary="{}", rows=b"")],
    }  # fmt: skip
    store.commit([row for group in rows.values() for row in group], 0)
    for table, group in rows.items():
        assert rows_of(store, table) == group


def test_a_row_changed_twice_in_one_commit_holds_the_last(store: Store) -> None:
    store.commit([node_row(1, "a")], 0)
    changes = [update("node", "n1", {"title": before}, {"title": after}) for before, after in ("ab", "bc", "cd")]
    store.commit([*changes, insert("meta", key="k", value="1"), insert("meta", key="k", value="2")], 1)
    assert store.query("SELECT title FROM node") == [("d",)]
    assert store.meta("k") == "2"


def test_a_row_that_goes_and_comes_back_is_the_newest(store: Store) -> None:
    store.commit([node_row(1, "a"), node_row(2, "b")], 0)
    store.commit([RowChange("node", ("n1",), {}, None), node_row(1, "again")], 1, whole=True)
    assert [row.after["title"] for row in rows_of(store, "node") if row.after] == ["b", "again"]


def test_every_table_is_known_by_its_columns_and_key(store: Store) -> None:
    assert set(COLUMNS) == set(KEYS)
    for table, names in COLUMNS.items():
        assert store.query(f"SELECT {', '.join(names.split())} FROM {table} WHERE {KEYS[table][0]} IS NULL") == []


# -- questions ---------------------------------------------------------------------------------------------------------


def test_columns_of_text_are_what_its_rows_hold(store: Store) -> None:
    names = ("id", "title", "forgotten_by")
    assert store.texts("node", names) == [[], [], []]
    titles = ["é\n\t'\"%?$1 {} \\", "日本語 🦊", "\x01\u2028", ""]
    store.commit([node_row(9 - n, title) for n, title in enumerate(titles)], 0)
    store.commit([update("node", "n8", {"forgotten_by": None}, {"forgotten_by": "c1"})], 1)
    assert store.texts("node", names) == [["n9", "n8", "n7", "n6"], titles, [None, "c1", None, None]]
    assert store.texts("node", ("id",)) == [["n9", "n8", "n7", "n6"]]


def test_any_number_of_keys_can_be_asked_for(store: Store) -> None:
    store.commit([node_row(n, "x") for n in range(2000)], 0)
    ids: list[Value] = [f"n{n}" for n in range(2500)]
    assert len(store.query_in("SELECT id FROM node WHERE id IN ({})", ids)) == 2000
    assert store.query_in("SELECT id FROM node WHERE id IN ({})", []) == []


def test_text_is_ordered_by_its_bytes(store: Store) -> None:
    titles = ["b", "a", "Z", "é", "e", "日", "_", "1"]
    store.commit([node_row(n, title) for n, title in enumerate(titles)], 0)
    found = [title for (title,) in store.query("SELECT title FROM node ORDER BY title")]
    assert found == sorted(titles, key=str.encode)


def test_lengths_are_of_characters_and_of_bytes_as_asked(store: Store) -> None:
    store.commit([node_row(1, "日本")], 0)
    assert store.query("SELECT length(title), length(CAST(title AS BLOB)) FROM node") == [(2, 6)]


def test_a_snapshot_is_of_one_moment(store: Store, where: Path | str) -> None:
    other = open_store(where)
    with store.snapshot():
        assert store.revision() == 0
        other.commit([node_row(1, "later")], 0)
        with store.snapshot():
            assert store.query("SELECT id FROM node") == []
        assert store.revision() == 0
    assert store.query("SELECT id FROM node") == [("n1",)]
    other.close()


def test_a_question_that_is_none_is_one_line(store: Store) -> None:
    with pytest.raises(MemoryFileError) as error:
        store.query("SELECT nonsense FROM nowhere")
    assert "\n" not in str(error.value)
    assert store.query("SELECT 1") == [(1,)]


# -- words -------------------------------------------------------------------------------------------------------------

WORDS = ("porto", "Lisbon", "cellos", "cello", "moved", "move", "café", "the")
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), max_size=6)


def filled(store: Store, texts: list[str]) -> Store:
    store.commit([turn_row(place, text) for place, text in enumerate(texts)], 0)
    return store


def test_the_greatest_bm25_comes_first_and_ties_go_by_age(store: Store) -> None:
    filled(store, ["a cello in Porto", "Porto", "the cellos of Porto", "nothing", "no", "else"])
    found = store.search(["Porto", "cello"], 10)
    assert [turn for turn, _ in found] == ["t1", "t3", "t2"]
    n, mean = 6, (5 + 2 + 5 + 2 + 2 + 2) / 6  # "Mira: " stands before each
    idf = np.log((n - 3 + 0.5) / (3 + 0.5)), np.log((n - 2 + 0.5) / (2 + 0.5))
    norm = 1.2 * (1 - 0.75 + 0.75 * 5 / mean)
    assert found[0][1] == pytest.approx(sum(max(one, 1e-6) * 2.2 / (1 + norm) for one in idf))
    assert store.search(["Porto"], 1) == store.search(["Porto"], 10)[:1]
    assert store.search(["absent"], 5) == store.search([], 5) == []


@given(texts=SENTENCES, asked=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None)
def test_every_store_finds_the_same_turns_with_the_same_scores(texts: list[str], asked: list[str]) -> None:
    one, other = filled(open_store(place(":memory:") or ""), texts), filled(SqliteStore(":memory:"), texts)
    found, expected = one.search(asked, 10), other.search(asked, 10)
    assert [turn for turn, _ in found] == [turn for turn, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], rel=1e-12)
    one.close(), other.close()


ACTS = st.lists(st.tuples(st.sampled_from(["add", "forget", "restore", "purge", "edit"]), st.integers(0, 4),
                          st.lists(st.sampled_from(WORDS[:3]), min_size=1, max_size=3)), max_size=12)  # fmt: skip


@given(commits=st.lists(ACTS, max_size=4))
@settings(max_examples=15, deadline=None)
def test_full_text_search_finds_exactly_the_live_turns(commits: list[list[tuple[str, int, list[str]]]]) -> None:
    store = open_store(place(":memory:") or "")
    expected: dict[int, tuple[str, str | None]] = {}
    for acts in commits:
        changes = []
        for act, position, words in acts:
            text, by = expected.get(position, ("", None))
            if act == "add" and position not in expected:
                expected[position] = (" ".join(words), None)
                changes.append(turn_row(position, " ".join(words)))
            elif act in ("forget", "restore") and position in expected:
                after = "c1" if act == "forget" else None
                expected[position] = (text, after)
                changes.append(update("turn", f"t{position + 1}", {"forgotten_by": by}, {"forgotten_by": after}))
            elif act == "edit" and position in expected:
                expected[position] = (" ".join(words), by)
                changes.append(update("turn", f"t{position + 1}", {"text": text}, {"text": " ".join(words)}))
            elif act == "purge" and position in expected:
                del expected[position]
                changes.append(RowChange("turn", (f"t{position + 1}",), {"text": text}, None))
        store.commit(changes, store.revision(), whole=True)
    for word in WORDS[:3]:
        live = {f"t{at + 1}" for at, (text, by) in expected.items() if by is None and word in text.split()}
        assert {turn for turn, _ in store.search([word], 50)} == live
    store.close()


# -- others ------------------------------------------------------------------------------------------------------------


def test_who_waits_is_woken_by_another_process_and_not_by_nothing(store: Store, where: Path | str) -> None:
    other = open_store(where)
    assert store.wait_for_change(0, 0.05) is False
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(store.wait_for_change, 0, 20.0)
        time.sleep(0.3)
        other.commit([node_row(1, "new")], 0)
        assert waiting.result(timeout=10) is True
    assert store.wait_for_change(0, 20.0) is True
    other.close()


def test_nobody_waits_in_vain_for_their_turn(store: Store, where: Path | str) -> None:
    done: list[int] = []

    def write(writer: int) -> None:
        own = open_store(where)
        for _ in range(5):
            with own.in_turn():
                revision = own.revision()
                time.sleep(0.005)
                try:
                    own.commit([node_row(100 * writer + revision, "x")], revision)
                    done.append(writer)
                except StaleRevisionError:
                    continue
        own.close()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(1, 4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert store.revision() == len(done) == len(store.query("SELECT id FROM node"))


def test_a_copy_is_a_file_that_holds_the_same(store: Store, tmp_path: Path) -> None:
    store.commit([turn_row(0, "Porto"), node_row(2, "b"), node_row(1, "a"), insert("meta", key="k", value="v")], 0)
    store.copy_to(tmp_path / "new" / "copy.sqlite3")
    with pytest.raises(MemoryFileError, match=r"copy.sqlite3: File exists"):
        store.copy_to(tmp_path / "new" / "copy.sqlite3")
    copy = SqliteStore(tmp_path / "new" / "copy.sqlite3", create=False)
    assert all(rows_of(copy, table) == rows_of(store, table) for table in COLUMNS)
    assert copy.revision() == store.revision() == 1
    assert copy.search(["porto"], 5) == store.search(["porto"], 5)
    copy.close()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["copy.sqlite3"]


def test_what_is_not_there_is_named_and_not_made(where: Path | str) -> None:
    with pytest.raises(MemoryFileError, match="There is no memory at"):
        open_store(where, create=False)
    with pytest.raises(MemoryFileError, match="There is no memory at"):
        open_store(where, create=False)


# -- the memory on it --------------------------------------------------------------------------------------------------


def test_the_same_input_gives_the_same_export_plan_and_bytes_as_a_file() -> None:
    embedder = LetterEmbedder(match_threshold=0.9999)
    alone = Memory(SqliteStore(":memory:"), embedder, SpelledExtractor(), None)  # type: ignore[arg-type]
    for day, (session, text) in enumerate(SAID):
        alone.say(text, at=START + timedelta(days=day), session=session)
    with alone, told() as memory:
        done = []
        for one in (memory, alone):
            one.turn_vectors()
            plan = one.plan(policies.make("lfu"), keep=6, turns="with_nodes")
            before = to_document(one), one.bytes_live(), plan.to_json()
            pass_id = one.apply(plan)
            after = to_document(one), one.bytes_live(), one.search_turns("lena harbor winter", 9)
            found = replace(one.retrieve("Where does Lena live?"), ms={})
            undone = one.undo(pass_id, at=START), to_document(one), one.statuses(), one.changes()
            done.append((before, after, found, undone))
        assert done[0] == done[1]


def test_only_what_is_newer_is_followed_and_all_where_rows_went(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    shared = place(":memory:") if kind == "postgres" else None
    if shared is None:
        pytest.skip("a file is read anew in a moment")
    parts = {"embedder": LetterEmbedder(match_threshold=0.9999), "extractor": SpelledExtractor()}
    with Memory.open(shared, **parts) as one, Memory.open(shared, **parts) as other:  # type: ignore[arg-type]
        loads: list[int] = []
        load = Memory._load
        monkeypatch.setattr(Memory, "_load", lambda memory: (loads.append(1), load(memory))[1])
        for day, (session, text) in enumerate(SAID):
            (one if day % 2 else other).say(text, at=START + timedelta(days=day), session=session)
        done = one.apply(one.plan(policies.make("lfu"), keep=6, turns="with_nodes"))
        node = one.graph.ids[int(one.graph.live_rows()[0])]
        one.edit(node, at=START, title="Somebody", content="else")
        one.pin(node, True, at=START)
        assert to_document(other) == to_document(one)
        assert other.search_turns("lena", 9) == one.search_turns("lena", 9)
        assert other.turn_columns().ids == one.turn_columns().ids
        assert [other.graph.find_title("Person", "Somebody"), other.stats()] == [[0], one.stats()]
        assert np.array_equal(other.graph.vectors.values, one.graph.vectors.values)
        assert other.scoring_view().accesses.tolist() == one.scoring_view().accesses.tolist()
        assert loads == []
        one.purge(done)
        loads.clear()
        assert to_document(other) == to_document(one)
        assert loads == [1]
