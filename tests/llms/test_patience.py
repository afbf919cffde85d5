"""Retries wait as the server asks and as the seed says, end in time, and stop when the user does."""

from __future__ import annotations

import copy
import json
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace

import pytest

from memory_core.errors import Cancelled, ProviderError
from memory_core.llms.ollama import Ollama
from memory_core.llms.openai import OpenAI
from memory_core.providers import ProviderSettings
from memory_core.remote import PassingError, Patience, Secret, refusal
from tests.servers.hostile import Answer, Hostile, chat

LIMITED = Answer('{"error": {"message": "Rate limit"}}', 429)


def asked_with(hostile: Hostile, patience: Patience, **fields: object) -> OpenAI:
    return replace(OpenAI("m", f"{hostile.url}/v1", patience=patience), **fields)  # type: ignore[arg-type]


def waits_of(hostile: Hostile, *answers: Answer | str, seed: int = 0, text: str = "Where?") -> list[float]:
    waits: list[float] = []
    hostile.says(*answers)
    asked_with(hostile, Patience(seed=seed, sleep=waits.append)).reply("", text)
    return waits


def test_waits_double_with_jitter_between_half_and_all(hostile: Hostile) -> None:
    first, second, third = waits_of(hostile, LIMITED, LIMITED, LIMITED, chat())
    assert 0.25 <= first <= 0.5 <= second * 2
    assert 0.5 <= second <= 1.0
    assert 1.0 <= third <= 2.0


def test_the_same_seed_and_text_wait_the_same_and_another_text_otherwise(hostile: Hostile) -> None:
    again = [waits_of(hostile, LIMITED, chat()) for _ in range(2)]
    assert again[0] == again[1]
    assert waits_of(hostile, LIMITED, chat(), text="Who?") != again[0]
    assert waits_of(hostile, LIMITED, chat(), seed=1) != again[0]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"Retry-After": "7"}, 7.0), ({"Retry-After": "7.5"}, 7.5), ({"retry-after-ms": "1500"}, 1.5)],
    ids=["seconds", "fractions", "milliseconds"],
)
def test_retry_after_is_honoured(hostile: Hostile, headers: dict[str, str], seconds: float) -> None:
    assert waits_of(hostile, replace(LIMITED, headers=headers), chat()) == [seconds]


def test_retry_after_as_a_date_counts_from_the_answers_own_date() -> None:
    headers = {"retry-after": "Mon, 05 May 2025 10:00:09 GMT", "date": "Mon, 05 May 2025 10:00:00 GMT"}
    error = refusal(429, headers, "", "The server", "m", Secret())
    assert isinstance(error, PassingError)
    assert error.after == 9.0


@pytest.mark.parametrize("value", ["soon", "-3", "", "Mon, 99 May"])
def test_retry_after_that_says_nothing_is_ignored(value: str) -> None:
    error = refusal(503, {"retry-after": value}, "", "The server", "m", Secret())
    assert isinstance(error, PassingError)
    assert error.after is None


def test_a_wait_beyond_the_budget_is_not_waited_for(hostile: Hostile) -> None:
    hostile.says(replace(LIMITED, headers={"Retry-After": "50"}), chat())
    begun = time.monotonic()
    with pytest.raises(ProviderError, match="Given up after 1 attempt"):
        asked_with(hostile, Patience(seconds=10)).reply("", "Where?")
    assert time.monotonic() - begun < 5


def test_a_server_that_drips_is_left_when_the_time_is_up(hostile: Hostile) -> None:
    def drip() -> Iterator[bytes]:
        for _ in range(100):
            time.sleep(0.05)
            yield b" "

    hostile.says(Answer(pieces=drip()))
    begun = time.monotonic()
    with pytest.raises(ProviderError, match=r"did not answer within 0\.6 s"):
        asked_with(hostile, Patience(attempts=1, timeout=0.6)).reply("", "Where?")
    assert time.monotonic() - begun < 3


def models(hostile: Hostile, cancel: threading.Event) -> list[OpenAI | Ollama]:
    return [OpenAI("m", f"{hostile.url}/v1", cancel=cancel), Ollama("m", hostile.url, cancel=cancel)]


