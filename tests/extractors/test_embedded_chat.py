"""The embedded extractor reads people as they write in a chat: spelling, kin, jobs, habits, changed minds."""

from __future__ import annotations

import pytest

from memory_core.extractors.embedded import Embedded
from memory_core.extractors.embedded.mending import mend
from memory_core.schema import Extraction, Turn, utc

EXTRACTOR = Embedded()
AT = utc("2025-05-01T12:00:00")


def said(text: str, role: str = "user") -> Extraction:
    return EXTRACTOR.extract(Turn("assistant" if role == "assistant" else "user", text, AT, "User"))


def edges(found: Extraction) -> set[tuple[str, str, str]]:
    return {(found.nodes[e.source].title, e.relationship, found.nodes[e.target].title) for e in found.edges}


def labels(found: Extraction) -> dict[str, str]:
    return {node.title: node.label for node in found.nodes}


def attributes(found: Extraction, title: str) -> dict[str, object]:
    return next(dict(node.attributes) for node in found.nodes if node.title == title)


STATED = [
    ("im vegan and i dont own a car", ("User", "is_a", "vegan")),
    ("im vegan and i dont own a car", ("User", "does_not_own", "car")),
    ("my sister's a nurse", ("User's sister", "works_as", "nurse")),
    ("Sarah is my sister", ("User", "has_sister", "Sarah")),
    ("Florence is my aunt.", ("User", "has_aunt", "Florence")),
    ("I have two kids, Leo and Mia", ("User", "has_child", "Leo")),
    ("I have two kids, Leo and Mia", ("User", "has_child", "Mia")),
    ("My parents Ann and Joe live in Cork.", ("Joe", "lives_in", "Cork")),
    ("We drove up with Marta and her boyfriend Chris.", ("Marta", "has_boyfriend", "Chris")),
    ("My grandma passed away in May, her name was Rosalind.", ("User", "has_grandmother", "Rosalind")),
    ("My ex husband Bob lives in Rome.", ("User", "had_husband", "Bob")),
    ("mom made pie", ("User's mother", "made", "pie")),
    ("Tom and I are getting married in June at Lake Como.", ("User", "engaged_to", "Tom")),
    ("Tom and I are getting married in June at Lake Como.", ("wedding", "located_in", "Lake Como")),
    ("Tom and I are getting married in June at Lake Como.", ("User", "plans", "wedding")),
    ("My favorite color used to be green but now it's teal.", ("User", "likes", "teal")),
    ("My favorite color used to be green but now it's teal.", ("User", "used_to_like", "green")),
    ("honestly i love ramen but i cant stand cilantro", ("User", "likes", "ramen")),
    ("honestly i love ramen but i cant stand cilantro", ("User", "dislikes", "cilantro")),
    ("not a fan of cilantro", ("User", "dislikes", "cilantro")),
    ("I run 5k every morning.", ("User", "practices", "running")),
    ("I used to be a teacher.", ("User", "worked_as", "teacher")),
    ("I quit my job at Dunmore last Friday.", ("User", "worked_at", "Dunmore")),
    ("I got a job at Dunmore as a surveyor.", ("User", "works_as", "surveyor")),
    ("My phone is a Pixel 8.", ("User", "owns", "Pixel 8")),
    ("My sister isn't a doctor.", ("User's sister", "does_not_work_as", "doctor")),
    ('I watched "the quiet lake" last night.', ("User", "watched", "the quiet lake")),
]


@pytest.mark.parametrize(("text", "edge"), STATED)
def test_what_is_said_in_passing_is_an_edge(text: str, edge: tuple[str, str, str]) -> None:
    assert edge in edges(said(text))


