"""Which models read turns, answer, embed and judge. Chosen a browser; keys stay in its session and go nowhere else."""

from __future__ import annotations

import threading
from dataclasses import replace

import streamlit as st

from memory_core.chat import Models, best_retriever
from memory_core.errors import ForgettingLabError
from memory_core.memories import OpenMemory
from memory_core.protocols import Embedder
from memory_core.providers import (
    PROVIDERS,
    Part,
    ProviderSettings,
    as_variables,
    check,
    make_embedder,
    make_extractor,
    make_reader,
    models,
)
from memory_core.remote import Secret
from pages._ui.opened import as_text

MODELS = "models"  # where the session keeps the choice of each part
_PARTS: dict[Part, tuple[str, str]] = {
    "extractor": ("Reads turns", "Finds nodes and edges in each turn"),
    "reader": ("Answers", "Answers a question from what was retrieved"),
    "embedder": ("Embeds", "Makes the vectors of a new memory, or of this one when it is re-embedded"),
    "judge": ("Judges", "Grades answers when a benchmark is run; without one they are scored only"),
}
_DEFAULT = "the provider's default"
_MODEL_HINTS = {"compatible": "needed: List models shows them"}
_URL_HINTS = {"compatible": "http://localhost:8080/v1"}
_NAMES = {
    "embedded": "embedded, no key", "use": "embedded, 15 languages", "openai": "OpenAI", "none": "nobody",
    "compatible": "OpenAI-compatible", "ollama": "Ollama",
}  # fmt: skip
_KEY_HELP = "Kept in this browser tab only. A key of the environment is used where none is typed, at its own address."
_INSIDE = ("embedded", "use", "none")


def models_menu() -> dict[Part, ProviderSettings]:
    """Draw the menu and return what is chosen for each part."""
    st.subheader("Models", anchor=False)
    chosen = {part: _part(part, *words) for part, words in _PARTS.items()}
    with st.popover("For commands", help="The same choice as environment variables, without keys"):
        st.code("\n".join(as_variables(chosen)), language="bash", wrap_lines=True)
    return chosen


def _part(part: Part, title: str, tip: str) -> ProviderSettings:
    known = PROVIDERS[part]
    preset = _preset(part)
    provider = st.selectbox(
        title, known, index=known.index(preset.provider), format_func=lambda name: _NAMES.get(name, name), help=tip,
        key=f"provider-{part}",
    )  # fmt: skip
    if provider in _INSIDE:
        return ProviderSettings(provider)
    preset = preset if preset.provider == provider else ProviderSettings.named(part, provider)
    with st.container(border=True, key=f"details-{part}", gap="small"):
        chosen = _details(part, provider, preset)
        _test(part, chosen)
    return chosen


def _preset(part: Part) -> ProviderSettings:
    try:
        return ProviderSettings.from_env(part)
    except ForgettingLabError as error:
        st.error(as_text(error))
        return ProviderSettings(PROVIDERS[part][0])


def _details(part: Part, provider: str, preset: ProviderSettings) -> ProviderSettings:
    name = f"{part}-{provider}"
    model = _model(name, provider, preset.model)
    url = st.text_input(
        "Address", preset.base_url, key=f"url-{name}", placeholder=_URL_HINTS.get(provider, _DEFAULT)
    ).strip()
    key = Secret()
    if provider != "ollama":
        key = Secret(st.text_input("Key", type="password", key=f"key-{name}", help=_KEY_HELP, autocomplete="off"))
    return replace(preset, model=model, base_url=url, api_key=key or preset.key_for(url))


def _model(name: str, provider: str, preset: str) -> str:
    """A name of the server's list once it was asked for, or one that is typed."""
    offered: list[str] = st.session_state.get(f"offered-{name}", [])
    hint = _MODEL_HINTS.get(provider, _DEFAULT)
    if not offered:
        return st.text_input("Model", preset, key=f"model-{name}", placeholder=hint).strip()
    st.session_state.setdefault(f"pick-{name}", st.session_state.get(f"model-{name}") or preset or None)
    picked = st.selectbox("Model", offered, key=f"pick-{name}", accept_new_options=True, placeholder=hint)
    return (picked or "").strip()


def _test(part: Part, chosen: ProviderSettings) -> None:
    with st.container(horizontal=True, gap="small"):
        test = st.button("Test", key=f"test-{part}", help="Ask the model for one word")
        listing = st.button("List models", key=f"list-{part}", help="What the server offers")
    if test:
        with st.spinner("Asking…"):
            line = check(chosen, part)
        (st.success if line.startswith("OK") else st.error)(as_text(line))
    if listing:
        try:
            with st.spinner("Asking…"):
                offered = models(chosen)
        except ForgettingLabError as error:
            st.error(as_text(error))
            return
        if offered:
            st.session_state[f"offered-{part}-{chosen.provider}"] = offered
            st.rerun()
        st.info("The server offers no model yet.")


def made(chosen: dict[Part, ProviderSettings], opened: OpenMemory, stop: threading.Event | None = None) -> Models:
    """The parts for one exchange; a set `stop` ends their calls. Raises ProviderError when something is missing."""
    extractor = make_extractor(replace(chosen["extractor"], cancel=stop), opened.memory.settings.on_invalid)
    reader = make_reader(replace(chosen["reader"], cancel=stop), opened.memory.embedder)
    return Models(extractor, reader, best_retriever(opened.memory.settings))


def chosen_embedder(stop: threading.Event | None = None, dim: int = 0) -> Embedder:
    """The embedder chosen in this browser. Raises ProviderError when something is missing."""
    chosen: ProviderSettings = st.session_state[MODELS]["embedder"]
    return make_embedder(replace(chosen, cancel=stop), dim)


def summary(chosen: dict[Part, ProviderSettings]) -> str:
    """`reads: embedded · answers: embedded`, for the line of numbers; never a key."""
    names = {part: " ".join(filter(None, (one.provider, one.model))) for part, one in chosen.items()}
    return f"reads: {names['extractor']} · answers: {names['reader']}"
