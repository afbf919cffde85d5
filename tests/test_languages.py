"""Other languages: a model reads them, the multilingual embedder joins what is said twice, titles stay as written."""

from __future__ import annotations

import json

import pytest

from memory_core.embedders.use import MultilingualUSE
from memory_core.extractors.embedded import Embedded
from memory_core.extractors.llm import LLMExtractor
from memory_core.llms.scripted import Scripted
from memory_core.memory import Memory
from memory_core.schema import Turn, utc

SAID_TWICE = {
    "zh": ("Preference", ("喜欢乌龙茶", "用户喜欢喝乌龙茶。"), ("爱喝乌龙茶", "用户很爱喝乌龙茶。")),
    "es": (
        "Event",
        ("Viaje a Lisboa en octubre", "El usuario viajará a Lisboa en octubre."),
        ("Viaje de octubre a Lisboa", "Un viaje del usuario a Lisboa en octubre."),
    ),
    "ar": (
        "Preference",
        ("القهوة السوداء", "المستخدم يحب القهوة السوداء."),
        ("يحب القهوة السوداء", "المستخدم يحب شرب القهوة السوداء."),
    ),
}
OTHER = {"zh": "学习拉小提琴", "es": "Aprender a tocar el violín", "ar": "تعلم العزف على الكمان"}


def reply(label: str, title: str, content: str) -> str:
    """What a model gives for one node."""
    return json.dumps({"nodes": [{"id": "a", "label": label, "title": title, "content": content}], "edges": []})


@pytest.mark.parametrize("language", SAID_TWICE)
def test_a_conversation_keeps_its_titles_and_merges_its_own_duplicates(language: str) -> None:
    label, first, again = SAID_TWICE[language]
    replies = [reply(label, *first), reply(label, *again), reply("Goal", OTHER[language], "")]
    extractor = LLMExtractor(Scripted(replies))
    with Memory.open(":memory:", embedder=MultilingualUSE(), extractor=extractor) as memory:
        for day, words in enumerate((first[1], again[1], OTHER[language]), 1):
            report = memory.say(words, at=f"2024-05-{day:02}")
            assert report.extraction.status in ("ok", "repaired")
        assert [memory.graph.titles[row] for row in memory.graph.live_rows()] == [first[0], OTHER[language]]


@pytest.mark.parametrize("text", [pair[1][1] for pair in SAID_TWICE.values()])
def test_the_embedded_extractor_says_that_it_reads_english_and_the_turn_is_kept(text: str) -> None:
    made = Embedded().extract(Turn("user", text, utc("2024-05-01")))
    assert made.status == "empty"
    assert "English" in made.reason
    with Memory.open(":memory:", embedder=MultilingualUSE(), extractor=Embedded()) as memory:
        memory.say(text, at="2024-05-01")
        assert memory.latest_turns(1)[0].text == text
