"""The OpenAI path against llama.cpp's server with SmolLM2: what is tested is the protocol, not the answers."""

from __future__ import annotations

import json
import threading
import time

import pytest

from memory_core.errors import Cancelled, ContextLengthError, ProviderError
from memory_core.extractors.llm import ENTITIES_SCHEMA, LLMExtractor
from memory_core.llms.openai import OpenAI
from memory_core.providers import ProviderSettings, check, models
from memory_core.remote import Patience
from memory_core.schema import Turn, utc
from tests.servers.llama import CONTEXT


def test_chat_counts_its_tokens_and_stops_at_the_limit(llama: str) -> None:
    reply = OpenAI("smollm2", llama).reply("Be brief.", "Say hi.", max_tokens=6)
    assert reply.text
    assert reply.finish == "length"
    assert reply.tokens_out == 6
    assert reply.tokens_in > 5
    assert reply.seconds > 0


def test_the_same_question_gets_the_same_answer(llama: str) -> None:
    llm = OpenAI("smollm2", llama)
    assert llm.reply("", "Name a fruit.", max_tokens=6).text == llm.reply("", "Name a fruit.", max_tokens=6).text


def test_a_schema_is_kept_to(llama: str) -> None:
    reply = OpenAI("smollm2", llama).reply("JSON.", "Who is Mira?", schema=ENTITIES_SCHEMA, max_tokens=200)
    assert isinstance(json.loads(reply.text)["entities"], list)


def test_a_stream_says_what_a_reply_says(llama: str) -> None:
    llm = OpenAI("smollm2", llama)
    pieces = list(llm.stream("Be brief.", "Say hi.", max_tokens=6))
    assert len(pieces) > 2
    assert "".join(pieces) == llm.reply("Be brief.", "Say hi.", max_tokens=6).text


def test_a_prompt_beyond_the_context_is_told(llama: str) -> None:
    with pytest.raises(ContextLengthError, match="too long for smollm2"):
        OpenAI("smollm2", llama).reply("", "word " * (CONTEXT + 100))


def test_a_slow_reply_is_left_in_time_and_can_be_stopped(llama: str) -> None:
    slow = OpenAI("smollm2", llama, patience=Patience(attempts=1, timeout=0.02))
    with pytest.raises(ProviderError, match="did not answer"):
        slow.reply("", "Count to a thousand.", max_tokens=200)
    cancel = threading.Event()
    pieces = OpenAI("smollm2", llama, cancel=cancel).stream("", "Count to a thousand.", max_tokens=200)
    next(pieces)
    cancel.set()
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        list(pieces)
    assert time.monotonic() - begun < 2


def test_a_turn_is_read_under_the_schema(llama: str) -> None:
    extractor = LLMExtractor(OpenAI("smollm2", llama, context_window=CONTEXT), max_tokens=16, attempts=1)
    found = extractor.extract(Turn("user", "My sister Mira lives in Porto.", utc("2025-05-01")))
    assert found.status == "truncated"
    assert found.raw.lstrip().startswith("{")
    assert (found.model != "", found.tokens_out) == (True, 16)


def test_the_test_button_and_the_list_of_models(llama: str) -> None:
    settings = ProviderSettings("compatible", "smollm2", llama)
    assert check(settings).startswith("OK: ")
    assert check(settings, "embedder") == "OK: compatible/smollm2 answered with 576 dimensions."
    assert len(models(settings)) == 1
