"""A file on its way into a new memory. The job belongs to the memory: whoever looks at it sees how far it is."""

from __future__ import annotations

import streamlit as st

from memory_core.errors import ForgettingLabError
from memory_core.importers import in_background
from memory_core.importers.memories import Imported
from memory_core.jobs import Job
from memory_core.memories import Memories, OpenMemory
from memory_core.protocols import Embedder
from pages._ui.forgetting.progress import progress
from pages._ui.opened import NAME, attempt, choose, memories, notice
from pages._ui.words import as_text, plural

_MINE = "import_of"  # the memory whose import this browser started and was not told the end of
_FROM = "import_from"  # the memory that was looked at when it began


def begin(name: str, embedder: Embedder, filename: str, data: bytes) -> None:
    """Make the memory and start to fill it; when the file cannot be had, it is gone again. Raises ForgettingLabError.

    It is noted first: a second click ends this run at the next look at the session.
    """
    where, kept = memories(), {key: st.session_state.get(key, "") for key in (_MINE, _FROM)}
    st.session_state.update({_MINE: name, _FROM: st.session_state[NAME]})
    try:
        _start(where, name, embedder, filename, data)
    except ForgettingLabError:
        st.session_state.update(kept)
        raise


def _start(where: Memories, name: str, embedder: Embedder, filename: str, data: bytes) -> None:
    opened = where.create(name, embedder)
    try:
        in_background.start(opened.worker, opened.memory, filename, data)
    except ForgettingLabError:
        where.delete(name)
        raise


def begun(name: str) -> bool:
    """Whether this browser began an import into the memory of that name: a second click meets it."""
    if not name or st.session_state.get(_MINE) != name:
        return False
    where = memories()
    return where.is_open(name) and in_background.latest(where.open(name).worker) is not None


def importing(opened: OpenMemory) -> bool:
    """Draw the import that is to fill the memory; whether there is one, so that there is nothing else to see."""
    job = in_background.latest(opened.worker)
    if job is None:
        return False
    if not job.finished:
        progress(job)
        return True
    mine = st.session_state.get(_MINE) == opened.name
    if mine:
        del st.session_state[_MINE]
    if isinstance(job.result, Imported):
        if mine:
            _tell(opened.name, job.result)
    elif not opened.memory.graph.ids and not opened.memory.graph.turns:
        _nothing(opened.name, job, mine)
    return False


def _tell(name: str, result: Imported) -> None:
    counts = f"{plural(result.nodes, 'node')}, {plural(result.edges, 'edge')}, {plural(result.turns, 'turn')}"
    told = [*result.missing, *result.problems]
    left = f" Not in the file, left out or mapped: {'; '.join(told[:6])}" if told else ""
    if result.nodes or result.edges or result.turns:
        notice(f"{name} is imported: {counts}.{left}", "warning" if left else "success")
    else:
        notice(f"The file held nothing that could be imported: {name} is empty.{left}", "warning")


def _nothing(name: str, job: Job, mine: bool) -> None:
    """Why the memory is empty; for who began the import it goes, so that its name is free again."""
    why = job.error if job.state == "failed" else "The import was stopped: nothing of it is stored."
    if not mine:
        st.warning(as_text(why))
    elif attempt(lambda: memories().delete(name)):
        notice(why, "error" if job.state == "failed" else "warning")
        _back()
        st.rerun()


def _back() -> None:
    """To the memory that was looked at before the import, if it is still there; else to the first."""
    before = st.session_state.pop(_FROM, "")
    if before and before in memories().names():
        choose(before)
    else:
        st.session_state[NAME] = ""
        st.query_params.clear()
