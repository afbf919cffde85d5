"""The extractors a person can set against each other: the embedded one, and a model under every prompt version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_core.errors import InputError
from memory_core.extractors.embedded import Embedded
from memory_core.extractors.llm import LLMExtractor
from memory_core.prompts import versions
from memory_core.protocols import Extractor
from memory_core.providers import ProviderSettings, make_extractor

EMBEDDED = "embedded"
TERSE = "embedded, at most 4 nodes a turn"


def extractor_choices(settings: ProviderSettings) -> list[str]:
    """Names of the extractors that can be made: with a model chosen, one for each prompt version, newest first.

    >>> extractor_choices(ProviderSettings())
    ['embedded', 'embedded, at most 4 nodes a turn']
    """
    model = [] if settings.provider == EMBEDDED else [f"{_model(settings)} · {version}" for version in prompts()]
    return [*model, EMBEDDED, TERSE]


def prompts() -> list[str]:
    """Prompt versions of extraction, newest first."""
    return [version for version in reversed(versions()) if version.startswith("extraction-")]


def make_choice(name: str, settings: ProviderSettings) -> Extractor:
    """The extractor of a name of `extractor_choices`. Raises InputError for another, ProviderError."""
    if name == EMBEDDED:
        return Embedded()
    if name == TERSE:
        return Embedded(4, 4)
    model, _, version = name.rpartition(" · ")
    if model != _model(settings) or version not in prompts():
        raise InputError(f"There is no extractor {name}: choose {_listed(extractor_choices(settings))}.")
    made = make_extractor(settings)
    return replace(made, prompt_version=version) if isinstance(made, LLMExtractor) else made


def _model(settings: ProviderSettings) -> str:
    return f"{settings.provider} {settings.model}".strip()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" or {names[-1]}"
