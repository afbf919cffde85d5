"""What the extraction page says of a turn is what is stored of it: words, fates, drops, and what has no words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.inspection.cards import Item, stretches, turn_card
from memory_core.inspection.lines import TurnLine, filtered, statuses, turn_lines
from memory_core.inspection.overview import overview
from memory_core.memory import Memory
from memory_core.policies.importance import Importance
from memory_core.schema import Extraction, FoundEdge, FoundNode, Turn, utc
from memory_core.validation import read_reply
from tests.fakes import SpelledExtractor
from tests.memories import fake_memory

AT = utc("2024-08-01")


@dataclass(frozen=True)
class Replying(SpelledExtractor):
    """Gives one reply of a model, validated as any reply is."""

    reply: str = ""

    def extract(self, turn: Turn) -> Extraction:
        return read_reply(self.reply)


def told() -> Memory:
    memory = fake_memory()
    memory.say("Person:Mira {job=nurse} -lives_in-> Location:Porto; I said more.", at="2024-05-01")
    memory.say("Person:Mira -knows-> Person:Tom", at="2024-05-02")
    memory.say("Nothing at all. Honestly.", at="2024-05-03")
    return memory


def test_words_are_coloured_by_what_they_became_and_say_how() -> None:
    with told() as memory:
        card = turn_card(memory, "t2")
        assert "".join(stretch.text for stretch in card.stretches) == card.turn.text
        shown = {stretch.text: stretch.node for stretch in card.stretches if stretch.node}
        assert {text: (node.label, node.fate) for text, node in shown.items()} == {
            "Mira": ("Person", "merged, same title"),
            "Tom": ("Person", "added"),
        }
        assert [item.text for item in card.items if item.kind == "edge"] == ["Mira knows Tom"]


def test_what_was_said_and_not_stored_is_named() -> None:
    with told() as memory:
        card = turn_card(memory, "t3")
        assert card.unread == ("Nothing at all.", "Honestly.")
        assert card.words == (("nothing", False), ("honestly", False))
        assert card.share == 0.0
        first = turn_card(memory, "t1")
        assert ("said", False) in first.words
        assert ("nurse", True) in first.words


def test_what_is_stored_without_words_behind_it_is_flagged() -> None:
    made = Extraction(
        "ok",
        (FoundNode("Person", "Mira", "", {"age": "31", "town": "Porto"}), FoundNode("Location", "Reykjavik", "")),
        (FoundEdge(0, 1, "visited"),),
    )
    with fake_memory() as memory:
        memory.remember(Turn("user", "Mira moved to Porto.", AT, "User"), made)
        flagged = {item.text: item.missing for item in turn_card(memory, "t1").unsupported}
    assert flagged == {"Mira": "age 31", "Reykjavik": "title"}


def test_a_drop_is_shown_with_its_reason_and_counted() -> None:
    reply = '{"nodes": [{"id": "n1", "label": "City", "title": "Ghent", "content": ""}, {"id": "n2", "label": "Person", "title": "Mira", "content": "x"}], "edges": []}'  # noqa: E501
    with fake_memory(extractor=Replying(reply=reply)) as memory:
        memory.say("Mira is in Ghent.", at=AT)
        line = turn_lines(memory)[0]
        assert line.status == "repaired"
        assert len(line.drops) == 1
        assert "City" in line.drops[0]
        assert turn_card(memory, "t1").attempts[0].raw == reply
        assert overview(memory).drops[0][1] == 1


def test_statuses_are_counted_and_filtered() -> None:
    with told() as memory:
        memory.extractor = SpelledExtractor(fails=True)
        memory.say("Person:Lost", at="2024-05-04")
        lines = turn_lines(memory)
        assert statuses(lines) == {"ok": 2, "empty": 1, "failed": 1}
        assert [line.id for line in filtered(lines, status=["failed", "empty"])] == ["t3", "t4"]
        assert [line.id for line in filtered(lines, words="honestly")] == ["t3"]
        assert [line.id for line in filtered(lines, only="merges")] == ["t2"]
        assert [line.id for line in filtered(lines, only="nothing stored")] == ["t3", "t4"]
        assert [line.failed for line in lines] == [False, False, False, True]


def test_lines_that_grew_with_the_memory_are_those_of_one_look_at_the_end() -> None:
    with told() as memory:
        memory.extractor = SpelledExtractor(fails=True)
        failed = memory.say("Person:Lost", at="2024-05-04").turn

        def look() -> list[TurnLine]:
            grown = turn_lines(memory)
            memory._made.clear()
            assert turn_lines(memory) == grown
            return grown

        assert [line.attempts for line in look()] == [1, 1, 1, 1]
        memory.retry(failed, SpelledExtractor())
        assert [line.status for line in look()] == ["ok", "ok", "empty", "ok"]
        assert [line.attempts for line in look()] == [1, 1, 1, 2]
        memory.say("Person:Mira -likes-> Concept:Tea", at="2024-05-05")
        assert len(look()) == 5
        forgotten = memory.apply(memory.plan(Importance(), keep=2, turns="with_nodes"), at=AT)
        left = look()
        assert 0 < len(left) < 5
        memory.undo(forgotten, at=AT)
        assert len(look()) == 5
        memory.say("Person:Mira -likes-> Concept:Coffee", at="2024-05-06")
        memory.purge(memory.apply(memory.plan(Importance(), keep=2, turns="with_nodes"), at=AT), at=AT)
        memory.say("Person:Mira -likes-> Concept:Cake", at="2024-05-07")
        assert look()[-1].id == "t7"


def test_a_node_merged_by_hand_or_split_again_is_followed() -> None:
    with told() as memory:
        split = next(change.id for change in memory.changes() if change.kind == "merge")
        memory.undo(split, at=AT)
        fate = next(item for item in turn_card(memory, "t2").items if item.text == "Mira")
        assert fate.fate == "merged, then split again"
        assert fate.state == "live"
        memory.merge("n1", fate.id, at=AT)
        assert next(item for item in turn_card(memory, "t2").items if item.text == "Mira").state == "live"


def test_turns_are_shown_after_a_purge_erased_what_merges_said() -> None:
    with told() as memory:
        memory.purge(memory.apply(memory.plan(Importance(), keep=0), at=AT), at=AT)
        assert "purged" in [change.state for change in memory.changes() if change.kind == "merge"]
        assert turn_card(memory, "t2").turn.text == "Person:Mira -knows-> Person:Tom"
        assert {item.state for item in turn_card(memory, "t2").items} <= {"gone"}


@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.integers(-5, 70), st.integers(-5, 70), st.sampled_from(["node", "edge"])), max_size=8),
)
def test_any_spans_leave_the_text_whole(text: str, spans: list[tuple[int, int, str]]) -> None:
    items = [
        Item(kind, str(at), "Person", "x", "added", "live", (start, stop))  # type: ignore[arg-type]
        for at, (start, stop, kind) in enumerate(spans)
    ]
    assert "".join(stretch.text for stretch in stretches(text, items)) == text


KINDS = {
    "100 KB": "word " * 20_000,
    "markup": "<script>alert(1)</script><b>bold</b>",
    "code": "def f(x):\n    return {x: [1, 2]}",
    "table": "| a | b |\n|--|--|\n| 1 | 2 |",
}


@pytest.mark.parametrize("text", KINDS.values(), ids=KINDS)
def test_turns_of_any_kind_are_walked(text: str) -> None:
    with fake_memory() as memory:
        memory.say(text, at=AT)
        card = turn_card(memory, "t1")
        assert "".join(stretch.text for stretch in card.stretches) == card.turn.text
        assert turn_lines(memory)[0].length == len(card.turn.text)
        assert len(turn_lines(memory)[0].excerpt) <= 200


def test_the_sums_of_a_memory() -> None:
    with fake_memory() as memory:
        memory.say("Person:Mira -works_at-> Organization:Harbor Bakery; Concept:Harbor Bakery", at="2024-05-01")
        memory.say("Person:Katarina Holm -worked_at-> Organization:Larkfield; Person:Catarina Holm", at="2024-05-02")
        found = overview(memory)
        assert found.labels["Person"] == 3
        assert found.relationships == (("works_at", 1), ("worked_at", 1))
        assert found.used_once == 2
        assert found.variants == (("worked_at", "works_at"),)
        assert [node.title for node in found.alone] == ["Harbor Bakery", "Catarina Holm"]
        assert [(a.title, b.title) for a, b in found.twins] == [("Katarina Holm", "Catarina Holm")]
        assert [{node.label for node in group} for group in found.flips] == [{"Organization", "Concept"}]
        assert found.longest[0].note == "13 characters"
        assert found.readers[0].turns == 2


def test_one_label_that_swallows_the_others_is_said() -> None:
    with fake_memory() as memory:
        names = ("ash", "bog", "cup", "dew", "elk", "fir", "gum", "hut", "ivy", "jam", "kit")
        memory.say("; ".join(f"Concept:{name}" for name in names), at="2024-05-01")
        assert overview(memory).collapsed == "Concept"
        assert overview(memory).effective_labels == 1.0


def counting(name: str) -> Callable[[Place, int], bool]:
    def compare(one: Place, other: int) -> bool:
        Place.compared += 1
        return bool(getattr(int, name)(one, other))

    return compare


class Place(int):
    """A place in a text that counts how often one is compared."""

    compared = 0
    __lt__ = counting("__lt__")
    __le__ = counting("__le__")
    __gt__ = counting("__gt__")
    __ge__ = counting("__ge__")


def test_a_turn_that_thousands_of_items_were_read_from_is_walked_without_comparing_each_with_each() -> None:
    text = "word " * 5_000
    items = [
        Item("node", f"n{at}", "Concept", "word", "added", "live", (Place(5 * at), Place(5 * at + 4)))
        for at in range(5_000)
    ]
    found = stretches(text, items)
    assert sum(stretch.node is not None for stretch in found) == 5_000
    assert 5_000 < Place.compared < 100 * 5_000
