"""Which questions say what a prune costs."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from memory_core.errors import ForgettingLabError
from memory_core.memories import OpenMemory
from memory_core.simulator import simulator_of
from memory_core.simulator.questions import ProbeSet, asked_of, available, of_file
from pages._ui.forgetting.state import ForgettingState, seeded
from pages._ui.opened import as_text
from pages._ui.signing_in import file_here
from pages._ui.words import plural

Probed = tuple[str, Callable[[], ProbeSet]]
_NAMES = {"demo": "The demo's questions", "own": "Your past questions", "file": "A benchmark file"}


def probe_choice(opened: OpenMemory, state: ForgettingState) -> Probed | None:
    """Key and maker of the probe set chosen, None while there is none that this memory can be asked."""
    chosen = st.segmented_control("Questions", list(_NAMES), format_func=_NAMES.get, required=True,
                                  key=seeded("probe", state.probe), help=_HELP)  # fmt: skip
    state.probe = chosen
    state.save()
    if chosen == "file":
        return _of_file(opened, state)
    make = available(opened.memory)[chosen]
    if chosen == "own":
        return _of_own(opened, make)
    asked = simulator_of(opened).once(("asked", opened.memory.fingerprint(), chosen), make)
    if not asked.questions:
        st.info(_NONE[chosen])
        return None
    st.caption(_told(asked))
    return chosen, make


def _of_own(opened: OpenMemory, make: Callable[[], ProbeSet]) -> Probed | None:
    count = asked_of(opened.memory)
    if not count:
        st.info(_NONE["own"])
        return None
    st.caption(f"{plural(count, 'question')} asked of this memory; what each brings today counts as its evidence.")
    return "own", make


def _of_file(opened: OpenMemory, state: ForgettingState) -> Probed | None:
    name, file = st.columns(2)
    with name:
        path = st.text_input("Path on this machine", state.file, key="probe-path", placeholder="data/benchmark.json")
    with file:
        given = st.file_uploader("or upload it", ["json", "jsonl"], key="probe-upload")
    if given is not None:
        path = _stored(given.name, given.getvalue())
    if not path.strip():
        st.caption("A LongMemEval or LoCoMo file, or a JSONL transcript with its questions beside it.")
        return None
    state.file = path
    state.save()
    try:
        path = path if given is not None else str(file_here(path))
        key = f"file:{path}:{Path(path).stat().st_mtime_ns}"
        with st.spinner("Reading the questions…"):
            asked = simulator_of(opened).once(
                ("asked", opened.memory.fingerprint(), key), lambda: of_file(opened.memory, Path(path))
            )
    except OSError as error:
        st.warning(as_text(f"{path} cannot be opened: {error.strerror}."))
        return None
    except ForgettingLabError as error:
        st.warning(as_text(error))
        return None
    st.caption(_told(asked))
    return key, lambda: asked


def _stored(name: str, data: bytes) -> str:
    folder = Path(tempfile.gettempdir(), "forgetting-lab-probes", hashlib.sha256(data).hexdigest()[:32])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / Path(name).name
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)
    return str(path)


def _told(asked: ProbeSet) -> str:
    left = f"; {asked.left_out:,} more have evidence that this memory does not hold" if asked.left_out else ""
    return f"{len(asked.questions):,} questions of {as_text(asked.name)} have their evidence in this memory{left}."


_HELP = "A question counts when the turns that hold its answer are in this memory"
_NONE = {
    "demo": "This memory does not hold the demo conversation, so the demo's questions cannot judge it.",
    "own": "Nothing was asked of this memory yet: ask something on the chat page, and it becomes a probe.",
}