@pytest.mark.parametrize("place", [0, 1], ids=["openai", "ollama"])
@pytest.mark.parametrize(
    "call", [lambda llm: llm.reply("", "Where?"), lambda llm: list(llm.stream("", "Where?"))], ids=["reply", "stream"]
)
def test_cancel_works_in_the_middle_of_a_silent_call(
    hostile: Hostile, place: int, call: Callable[[OpenAI | Ollama], object]
) -> None:
    cancel = threading.Event()
    hostile.says(Answer(chat(), pause=5))
    threading.Timer(0.2, cancel.set).start()
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        call(models(hostile, cancel)[place])
    assert time.monotonic() - begun < 3


def test_cancel_works_in_the_middle_of_a_wait(hostile: Hostile) -> None:
    cancel = threading.Event()
    hostile.says(replace(LIMITED, headers={"Retry-After": "20"}))
    threading.Timer(0.3, cancel.set).start()
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        asked_with(hostile, Patience(), cancel=cancel).reply("", "Where?")
    assert time.monotonic() - begun < 5


def test_a_cancelled_model_is_not_asked(hostile: Hostile) -> None:
    cancel = threading.Event()
    cancel.set()
    hostile.says(chat())
    with pytest.raises(Cancelled):
        asked_with(hostile, Patience(), cancel=cancel).reply("", "Where?")
    assert hostile.paths == []


def test_two_tabs_with_different_providers_do_not_meet(hostile: Hostile) -> None:
    hostile.says(chat())
    one = OpenAI("one", f"{hostile.url}/v1", Secret("key-one"))
    two = OpenAI("two", f"{hostile.url}/v1", Secret("key-two"))
    threads = [threading.Thread(target=llm.reply, args=("", llm.model)) for llm in (one, two) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent = {(a["model"], h["authorization"]) for a, h in zip(hostile.asked, hostile.seen_headers, strict=True)}
    assert sent == {("one", "Bearer key-one"), ("two", "Bearer key-two")}


def test_a_key_is_in_no_repr_pickle_copy_or_json(hostile: Hostile) -> None:
    key = "sk-proj-0123456789abcdef"
    settings = ProviderSettings("openai", api_key=Secret(key))
    llm = OpenAI(api_key=Secret(key))
    written = [repr(settings), f"{llm}", str(asdict(settings)), json.dumps(settings.public()), repr(copy.deepcopy(llm))]
    assert key not in "".join(written)
    for holder in (settings, llm):
        with pytest.raises(TypeError, match="never written"):
            pickle.dumps(holder)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("localhost:8080/v1", "must be http:// or https://"),
        ("ftp://localhost/v1", "must be http:// or https://"),
        ("", "must be http:// or https://"),
        ("http://", "must be http:// or https://"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused_at_once(url: str, says: str) -> None:
    with pytest.raises(ProviderError, match=says):
        OpenAI("m", url)


@pytest.mark.parametrize("name", ["gpt 4o mini", "", "  ", "a\nb"])
def test_a_model_name_with_spaces_is_refused_at_once(name: str) -> None:
    with pytest.raises(ProviderError, match="is no model name"):
        OpenAI(name, "http://localhost/v1")
    with pytest.raises(ProviderError, match="is no model name"):
        Ollama(name)


def test_https_asked_of_an_http_server_is_told(hostile: Hostile) -> None:
    hostile.says(chat())
    llm = OpenAI("m", hostile.url.replace("http", "https") + "/v1", patience=Patience(attempts=1))
    with pytest.raises(ProviderError, match="speaks http, not https"):
        llm.reply("", "Where?")


def test_no_server_is_told_with_the_address(hostile: Hostile) -> None:
    with pytest.raises(ProviderError, match=r"Cannot reach The server at http://127.0.0.1:9/v1. Check the address"):
        OpenAI("m", "http://127.0.0.1:9/v1").reply("", "Where?")


def test_openai_without_a_key_is_told_which_variable() -> None:
    with pytest.raises(ProviderError, match="set OPENAI_API_KEY"):
        OpenAI().reply("", "Where?")


def test_user_and_password_in_an_address_are_not_shown() -> None:
    llm = OpenAI("m", "http://me:secret@127.0.0.1:9/v1")
    with pytest.raises(ProviderError) as caught:
        llm.reply("", "Where?")
    assert "secret" not in str(caught.value) + llm.id
