"""What the simulator promises: links that hold a setting, effects counted by hand, reasons that come true."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from time import sleep

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.errors import InputError
from memory_core.figures.map import by_score
from memory_core.forgetting import plan_forgetting
from memory_core.jobs import Job, Worker
from memory_core.memories import FolderMemories, OpenMemory
from memory_core.policies import found, make, parameters
from memory_core.schema import Turn
from memory_core.simulator import Setting, Simulator, simulator_of
from memory_core.simulator.comparing import Comparison, axes_of, start, values_of
from memory_core.simulator.effects import Shape, effects, words
from memory_core.simulator.fading import DAYS, fading_of
from memory_core.simulator.immunity import colors, immunity, untouched
from memory_core.simulator.pricing import start as price
from memory_core.simulator.questions import ProbeSet, of_file
from memory_core.simulator.reasons import cut_line, reasons
from memory_core.simulator.selecting import forgotten, pinned, sessions
from memory_core.simulator.sharing import command, comparison_csv, comparison_report, plan_json, price_report
from memory_core.simulator.sliders import explained, step
from memory_core.simulator.tables import as_csv, rows
from tests.forgetting_memories import SAID, START, node, open_memory
from tests.pages.large import make_large


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenMemory]:
    """A hundred nodes, each read from a turn of its own, an hour apart."""
    make_large(tmp_path / "hundred.sqlite3", 100)
    memories = FolderMemories(tmp_path)
    yield memories.open("hundred")
    memories.close()


@pytest.fixture
def simulator(opened: OpenMemory) -> Simulator:
    return simulator_of(opened)


@given(
    st.sampled_from(sorted(found())), st.sampled_from(["threshold", "keep", "bytes"]), st.integers(0, 100),
    st.integers(0, 900), st.dates(), st.booleans(),
)  # fmt: skip
def test_a_link_gives_the_setting_back(policy: str, cut: str, share: int, later: int, day, leave: bool) -> None:  # type: ignore[no-untyped-def]
    setting = Setting(
        policy=policy, cut=cut, threshold=share / 100, keep=float(share), bytes=float(share), later=later, day=day,
        turns="with_nodes" if leave else "keep",
    )  # type: ignore[arg-type] # fmt: skip
    back, problems = Setting.of_query(setting.query())
    assert not problems
    assert back.query() == setting.query()
    assert getattr(back, cut) == getattr(setting, cut)
    assert (back.policy, back.day, back.later, back.turns) == (policy, day, later, setting.turns)


def test_a_link_holds_only_the_parameters_that_were_moved() -> None:
    usual = Setting().values()
    assert Setting().with_parameters(usual).parameters == {}
    moved = Setting().with_parameters({**usual, "half_life": 30.0})
    assert moved.query()["p.half_life"] == "30.0"
    assert Setting.of_query(moved.query())[0].made() == make("importance", {"half_life": 30})


@pytest.mark.parametrize(
    "query",
    [{"policy": "magic"}, {"threshold": "2"}, {"keep": "nan"}, {"cut": "half"}, {"at": "someday"}, {"later": "-1"},
     {"p.half_life": "0"}, {"p.nothing": "1"}, {"where": "who=Max"}],
)  # fmt: skip
def test_a_bad_part_of_a_link_is_told_and_the_default_stands_in(query: dict[str, str]) -> None:
    setting, problems = Setting.of_query(query)
    assert setting == Setting()
    assert len(problems) == 1
    assert problems[0].startswith("The link: ")


def test_the_page_and_the_command_make_the_same_plan(simulator: Simulator) -> None:
    memory = simulator.memory
    shown = simulator.shown(Setting(cut="keep", keep=70.0))
    assert shown.plan.id == plan_forgetting(memory, make("importance"), keep=70).id
    assert "--policy importance --keep 70" in command(memory, shown.setting)
    assert json.loads(plan_json(shown))["plan"] == shown.plan.id
    assert simulator.seen(shown.plan.id) is shown.plan


def test_a_young_memory_opens_on_keep_90_and_says_why(simulator: Simulator) -> None:
    setting, why = Setting.opening(simulator.memory)
    assert (setting.cut, setting.keep) == ("keep", 90.0)
    assert "100 turns" in why
    assert simulator.shown(Setting()).plan.nothing


def test_as_of_moves_the_clock_by_whole_days(simulator: Simulator) -> None:
    memory = simulator.memory
    clock = memory.clock
    assert clock is not None
    assert Setting(day=clock.date()).plan(memory).id == Setting().plan(memory).id
    assert Setting(day=clock.date() + timedelta(days=30)).plan(memory).at == clock + timedelta(days=30)


def test_by_hand_needs_a_selection(simulator: Simulator) -> None:
    with pytest.raises(InputError, match="Nothing is selected"):
        Setting(cut="all").plan(simulator.memory)


def test_effects_of_a_path_cut_in_the_middle() -> None:
    """a - b - c - d, and e alone: without c, d is isolated and the path is in two pieces."""
    ends = np.array([[0, 1], [1, 2], [2, 3]])
    shape = Shape(ends, np.array([0, 0, 0, 0, 1]), np.array([0, 0, 2, 2, 8], np.int8))
    found = effects(shape, np.array([False, False, True, False, False]))
    assert (found.isolated, found.broken, found.components, found.pieces) == (1, 1, 2, 3)
    assert found.before.tolist() == [2, 0, 2, 0, 0, 0, 0, 0, 1]
    assert found.gone.tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_what_commit_asks_never_claims_the_disk(simulator: Simulator) -> None:
    told = words(simulator.shown(Setting(cut="keep", keep=90.0)).plan)
    assert told.startswith("forget 10 of 100 nodes and ")
    assert told.endswith("leave the live memory; the disk shrinks after purge")


def test_the_line_lies_between_what_goes_and_what_stays(simulator: Simulator) -> None:
    plan = simulator.shown(Setting(cut="keep", keep=60.0)).plan
    line = cut_line(plan)
    assert line is not None
    assert plan.scores.score[plan.fate].max() <= line <= plan.scores.score[~plan.fate].min()


def test_what_would_keep_a_node_keeps_it(simulator: Simulator) -> None:
    shown = simulator.shown(Setting(cut="keep", keep=50.0))
    going = shown.plan.forgotten[3]
    told = reasons(simulator, shown, going)
    assert told.goes
    assert told.rank == 4
    assert sum(told.parts.values()) == pytest.approx(told.score)
    loads = [change.setting for change in told.changes if change.setting is not None]
    assert loads
    for setting in loads:
        assert going not in simulator.shown(setting).plan.forgotten


def test_what_would_take_a_node_takes_it(simulator: Simulator) -> None:
    shown = simulator.shown(Setting(cut="keep", keep=50.0))
    staying = next(of for of, goes in zip(shown.plan.node_ids, shown.plan.fate, strict=True) if not goes)
    changes = reasons(simulator, shown, staying).changes
    setting = next(change.setting for change in changes if change.setting is not None)
    assert staying in simulator.shown(setting).plan.forgotten


def test_no_setting_tried_takes_what_is_called_untouched(simulator: Simulator) -> None:
    for threshold, none_goes in ((0.0, True), (1.0, False)):
        seen: list[str] = []
        told = untouched(simulator, simulator.shown(Setting(threshold=threshold)), seen.append, settings=20)
        assert len(seen) == 20
        assert told.never is not None
        assert (told.never == none_goes).all()
    shown = simulator.shown(Setting(threshold=0.3))
    alone = immunity(shown, simulator.memory.scoring_view()).alone
    assert set(alone) == {"recency", "frequency", "centrality", "turns"}
    for name, mask in alone.items():
        assert (mask == (shown.plan.scores.parts[name] >= 0.3)).all()
        assert not (mask & shown.plan.fate).any()
    assert (
        sum(entry["count"] for entry in colors(immunity(shown, simulator.memory.scoring_view())).legend["entries"])
        == 100
    )


def test_a_map_is_of_its_plan_whatever_was_said_or_purged_since(simulator: Simulator) -> None:
    memory, at = simulator.memory, simulator.memory.clock
    assert at is not None
    shown = simulator.shown(Setting(threshold=0.3))
    memory.say("Zoe Quist moved to Ghent.", at=at)
    picture = simulator.picture(shown)
    assert tuple(picture.ids) == shown.plan.node_ids
    assert len(picture.layout.xy) == len(by_score(picture, shown.plan.scores.score).values) == len(picture.ids)
    newer = simulator.shown(Setting(threshold=0.3))
    assert len(simulator.picture(newer).ids) > len(picture.ids)
    with pytest.raises(InputError, match="changed since this plan"):
        untouched(simulator, shown, lambda _: None, settings=1)
    memory.purge(memory.apply(memory.plan(make("fifo"), keep=0.5), at=at), at=at)
    simulator.results.clear()
    with pytest.raises(InputError, match="purged meanwhile"):
        simulator.picture(shown)


def test_what_fades_grows_with_time(simulator: Simulator) -> None:
    told = fading_of(simulator, simulator.shown(Setting(threshold=0.25)))
    assert told.days == DAYS
    assert list(told.going) == sorted(told.going)
    assert told.going[-1] > told.going[0]


def test_tables_are_in_the_order_of_the_plan(simulator: Simulator) -> None:
    plan, memory = simulator.shown(Setting(cut="keep", keep=80.0)).plan, simulator.memory
    assert [row.id for row in rows(memory, plan)] == list(plan.forgotten)
    assert [row.id for row in rows(memory, plan, "last")] == list(plan.forgotten)[::-1]
    stay = rows(memory, plan, "stay", limit=5)
    assert len(stay) == 5
    assert [row.score for row in stay] == sorted(row.score for row in stay)
    table = list(csv.DictReader(io.StringIO(as_csv(memory, plan))))
    assert [row["id"] for row in table] == list(plan.forgotten)


def test_scores_of_a_policy_are_made_once_for_a_time(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, calls = found()["lru"], []
    score = kind.score
    monkeypatch.setattr(kind, "score", lambda self, view, at: calls.append(at) or score(self, view, at))
    for keep in (90.0, 80.0, 70.0):
        simulator.shown(Setting(policy="lru", cut="keep", keep=keep))
    assert len(calls) == 1


def test_lists_to_choose_from(simulator: Simulator) -> None:
    memory = simulator.memory
    assert sessions(memory) == ["L0", "L1", "L2", "L3", "L4"]
    assert pinned(memory) == []
    memory.pin("n3", True, at=START)
    assert [of for of, _ in pinned(memory)] == ["n3"]
    done = memory.apply(plan_forgetting(memory, make("lru"), keep=90))
    assert {one.forgotten_by for one in forgotten(memory)} == {done}
    assert len(forgotten(memory)) == 10


def test_every_slider_has_a_round_step_and_every_policy_words() -> None:
    for name, kind in found().items():
        assert ">>>" not in explained(name)
        assert len(explained(name)) > 40
        for one in parameters(kind):
            if not one.choices and not one.whole:
                assert 50 <= (one.high - one.low) / step(one) <= 1001


# -- with questions ----------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[tuple[Simulator, ProbeSet]]:
    """Ten turns with hand-made extractions, and three questions about them."""
    turns = [
        {"id": f"T:{day}", "session": session, "role": "user", "text": text,
         "at": (START + timedelta(days=day)).isoformat()}
        for day, (session, text) in enumerate(SAID)
    ]  # fmt: skip
    questions = [
        {"id": f"Q{k}", "question": question, "answer": answer, "type": "plain", "evidence": evidence}
        for k, (question, answer, evidence) in enumerate(
            [("Where is Lena?", "Harbor Street", ["T:1"]), ("What is learned?", "Juggling", ["T:9"]),
             ("Who made the Violin?", "Brandt Workshop", ["T:4"])]
        )
    ]  # fmt: skip
    for name, lines in (("talk", turns), ("talk_questions", questions)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    memory = open_memory(tmp_path / "talk.sqlite3")
    for day, (session, text) in enumerate(SAID):
        memory.add(Turn("user", text, START + timedelta(days=day), "User", session, f"T:{day}"))
    opened = OpenMemory("talk", "talk", memory, Worker("talk"))
    simulator = Simulator(opened)
    yield simulator, of_file(memory, tmp_path / "talk.jsonl")
    simulator.forget_twin()
    opened.close()


def finished(job: Job) -> object:
    for _ in range(600):
        if job.finished:
            break
        sleep(0.05)
    assert job.state == "done", job.error
    return job.result


def test_the_price_of_a_plan_names_what_each_question_lost(asked: tuple[Simulator, ProbeSet]) -> None:
    simulator, probe = asked
    assert len(probe.questions) == 3
    memory = simulator.memory
    shown = simulator.shown(Setting(cut="all", where="search=juggling"))
    assert shown.plan.forgotten == (node(memory, "Juggling"),)
    told = finished(price(simulator, shown, "talk", lambda: probe))
    lost = {(flip.question, flip.figure): flip.lost for flip in told.cost.flips}  # type: ignore[attr-defined]
    assert lost["Q1", "evidence_survival"] == ("T:9",)
    assert lost["Q1", "answer_survival"] == ("juggling",)
    assert told.cost.figures["answer_survival"].value == pytest.approx(2 / 3)  # type: ignore[attr-defined]
    assert told.hybrid.turns_gone == 1  # type: ignore[attr-defined]
    assert "juggling" not in price_report("talk", shown, told)  # type: ignore[arg-type]
    assert price(simulator, shown, "talk", lambda: probe).state == "done"  # remembered by its plan


def test_a_sweep_finds_its_front_and_p2s_minimum(asked: tuple[Simulator, ProbeSet]) -> None:
    simulator, probe = asked
    setting = Setting()
    _, job = start(simulator, "budget", setting, "talk", lambda: probe, {"keep": values_of(setting, "keep", 6)})
    told = finished(job)
    assert isinstance(told, Comparison)
    assert [point.setting.cut for point in told.points] == ["keep"] * 6
    losses = told.objective(0.5)
    assert told.least(0.5) == losses.index(min(losses))
    best = told.front("answer_survival")
    for place in best:
        mine = told.points[place]
        assert not any(
            other.share < mine.share and (other.value("answer_survival") or 0) >= (mine.value("answer_survival") or 0)
            for other in told.points
        )
    assert set(axes_of(setting)) >= {"keep", "threshold", "half_life"}


def test_policies_are_compared_at_equal_size_beside_chance(asked: tuple[Simulator, ProbeSet]) -> None:
    simulator, probe = asked
    _, job = start(simulator, "policies", Setting(), "talk", lambda: probe, shares=(50.0,))
    told = finished(job)
    assert isinstance(told, Comparison)
    assert [point.name for point in told.points] == sorted(found())
    assert len({point.kept for point in told.points}) == 1
    assert {band.kept for band in told.bands()} == {told.points[0].share}
    table = list(csv.DictReader(io.StringIO(comparison_csv(told))))
    assert [row["setting"] for row in table] == sorted(found())
    assert "| coverage |" in comparison_report("talk", told)


def test_each_term_of_importance_is_left_out_once(asked: tuple[Simulator, ProbeSet]) -> None:
    simulator, probe = asked
    _, job = start(simulator, "ablation", Setting(cut="keep", keep=60.0), "talk", lambda: probe)
    told = finished(job)
    assert isinstance(told, Comparison)
    names = ["all four terms", *(f"without {term}" for term in ("recency", "frequency", "centrality", "turns"))]
    assert [point.name for point in told.points] == names
    assert told.points[1].setting.values()["recency"] == 0.0


def test_questions_of_another_conversation_do_not_count(asked: tuple[Simulator, ProbeSet], tmp_path: Path) -> None:
    simulator, _ = asked
    text = (tmp_path / "talk.jsonl").read_text("utf-8").replace("Juggling", "Fencing")
    (tmp_path / "other.jsonl").write_text(text, "utf-8")
    (tmp_path / "other_questions.jsonl").write_text((tmp_path / "talk_questions.jsonl").read_text("utf-8"), "utf-8")
    found = of_file(simulator.memory, tmp_path / "other.jsonl")
    assert (len(found.questions), found.left_out) == (2, 1)
