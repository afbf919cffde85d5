"""Every kind of bad reply, one row each: it ends as a Reply, or as one line that names the server and the fix."""

from __future__ import annotations

import gzip
import json

import pytest

from memory_core.errors import ContextLengthError, ProviderError
from memory_core.llms.openai import OpenAI
from memory_core.protocols import Reply
from memory_core.remote import Patience, Secret
from tests.servers.hostile import Answer, Hostile, chat

KEY = "sk-proj-0123456789abcdef"
PAGE = "<!DOCTYPE html><html><head><title>Sign in to the proxy</title></head><body>...</body></html>"


def error(message: str, **more: object) -> str:
    return json.dumps({"error": {"message": message, **more}})


def no_response_format(asked: str) -> str:
    return error(f"Invalid parameter: 'response_format' of type '{asked}' is not supported with this model.")


def choice(**fields: object) -> str:
    return json.dumps({"choices": [fields]})


#: name, answers in turn, the error's text (None: a reply comes), how often the server is asked
FAILURES: list[tuple[str, list[Answer | str], str, int]] = [
    (
        "wrong key, echoed back",
        [Answer(error(f"Incorrect API key provided: {KEY}."), 401)],
        "does not accept the key",
        1,
    ),
    ("no right to the model", [Answer(error("Project has no access to model m"), 403)], "rights or credit", 1),
    ("no credit left", [Answer(error("Quota exceeded", code="insufficient_quota"), 429)], "rights or credit", 1),
    ("payment required", [Answer(error("Payment required"), 402)], "rights or credit", 1),
    ("model that is not there", [Answer(error("The model `m` does not exist"), 404)], "has no model m", 1),
    ("address without /v1", [Answer("404 page not found", 404, kind="text/plain")], "lacks /v1", 1),
    ("a page for 404", [Answer(PAGE, 404, kind="text/html")], "Sign in to the proxy", 1),
    ("a proxy's page for an answer", [Answer(PAGE, kind="text/html")], "web page (Sign in to the proxy)", 1),
    ("a page that claims to be JSON", [Answer(PAGE)], "web page", 1),
    ("a page for 502", [Answer(PAGE, 502, kind="text/html")], "busy or failing (502)", 3),
    (
        "http asked of an https server",
        [Answer("Client sent an HTTP request to an HTTPS server.", 400)],
        "write https://",
        1,
    ),
    ("http asked of nginx", [Answer("The plain HTTP request was sent to HTTPS port", 400)], "write https://", 1),
    ("sent on to https", [Answer("", 301, {"Location": "https://gateway.example/v1"})], "gateway.example", 1),
    ("sent on by 307", [Answer("", 307, {"Location": "https://gateway.example/v1"})], "use that as the address", 1),
    ("sent on in a circle", [Answer("", 302, {"Location": "/v1/chat/completions"})], "sends callers on", 1),
    ("empty choice list", [chat(choices=[])], "without a choice", 1),
    ("no choices at all", ['{"id": "x"}'], "without a choice", 1),
    ("choices that are null", [chat(choices=None)], "without a choice", 1),
    ("choices that are no list", [chat(choices={"0": {}})], "without a choice", 1),
    ("a choice that is text", [chat(choices=["hello"])], "without a choice", 1),
    ("a choice without a message", [choice(text="hello", finish_reason="stop")], "without a choice", 1),
    ("a list for an answer", ["[]"], "JSON of another kind", 1),
    ("a string for an answer", ['"ok"'], "JSON of another kind", 1),
    ("null for an answer", ["null"], "JSON of another kind", 1),
    ("nothing at all", [""], "not JSON", 1),
    ("JSON cut off", [chat()[:60]], "not JSON", 1),
    ("JSON twice", [chat() + chat()], "not JSON", 1),
    ("a hundred thousand brackets", ["[" * 100_000], "not JSON", 1),
    ("binary", [Answer(bytes(range(256)))], "not JSON", 1),
    ("a reply of 50 MB", [Answer(pieces=[b"x" * 1_000_000] * 50)], "more than 8 MB", 1),
    ("a compressed bomb", [Answer(gzip.compress(b"x" * 9**7), 200, {"Content-Encoding": "gzip"})], "compressed", 1),
    ("hangs up at once", [Answer(hang_up=True)], "hung up", 3),
    ("hangs up half-way", [Answer(chat(), cut=True)], "hung up", 3),
    ("a context of 512 tokens", [Answer(error("maximum context length is 512 tokens"), 400)], "too long for m", 1),
    (
        "a context error as 500",
        [Answer(error("the request exceeds the available context size"), 500)],
        "too long for m",
        1,
    ),
    ("an error of its own with 200", [error("Provider returned error", code=400)], "Provider returned error", 1),
    ("an overload with 200", [error("Overloaded", code=529)], "busy or failing (529)", 3),
    ("always 429", [Answer(error("Rate limit"), 429)], "Given up after 3 attempts", 3),
    ("429 for an hour", [Answer(error("Rate limit"), 429, {"Retry-After": "3600"})], "asks to wait 3600 s", 1),
    ("always 500", [Answer("Internal Server Error", 500, kind="text/plain")], "Internal Server Error", 3),
    ("always 503", [Answer(error("Loading model"), 503)], "Loading model", 3),
    ("bad gateway without words", [Answer("", 502)], "nothing", 3),
    ("time-out at the gateway", [Answer("upstream timed out", 504)], "upstream timed out", 3),
    ("unprocessable", [Answer(error("messages: field required"), 422)], "messages: field required", 1),
    ("method not allowed", [Answer(error("Method Not Allowed"), 405)], "Method Not Allowed", 1),
    ("too large for the proxy", [Answer(PAGE, 413, kind="text/html")], "413", 1),
    ("an error with line breaks", [Answer(error("first\nsecond\r\n\tthird"), 400)], "first\\nsecond", 1),
    ("an error of 1 MB", [Answer("x" * 1_000_000, 400)], "xxx...", 1),
    ("the key in a header's echo", [Answer(f"bad header Bearer {KEY}", 400)], "****", 1),
]
#: name, answers in turn, text, finish, how often the server is asked
REPLIES: list[tuple[str, list[Answer | str], str, str, int]] = [
    ("as it should be", [chat("Porto")], "Porto", "stop", 1),
    ("usage missing", [chat("Porto", usage=None)], "Porto", "stop", 1),
    ("usage of another kind", [chat("Porto", usage=[1, "x"])], "Porto", "stop", 1),
    ("tokens below zero", [chat("Porto", usage={"prompt_tokens": -1, "completion_tokens": "3"})], "Porto", "stop", 1),
    ("model missing", [chat("Porto", model=None)], "Porto", "stop", 1),
    ("finish reason missing", [chat("Porto", None)], "Porto", "stop", 1),
    ("finish reason unknown", [chat("Porto", "eos_token")], "Porto", "stop", 1),
    ("finish reason in capitals", [chat("Por", "MAX_TOKENS")], "Por", "length", 1),
    ("cut at the limit", [chat("Por", "length")], "Por", "length", 1),
    ("stopped by a filter", [chat("", "content_filter")], "", "refused", 1),
    ("a refusal in its own field", [chat({"content": None, "refusal": "I can't."})], "I can't.", "refused", 1),
    ("content that is null", [chat(None)], "", "stop", 1),
    ("content in parts", [chat([{"type": "text", "text": "Por"}, {"type": "text", "text": "to"}])], "Porto", "stop", 1),
    ("content that is a number", [chat(7)], "", "stop", 1),
    ("thought but did not speak", [chat({"content": "", "reasoning_content": "hm"}, "length")], "", "length", 1),
    ("JSON under a plain-text type", [Answer(chat("Porto"), kind="text/plain")], "Porto", "stop", 1),
    ("429, then well", [Answer(error("Rate limit"), 429), chat("Porto")], "Porto", "stop", 2),
    ("dropped, then well", [Answer(hang_up=True), chat("Porto")], "Porto", "stop", 2),
    ("503, 500, then well", [Answer("", 503), Answer("", 500), chat("Porto")], "Porto", "stop", 3),
    ("no schemas", [Answer(no_response_format("json_schema"), 400), chat("{}")], "{}", "stop", 2),
    (
        "no JSON mode either",
        [Answer(no_response_format("json_schema"), 400), Answer(no_response_format("json_object"), 400), chat("{}")],
        "{}",
        "stop",
        3,
    ),
    ("a grammar that fails", [Answer(error("failed to parse grammar"), 400), chat("{}")], "{}", "stop", 2),
    (
        "max_tokens by another name",
        [Answer(error("Use 'max_completion_tokens' instead."), 400), chat("a")],
        "a",
        "stop",
        2,
    ),
    ("no temperature", [Answer(error("'temperature' does not support 0"), 400), chat("a")], "a", "stop", 2),
]
SCHEMA: dict[str, object] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def model(hostile: Hostile, waits: list[float]) -> OpenAI:
    patience = Patience(attempts=3, timeout=5, seconds=20, sleep=waits.append)
    return OpenAI("m", f"{hostile.url}/v1", Secret(KEY), patience=patience)


