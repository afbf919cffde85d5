"""The same figures as files: CSV, Markdown, LaTeX, and one HTML report that needs no network."""

from __future__ import annotations

import json

import streamlit as st

from memory_core.evaluation.results.curves import differences
from memory_core.evaluation.results.flips import pairs
from memory_core.evaluation.results.flips import to_csv as pairs_csv
from memory_core.evaluation.results.table import Table, headline, table, to_csv, to_latex, to_markdown
from memory_core.figures.forest import forest
from memory_core.figures.report import Section, report
from memory_core.figures.spread import spread
from memory_core.figures.trend import trend
from pages._ui.results.choosing import NAMES, Chosen, warn
from pages._ui.results.comparing import footnote, rows, verdict
from pages._ui.results.curving import storage_series
from pages._ui.results.sources import differing
from pages._ui.results.state import ResultsState
from pages._ui.results.tables import by_type_html, method, overall_html, shown_metrics


def exporting(chosen: Chosen, state: ResultsState) -> None:
    """Draw the downloads, with the Markdown to copy."""
    warn(chosen.warnings)
    made = table(chosen.shown, shown_metrics(chosen))
    with st.container(horizontal=True, gap="small"):
        _button("Table, CSV", to_csv(table(chosen.shown, chosen.metrics)), "results.csv")
        _button("Table, Markdown", to_markdown(made), "results.md")
        _button("Table, LaTeX", to_latex(made), "results.tex")
        _button("All figures, JSON", json.dumps(chosen.shown, indent=1), "results.json")
        if len(chosen.runs) > 1:
            a, b = _pair(chosen, state)
            found = pairs(chosen.runs[a], chosen.runs[b], chosen.metric)
            _button(f"Questions of {a} and {b}, CSV", pairs_csv(found, chosen.metric), "questions.csv")
        st.download_button(
            "Report, HTML", lambda: _report(chosen, state, made), "report.html", "text/html", key="results-report",
            on_click="ignore", type="primary", help="Tables and live pictures in one file that needs no network (5 MB)",
        )  # fmt: skip
    st.caption("A picture as PNG: the camera above it, at its right.")
    st.code(to_markdown(made), language="markdown")


def _button(label: str, data: str, name: str) -> None:
    st.download_button(label, data, name, key=f"results-get-{name}", on_click="ignore")


def _pair(chosen: Chosen, state: ResultsState) -> tuple[str, str]:
    names = list(chosen.runs)
    a = state.a if state.a in names else names[0]
    return a, state.b if state.b in names and state.b != a else next(name for name in names if name != a)


def _report(chosen: Chosen, state: ResultsState, made: Table) -> str:
    metric = NAMES.get(chosen.metric, chosen.metric)
    narrowed = f"Types: {', '.join(state.types)}. " if state.types else ""
    narrowed += f"Questions with the words {state.words!r}." if state.words else ""
    overall = overall_html(chosen.shown, headline(chosen.metrics))
    sections = [
        Section("By question type", "\n".join([*chosen.warnings, narrowed]), by_type_html(made)),
        Section("Overall", method(chosen.shown), overall),
    ]
    if len(chosen.runs) > 1:
        a, b = _pair(chosen, state)
        found = differing(chosen.full[a], chosen.full[b], state)
        told = differences(chosen.runs[a].answered, chosen.runs[b].answered, chosen.metric)
        charts = (forest(rows(found), axis=f"{a} minus {b}"), spread(told, axis=f"{a} minus {b}, {metric}"))
        text = "\n".join([*found["warnings"], verdict(found, a, b, chosen.metric), footnote(found)])
        sections.append(Section(f"{a} minus {b}", text, charts=charts))
    sizes = storage_series(chosen)
    if sizes:
        sections.append(
            Section("Storage against quality",
                    charts=(trend(sizes, x_title="live MB", y_title=metric, share=True, lines=False),))
        )  # fmt: skip
    return report("Results of Forgetting Lab", sections)
