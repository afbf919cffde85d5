"""What the forgetting page promises, without a browser: it shows a plan, asks, applies exactly that, takes it back."""

from __future__ import annotations

import html as markup
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from time import sleep

import pytest
from streamlit.testing.v1 import AppTest

from memory_core.exporters import to_document
from memory_core.forgetting import plan_forgetting
from memory_core.forgetting.plan import TurnMode
from memory_core.memories import Memories
from memory_core.memory import Memory
from memory_core.policies import make
from memory_core.simulator import simulator_of
from pages._ui.words import plural
from tests.pages.conftest import APP, PAGES
from tests.pages.conftest import html as escaped
from tests.pages.large import make_large

AT = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty, a demo-sized and a large memory."""
    folder = tmp_path_factory.mktemp("made")
    with Memory.open(folder / "empty.sqlite3") as memory:
        memory.retrying(lambda: memory.commit([]))
    make_large(folder / "middle.sqlite3", 300)
    make_large(folder / "large.sqlite3", 2000)
    return folder


def opened(memory: str, **address: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["memory"] = memory
    for name, value in address.items():
        app.query_params[name.replace("p_", "p.")] = value
    return app.switch_page(str(PAGES / "forgetting.py")).run()


def html(app: AppTest) -> str:
    return markup.unescape(escaped(app))


def going(app: AppTest) -> tuple[int, int]:
    found = re.search(r"<b>([\d,]+)</b> of ([\d,]+) nodes go", html(app))
    assert found
    return int(found[1].replace(",", "")), int(found[2].replace(",", ""))


def plan_id(app: AppTest) -> str:
    return re.search(r'data-plan="(\w+)"', html(app))[1]  # type: ignore[index]


def address(app: AppTest) -> dict[str, str]:
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=key).click().run()


def test_an_empty_memory_says_that_there_is_nothing_to_forget(memories: Memories) -> None:
    app = opened("empty")
    html(app)
    assert any("nothing to forget" in info.value for info in app.info)


def test_a_young_memory_opens_on_keep_90_and_says_why(memories: Memories) -> None:
    app = opened("middle")
    assert going(app) == (30, 300)
    assert "P1's default forgets nothing here: this memory has 300 turns" in html(app)


def test_a_slider_makes_the_plan_of_the_command_and_its_link_reopens_it(memories: Memories) -> None:
    app = opened("large", policy="importance", cut="threshold", threshold="0.3")
    memory = memories.open("large").memory
    assert plan_id(app) == plan_forgetting(memory, make("importance"), threshold=0.3).id
    app.slider(key="set-p-importance-half_life").set_value(30.0).run()
    moved = plan_forgetting(memory, make("importance", {"half_life": 30}), threshold=0.3)
    assert plan_id(app) == moved.id
    assert going(app)[0] == int(moved.fate.sum())
    link = {name: value for name, value in address(app).items() if name != "memory"}
    assert link["p.half_life"] == "30.0"
    again = opened("large", **{name.replace("p.", "p_"): value for name, value in link.items()})
    assert plan_id(again) == moved.id


@pytest.mark.parametrize("policy", ["lru", "coverage", "budgeted", "random"])
def test_every_policy_brings_its_own_sliders(memories: Memories, policy: str) -> None:
    app = opened("middle")
    app.selectbox(key="set-policy").set_value(policy).run()
    assert going(app) == (30, 300)
    assert address(app)["policy"] == policy


def test_every_view_opens(memories: Memories) -> None:
    for view in ("scores", "table", "map", "immunity", "cost", "compare", "protect", "history"):
        assert going(opened("middle", view=view)) == (30, 300)


def test_a_mistaken_link_is_told(memories: Memories) -> None:
    app = opened("middle", policy="magic", cut="keep", keep="70")
    assert going(app) == (90, 300)
    assert "The link: There is no policy magic" in html(app)


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01"])
def test_a_link_to_a_day_beyond_the_calendar_opens_the_farthest_one(memories: Memories, day: str) -> None:
    app = opened("middle", policy="lru", cut="keep", keep="90", at=day)
    assert going(app) == (30, 300)
    newest = memories.open("middle").memory.clock
    assert newest is not None
    assert abs((app.date_input(key="set-day").value - newest.date()).days) == 36_500
    assert going(press(app, "clock-365")) == (30, 300)


@pytest.mark.parametrize("said", ["0001-01-02", "9000-12-30"])
def test_a_memory_at_the_ends_of_time_has_its_controls(memories: Memories, tmp_path: Path, said: str) -> None:
    with Memory.open(tmp_path / "edge.sqlite3") as memory:
        memory.say("My sister Mira lives in Porto.", at=f"{said}T10:00:00Z")
    app = opened("edge", policy="lru", cut="keep", keep="90", at="2024-05-01")
    for key in ("clock-365", "clock-365", "clock-now"):
        html(press(app, key))


def test_all_weights_zero_is_said_and_nothing_can_be_committed(memories: Memories) -> None:
    weights = {f"p_{name}": "0" for name in ("recency", "frequency", "centrality", "turns")}
    app = opened("middle", policy="importance", cut="keep", **weights)
    html(app)
    assert any("All weights are zero" in warning.value for warning in app.warning)
    assert not [button for button in app.button if button.key == "commit"]


def test_a_cut_that_takes_nothing_says_so_and_cannot_be_committed(memories: Memories) -> None:
    app = opened("middle", policy="importance", cut="threshold", threshold="0.1")
    assert "This plan forgets nothing: the lowest score is" in html(app)
    assert app.button(key="commit").disabled


@pytest.mark.both_places
def test_commit_asks_in_words_applies_what_is_shown_and_is_undone(memories: Memories) -> None:
    memory = memories.open("middle").memory
    before = to_document(memory)
    app = opened("middle")
    wanted = set(simulator_of(memories.open("middle")).seen(plan_id(app)).forgotten)  # type: ignore[union-attr]
    press(app, "commit")
    assert memory.graph.node_count == 300  # asked, not done
    asked = next(text.value for text in app.text if text.value.startswith("Forget 30 of 300 nodes"))
    assert "leave the live memory; the disk shrinks after purge" in asked
    press(app, "really")
    assert {of for of, by in zip(memory.graph.ids, memory.graph.forgotten_by, strict=True) if by} == wanted
    press(app, "undo-last")
    html(app)
    assert to_document(memory) == before


def test_a_question_whose_controls_moved_on_is_taken_back(memories: Memories) -> None:
    app = press(opened("middle"), "commit")
    app.slider(key="set-keep").set_value(50.0).run()
    assert not [button for button in app.button if button.key == "really"]


def test_everything_is_said_and_asked_twice(memories: Memories) -> None:
    app = press(opened("middle", policy="lru", cut="keep", keep="0"), "commit")
    assert "nothing would be left" in html(app)
    assert not [button for button in app.button if button.key == "really"]
    press(press(app, "ask-twice"), "really")
    assert memories.open("middle").memory.graph.node_count == 0
    press(app, "undo-last")
    assert memories.open("middle").memory.graph.node_count == 300


@pytest.mark.both_places
def test_two_tabs_commit_at_once_and_one_is_told(memories: Memories) -> None:
    one, other = press(opened("middle"), "commit"), press(opened("middle"), "commit")
    press(one, "really")
    press(other, "really")
    memory = memories.open("middle").memory
    assert [done.nodes for done in memory.passes()] == [30]
    assert any("The memory changed since this plan was made" in error.value for error in other.error)
    assert going(other) == (27, 270)


@pytest.mark.both_places
def test_a_plan_goes_stale_when_the_memory_changes(memories: Memories) -> None:
    app = press(opened("middle"), "commit")
    memory = memories.open("middle").memory
    memory.pin("n7", True, at=AT)
    press(app, "really")
    assert memory.graph.node_count == 300
    assert any("plan again" in error.value for error in app.error)


@pytest.mark.both_places
def test_why_a_node_goes_and_what_would_keep_it(memories: Memories) -> None:
    app = opened("middle", view="table")
    worst = simulator_of(memories.open("middle")).seen(plan_id(app)).forgotten[0]  # type: ignore[union-attr]
    app.session_state["ForgettingState"] = {**app.session_state["ForgettingState"], "node": worst}
    told = html(app.run())
    assert "Number 1 of 300 to go." in told
    assert "Keep 300 nodes or more." in told
    press(app, "try-1")
    assert going(app)[0] == 0


def test_what_is_selected_by_hand_goes_and_a_rule_protects_it(memories: Memories) -> None:
    app = opened("middle", view="protect")
    app.text_input(key="set-w-search").set_value("amber").run()
    memory = memories.open("middle").memory
    plan = plan_forgetting(memory, make("importance"), where="search=amber")
    assert plan_id(app) == plan.id
    assert going(app)[0] == int(plan.fate.sum()) > 0
    memory.protect("word=amber")
    assert going(app.run())[0] < int(plan.fate.sum())


@pytest.mark.both_places
def test_history_lists_a_pass_restores_single_nodes_and_purges_when_asked(memories: Memories) -> None:
    memory = memories.open("middle").memory
    done = memory.apply(plan_forgetting(memory, make("lru"), keep=290))
    app = opened("middle", view="history")
    assert any("lru keep" in line.value.replace("\\", "") for line in app.markdown)
    press(app, f"purge-{done}")
    assert memory.passes()[0].state == "applied"
    press(app, "purge-really")
    assert memory.passes()[0].state == "purged"
    assert any("is purged: 10 nodes" in toast.value.replace("\\", "") for toast in app.toast)


def ruled(app: AppTest, kind: str, value: str) -> AppTest:
    next(one for one in app.selectbox if one.label == "Protect a").set_value(kind)
    next(one for one in app.text_input if one.label == "named").set_value(value)
    return next(one for one in app.button if one.label == "Add").click().run()


def test_what_is_no_rule_is_refused_in_a_few_words_that_say_what_to_type(memories: Memories) -> None:
    app = opened("middle", view="protect")
    long = ruled(app, "label", "Nonsense" * 400).error[0].value
    assert "There is no label NonsenseNonsense" in long
    assert len(long.replace("\\", "")) < 300
    for kind in ("label", "speaker", "word"):
        assert f"Protect a {kind}" in ruled(app, kind, "  ").warning[0].value
    assert memories.open("middle").memory.rules() == ()
    ruled(app, "word", "amber")
    assert any("Nothing of word amber will be forgotten" in toast.value.replace("\\", "") for toast in app.toast)


@pytest.mark.parametrize("turns", ["keep", "with_nodes"])
def test_a_purge_says_whether_what_was_said_stays(memories: Memories, turns: TurnMode) -> None:
    memory = memories.open("middle").memory
    done = memory.apply(plan_forgetting(memory, make("lru"), keep=290, turns=turns))
    one = memory.passes()[0]
    app = press(opened("middle", view="history"), f"purge-{done}")
    asked = next(text.value for text in app.text if text.value.startswith("Purge pass"))
    assert f"Its 10 nodes, {plural(one.edges, 'edge')} and {plural(one.turns, 'turn')} are erased" in asked
    assert ("stays to the letter, and can still be found" in asked) == (one.turns == 0) == (turns == "keep")
    press(app, "purge-really")
    told = " ".join(toast.value for toast in app.toast).replace("\\", "")
    assert ("10 turns they were read from stay, with their words." in told) == (turns == "keep")
    assert "others cite" not in told


def test_forgetting_by_itself_is_saved_with_the_memory(memories: Memories) -> None:
    app = opened("middle", view="protect", policy="importance", cut="threshold", threshold="0.2")
    app.number_input(key="auto-middle").set_value(400).run()
    press(app, "auto-save")
    settings = memories.open("middle").memory.settings
    assert (settings.forget_every, settings.forget_policy, settings.forget_threshold) == (400, "importance", 0.2)


def test_the_cost_of_a_plan_beside_chance(memories: Memories, tmp_path: Path) -> None:
    memory = memories.open("middle").memory
    turns = memory.turns(list(memory.source_turns().values()))
    said = [{"id": turn.source_id, "session": turn.session, "role": "user", "text": turn.text,
             "at": turn.at.isoformat()} for turn in turns]  # fmt: skip
    asked = [{"id": f"Q{k}", "question": f"What of {memory.graph.titles[k]}?", "answer": memory.graph.titles[k],
              "type": "plain", "evidence": [f"L:{k}"]} for k in (5, 150, 290)]  # fmt: skip
    for name, lines in (("talk", said), ("talk_questions", asked)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    app = opened("middle", view="cost")
    app.segmented_control(key="set-probe").set_value("file").run()
    app.text_input(key="probe-path").set_value(str(tmp_path / "talk.jsonl")).run()
    press(app, "price")
    for _ in range(300):
        if not memories.open("middle").busy:
            break
        sleep(0.1)
    told = html(app.run())
    assert "evidence survival" in told
    assert "chance on" in told
    assert "hybrid recall@5, turns kept" in told