def test_the_table_is_as_long_as_promised() -> None:
    assert len(FAILURES) + len(REPLIES) >= 70


@pytest.mark.parametrize(("name", "answers", "says", "times"), FAILURES, ids=[row[0] for row in FAILURES])
def test_a_bad_answer_is_one_line_that_names_server_and_fix(
    hostile: Hostile, name: str, answers: list[Answer | str], says: str, times: int
) -> None:
    hostile.says(*answers)
    with pytest.raises(ProviderError) as caught:
        model(hostile, []).reply("Be brief.", "Where?", schema=SCHEMA)
    line = str(caught.value)
    assert says in line, line
    assert "\n" not in line
    assert len(line) < 420
    assert KEY not in line
    assert hostile.url in line or "MB" in line or "compressed" in line
    assert len(hostile.paths) == times


@pytest.mark.parametrize(("name", "answers", "text", "finish", "times"), REPLIES, ids=[row[0] for row in REPLIES])
def test_an_odd_answer_is_read_for_what_it_holds(
    hostile: Hostile, name: str, answers: list[Answer | str], text: str, finish: str, times: int
) -> None:
    hostile.says(*answers)
    reply = model(hostile, []).reply("Be brief.", "Where?", schema=SCHEMA)
    assert (reply.text, reply.finish) == (text, finish)
    assert reply.model == "m"
    assert reply.tokens_in >= 0
    assert len(hostile.paths) == times


