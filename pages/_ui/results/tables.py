"""Table 1: each type and overall; below it the overall figures with their uncertainty."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core.evaluation.results.table import OVERALL, SHORT, WORDS, Cell, Table, headline, table
from pages._ui.results.choosing import NAMES, Chosen
from pages._ui.words import safe

_WIDE = 4  # runs that fit side by side; more become lines of one metric
_PAPER = ("precision", "f1", "judge_correct", "recall")


def shown_metrics(chosen: Chosen) -> list[str]:
    """P, F1 and J in the paper's order; without a judge evidence figures stand in their place."""
    best = headline(chosen.metrics, 3)
    return [name for name in _PAPER if name in ("recall", *chosen.metrics)][:3] if "judge_correct" in best else best


def tables(chosen: Chosen) -> None:
    """Draw both."""
    many = len(chosen.runs) > _WIDE
    made = table(chosen.shown, [chosen.metric] if many else shown_metrics(chosen))
    if many:
        st.html(f"<h4 class='small'>By question type: {safe(NAMES.get(chosen.metric, chosen.metric))}</h4>")
    st.html(f'<div class="wide">{by_run_html(made) if many else by_type_html(made)}</div>')
    st.html("<h4 class='small'>Overall, with uncertainty</h4>")
    st.html(f'<div class="wide">{overall_html(chosen.shown, headline(chosen.metrics))}</div>')
    st.html(f'<p class="method">{safe(method(chosen.shown))}</p>')


def by_type_html(made: Table) -> str:
    """The table by type as HTML: a heading a run, the best of each row in bold."""
    runs = "".join(f'<th colspan="{len(made.metrics)}" class="run">{safe(run)}</th>' for run in made.runs)
    names = "".join(_name(name, place == 0) for _ in made.runs for place, name in enumerate(made.metrics))
    head = f'<tr><th class="name" rowspan="2">question type</th><th rowspan="2" title="questions">n</th>{runs}</tr>'
    body = "".join(_row(made, kind) for kind in made.rows)
    return f'<table class="runs"><thead>{head}<tr>{names}</tr></thead><tbody>{body}</tbody></table>'


def by_run_html(made: Table) -> str:
    """One metric: a line a run, a column a type; the best of each column in bold."""
    name = made.metrics[0]
    kinds = "".join(f"<th>{safe(kind)}<br><small>n {made.n(kind)}</small></th>" for kind in made.rows)
    body = "".join(
        f'<tr><td class="name">{safe(run)}</td>'
        + "".join(_cell(made.rows[kind][run][name], kind == OVERALL) for kind in made.rows)
        + "</tr>"
        for run in made.runs
    )
    head = f'<tr><th class="name">run</th>{kinds}</tr>'
    return f'<table class="runs"><thead>{head}</thead><tbody>{body}</tbody></table>'


def _name(name: str, first: bool) -> str:
    words = safe(WORDS.get(name, name))
    return f'<th class="{"first" if first else ""}" title="{words}">{safe(SHORT.get(name, name))}</th>'


def _row(made: Table, kind: str) -> str:
    cells = "".join(
        _cell(made.rows[kind][run][name], place == 0) for run in made.runs for place, name in enumerate(made.metrics)
    )
    line = "overall" if kind == OVERALL else ""
    return f'<tr class="{line}"><td class="name">{safe(kind)}</td><td>{made.n(kind)}</td>{cells}</tr>'


def _cell(cell: Cell, first: bool) -> str:
    text = f"<b>{cell.text}</b>" if cell.best else cell.text
    return f'<td class="{"first" if first else ""}" title="{safe(cell.full)}, n = {cell.n}">{text}</td>'


def overall_html(shown: dict[str, dict[str, Any]], metrics: list[str]) -> str:
    """A line a run: counts, then mean ± SEM with the interval."""
    head = "".join(_name(name, True) for name in metrics)
    rows = "".join(
        f'<tr><td class="name">{safe(run)}</td><td>{one["n"]:,}</td><td>{_errors(one)}</td><td>{_unjudged(one)}</td>'
        + "".join(f'<td class="first">{_full(one, name)}</td>' for name in metrics)
        + "</tr>"
        for run, one in shown.items()
    )
    return (
        '<table class="runs"><thead><tr><th class="name">run</th><th title="questions answered">n</th>'
        '<th title="questions with an errored row; those answered later in brackets">errored</th>'
        f'<th title="answered, but no verdict">unjudged</th>{head}</tr></thead><tbody>{rows}</tbody></table>'
    )


def _unjudged(one: dict[str, Any]) -> str:
    return "no judge" if one["n"] and one["unjudged"] == one["n"] else f"{one['unjudged']:,}"


def _errors(one: dict[str, Any]) -> str:
    return f"{one['errored']:,}" + (f" ({one['retried']:,} retried)" if one["retried"] else "")


def _full(one: dict[str, Any], name: str) -> str:
    figure = one["overall"].get(name)
    if not figure or figure["mean"] is None:
        return "n/a"
    low, high = figure.get("wilson") or figure["ci"]
    text = Cell(figure["n"], figure["mean"], figure["sem"], low, high).full
    wrong = one["errors_as_wrong"][name]["mean"]
    return text if wrong == figure["mean"] else f"{text} <small>errors as wrong {wrong:.3f}</small>"


def method(shown: dict[str, dict[str, Any]]) -> str:
    """How the figures were made, with the seed."""
    if not shown:
        return ""
    made = next(iter(shown.values()))["method"]
    return (
        f"Mean ± standard error [95 % interval]. Intervals: {made['interval']}, {made['resamples']:,} resamples, seed "
        f"{made['seed']}; Wilson's for the judge. Errored rows are counted, not averaged. Bold: the best of a row."
    )
