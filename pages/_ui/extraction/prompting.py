"""Prompt versions: edited, tried on chosen turns beside the version they came from, kept as a new version."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memory_core import prompts
from memory_core.extractors.llm import LLMExtractor
from memory_core.inspection import comparing as core
from memory_core.inspection.choices import prompts as extraction_prompts
from memory_core.inspection.lines import filtered, turn_lines
from memory_core.memories import OpenMemory
from memory_core.protocols import Extractor
from memory_core.providers import ProviderSettings, make_extractor
from pages._ui.extraction.state import ExtractionState
from pages._ui.opened import as_text, attempt, notice
from pages._ui.words import plural


def prompting(opened: OpenMemory, state: ExtractionState) -> None:
    """Draw a version, its two parts to be edited, and what can be done with the result."""
    chosen = st.session_state["models"]["extractor"]
    left, right = st.columns([3, 8], gap="medium")
    with left:
        version = st.selectbox("Version", extraction_prompts(), key=state.key("prompt"))
        used = sum(line.prompt_version == version for line in turn_lines(opened.memory))
        st.caption(f"{plural(used, 'turn')} of this memory were last read with it. Every extraction names its version.")
        count = st.number_input("Try on at most", 1, 500, 5, key=state.key("prompt-turns"),
                                help="Turns listed under Turns, with its filter")  # fmt: skip
        if chosen.provider == "embedded":
            st.info(
                "Rules, not a prompt, read turns now. Choose a model under “Reads turns” in the sidebar to try one."
            )
    with right:
        system, user = prompts.text_of(version)
        system = st.text_area("System part", system, height=380, key=state.key(f"system-{version}"))
        user = st.text_area("User part", user, height=110, key=state.key(f"user-{version}"),
                            help="{role} and {turn} are filled in; the turn stands between markers")  # fmt: skip
        with st.container(horizontal=True, gap="small"):
            if st.button("Try it", key="prompt-try", disabled=chosen.provider == "embedded",
                         help="Read turns with this text and with the version it came from"):  # fmt: skip
                attempt(lambda: _try(opened, state, chosen, version, system, user, int(count)))
                st.rerun()
            changed = (system.strip(), user.strip()) != prompts.text_of(version)
            if st.button("Keep as a new version", type="primary", key="prompt-keep", disabled=not changed):
                attempt(lambda: notice(f"Kept as {prompts.keep('extraction', system, user)}."))
                st.rerun()
        if not changed:
            st.caption("Change a word, and it can be kept as a new version; no version is ever written over.")


def _try(
    opened: OpenMemory,
    state: ExtractionState,
    chosen: ProviderSettings,
    version: str,
    system: str,
    user: str,
    most: int,
) -> None:
    draft = prompts.draft("extraction", system, user)
    lines = filtered(turn_lines(opened.memory), status=state.status, by=state.by, words=state.words, only=state.only)
    turns = opened.memory.turns([line.id for line in lines][:most])
    core.start(opened.worker, turns, {name: _under(chosen, name) for name in (version, draft)})
    state.go("compare")
    notice(as_text(f"{version} and the draft read {plural(len(turns), 'turn')}: see how they differ."))


def _under(chosen: ProviderSettings, version: str) -> Extractor:
    made = make_extractor(chosen)
    return replace(made, prompt_version=version) if isinstance(made, LLMExtractor) else made
