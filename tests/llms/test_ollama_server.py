"""Ollama's own client against a server that misbehaves, and against one with a real model behind it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory_core.errors import ContextLengthError, ProviderError
from memory_core.llms.ollama import Ollama
from memory_core.remote import Patience
from tests.servers.hostile import Answer, Hostile
from tests.servers.ollama import CHAT_MODEL, Translator

PAGE = "<html><title>Router login</title></html>"
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"fruit": {"type": "string", "maxLength": 12}},
    "required": ["fruit"],
}


def show(context: int = 8192, *capabilities: str) -> str:
    return json.dumps({"model_info": {"llama.context_length": context}, "capabilities": ["completion", *capabilities]})


def said(content: str = "Porto", **more: object) -> str:
    message = {"role": "assistant", "content": content}
    counts = {"prompt_eval_count": 40, "eval_count": 3}
    return json.dumps({"model": "m", "message": message, "done": True, "done_reason": "stop", **counts, **more})


def model(hostile: Hostile, **fields: Any) -> Ollama:
    return Ollama("m", hostile.url, patience=Patience(attempts=2, timeout=5, sleep=lambda _: None), **fields)


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([Answer('{"error": "model \'m\' not found"}', 404)], "ollama pull m"),
        ([Answer('{"error":"model \\"m\\" not found, try pulling it first"}', 404)], "ollama pull m"),
        ([Answer("404 page not found", 404)], "does not speak Ollama's API"),
        ([Answer(PAGE, kind="text/html")], "a web page (Router login)"),
        (["[]"], "that is not Ollama's API"),
        ([show(), "{}"], "that is not Ollama's API"),
        ([show(), '{"message": null, "done": true}'], "that is not Ollama's API"),
        ([show(), '{"message": {"role": "assistant"'], "that is not Ollama's API"),
        ([show(), Answer('{"error": "model requires more system memory"}', 500)], "more system memory"),
        ([show(), Answer("", 503)], "busy or failing (503)"),
        ([show(), Answer(hang_up=True)], "hung up"),
        ([show(), Answer(said(), cut=True)], "hung up"),
        ([show(), Answer("", 301, {"Location": "https://gateway.example"})], "gateway.example"),
        ([show(), Answer(pieces=[b"x" * 1_000_000] * 50)], "more than 8 MB"),
    ],
    ids=[
        "not pulled",
        "not pulled, older words",
        "another server",
        "a page",
        "a list",
        "nothing in it",
        "no message",
        "cut JSON",
        "no memory",
        "busy",
        "hangs up",
        "hangs up half-way",
        "sent on",
        "50 MB",
    ],
)
def test_a_bad_answer_is_one_line(hostile: Hostile, answers: list[Answer | str], says: str) -> None:
    hostile.says(*answers)
    with pytest.raises(ProviderError) as caught:
        model(hostile).reply("Be brief.", "Where?")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_pro_03_a_server_that_is_down_is_told_with_address_and_command() -> None:
    with pytest.raises(ProviderError, match=r"Cannot reach Ollama at http://127.0.0.1:9. Start it with: ollama serve"):
        Ollama("m", "http://127.0.0.1:9").reply("", "Where?")


def test_pro_04_a_model_not_pulled_is_not_asked_for_again(hostile: Hostile) -> None:
    hostile.says(Answer('{"error": "model \'m\' not found"}', 404))
    with pytest.raises(ProviderError, match="ollama pull m"):
        model(hostile).reply("", "Where?")
    assert len(hostile.paths) == 1


def test_pro_01_num_ctx_holds_prompt_and_reply(hostile: Hostile) -> None:
    hostile.says(show(32768), said("{}", prompt_eval_count=5000))
    model(hostile, context_window=32768).reply("Rules.", "word " * 5000, max_tokens=1024)
    options = hostile.asked[1]["options"]
    assert options["num_ctx"] >= 5000 + 1024
    assert options["num_predict"] == 1024


def test_pro_01_a_prompt_the_server_cut_is_an_error_not_an_empty_reply(hostile: Hostile) -> None:
    hostile.says(show(32768), said('{"nodes":{},"edges":{}}', prompt_eval_count=2048))
    with pytest.raises(ContextLengthError, match=r"context truncated: .* read 2048 of at least 5002 tokens"):
        model(hostile, context_window=32768).reply("Rules.", "word " * 5000)


def test_a_prompt_beyond_the_models_own_context_is_refused_before_it_is_sent(hostile: Hostile) -> None:
    hostile.says(show(512))
    with pytest.raises(ContextLengthError, match="m has a context of 512"):
        model(hostile).reply("Rules.", "word " * 500)
    assert hostile.paths == ["/api/show"]


def test_num_ctx_only_grows_so_that_the_model_is_not_loaded_again(hostile: Hostile) -> None:
    llm = model(hostile)
    hostile.says(show(), said(prompt_eval_count=0))
    for words in (10, 3000, 10):
        llm.reply("", "word " * words, max_tokens=64)
    assert [asked["options"]["num_ctx"] for asked in hostile.asked[1:]] == [2048, 8192, 8192]


@pytest.mark.parametrize(("capabilities", "think"), [((), None), (("thinking",), False)], ids=["plain", "thinking"])
def test_reasoning_is_switched_off_where_there_is_a_switch(
    hostile: Hostile, capabilities: tuple[str, ...], think: bool | None
) -> None:
    hostile.says(show(8192, *capabilities), said())
    model(hostile).reply("", "Where?", schema=SCHEMA)
    assert hostile.asked[1].get("think") is think
    assert hostile.asked[1]["format"] == SCHEMA


def test_done_reason_length_is_told(hostile: Hostile) -> None:
    hostile.says(show(), said("Por", done_reason="length"))
    assert model(hostile).reply("", "Where?").finish == "length"


def test_a_stream_that_stops_half_way_says_so(hostile: Hostile) -> None:
    line = json.dumps({"model": "m", "done": False, "message": {"role": "assistant", "content": "Por"}}).encode()
    hostile.says(show(), Answer(pieces=[line + b"\n"], kind="application/x-ndjson"))
    with pytest.raises(ProviderError, match="stopped before the answer ended"):
        list(model(hostile).stream("", "Where?"))


def test_the_real_client_chats_with_a_real_model(ollama: Translator) -> None:
    llm = Ollama(CHAT_MODEL, ollama.url)
    reply = llm.reply("Be brief.", "Name a fruit.", max_tokens=8)
    assert reply.text
    assert reply.tokens_in > 5
    assert 0 < reply.tokens_out <= 8
    assert CHAT_MODEL in llm.models()


def test_the_real_client_keeps_to_a_schema(ollama: Translator) -> None:
    reply = Ollama(CHAT_MODEL, ollama.url).reply("Answer in JSON.", "Name a fruit.", schema=SCHEMA, max_tokens=32)
    assert list(json.loads(reply.text)) == ["fruit"]


def test_the_real_client_streams_what_it_replies(ollama: Translator) -> None:
    llm = Ollama(CHAT_MODEL, ollama.url)
    assert "".join(llm.stream("Be brief.", "Name a fruit.", max_tokens=8)).strip() == (
        llm.reply("Be brief.", "Name a fruit.", max_tokens=8).text.strip()
    )


def test_the_real_client_names_the_model_to_pull(ollama: Translator) -> None:
    with pytest.raises(ProviderError, match=r"has no model llama9; fetch it with: ollama pull llama9"):
        Ollama("llama9", ollama.url).reply("", "Where?")
