"""Which model does what is chosen by environment variable; what is missing is told with the variable that sets it."""

from __future__ import annotations

import pytest

from memory_core.embedders.minilm import MiniLM
from memory_core.embedders.ollama import OllamaEmbedder
from memory_core.embedders.openai import OpenAIEmbedder
from memory_core.embedders.use import MultilingualUSE
from memory_core.errors import InputError, ProviderError
from memory_core.extractors.embedded import Embedded
from memory_core.extractors.llm import LLMExtractor
from memory_core.llms.ollama import Ollama
from memory_core.llms.openai import OPENAI_URL, OpenAI
from memory_core.protocols import LLM
from memory_core.providers import (
    PROVIDERS,
    Part,
    ProviderSettings,
    check,
    make_embedder,
    make_extractor,
    make_llm,
    make_reader,
    models,
)
from memory_core.readers.embedded import EmbeddedReader
from memory_core.readers.llm import LLMReader
from tests.servers.hostile import Answer, Hostile, chat

KEY = "sk-proj-0123456789abcdef"


def chosen(part: Part, choice: str, **env: str) -> ProviderSettings:
    return ProviderSettings.from_env(part, {f"FORGETTING_LAB_{part.upper()}": choice, **env})


def test_without_any_variable_everything_runs_inside_the_app() -> None:
    embedder = make_embedder(ProviderSettings.from_env("embedder", {}))
    assert isinstance(embedder, MiniLM)
    assert isinstance(make_extractor(ProviderSettings.from_env("extractor", {})), Embedded)
    assert isinstance(make_reader(ProviderSettings.from_env("reader", {}), embedder), EmbeddedReader)


def test_each_part_chooses_apart() -> None:
    assert isinstance(make_embedder(chosen("embedder", "use")), MultilingualUSE)
    assert isinstance(make_embedder(chosen("embedder", "openai")), OpenAIEmbedder)
    assert isinstance(make_embedder(chosen("embedder", "ollama")), OllamaEmbedder)
    assert isinstance(make_reader(chosen("reader", "openai", OPENAI_API_KEY=KEY), MiniLM()), LLMReader)
    extractor = make_extractor(chosen("extractor", "ollama:qwen2.5:7b"), "reject")
    assert isinstance(extractor, LLMExtractor)
    assert (extractor.on_invalid, extractor.id) == ("reject", "llm:ollama/qwen2.5:7b:extraction-v1")


def test_models_and_addresses_come_from_the_environment() -> None:
    openai = make_llm(chosen("reader", "openai", OPENAI_API_KEY=KEY))
    assert isinstance(openai, OpenAI)
    assert (openai.model, openai.base_url, openai.context_window) == ("gpt-4o-mini", OPENAI_URL, 128_000)
    local = make_llm(
        chosen("reader", "compatible:phi", OPENAI_BASE_URL="http://h:8080/v1/", FORGETTING_LAB_CONTEXT="2048")
    )
    assert isinstance(local, OpenAI)
    assert (local.id, local.context_window) == ("http://h:8080/v1/phi", 2048)
    ollama = make_llm(chosen("judge", "ollama", OLLAMA_HOST="gpu"))
    assert isinstance(ollama, Ollama)
    assert (ollama.host, ollama.id) == ("http://gpu:11434", "ollama/llama3.1")
    for llm in (openai, local, ollama):
        assert isinstance(llm, LLM)


@pytest.mark.parametrize("part", list(PROVIDERS))
def test_an_unknown_provider_lists_the_known(part: Part) -> None:
    with pytest.raises(InputError, match=f"There is no {part} 'gemini': choose {PROVIDERS[part][0]}, "):
        chosen(part, "gemini")


@pytest.mark.parametrize(
    ("choice", "env", "says"),
    [
        ("compatible:phi", {}, "set OPENAI_BASE_URL"),
        ("compatible", {"OPENAI_BASE_URL": "http://h/v1"}, "needs a model name"),
        ("openai", {}, "set OPENAI_API_KEY"),
        ("openai:gpt 4o", {"OPENAI_API_KEY": KEY}, "is no model name"),
        ("openai", {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "h/v1"}, "must be http:// or https://"),
        ("ollama", {"OLLAMA_HOST": "127.0.0.1:9"}, "Start it with: ollama serve"),
    ],
)
def test_the_test_button_says_in_one_line_what_is_missing(choice: str, env: dict[str, str], says: str) -> None:
    line = check(chosen("extractor", choice, **env))
    assert line.startswith("Not working: ")
    assert says in line
    assert "\n" not in line


def test_a_context_that_is_no_number_is_told() -> None:
    with pytest.raises(InputError, match="FORGETTING_LAB_CONTEXT is 'big'"):
        chosen("reader", "ollama", FORGETTING_LAB_CONTEXT="big")


def test_the_test_button_says_that_it_works_and_never_shows_the_key(hostile: Hostile) -> None:
    settings = chosen("reader", "compatible:m", OPENAI_BASE_URL=f"{hostile.url}/v1", OPENAI_API_KEY=KEY)
    hostile.says(chat("Yes."))
    assert check(settings).startswith("OK: m answered 'Yes.' in ")
    hostile.says(Answer(f"Incorrect API key: {KEY}", 401))
    assert "does not accept the key" in check(settings)
    hostile.says(Answer(f"I saw {KEY} and {KEY[:20]}", 400))
    assert KEY[:12] not in check(settings)


def test_the_list_of_models_comes_from_the_server(hostile: Hostile) -> None:
    settings = chosen("reader", "compatible:m", OPENAI_BASE_URL=f"{hostile.url}/v1")
    hostile.says('{"data": [{"id": "b"}, {"id": "a"}, {}, 3]}')
    assert models(settings) == ["a", "b"]
    hostile.says('{"data": null}')
    with pytest.raises(ProviderError, match="type the name of one"):
        models(settings)
    hostile.says('{"models": [{"model": "qwen:1b"}, {"model": "llama3.1:latest"}]}')
    assert models(chosen("reader", "ollama", OLLAMA_HOST=hostile.url)) == ["llama3.1:latest", "qwen:1b"]
    assert models(ProviderSettings()) == []


def test_inside_the_app_there_is_no_chat_model() -> None:
    assert check(ProviderSettings()).startswith("OK: ")
    with pytest.raises(ProviderError, match="has no chat model"):
        make_llm(ProviderSettings())
