"""Two runs question by question: the paired differences as a forest plot, by type, and how they are spread."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core.evaluation.results import Run
from memory_core.evaluation.results.catalog import only
from memory_core.evaluation.results.curves import differences
from memory_core.figures.chart import Chart
from memory_core.figures.forest import Difference, forest
from memory_core.figures.spread import spread
from pages._ui.results.choosing import NAMES, Chosen, warn
from pages._ui.results.pairing import between, pairing
from pages._ui.results.sources import differing
from pages._ui.results.state import ResultsState
from pages._ui.words import dark, safe


def comparing(chosen: Chosen, state: ResultsState) -> None:
    """Draw it."""
    pair = pairing(chosen, state)
    if pair is None:
        return
    a, b = pair
    warn(between(chosen, a, b))
    found = differing(chosen.full[a], chosen.full[b], state)
    st.html(f'<p class="lead">{safe(verdict(found, a, b, chosen.metric))}</p>')
    name = safe(NAMES.get(chosen.metric, chosen.metric))
    st.html("<h4 class='small'>All questions, each metric</h4>")
    picture(forest(rows(found), axis=f"{a} minus {b}", dark=dark()), "paired")
    st.html(f"<h4 class='small'>By question type: {name}</h4>")
    picture(forest(by_type(chosen, a, b, state), axis=f"{a} minus {b}", dark=dark()), "paired-types")
    st.html(f"<h4 class='small'>How the differences of single questions are spread: {name}</h4>")
    told = differences(chosen.runs[a].answered, chosen.runs[b].answered, chosen.metric)
    picture(spread(told, axis=f"{a} minus {b}", dark=dark()), "spread")
    st.html(f'<p class="method">{safe(footnote(found))}</p>')


def verdict(found: dict[str, Any], a: str, b: str, metric: str) -> str:
    """One sentence: which is better by the metric, and whether that is told from chance."""
    one, name = found["metrics"].get(metric), NAMES.get(metric, metric)
    if not one or one["diff"] is None:
        return f"{a} and {b} have no answered question in common that {name} measures."
    size = f"{one['diff']:+.3f} [{one['ci'][0]:+.3f}, {one['ci'][1]:+.3f}], p {_p(one['p'])}, n = {one['n']:,}"
    if not one["significant"]:
        return f"By {name}, {a} and {b} cannot be told apart: {a} minus {b} is {size}."
    better, worse = (a, b) if one["diff"] > 0 else (b, a)
    return f"By {name}, {better} is better than {worse}: {a} minus {b} is {size}."


def _p(value: float) -> str:
    return "< .001" if value < 0.001 else f"= {value:.3f}".replace("0.", ".")


def rows(found: dict[str, Any]) -> list[Difference]:
    """The differences of every metric of ours; the data sets' own are there to choose."""
    return [
        Difference(NAMES.get(name, name), one["diff"], *one["ci"], one["n"])
        for name, one in found["metrics"].items()
        if one["diff"] is not None and not name.startswith(("longmemeval_", "locomo_"))
    ]


def by_type(chosen: Chosen, a: str, b: str, state: ResultsState) -> list[Difference]:
    """The metric's difference within each question type."""
    runs: tuple[Run, Run] = (chosen.runs[a], chosen.runs[b])
    kinds = list(dict.fromkeys(row.type for row in runs[0].rows))
    found = []
    for kind in kinds:
        narrow = ResultsState(types=[kind], words=state.words)
        one = differing(*(only(run, [kind]) for run in runs), narrow)["metrics"].get(chosen.metric)
        if one and one["diff"] is not None:
            found.append(Difference(f"{kind or 'no type'} ({one['n']})", one["diff"], *one["ci"], one["n"]))
    return found


def footnote(found: dict[str, Any]) -> str:
    """Pairs, what was dropped, the method and the seed."""
    made = found["method"]
    dropped = f"{found['dropped']:,} questions that only one run answered are left out. " if found["dropped"] else ""
    unsaid = f"Neither run tells its {', '.join(found['unsaid'])}. " if found["unsaid"] else ""
    how = f"{made['interval'].capitalize()}, {made['resamples']:,} resamples, seed {made['seed']}."
    return (
        f"{found['n']:,} pairs. {dropped}{unsaid}{how} Filled marks: the interval excludes 0. No correction for "
        "looking at several metrics or types."
    )


def picture(chart: Chart, name: str) -> None:
    """A chart with its words and a PNG of twice its size in its menu."""
    options = {"displaylogo": False, "modeBarButtons": [["toImage"]],
               "toImageButtonOptions": {"format": "png", "scale": 2, "filename": name}}  # fmt: skip
    st.plotly_chart(chart.figure, theme=None, config=options, key=f"results-{name}", alt=chart.alt)
