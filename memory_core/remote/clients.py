"""The vendors' own clients as every part uses them: one per address, no retries of theirs, no answer too long."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from memory_core.errors import ProviderError
from memory_core.remote.answers import cap_answer, refusal, shown
from memory_core.remote.secret import Secret

OPENAI_URL = "https://api.openai.com/v1"
OLLAMA_URL = "http://127.0.0.1:11434"
_PLAIN = {"Accept-Encoding": "identity"}


@lru_cache(maxsize=16)
def openai_client(base_url: str, key: Secret, timeout: float) -> Any:
    """The openai client of a server; `timeout` in seconds. Raises ProviderError where OpenAI's key is missing."""
    if base_url == OPENAI_URL and not key:
        raise ProviderError("OpenAI needs a key: set OPENAI_API_KEY, or choose another provider.")
    import openai

    http = openai.DefaultHttpxClient(timeout=timeout, follow_redirects=False, event_hooks={"response": [cap_answer]})
    return openai.OpenAI(
        base_url=base_url,
        api_key=key.reveal() or "none",
        timeout=timeout,
        max_retries=0,
        http_client=http,
        default_headers=_PLAIN,
    )


def openai_name(base_url: str) -> str:
    """How errors name the server.

    >>> openai_name("http://localhost:8080/v1")
    'The server at http://localhost:8080/v1'
    """
    return f"{'OpenAI' if base_url == OPENAI_URL else 'The server'} at {shown(base_url)}"


@lru_cache(maxsize=16)
def ollama_client(host: str, timeout: float) -> Any:
    """The ollama client of a server; `timeout` in seconds."""
    import ollama

    hooks = {"response": [cap_answer]}
    return ollama.Client(host, timeout=timeout, headers=_PLAIN, follow_redirects=False, event_hooks=hooks)


def ollama_refusal(error: Any, who: str, model: str) -> ProviderError:
    """The error for an ollama.ResponseError: the model to pull, the wrong kind of server, or as `refusal` says."""
    body = str(error.error)
    if "not found" in body and "model" in body:
        return ProviderError(f"{who} has no model {model}; fetch it with: ollama pull {model}")
    if error.status_code == 404:
        return ProviderError(f"{who} does not speak Ollama's API: check the address, or use the provider `compatible`.")
    response = getattr(error.__context__, "response", None)  # the client keeps status and text only
    headers = {} if response is None else response.headers
    return refusal(error.status_code if error.status_code > 0 else 500, headers, body, who, model, Secret())
