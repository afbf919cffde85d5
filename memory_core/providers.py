"""Which model does what, from the environment or the sidebar, and the parts made of it.

Four parts choose apart; each variable is `provider` or `provider:model`:

    FORGETTING_LAB_EXTRACTOR   embedded (default), openai, compatible, ollama
    FORGETTING_LAB_READER      the same
    FORGETTING_LAB_JUDGE       none (default: answers are scored, not judged), openai, compatible, ollama
    FORGETTING_LAB_EMBEDDER    embedded (default), use, openai, compatible, ollama
    OPENAI_API_KEY             the key of openai, and of compatible when that server wants one
    OPENAI_BASE_URL            the address of compatible (http://localhost:8080/v1); openai uses it too when it is set
    OLLAMA_HOST                the address of ollama (default http://127.0.0.1:11434)
    FORGETTING_LAB_CONTEXT     tokens the model's context holds, where the default (8192; OpenAI 128000) is wrong

    FORGETTING_LAB_EXTRACTOR=ollama:qwen2.5:7b python -m memory_core ingest talk.json
"""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from memory_core.embedders.minilm import MiniLM
from memory_core.embedders.ollama import OllamaEmbedder
from memory_core.embedders.openai import OpenAIEmbedder
from memory_core.embedders.use import MultilingualUSE
from memory_core.errors import InputError, ProviderError
from memory_core.extractors.embedded import Embedded
from memory_core.extractors.llm import LLMExtractor
from memory_core.llms.ollama import Ollama
from memory_core.llms.openai import OpenAI
from memory_core.protocols import LLM, Embedder, Extractor, Reader
from memory_core.readers.embedded import EmbeddedReader
from memory_core.readers.llm import LLMReader
from memory_core.remote import OLLAMA_URL, OPENAI_URL, Secret, one_line, shown

Part = Literal["extractor", "reader", "embedder", "judge"]
#: The providers of each part, the default first.
PROVIDERS: dict[Part, tuple[str, ...]] = {
    "extractor": ("embedded", "openai", "compatible", "ollama"),
    "reader": ("embedded", "openai", "compatible", "ollama"),
    "embedder": ("embedded", "use", "openai", "compatible", "ollama"),
    "judge": ("none", "openai", "compatible", "ollama"),
}
_CHAT_MODELS = {"openai": "gpt-4o-mini", "ollama": "llama3.1"}
_EMBEDDING_MODELS = {"openai": "text-embedding-3-small", "ollama": "nomic-embed-text"}
_NO_KEY = Secret()


@dataclass(frozen=True)
class ProviderSettings:
    """One part's provider. Empty `model` and `base_url` mean the provider's own default.

    The key shows in no repr and cannot be pickled; `public()` is what may be written down.

    >>> ProviderSettings("openai", api_key=Secret("sk-abc")).public()
    {'provider': 'openai', 'model': '', 'base_url': ''}
    """

    provider: str = "embedded"
    model: str = ""
    base_url: str = ""
    api_key: Secret = _NO_KEY
    context_window: int = 0  # 0: the provider's default
    cancel: threading.Event | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_env(cls, part: Part, env: Mapping[str, str] | None = None) -> ProviderSettings:
        """Raises InputError for a provider the part does not have.

        >>> ProviderSettings.from_env("extractor", {"FORGETTING_LAB_EXTRACTOR": "ollama:qwen2.5:7b"}).model
        'qwen2.5:7b'
        """
        env = os.environ if env is None else env
        return cls.named(part, env.get(f"FORGETTING_LAB_{part.upper()}", "") or PROVIDERS[part][0], env)

    @classmethod
    def named(cls, part: Part, choice: str, env: Mapping[str, str] | None = None) -> ProviderSettings:
        """The settings of `provider` or `provider:model`, addresses and key from the environment. Raises InputError."""
        env = os.environ if env is None else env
        provider, _, model = choice.strip().partition(":")
        if provider not in PROVIDERS[part]:
            raise InputError(f"There is no {part} {provider!r}: choose {', '.join(PROVIDERS[part])}.")
        window = env.get("FORGETTING_LAB_CONTEXT", "0")
        if not window.isdigit():
            raise InputError(f"FORGETTING_LAB_CONTEXT is {window!r}; it must be a number of tokens.")
        if provider == "ollama":
            return cls(provider, model, _ollama_address(env.get("OLLAMA_HOST", "")), context_window=int(window))
        if provider in ("openai", "compatible"):
            key = Secret(env.get("OPENAI_API_KEY", ""))
            return cls(provider, model, env.get("OPENAI_BASE_URL", ""), key, int(window))
        return cls(provider)

    @property
    def lacks_key(self) -> bool:
        """Whether every call would be refused for want of a key.

        >>> ProviderSettings("openai").lacks_key, ProviderSettings("ollama").lacks_key
        (True, False)
        """
        return self.provider == "openai" and self.base_url in ("", OPENAI_URL) and not self.api_key

    def key_for(self, url: str) -> Secret:
        """The key, for the address it came with and for no other: an address that somebody types gets none.

        >>> ProviderSettings("openai", api_key=Secret("sk-abc")).key_for("http://elsewhere")
        Secret()
        """
        return self.api_key if url.strip().rstrip("/") == self.base_url.rstrip("/") else _NO_KEY

    def public(self) -> dict[str, str]:
        """What run files, exports and pages may show."""
        return {
            "provider": self.provider,
            "model": self.model,
            "base_url": shown(self.base_url) if self.base_url else "",
        }


