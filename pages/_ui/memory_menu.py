"""The sidebar's memories: open, create, import, export, rename, duplicate, delete."""

from __future__ import annotations

import streamlit as st

from memory_core.errors import ForgettingLabError
from memory_core.memories import OpenMemory, exported
from memory_core.parts import EMBEDDERS
from memory_core.protocols import Embedder
from pages._ui.import_panel import begin, begun
from pages._ui.models_menu import MODELS, chosen_embedder
from pages._ui.opened import NAME, attempt, choose, memories, notice

_NAME_HELP = "1 to 64 letters, digits, - and _"
_FORMATS = {
    "json": "JSON: everything, can be imported again",
    "graphml": "GraphML: the graph, for other programs",
    "csv": "CSV: one table of everything",
    "html": "HTML: one picture that needs no network",
}


def memory_menu(names: list[str], opened: OpenMemory | None) -> None:
    """Draw the menu; what it changes shows in the next run."""
    st.subheader("Memory", anchor=False)
    if names:
        picked = st.selectbox(
            "Memory",
            names,
            index=names.index(st.session_state[NAME]) if st.session_state[NAME] in names else 0,
            label_visibility="collapsed",
            key=f"switch-{st.session_state[NAME]}-{len(names)}",
            help="The memory every page looks at",
        )
        if picked != st.session_state[NAME]:
            choose(picked)
            st.rerun()
    with st.container(horizontal=True, gap="small", key="memory-actions"):
        _new(names)
        if opened is not None:
            _export(opened)
        if names:
            _manage(st.session_state[NAME])


def _new(names: list[str]) -> None:
    with (
        st.popover("New", key=f"new-{len(names)}", help="Create an empty memory, or one from a file"),
        st.form("new-memory", border=False),
    ):
        name = st.text_input("Name", help=_NAME_HELP, placeholder="my-memory")
        known = _embedders()
        embedder = st.selectbox(
            "Embedder",
            list(known),
            format_func=lambda of: f"{of} ({'English' if known[of].languages == ('en',) else 'many languages'})",
            help="Turns descriptors into vectors. It belongs to the memory; Embeds, below, changes it later.",
        )
        file = st.file_uploader(
            "From a file (optional)",
            ["json", "af", "graphml", "xml", "csv"],
            help="Our JSON or CSV, P1's graph JSON, GraphML; an export of Mem0, Graphiti or Letta (.json, .af)",
        )
        name = name.strip()
        if st.form_submit_button("Create", type="primary") and (
            (file is not None and begun(name)) or attempt(lambda: _create(name, known[embedder], file))
        ):
            choose(name)
            st.rerun()


def _embedders() -> dict[str, Embedder]:
    """The embedders a new memory may have: those inside the app, and the one chosen under Embeds."""
    known: dict[str, Embedder] = {one.id: one for one in EMBEDDERS}
    if MODELS not in st.session_state:
        return known
    try:
        chosen = chosen_embedder()
    except ForgettingLabError:  # the sidebar's test says what is missing
        return known
    return {chosen.id: chosen, **known}


def _create(name, embedder, file) -> None:  # type: ignore[no-untyped-def]
    if file is None:
        memories().create(name, embedder)
        notice(f"{name} is created and empty: say something to it.")
    else:
        begin(name, embedder, file.name, file.getvalue())


def _export(opened: OpenMemory) -> None:
    with st.popover("Export", help="Download this memory as a file"):
        for ending, what in _FORMATS.items():
            st.download_button(
                what,
                data=lambda ending=ending: exported(opened.memory, ending),
                file_name=f"{opened.name}.{ending}",
                key=f"export-{ending}",
                on_click="ignore",
                type="tertiary",
            )


def _manage(name: str) -> None:
    with st.popover("More", key=f"more-{name}", help="Rename, duplicate or delete this memory"):
        new = st.text_input("New name", key=f"new-name-{name}", help=_NAME_HELP, placeholder=f"{name}-2").strip()
        with st.container(horizontal=True, gap="small"):
            if st.button("Rename", disabled=not new, key="rename"):
                _then_open(lambda where: where.rename(name, new), new, f"{name} is now {new}.")
            if st.button("Duplicate", disabled=not new, key="duplicate"):
                _then_open(lambda where: where.duplicate(name, new), new, f"{new} is a copy of {name}.")
        sure = st.checkbox(f"Delete {name} and everything in it for good", key=f"sure-{name}")
        if st.button("Delete", key="delete-memory", icon=":material/delete:", disabled=not sure):
            _deleted(name)


def _then_open(act, name: str, done: str) -> None:  # type: ignore[no-untyped-def]
    if attempt(lambda: act(memories()), done):
        choose(name)
    st.rerun()


def _deleted(name: str) -> None:
    if attempt(lambda: memories().delete(name), f"{name} is deleted."):
        st.session_state[NAME] = ""
        st.query_params.clear()
    st.rerun()