NOT_SO = [
    ("I almost bought a Tesla.", ("User", "bought", "Tesla")),
    ("I wasn't able to finish Piranesi.", ("User", "finishes", "Piranesi")),
    ("It's not true that I live in Rome.", ("User", "lives_in", "Rome")),
    ("Tom and I are not getting married.", ("User", "engaged_to", "Tom")),
    ("It is false that I own a yacht.", ("User", "owns", "yacht")),
    ("I hardly ever eat fish.", ("User", "eats", "fish")),
    ("Wish I had a garden.", ("User", "had", "garden")),
    ("Dr. Klein recommended I read Piranesi.", ("User", "read", "Piranesi")),
    ("My favorite color used to be green but now it's teal.", ("User", "likes", "green")),
    ("I used to be a teacher.", ("User", "works_as", "teacher")),
    ("I quit my job at Dunmore last Friday.", ("User", "works_at", "Dunmore")),
    ("My ex husband Bob lives in Rome.", ("User", "has_husband", "Bob")),
]


@pytest.mark.parametrize(("text", "edge"), NOT_SO)
def test_near_misses_wishes_and_the_past_are_not_stored_as_so(text: str, edge: tuple[str, str, str]) -> None:
    assert edge not in edges(said(text))


LABELS_OF_NAMES = [
    ("I hate Strava now.", "Strava", "Artifact"),
    ("I switched to Komoot last month.", "Komoot", "Artifact"),
    ("I'm learning Korean.", "Korean", "Skill"),
    ("We saw Priya and Otto.", "Otto", "Person"),
    ("I moved to Lisbon.", "Lisbon", "Location"),
    ("I left Hexaware in May.", "Hexaware", "Organization"),
    ("My favourite band is Radiohead.", "Radiohead", "Organization"),
]


@pytest.mark.parametrize(("text", "title", "label"), LABELS_OF_NAMES)
def test_a_name_takes_its_label_from_what_is_done_with_it(text: str, title: str, label: str) -> None:
    assert labels(said(text))[title] == label


def test_birthdays_ages_and_spouses_are_attributes_of_the_person() -> None:
    assert attributes(said("My birthday is March 3rd."), "User")["birthday"] == "March 3rd"
    assert attributes(said("Ana's birthday is on June 5."), "Ana")["birthday"] == "June 5"
    assert attributes(said("I was born on March 3, 1990 in Oslo."), "User")["birthday"] == "March 3, 1990"
    assert attributes(said("My son Leo turned 6 yesterday."), "Leo")["age"] == "6"
    assert attributes(said("Tom is married to Ana."), "Tom")["spouse"] == "Ana"


def test_shouted_words_and_loose_openers_are_no_titles() -> None:
    assert said("They were HORRIBLE.").nodes == ()
    found = said("Here are books:\nTry these four:\n1. Piranesi\n2. Circe", "assistant")
    assert "Try these four" not in labels(found)


def test_list_items_take_the_label_of_their_heading() -> None:
    found = said("Here are a few podcasts:\n- Radiolab: science\n- 99% Invisible: hosted by Roman Mars", "assistant")
    assert labels(found)["Radiolab"] == "Artifact"
    assert ("99% Invisible", "hosted_by", "Roman Mars") in edges(found)


@pytest.mark.parametrize("text", ["im at home, dont go to Lyon", "i cant sing alot but ive been to Lyon"])
def test_spans_point_at_the_text_as_it_was_written(text: str) -> None:
    mended = mend(text)
    start = mended.text.index("Lyon")
    assert len(mended.text) > len(text)
    assert text[slice(*mended.back((start, start + 4)) or (0, 0))] == "Lyon"


@pytest.mark.parametrize("text", ["Its own tail.", "ill with flu", "NASA and the IRS", "my cats vs hers"])
def test_what_is_spelled_right_stays(text: str) -> None:
    assert mend(text).text == text


def test_the_speakers_own_name_is_no_second_person() -> None:
    found = Embedded().extract(Turn("user", "Hello! I'm Mara Quill and I draw maps.", AT, "User"))
    assert {node.title: dict(node.attributes) for node in found.nodes}["User"] == {"name": "Mara Quill"}
    assert "Mara Quill" not in {node.title for node in found.nodes}
