"""Lines, dots and differences of runs, and the report that holds them without a network."""

from __future__ import annotations

import re

from memory_core.figures.report import Section, report
from memory_core.figures.spread import spread
from memory_core.figures.trend import Mark, Series, trend

RUN = Series("graph", (Mark("T1", 0.5, 0.4, 0.6, 12), Mark("T2", 0.25, 0.2, 0.3, 9)))


def test_a_trend_carries_its_intervals_and_says_them_in_words() -> None:
    chart = trend([RUN], x_title="time", y_title="F1", share=True)
    line = chart.figure.data[0]
    assert [round(up, 3) for up in line.error_y.array] == [0.1, 0.05]
    assert [round(down, 3) for down in line.error_y.arrayminus] == [0.1, 0.05]
    assert chart.figure.layout.yaxis.range == (0, 1.02)
    assert chart.alt == (
        "F1 against time. graph from 0.500 [0.400, 0.600], n = 12 at T1 to 0.250 [0.200, 0.300], n = 9 at T2."
    )


def test_points_without_intervals_have_no_whiskers() -> None:
    chart = trend([Series("a", (Mark(1, 10), Mark(2, 20)))], x_title="turns", y_title="nodes")
    assert chart.figure.data[0].error_y.array is None
    assert trend([], x_title="turns", y_title="nodes").alt == "nodes against turns: nothing was measured."


def test_every_difference_is_in_one_bar_and_0_in_the_middle_one() -> None:
    chart = spread([-1, -0.5, 0, 0, 0.04, 1], axis="A minus B")
    counts = list(chart.figure.data[0].y)
    assert (sum(counts), counts[0], counts[10], counts[-1]) == (6, 1, 3, 1)
    assert chart.alt == "Distribution of A minus B over 6 questions: 2 above 0, 2 below, 2 equal."
    assert spread([], axis="A minus B").alt.endswith("no question in common.")


def test_a_report_needs_no_network_and_reads_names_as_text() -> None:
    charts = (trend([RUN], x_title="time", y_title="F1"), spread([0.5], axis="d"))
    page = report("<b>Mine</b>", [Section("One & two", "a <i>line</i>", "<table></table>", charts)])
    assert "&lt;b&gt;Mine&lt;/b&gt;" in page
    assert "a &lt;i&gt;line&lt;/i&gt;" in page
    assert page.count('class="plotly-graph-div"') == 2
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=.https?:", page)
