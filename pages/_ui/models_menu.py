"""Which models read turns and answer. Chosen a browser; keys stay in its session and go nowhere else."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memory_core.chat import Models, best_retriever
from memory_core.errors import ForgettingLabError
from memory_core.memories import OpenMemory
from memory_core.providers import PROVIDERS, Part, ProviderSettings, check, make_extractor, make_reader, models
from memory_core.remote import Secret
from pages._ui.opened import as_text

_PARTS: dict[Part, tuple[str, str]] = {
    "extractor": ("Reads turns", "Finds nodes and edges in each turn"),
    "reader": ("Answers", "Answers a question from what was retrieved"),
}
_DEFAULT = "the provider's default"
_MODEL_HINTS = {"compatible": "needed: List models shows them"}
_URL_HINTS = {"compatible": "http://localhost:8080/v1"}
_NAMES = {"embedded": "embedded, no key", "openai": "OpenAI", "compatible": "OpenAI-compatible", "ollama": "Ollama"}


def models_menu() -> dict[Part, ProviderSettings]:
    """Draw the menu and return what is chosen for each part."""
    st.subheader("Models", anchor=False)
    return {part: _part(part, *words) for part, words in _PARTS.items()}


def _part(part: Part, title: str, tip: str) -> ProviderSettings:
    preset = ProviderSettings.from_env(part)
    known = PROVIDERS[part]
    provider = st.selectbox(
        title, known, index=known.index(preset.provider), format_func=lambda name: _NAMES.get(name, name), help=tip,
        key=f"provider-{part}",
    )  # fmt: skip
    chosen = ProviderSettings.named(part, provider)
    if provider == "embedded":
        return chosen
    preset = preset if preset.provider == provider else chosen
    model = st.text_input(
        "Model", preset.model, key=f"model-{part}-{provider}", placeholder=_MODEL_HINTS.get(provider, _DEFAULT)
    )
    url = st.text_input(
        "Address", preset.base_url, key=f"url-{part}-{provider}", placeholder=_URL_HINTS.get(provider, _DEFAULT)
    )
    key = preset.api_key
    if provider != "ollama":
        typed = st.text_input(
            "Key", type="password", key=f"key-{part}-{provider}", help="Kept in this browser tab only"
        )
        key = Secret(typed) if typed else key
    chosen = replace(preset, model=model.strip(), base_url=url.strip(), api_key=key)
    _test(part, chosen)
    return chosen


def _test(part: Part, chosen: ProviderSettings) -> None:
    with st.container(horizontal=True, gap="small"):
        test = st.button("Test", key=f"test-{part}", help="Ask the model for one word")
        listing = st.button("List models", key=f"list-{part}", help="What the server offers")
    if test:
        with st.spinner("Asking…"):
            st.caption(as_text(check(chosen, part)))
    if listing:
        try:
            st.text("\n".join(models(chosen)) or "The server offers none.")
        except ForgettingLabError as error:
            st.caption(as_text(error))


def made(chosen: dict[Part, ProviderSettings], opened: OpenMemory) -> Models:
    """The parts for one exchange. Raises ProviderError when something is missing."""
    extractor = make_extractor(chosen["extractor"], opened.memory.settings.on_invalid)
    reader = make_reader(chosen["reader"], opened.memory.embedder)
    return Models(extractor, reader, best_retriever(opened.memory.settings))


def summary(chosen: dict[Part, ProviderSettings]) -> str:
    """`embedded · embedded`, for the line of numbers; never a key."""
    names = [" ".join(filter(None, (one.provider, one.model))) for one in chosen.values()]
    return f"reads: {names[0]} · answers: {names[1]}"
