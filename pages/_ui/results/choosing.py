"""Which runs are looked at, by which metric, over which questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from memory_core.evaluation.results import Run, disagreements
from memory_core.evaluation.results.catalog import Loaded, only
from memory_core.evaluation.results.table import WORDS, headline, metrics_of
from memory_core.evaluation.runner import CONDITIONS
from pages._ui.opened import as_text
from pages._ui.results.sources import figures, run_of
from pages._ui.results.state import ResultsState

ALL = "all groups"


@dataclass(frozen=True)
class Chosen:
    """The runs in order of choice, narrowed; `full` the runs as read, `shown` their figures, made when looked at."""

    runs: dict[str, Run]
    full: dict[str, Run]
    metric: str
    metrics: list[str]
    warnings: list[str]
    state: ResultsState

    @property
    def shown(self) -> dict[str, dict[str, Any]]:
        return {name: figures(run, self.state) for name, run in self.full.items()}


def choosing(loaded: dict[str, Loaded], state: ResultsState) -> Chosen:
    """Draw the menu and return what is chosen."""
    names = sorted((of for of, one in loaded.items() if one.survival is None), key=lambda of: _place(loaded[of]))
    groups = list(dict.fromkeys(loaded[name].group for name in names))
    group = st.selectbox(
        "Group", [*groups, ALL], key=state.widget("group", [*groups, ALL]),
        help="Runs of one data set and experiment can be compared with each other",
    )  # fmt: skip
    if group != state.group:
        state.keep("group", group)
        state.keep("runs", [])
        st.session_state.pop("results-runs", None)
    inside = [name for name in names if group in (ALL, loaded[name].group)]
    if not state.runs:
        state.runs = inside[:6]
    short = {name: loaded[name].name if group != ALL else name for name in inside}
    picked = st.multiselect(
        "Runs", inside, key=state.widget("runs", inside), format_func=lambda name: short.get(name, name)
    )
    state.keep("runs", picked)
    if len(picked) < len(inside):
        st.button(f"All {len(inside):,} of the group", on_click=lambda: _choose(state, inside), type="tertiary")
    runs = {name: run_of(loaded[name]) for name in picked}
    kinds = list(dict.fromkeys(row.type for name in picked for row in runs[name].rows if row.type))
    state.keep("types", st.multiselect("Question types", kinds, key=state.widget("types", kinds), placeholder="all"))
    words = st.text_input(
        "Search questions", key=state.widget("words"), placeholder="words of an id, question or answer"
    )
    state.keep("words", words)
    metrics = metrics_of(runs.values()) or ["f1"]
    metrics = [*(first := headline(metrics, 1)), *(name for name in metrics if name not in first)]
    metric = st.selectbox(
        "Metric", metrics, key=state.widget("metric", metrics), format_func=lambda name: NAMES.get(name, name),
        help=WORDS.get(state.metric, "The metric of comparisons, flips and curves"),
    )  # fmt: skip
    state.keep("metric", metric)
    narrowed = {name: only(run, state.types, state.words) for name, run in runs.items()}
    full = _relabelled(runs, short)
    return Chosen(_relabelled(narrowed, short), full, metric, metrics, _warnings(full), state)


def _choose(state: ResultsState, names: list[str]) -> None:
    st.session_state["results-runs"] = names
    state.keep("runs", names)


def _place(one: Loaded) -> tuple[bool, int]:
    """What keeps everything first, then conditions in their usual order: a graph memory is A, its baseline B."""
    condition, forget = str(one.meta.get("condition")), one.meta.get("forget")
    forgets = isinstance(forget, dict) and forget.get("name") != "none"
    return forgets, CONDITIONS.index(condition) if condition in CONDITIONS else len(CONDITIONS)


NAMES = {"judge_correct": "judge accuracy", "f1": "token F1", "precision": "token precision", "recall": "token recall"}


def _relabelled(values: dict[str, Any], short: dict[str, str]) -> dict[str, Any]:
    labels = [short[name] for name in values]
    return {short[name] if labels.count(short[name]) == 1 else name: value for name, value in values.items()}


def _warnings(runs: dict[str, Run]) -> list[str]:
    """What stands between the first run and each other, one line a difference."""
    names = list(runs)
    found: dict[str, list[str]] = {}
    for other in names[1:]:
        for line in disagreements(runs[names[0]].meta, runs[other].meta):
            found.setdefault(line, []).append(other)
    return [f"{names[0]} and {', '.join(others)}: {line}" for line, others in found.items()]


def warn(lines: list[str]) -> None:
    """A plain warning above whatever puts such runs together."""
    if lines:
        st.warning("Not one comparison. " + as_text(" ".join(lines[:6])), icon=":material/warning:")
