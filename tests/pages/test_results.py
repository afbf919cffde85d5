"""What the results page promises, without a browser: never empty, honest about what is put side by side, no crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from memory_core.evaluation.results import speed
from pages._ui.opened import NAME
from pages._ui.results.state import VIEWS

PAGE = Path(__file__).parents[2] / "pages" / "results.py"


def opened(**state: Any) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    app.session_state[NAME] = ""  # as app.py leaves it before it runs a page
    if state:
        app.session_state["ResultsState"] = state
    app.run()
    assert not app.exception
    return app


def html(app: AppTest) -> str:
    return "\n".join(str(one.proto.body) for one in app.get("html"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs with answers, one of another judge, one all errored, one of one row, one bad file."""

    def write(name: str, meta: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        lines = [
            {"run": {"label": name, "group": "mine", "split_hash": "s", "reader": "r", "pooled": False, **meta}},
            *rows,
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    def row(id: str, judge: int, f1: float, **more: Any) -> dict[str, Any]:
        return {"question_id": id, "question_type": "t", "question": f"<b>Who</b> is {id}?", "predicted": f"{id}!",
                "ground_truth": "Mira", "judge_correct": judge, "f1": f1, "context": "a line", "evidence": ["s1:1"],
                "turns": ["s1:1"], "evidence_time": 0.4, "stale": False,
                "memory": {"nodes": 3, "edges": 2, "bytes_live": 1e6}, **more}  # fmt: skip

    grown = {
        "growth": [{"turns": 1, "nodes": 1, "edges": 0, "bytes": 10}, {"turns": 2, "nodes": 2, "edges": 1, "bytes": 30}]
    }
    write("one", {"judge": "j", "condition": "graph", **grown}, [row("q1", 1, 1.0), row("q2", 0, 0.0)])
    write("two", {"judge": "j", "condition": "flat"}, [row("q1", 0, 0.5), row("q2", 0, 0.0), row("q3", 1, 1.0)])
    write("other", {"judge": "k", "condition": "none"}, [row("q1", 1, 1.0)])
    write(
        "down", {"judge": "j", "condition": "full"}, [{"question_id": "q1", "question_type": "t", "error": "time out"}]
    )
    (tmp_path / "bad.jsonl").write_text("{broken\n", encoding="utf-8")
    names = ("evidence_survival", "answer_survival", "graph_recall@5")
    rows = [{"policy": "lru", "kept": 0.5, **dict(zip(names, (0.4, 0.3, None), strict=True))}]
    band = {name: {"mean": 0.5, "low": 0.4, "high": 0.6} for name in names}
    figures = {"n": 9, "seed": 1, "rows": rows, "random": [{"kept": 0.5, **band}]}
    (tmp_path / "forget.json").write_text(json.dumps(figures), encoding="utf-8")
    return tmp_path


def mine(folder: Path, *names: str, **state: Any) -> AppTest:
    return opened(folder=str(folder), group="mine", runs=[f"{name} · mine" for name in names], **state)


class TestFirstSight:
    def test_the_published_runs_are_there_with_the_papers_table(self) -> None:
        page = html(opened())
        for words in ("temporal-reasoning", "<b>.468</b>", ".454", "1 (1 retried)", "10,000 resamples, seed 42"):
            assert words in page

    @pytest.mark.parametrize("view", VIEWS)
    def test_every_view_opens_on_them(self, view: str) -> None:
        opened(view=view)

    def test_the_comparison_is_the_papers_table_7(self) -> None:
        page = html(opened(view="Compare"))
        assert "By judge accuracy, flat is better than graph: graph minus flat is -0.082" in page
        assert "500 pairs." in page

    def test_rows_without_texts_say_so(self) -> None:
        page = html(opened(view="Flips"))
        assert "this file holds numbers only" in page


class TestShippedRunsOfOurs:
    GROUP = "locomo_dev, experiment 2"

    def test_a_group_shows_first_what_kept_everything_and_then_all(self) -> None:
        app = opened(group=self.GROUP)
        (all_of,) = [button for button in app.button if button.label.startswith("All ")]
        assert app.multiselect[0].value[0].startswith("graph")
        all_of.click().run(timeout=120)
        assert len(app.multiselect[0].value) == int(all_of.label.split()[1]) > 20
        assert not app.exception

    def test_their_curves_tell_growth_and_what_forgetting_costs(self) -> None:
        app = opened(group=self.GROUP, view="Curves")
        next(button for button in app.button if button.label.startswith("All ")).click().run()
        page = html(app)
        for words in ("Quality after forgetting", "Growth", "Retention by age of the evidence"):
            assert words in page


class TestOwnRuns:
    def test_a_bad_file_is_named_and_the_others_are_shown(self, folder: Path) -> None:
        app = mine(folder, "one", "two")
        assert any("bad" in error.value and "line 1" in error.value for error in app.error)
        assert "<b>.500</b>" in html(app)

    def test_runs_of_different_judges_are_never_side_by_side_without_a_warning(self, folder: Path) -> None:
        for view in ("Table", "Compare", "Flips", "Curves", "Export"):
            app = mine(folder, "one", "other", view=view)
            assert any("differ in judge" in warning.value for warning in app.warning), view
        assert not mine(folder, "one", "two").warning

    def test_the_intersection_is_compared_and_what_is_dropped_is_said(self, folder: Path) -> None:
        assert "1 questions that only one run answered are left out" in html(mine(folder, "one", "two", view="Compare"))

    @pytest.mark.parametrize("view", VIEWS)
    @pytest.mark.parametrize("names", [("down",), ("down", "one"), ("other", "down"), ("one",)])
    def test_all_errored_one_row_and_one_run_are_no_crash(
        self, folder: Path, view: str, names: tuple[str, ...]
    ) -> None:
        mine(folder, *names, view=view)

    def test_a_flip_shows_both_answers_the_evidence_and_the_way_to_the_question(self, folder: Path) -> None:
        page = html(mine(folder, "one", "two", view="Flips"))
        for words in ("q1!", "Mira", "s1:1", "1 of 1 evidence turns retrieved", "a line", "retrieval?", "%3Cb%3EWho"):
            assert words in page
        assert "<b>Who</b>" not in page

    def test_curves_show_what_the_files_tell(self, folder: Path) -> None:
        app = mine(folder, "one", "two", view="Curves")
        page = html(app)
        for words in ("Stale answers", "Growth", "What is left after forgetting", "n = 9, seed 1"):
            assert words in page
        assert len(app.get("plotly_chart")) == 4

    def test_filters_narrow_every_figure(self, folder: Path) -> None:
        page = html(mine(folder, "one", words="q2"))
        assert "<td>1</td>" in page
        assert ".000" in page

    def test_nothing_found_is_no_crash(self, folder: Path) -> None:
        for view in VIEWS:
            mine(folder, "one", "two", words="nowhere", view=view)

    def test_a_folder_that_is_not_there_is_told(self) -> None:
        assert any("There is no folder" in error.value for error in opened(folder="/nowhere/at/all").error)

    def test_a_choice_of_runs_that_are_gone_falls_back(self) -> None:
        assert "question type" in html(opened(group="gone", runs=["gone · x"], a="y", b="z", metric="w", view="Table"))


class TestSpeed:
    def test_what_was_measured_is_told_with_its_conditions(self) -> None:
        page = html(opened(view="Speed"))
        for words in ("forgetting-lab", "paper, scan part only", "should be", "On disk: nodes", "cores", "medians"):
            assert words in page

    def test_nothing_measured_yet_and_a_broken_file_are_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(speed, "KEPT", tmp_path / "speed.json")
        assert any("Nothing was measured" in info.value for info in opened(view="Speed").info)
        (tmp_path / "speed.json").write_text("{")
        assert any("cannot be read" in error.value for error in opened(view="Speed").error)
