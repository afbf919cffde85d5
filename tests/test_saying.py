"""An exchange on its way: its words are heard as they come, its price is told, stopping it stores nothing."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory_core.chat import Exchange, Models, answers, exchange, start_saying
from memory_core.errors import ProviderError
from memory_core.extractors.llm import LLMExtractor
from memory_core.llms.openai import OpenAI
from memory_core.llms.scripted import Scripted
from memory_core.memory import Memory
from memory_core.protocols import Reply
from memory_core.readers.llm import LLMReader
from memory_core.retrievers.graph import GraphRetriever
from tests.fakes import LetterEmbedder, SpelledExtractor
from tests.servers.hostile import Answer, Hostile, chat

AT = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def memory() -> Memory:
    made = Memory.open(":memory:", embedder=LetterEmbedder(), extractor=SpelledExtractor())
    made.say("Person:Mira {job=baker} -lives_in-> Location:Porto", at=AT)
    return made


def models(reader: LLMReader) -> Models:
    return Models(SpelledExtractor(), reader, GraphRetriever(floor=0.2))


def test_the_words_are_heard_as_they_come(memory: Memory) -> None:
    heard: list[str] = []
    made = exchange(memory, "Where is Mira?", models(LLMReader(Scripted(["In Porto. [1]"]))), at=AT, hear=heard.append)
    assert heard == ["In", " Porto.", " [1]"]
    assert made.answered is not None
    assert made.answered.text == "In Porto."


def test_an_answer_keeps_what_all_its_calls_took(memory: Memory) -> None:
    entities = Reply(json.dumps({"entities": ["Mira"]}), "stop", 400, 10)
    said = Reply("In Porto. [1]", "stop", 600, 5, 0.0, "gpt-4o-mini")
    nothing = Reply('{"nodes": [], "edges": []}', "stop", 1000, 9)
    reading, answering = (
        Scripted([entities, nothing], model="openai/gpt-4o-mini"),
        Scripted([said], model="gpt-4o-mini"),
    )
    asked = Models(LLMExtractor(reading), LLMReader(answering), GraphRetriever(floor=0.2))
    made = exchange(memory, "Where is Mira?", asked, at=AT)
    kept = answers(memory, [made.report.turn])[made.report.turn]
    assert (kept.tokens_in, kept.tokens_out, kept.model) == (1000, 15, "gpt-4o-mini")
    assert kept.dollars == pytest.approx(1000 * 0.15e-6 + 15 * 0.60e-6)
    assert kept.seconds > 0
    assert made.report.extraction.tokens_in == 1000, "the reading of the turn is told with the turn"


def test_a_stream_that_stops_leaves_its_reason_and_the_turn_is_stored(memory: Memory, hostile: Hostile) -> None:
    cut = b'data: {"choices":[{"delta":{"content":"In Por"}}]}\n\n'
    hostile.says(Answer(pieces=[cut], kind="text/event-stream"))
    made = exchange(memory, "Where is Mira?", models(LLMReader(OpenAI("m", f"{hostile.url}/v1"))), at=AT)
    assert made.answered is not None
    assert made.answered.text is None
    assert "stopped before the answer ended" in made.answered.reason
    assert memory.graph.turns == 2


@pytest.mark.parametrize("slow", ["reader", "extractor"])
def test_stopping_in_the_middle_of_a_call_stores_nothing(memory: Memory, hostile: Hostile, slow: str) -> None:
    hostile.says(Answer(chat("x"), pause=20))
    stop = threading.Event()
    llm = OpenAI("m", f"{hostile.url}/v1", cancel=stop)
    chosen = models(LLMReader(llm))
    if slow == "extractor":
        chosen = replace(models(LLMReader(Scripted(["x"]))), extractor=LLMExtractor(llm))
    saying = start_saying(memory, "Where is Mira?", chosen, at=AT, stop=stop)
    assert saying.asks_server
    while not hostile.asked:
        time.sleep(0.01)
    saying.job.cancel()
    end = time.monotonic() + 3
    while not saying.job.finished and time.monotonic() < end:
        time.sleep(0.01)
    assert saying.job.state == "cancelled"
    assert memory.graph.turns == 1


def test_an_exchange_that_ends_gives_its_result(memory: Memory) -> None:
    stop = threading.Event()
    saying = start_saying(memory, "Where is Mira?", models(LLMReader(Scripted(["Porto [1]"]))), at=AT, stop=stop)
    while not saying.job.finished:
        time.sleep(0.01)
    assert isinstance(saying.job.result, Exchange)
    assert saying.words == "Porto [1]"


def test_a_reader_that_is_down_loses_no_turn(memory: Memory) -> None:
    made = exchange(memory, "Where is Mira?", models(LLMReader(Scripted([ProviderError("down")]))), at=AT)
    assert made.answered is not None
    assert made.answered.reason == "The reader could not answer: down"
    assert memory.graph.turns == 2
