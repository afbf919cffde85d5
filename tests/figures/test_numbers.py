"""Charts of numbers: the bars are the counts, the cut is an edge, and the words beside say the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_core.figures.curves import Band, Point, survival_curves
from memory_core.figures.forest import Difference, forest
from memory_core.figures.histogram import bin_edges

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=80)


@given(SCORES, st.floats(0, 1))
@example([4e-240, 0.09, 1.0], 1e-38)
@settings(deadline=None)
def test_no_bar_straddles_the_cut_and_no_score_is_lost(scores: list[float], threshold: float) -> None:
    values = np.array(scores)
    edges = bin_edges(values, threshold)
    assert threshold in edges
    counts, _ = np.histogram(values, edges)
    assert counts[edges[:-1] < threshold].sum() == (values < threshold).sum()
    assert counts.sum() == len(scores)


def test_the_forest_fills_only_intervals_that_exclude_zero() -> None:
    rows = [
        Difference("hybrid - bm25", 0.061, 0.032, 0.09, 236),
        Difference("graph - flat", -0.08, -0.12, -0.04, 236),
        Difference("hybrid - flat", 0.01, -0.02, 0.04, 236),
    ]
    chart = forest(rows, axis="fraction@5")
    assert [mark.marker.symbol for mark in chart.figure.data] == ["circle", "circle", "circle-open"]
    assert [(mark.x[0] - mark.error_x.arrayminus[0]) for mark in chart.figure.data] == pytest.approx(
        [0.032, -0.12, -0.02]
    )
    low, high = chart.figure.layout.xaxis.range
    assert low < -0.12
    assert high == -low
    assert chart.alt.startswith("Forest plot of fraction@5: 2 of 3 intervals exclude zero.")
    assert forest([]).alt.endswith("nothing to compare.")


def test_curves_have_a_panel_a_measure_and_name_who_beats_the_band() -> None:
    points = [
        Point(p, m, k, v) for m in ("evidence", "answer") for p, k, v in (("lru", 0.5, 0.4), ("coverage", 0.5, 0.9))
    ]
    points.append(Point("lru", "answer", 0.7, None))
    bands = [Band(m, 0.5, 0.5, 0.45, 0.55) for m in ("evidence", "answer")]
    chart = survival_curves(points, bands)
    assert [note.text for note in chart.figure.layout.annotations] == ["evidence", "answer"]
    assert sorted(t.name for t in chart.figure.data if t.showlegend) == [
        "coverage",
        "lru",
        "random, 95 % of prunes",
        "random, mean",
    ]
    assert chart.alt.endswith("Points above the random band: lru 0, coverage 2.")
    band = next(trace for trace in chart.figure.data if trace.fill == "toself")
    assert list(band.y) == [0.55, 0.45]
    assert "no prune was measured" in survival_curves([], []).alt


@pytest.mark.parametrize("dark", [False, True])
def test_every_chart_is_clear_of_its_page(dark: bool) -> None:
    charts = [
        forest([Difference("a - b", 0.1, 0.0, 0.2, 9)], dark=dark),
        survival_curves([Point("lru", "evidence", 0.5, 0.4)], [], dark=dark),
    ]
    for chart in charts:
        assert chart.figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
        assert chart.figure.layout.font.color == ("#e6e8ee" if dark else "#262730")
        assert chart.alt