def as_variables(chosen: Mapping[Part, ProviderSettings]) -> list[str]:
    """The choice as lines for a shell, without keys.

    >>> as_variables({"reader": ProviderSettings("ollama", "qwen2.5:7b")})
    ['export FORGETTING_LAB_READER=ollama:qwen2.5:7b']
    """
    lines = []
    for part, one in chosen.items():
        lines.append(
            f"export FORGETTING_LAB_{part.upper()}={shlex.quote(':'.join(filter(None, (one.provider, one.model))))}"
        )
        if one.base_url:
            name = "OLLAMA_HOST" if one.provider == "ollama" else "OPENAI_BASE_URL"
            lines.append(f"export {name}={shlex.quote(shown(one.base_url))}")
    return list(dict.fromkeys(lines))


def make_llm(settings: ProviderSettings) -> LLM:
    """The chat model of a provider that has one. Raises ProviderError when something is missing."""
    if settings.provider == "ollama":
        model, host = settings.model or _CHAT_MODELS["ollama"], settings.base_url or OLLAMA_URL
        return Ollama(model, host, settings.context_window or 8192, cancel=settings.cancel)
    if settings.provider not in ("openai", "compatible"):
        raise ProviderError(f"The provider {settings.provider} has no chat model: choose openai, compatible or ollama.")
    window = settings.context_window or (128_000 if settings.provider == "openai" else 8192)
    model = settings.model or _CHAT_MODELS.get(settings.provider) or _missing_model()
    return OpenAI(model, _openai_address(settings), settings.api_key, window, cancel=settings.cancel)


def make_extractor(settings: ProviderSettings, on_invalid: Literal["drop", "reject"] = "drop") -> Extractor:
    """Raises ProviderError when something is missing."""
    return Embedded() if settings.provider == "embedded" else LLMExtractor(make_llm(settings), on_invalid=on_invalid)


def make_reader(settings: ProviderSettings, embedder: Embedder) -> Reader:
    """`embedder` is the one of the memory, for the embedded reader. Raises ProviderError when something is missing."""
    return EmbeddedReader(embedder) if settings.provider == "embedded" else LLMReader(make_llm(settings))


def make_embedder(settings: ProviderSettings, dim: int = 0) -> Embedder:
    """`dim` is the dimension where it is known, so that no server is asked for it. Raises ProviderError when something
    is missing."""
    match settings.provider:
        case "embedded":
            return MiniLM()
        case "use":
            return MultilingualUSE()
        case "ollama":
            model = settings.model or _EMBEDDING_MODELS["ollama"]
            return OllamaEmbedder(model, settings.base_url or OLLAMA_URL, cancel=settings.cancel, known_dim=dim)
    model = settings.model or _EMBEDDING_MODELS.get(settings.provider) or _missing_model()
    return OpenAIEmbedder(
        model,
        _openai_address(settings),
        settings.api_key,
        cancel=settings.cancel,
        known_dim=dim,
        provider=settings.provider,
    )


def check(settings: ProviderSettings, part: Part = "extractor") -> str:
    """One line: that the provider works, or what is wrong and how to mend it. Never raises, never shows the key."""
    try:
        if settings.provider in ("embedded", "use", "none"):
            return "OK: nothing to reach; this provider runs inside the app."
        if part == "embedder":
            embedder = make_embedder(settings)
            return f"OK: {embedder.id} answered with {embedder.embed(['test']).shape[1]} dimensions."
        reply = make_llm(settings).reply("Answer with one word.", "Say yes.", max_tokens=64)
        said = one_line(reply.text, 40) if reply.text.strip() else "nothing"
        return f"OK: {reply.model.rpartition('/')[2]} answered {said!r} in {reply.seconds:.1f} s."
    except ProviderError as error:
        return settings.api_key.hide(f"Not working: {error}")


def models(settings: ProviderSettings) -> list[str]:
    """The models the server offers, sorted; none for a provider inside the app. Raises ProviderError."""
    if settings.provider in ("embedded", "use", "none"):
        return []
    if settings.provider == "ollama":
        return Ollama(host=settings.base_url or OLLAMA_URL, cancel=settings.cancel).models()
    return OpenAI("any", _openai_address(settings), settings.api_key, cancel=settings.cancel).models()


def _openai_address(settings: ProviderSettings) -> str:
    if settings.provider == "compatible" and not settings.base_url:
        raise ProviderError("The provider compatible needs an address: set OPENAI_BASE_URL (http://localhost:8080/v1).")
    return settings.base_url or OPENAI_URL


def _missing_model() -> str:
    raise ProviderError("The provider compatible needs a model name: write compatible:NAME, or choose one of its list.")


def _ollama_address(host: str) -> str:
    """OLLAMA_HOST as the server's own documentation allows it: without scheme or port, or 0.0.0.0 to listen everywhere.

    >>> _ollama_address("0.0.0.0"), _ollama_address("gpu:11435"), _ollama_address("")
    ('http://127.0.0.1:11434', 'http://gpu:11435', '')
    """
    if not host.strip():
        return ""
    url = host.strip() if "://" in host else f"http://{host.strip()}"
    scheme, _, rest = url.partition("://")
    name, _, path = rest.partition("/")
    name = name.replace("0.0.0.0", "127.0.0.1", 1)
    port = "" if ":" in name.rpartition("]")[2] or scheme == "https" else ":11434"
    return f"{scheme}://{name}{port}" + (f"/{path}" if path else "")
