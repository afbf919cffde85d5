"""Beyond the means: size against quality and survival, age of the evidence, stale answers, growth."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core.evaluation.results import figure
from memory_core.evaluation.results.catalog import Loaded
from memory_core.evaluation.results.curves import after_forgetting, by_age, growths, size_of, spread_of, stale_rate
from memory_core.figures.curves import Band, Point, survival_curves
from memory_core.figures.trend import Mark, Series, trend
from pages._ui.results.choosing import NAMES, Chosen, warn
from pages._ui.results.comparing import picture
from pages._ui.results.state import ResultsState
from pages._ui.words import dark, safe

_SURVIVAL = ("evidence_survival", "answer_survival", "graph_recall@5")


def curving(chosen: Chosen, loaded: dict[str, Loaded], state: ResultsState) -> None:
    """Draw it."""
    warn(chosen.warnings)
    left, right = st.columns(2, gap="medium")
    with left:
        _storage(chosen)
        _growth(chosen)
    with right:
        _age(chosen)
        _stale(chosen)
    _quality(chosen)
    data = {run.meta.get("data") for run in chosen.full.values()}
    told = {name: one.survival for name, one in loaded.items() if one.survival is not None
            and (one.path is None or one.survival.get("data") in data)}  # fmt: skip
    _survival(told)


def _head(title: str, words: str) -> None:
    st.html(f"<h4 class='small'>{safe(title)}</h4><p class='method'>{safe(words)}</p>")


def storage_series(chosen: Chosen) -> list[Series]:
    """A dot a run: live megabytes against the metric."""
    found = []
    for name, run in chosen.runs.items():
        size, told = size_of(run).bytes, figure(run, chosen.metric)
        if size and told:
            low, high = told.get("wilson") or told["ci"]
            found.append(Series(name, (Mark(round(size / 1e6, 3), told["mean"], low, high, told["n"]),)))
    return found


def _storage(chosen: Chosen) -> None:
    metric = NAMES.get(chosen.metric, chosen.metric)
    _head("Storage against quality", f"Live megabytes (the mean over memories) against {metric} with its interval.")
    found = storage_series(chosen)
    if not found:
        st.caption("None of these runs tells the size of its memory.")
        return
    picture(trend(found, x_title="live MB", y_title=metric, dark=dark(), share=True, lines=False), "storage")
    st.html(_sizes(chosen))


def _sizes(chosen: Chosen) -> str:
    rows = ""
    for name, run in chosen.runs.items():
        size = size_of(run)
        if size.nodes is not None:
            cells = "".join(f"<td>{value:,.0f}</td>" if value is not None else "<td>n/a</td>"
                            for value in (size.nodes, size.edges))  # fmt: skip
            megabytes = f"<td>{(size.bytes or 0) / 1e6:,.2f}</td>"
            rows += f'<tr><td class="name">{safe(name)}</td>{cells}{megabytes}</tr>'
    return _table(("run", "nodes", "edges", "live MB"), rows)


def _table(names: tuple[str, ...], rows: str) -> str:
    first, *others = names
    head = f'<th class="name">{first}</th>' + "".join(f"<th>{name}</th>" for name in others)
    table = f'<table class="runs"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="wide tall">{table}</div>'


def _age(chosen: Chosen) -> None:
    metric = NAMES.get(chosen.metric, chosen.metric)
    _head("Retention by age of the evidence", "Equal slices of the conversation's time; T1 is the oldest.")
    found = [
        Series(name, tuple(Mark(slice, one.mean, one.low, one.high, one.n) for slice, one in told))
        for name, run in chosen.runs.items()
        if (told := by_age(run, chosen.metric))
    ]
    if not found:
        st.caption("These runs do not tell when their evidence was said; runs of `bench run` do.")
        return
    picture(trend(found, x_title="slice of time, oldest first", y_title=metric, dark=dark(), share=True), "age")


def _stale(chosen: Chosen) -> None:
    _head("Stale answers on knowledge updates", "Answers that rest on an older evidence turn and not on the newest, of "
          "those that rest on any.")  # fmt: skip
    rows = ""
    for name, run in chosen.runs.items():
        stale, told, (low, high) = stale_rate(run)
        if told:
            cells = f"<td>{stale:,}</td><td>{told:,}</td><td>{stale / told:.3f} [{low:.3f}, {high:.3f}]</td>"
            rows += f'<tr><td class="name">{safe(name)}</td>{cells}</tr>'
    if not rows:
        st.caption("These runs do not tell which turns their answers rest on; runs of `bench run` do.")
        return
    st.html(_table(("run", "stale", "of", "rate, Wilson's interval"), rows))


def _growth(chosen: Chosen) -> None:
    grown = growths(list(chosen.runs.values()))
    if not grown:
        return
    _head("Growth", "What is alive after each number of turns in one memory of all sessions, by way to forget.")
    told = ["nodes", "edges", "bytes"]
    what = st.segmented_control("of", told, default="nodes", label_visibility="collapsed") or "nodes"
    found = [Series(name, tuple(Mark(row["turns"], row[what]) for row in rows)) for name, rows in grown.items()]
    picture(trend(found, x_title="turns", y_title=what, dark=dark()), "growth")


def quality_data(chosen: Chosen) -> tuple[list[Point], list[Band]]:
    """The metric of each run that forgot, a panel a condition; several random prunes of one size become the band."""
    found = after_forgetting(list(chosen.runs.values()), chosen.metric)
    points, bands = list[Point](), list[Band]()
    for condition in dict.fromkeys(one.condition for one in found):
        panel = f"{condition}: {NAMES.get(chosen.metric, chosen.metric)}"
        own = [one for one in found if one.condition == condition]
        whole = [one.mean for one in own if one.policy == "everything"]
        policies = list(dict.fromkeys(one.policy for one in own if one.policy not in ("everything", "random")))
        points += [Point(policy, panel, 1.0, whole[0]) for policy in policies if whole and policy != "every"]
        points += [Point(one.policy, panel, one.share, one.mean) for one in own if one.policy in policies]
        drawn: dict[float, list[float]] = {1.0: whole[:1]}
        for one in own:
            if one.policy == "random":
                drawn.setdefault(round(one.share, 2), []).append(one.mean)
        bands += [Band(panel, share, *spread_of(means)) for share, means in drawn.items() if means and len(drawn) > 1]
    return points, bands


def _quality(chosen: Chosen) -> None:
    points, bands = quality_data(chosen)
    if points or bands:
        words = "Share of nodes kept against the metric; grey is the range of the random prunes (2.5 to 97.5 %)."
        _head("Quality after forgetting", words)
        picture(survival_curves(points, bands, dark=dark()), "quality")


def survival_data(told: dict[str, Any]) -> tuple[list[Point], list[Band]]:
    """The rows and the random band of `bench forget`, both from the whole memory on."""
    before = {name: value for name, value in told.get("before", {}).items() if value is not None}
    policies = list(dict.fromkeys(row["policy"] for row in told["rows"] if row["policy"] != "random"))
    points = [Point(policy, name, 1.0, before[name]) for policy in policies for name in _SURVIVAL if name in before]
    points += [Point(row["policy"], name, row["kept"], row.get(name))
               for row in told["rows"] if row["policy"] in policies for name in _SURVIVAL]  # fmt: skip
    bands = [Band(name, 1.0, *[before[name]] * 3) for name in _SURVIVAL if name in before]
    for row in told.get("random", []):
        for name in _SURVIVAL:
            band = row.get(name) or {}
            if None not in (limits := [band.get(part) for part in ("mean", "low", "high")]):
                bands.append(Band(name, row["kept"], *limits))
    return points, bands


def _survival(found: dict[str, Any]) -> None:
    _head("What is left after forgetting", "Share of nodes kept against the three survival figures; grey is 95 % of "
          "random prunes of the same size. Read the three together.")  # fmt: skip
    if not found:
        st.caption("No figures are loaded: save what `python -m memory_core bench forget FILE --json` prints as .json.")
        return
    name = st.selectbox("Figures", list(found), label_visibility="collapsed") if len(found) > 1 else next(iter(found))
    told = found[name]
    picture(survival_curves(*survival_data(told), dark=dark()), "survival")
    counts = ", ".join(f"{one.replace('_', ' ')} n = {n:,}" for one, n in told.get("n_figures", {}).items())
    counts = counts or f"n = {told.get('n', 'not told')}"
    drawn = f"; {told['prunes']} random prunes a size" if told.get("prunes") else ""
    seed = "" if told.get("seed") is None else f", seed {told['seed']}"
    st.html(f'<p class="method">{safe(f"{name}: {counts}{drawn}{seed}")}</p>')
