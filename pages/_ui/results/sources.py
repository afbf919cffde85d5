"""Where runs come from: those that ship with the app, a folder, files dropped here. Each is read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from memory_core.errors import ForgettingLabError
from memory_core.evaluation.datasets import load_benchmark
from memory_core.evaluation.results import Run, compare, completed, show
from memory_core.evaluation.results.catalog import Loaded, files_in, glance, load, named, only
from pages._ui.opened import as_text
from pages._ui.results.state import ResultsState
from pages._ui.signing_in import file_here

SHIPPED = Path(__file__).parents[3] / "data" / "runs"


def sources(state: ResultsState) -> dict[str, Loaded]:
    """Draw the menu and return every file that could be read, by a unique name; the others are named on the page."""
    with st.expander("Add runs", icon=":material/add:"):
        dropped = st.file_uploader(
            "Run files", ["jsonl", "json", "csv", "gz"], accept_multiple_files=True, key="results-dropped",
            help="Our run files, the authors' summary and questions, LongMemEval hypotheses and judge logs, LoCoMo "
            "outputs, JSONL, CSV, and what `bench forget --json` prints; any of them gzipped",
        )  # fmt: skip
        folder = st.text_input("or a folder", key=state.widget("folder"), placeholder="what --out was given")
        columns = st.text_input(
            "Columns named otherwise", key=state.widget("columns"), placeholder="question_id=item, f1=score",
            help="Our name = the name in the file: question_id, question_type, f1, precision, recall, judge_correct, "
            "predicted, ground_truth, error",
        )  # fmt: skip
        data = st.text_input(
            "Benchmark file", key="results-data", placeholder="longmemeval_oracle.json",
            help="Fills in types, expected answers and token scores of files that hold answers only",
        )  # fmt: skip
    state.keep("folder", folder)
    state.keep("columns", columns)
    mapped, problems = _mapping(columns), list[str]()
    data = _here(data.strip(), problems)
    found = [_tried(lambda path=path: _glanced(str(path), path.stat().st_mtime_ns), problems)
             for path in _listed(str(SHIPPED), problems)]  # fmt: skip
    found += [_tried(lambda path=path: _read(str(path), path.stat().st_mtime_ns, data, mapped), problems)
              for path in (_listed(folder.strip(), problems) if folder.strip() else [])]  # fmt: skip
    found += [_tried(lambda file=file: _dropped(file.file_id, file, data, mapped), problems)
              for file in dropped]  # fmt: skip
    for problem in problems:
        st.error(as_text(problem))
    return named(one for one in found if one is not None)


def _mapping(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(","))
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs if ours.strip() and theirs.strip()}


def _here(typed: str, problems: list[str]) -> str:
    try:
        return str(file_here(typed)) if typed else ""
    except ForgettingLabError as error:
        problems.append(str(error))
        return ""


def _listed(folder: str, problems: list[str]) -> list[Path]:
    try:
        return files_in(SHIPPED if folder == str(SHIPPED) else file_here(folder))
    except (ForgettingLabError, OSError) as error:
        problems.append(str(error))
        return []


def _tried(read, problems: list[str]) -> Loaded | None:  # type: ignore[no-untyped-def]
    try:
        return read()
    except ForgettingLabError as error:
        problems.append(str(error))
        return None


def run_of(one: Loaded) -> Run:
    """The run, read now where only its first line was. Raises FormatError, InputError."""
    if one.run is None and one.path is not None:
        one = _read(str(one.path), one.path.stat().st_mtime_ns, "", {})
    assert one.run is not None, f"{one.name} is no run"
    return one.run


@st.cache_resource(max_entries=500, show_spinner=False)
def _glanced(path: str, changed: int) -> Loaded:
    return glance(Path(path))


@st.cache_resource(max_entries=200, show_spinner="Reading runs…")
def _read(path: str, changed: int, data: str, columns: Mapping[str, str]) -> Loaded:
    return _completed(load(Path(path), columns=columns), data)


@st.cache_resource(max_entries=50, show_spinner="Reading the file…")
def _dropped(file_id: str, _file: Any, data: str, columns: Mapping[str, str]) -> Loaded:
    try:
        return _completed(load(_file.getvalue(), _file.name, columns), data)
    except ForgettingLabError as error:
        raise type(error)(str(error).replace("the file", _file.name, 1)) from error


def _completed(loaded: Loaded, data: str) -> Loaded:
    if not data or loaded.run is None:
        return loaded
    return replace(loaded, run=completed(loaded.run, load_benchmark(data)))


def figures(run: Run, state: ResultsState) -> dict[str, Any]:
    """`show` of the run as narrowed, made once."""
    return _figures(run.digest, tuple(state.types), state.words, run)


def differing(a: Run, b: Run, state: ResultsState) -> dict[str, Any]:
    """`compare` of two runs as narrowed, made once."""
    return _differing(a.digest, b.digest, tuple(state.types), state.words, a, b)


@st.cache_data(max_entries=400, show_spinner="Computing intervals…")
def _figures(digest: int, types: tuple[str, ...], words: str, _run: Run) -> dict[str, Any]:
    return show(only(_run, types, words))


@st.cache_data(max_entries=200, show_spinner="Computing differences…")
def _differing(a: int, b: int, types: tuple[str, ...], words: str, _a: Run, _b: Run) -> dict[str, Any]:
    return compare(only(_a, types, words), only(_b, types, words))