def test_a_prompt_too_long_is_told_apart(hostile: Hostile) -> None:
    hostile.says(Answer(error("context_length_exceeded"), 400))
    with pytest.raises(ContextLengthError):
        model(hostile, []).reply("", "Where?")


def test_what_a_server_does_not_know_is_asked_once_and_remembered(hostile: Hostile) -> None:
    llm = model(hostile, [])
    hostile.says(Answer(no_response_format("json_schema"), 400), chat("{}"))
    llm.reply("JSON.", "Where?", schema=SCHEMA)
    llm.reply("JSON.", "Where?", schema=SCHEMA)
    forms = [(asked.get("response_format") or {}).get("type") for asked in hostile.asked]
    assert forms == ["json_schema", "json_object", "json_object"]
    other = model(hostile.says(chat("{}")), [])
    other.reply("JSON.", "Where?", schema=SCHEMA)
    assert hostile.asked[0]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    ("pieces", "kind", "says"),
    [
        (
            [b'data: {"choices":[{"delta":{"content":"Por"}}]}\n\n'],
            "text/event-stream",
            "stopped before the answer ended",
        ),
        ([b"data: [DONE]\n\n"], "text/event-stream", "stopped before the answer ended"),
        ([b"data: {broken\n\n"], "text/event-stream", "not the chat API's JSON"),
        ([b'data: {"error": {"message": "Overloaded"}}\n\n'], "text/event-stream", "Overloaded"),
        ([PAGE.encode()], "text/html", "text/html where a stream was asked"),
        ([chat("Porto").encode()], "application/json", "application/json where a stream was asked"),
    ],
    ids=["stops half-way", "ends without a word", "broken JSON", "an error inside", "a page", "no stream"],
)
def test_a_stream_that_goes_wrong_says_so(hostile: Hostile, pieces: list[bytes], kind: str, says: str) -> None:
    hostile.says(Answer(pieces=pieces, kind=kind))
    with pytest.raises(ProviderError, match=says):
        list(model(hostile, []).stream("", "Where?"))


def test_a_stream_gives_its_words_without_reasoning_and_without_usage(hostile: Hostile) -> None:
    words = ["<think>", "hm", "</think>", "Por", "to"]
    lines = [f"data: {json.dumps({'choices': [{'delta': {'content': word}}]})}\n\n".encode() for word in words]
    last = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: {"choices":[]}\n\ndata: [DONE]\n\n'
    hostile.says(Answer(pieces=[*lines, last], kind="text/event-stream"))
    assert "".join(model(hostile, []).stream("", "Where?")) == "Porto"


def streamed(hostile: Hostile, *chunks: object) -> tuple[list[str], Reply]:
    lines = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    hostile.says(Answer(pieces=[*lines, b"data: [DONE]\n\n"], kind="text/event-stream"))
    words: list[str] = []
    stream = model(hostile, []).stream("", "Where?")
    while True:
        try:
            words.append(next(stream))
        except StopIteration as end:
            return words, end.value


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 3}, (7, 3)),
        (None, (0, 0)),
        ([1, "x"], (0, 0)),
        ({"prompt_tokens": -1, "completion_tokens": None}, (0, 0)),
    ],
    ids=["told", "missing", "of another kind", "below zero"],
)
def test_a_stream_ends_with_what_it_took(hostile: Hostile, usage: object, tokens: tuple[int, int]) -> None:
    said = {"choices": [{"delta": {"content": "Porto"}}]}
    end = {"choices": [{"delta": {}, "finish_reason": "length"}]}
    words, reply = streamed(hostile, said, end, {"choices": [], "usage": usage})
    assert words == ["Porto"]
    assert (reply.text, reply.finish, reply.tokens_in, reply.tokens_out) == ("Porto", "length", *tokens)
    assert reply.seconds > 0


def test_a_stream_of_50_mb_is_not_read_to_its_end(hostile: Hostile) -> None:
    line = f"data: {json.dumps({'choices': [{'delta': {'content': 'x' * 100_000}}]})}\n\n".encode()
    hostile.says(Answer(pieces=[line] * 500, kind="text/event-stream"))
    with pytest.raises(ProviderError, match="more than 8 MB"):
        list(model(hostile, []).stream("", "Where?"))
