"""Replay: choose a transcript and watch it being remembered. The job belongs to the memory, not to the page."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import streamlit as st

from memory_core.demo import FILE
from memory_core.errors import ForgettingLabError, FormatError
from memory_core.importers.transcripts import FORMATS, Conversation, Transcript, pool, read_transcript
from memory_core.ingestion import PARALLEL, estimate
from memory_core.jobs import Job
from memory_core.memories import OpenMemory
from memory_core.prices import AS_OF
from memory_core.replay import SPEEDS, Replay, missing, start
from memory_core.schema import Turn
from pages._ui.conversation import MakeModels
from pages._ui.opened import as_text
from pages._ui.signing_in import file_here
from pages._ui.words import day, plural, seconds

_SOURCES = {"demo": "Demo", "upload": "Upload", "path": "File here"}
_POOLED = "all of them, pooled into one memory"


def replay_panel(opened: OpenMemory, models: MakeModels) -> None:
    """The running replay with its controls, or the choice of one."""
    replay = opened.replay
    if replay is not None and not replay.job.finished:
        _running(replay)
        return
    if replay is not None:
        _ended(replay)
    _choose(opened, models)


def _running(replay: Replay) -> None:
    job = replay.job
    st.markdown(f"**{as_text(replay.name)}**")
    left = job.seconds_left
    estimate = f", about {seconds(left + job.delay * (job.total - job.done))} left" if left is not None else ""
    st.progress(
        job.done / job.total if job.total else 0.0,
        f"{job.done:,} of {plural(job.total, 'turn')}, {job.state}{estimate}",
    )
    with st.container(horizontal=True, gap="small", key="replay-controls"):
        if job.state == "paused":
            st.button("Play", icon=":material/play_arrow:", key="resume", on_click=job.resume, type="primary")
        else:
            st.button("Pause", icon=":material/pause:", key="pause", on_click=job.pause, type="primary")
        st.button(
            "Step", icon=":material/skip_next:", key="step", on_click=job.step, help="Remember one turn, then pause"
        )
        st.button(
            "Stop",
            icon=":material/stop:",
            key="stop",
            on_click=job.cancel,
            help="What was remembered stays; play again to go on",
        )
    _speed(job)
    _counts(replay)


def _speed(job: Job | None) -> float:
    named = {delay: name for name, delay in SPEEDS.items()}
    now = named.get(job.delay, "full speed") if job else "full speed"
    chosen = st.segmented_control(
        "Speed", list(SPEEDS), default=now, key=f"speed-{bool(job)}", help="Pause after each turn"
    )
    delay = SPEEDS[chosen or now]
    if job is not None:
        job.delay = delay
    return delay


def _counts(replay: Replay) -> None:
    counts = replay.counts
    st.caption(
        f"{plural(counts.nodes, 'node')} added · {counts.merged:,} merged · {plural(counts.edges, 'edge')} · "
        f"{counts.dropped:,} dropped · {plural(counts.rejected, 'failed turn')}"
        + (f" · {replay.skipped:,} stood here before" if replay.skipped else "")
        + (f" · {counts.spent.replace('$', chr(92) + '$')}" if counts.spent else "")
    )


def _ended(replay: Replay) -> None:
    job = replay.job
    words = {
        "done": f"{replay.name} is remembered: {plural(job.done, 'turn')}.",
        "cancelled": job.error,
        "failed": job.error,
    }
    show = {"done": st.success, "cancelled": st.info, "failed": st.error}[job.state]
    show(as_text(words[job.state]))
    _counts(replay)
    _problems(replay.counts.problems)


def _choose(opened: OpenMemory, models: MakeModels) -> None:
    st.caption("Choose a conversation and watch it become a graph. Pause, step or stop when you like: nothing is lost.")
    source = st.segmented_control("From", list(_SOURCES), default="demo", format_func=_SOURCES.get, key="replay-source")
    try:
        transcript, name = _transcript(source or "demo")
    except ForgettingLabError as error:
        st.error(as_text(error))
        return
    if transcript is None:
        return
    _problems(transcript.problems)
    conversation = _conversation(transcript)
    fresh = missing(opened.memory, conversation.turns)
    here = len(conversation.turns) - len(fresh)
    span = f"{day(conversation.turns[0].at)} to {day(conversation.turns[-1].at)}"
    st.caption(
        f"{plural(len(conversation.turns), 'turn')}, {span}"
        + (f"; {here:,} are in this memory already" if here else "")
    )
    delay = _speed(None)
    parallel = _expected(models, fresh)
    with st.container(horizontal=True, gap="small"):
        play = st.button(
            "Go on" if here and fresh else "Play",
            icon=":material/play_arrow:",
            type="primary",
            disabled=not fresh,
            key="play",
        )
        step = st.button(
            "Step",
            icon=":material/skip_next:",
            disabled=not fresh,
            key="first-step",
            help="Remember one turn, then pause",
        )
    if play or step:
        _begin(opened, models, name, conversation, delay, step, parallel)


def _expected(models: MakeModels, turns: list[Turn]) -> int:
    """Say what the work may take of a model, and ask how many turns are read at once: 1 for the embedded extractor."""
    try:
        expected = estimate(models().extractor, turns)
    except ForgettingLabError as error:
        st.error(as_text(error))
        return 1
    if not expected:
        return 1
    st.caption(as_text(f"{plural(len(turns), 'call')}, at most {expected} (prices of {AS_OF})."))
    return st.number_input(
        "Turns read at once", 1, 32, PARALLEL, key="parallel", help="Calls under way; turns are stored in order"
    )


def _begin(
    opened: OpenMemory, models: MakeModels, name: str, talk: Conversation, delay: float, step: bool, parallel: int
) -> None:
    stop = threading.Event()
    try:
        opened.replay = start(
            opened.worker, opened.memory, name, talk.turns, extractor=models(stop).extractor,
            each=opened.recent.append, delay=delay, paused=step, parallel=parallel, stop=stop,
        )  # fmt: skip
    except ForgettingLabError as error:
        st.error(as_text(error))
        return
    if step:
        opened.replay.job.step()
    st.rerun()


def _transcript(source: str) -> tuple[Transcript | None, str]:
    """What was chosen, once read, and its name. Raises InputError, FormatError."""
    if source == "demo":
        return _read(str(FILE), FILE.stat().st_mtime), FILE.name
    if source == "upload":
        file = st.file_uploader(
            "Transcript", key="replay-upload", help="; ".join(f"{name}: {what}" for name, what in FORMATS.items())
        )
        return (None, "") if file is None else (_upload(file.getvalue(), file.name), file.name)
    typed = st.text_input("Path on this machine", key="replay-path", placeholder="data/locomo_dev.json").strip()
    if not typed:
        return None, ""
    path = file_here(typed)
    return _read(str(path), path.stat().st_mtime if path.is_file() else 0.0), path.name


@st.cache_resource(max_entries=3, show_spinner="Reading the transcript…")
def _read(path: str, changed: float) -> Transcript:
    return read_transcript(Path(path))


def _upload(data: bytes, name: str) -> Transcript:
    try:
        return _read_bytes(hashlib.sha256(data).hexdigest(), data)
    except FormatError as error:
        raise FormatError(str(error).replace("the file", name, 1)) from error


@st.cache_resource(max_entries=3, show_spinner="Reading the transcript…")
def _read_bytes(digest: str, _data: bytes) -> Transcript:
    return read_transcript(_data)


def _conversation(transcript: Transcript) -> Conversation:
    several = transcript.conversations
    if len(several) == 1:
        return several[0]
    ids = [*(talk.id for talk in several), _POOLED]
    chosen = st.selectbox(f"Conversation ({len(several):,} in this file)", ids, key="replay-conversation")
    return pool(transcript) if chosen == _POOLED else several[ids.index(chosen)]


def _problems(problems: list[str] | tuple[str, ...]) -> None:
    if problems:
        with st.expander(f"{plural(len(problems), 'part')} of the file could not be used"):
            st.text("\n".join(problems[:200]))
