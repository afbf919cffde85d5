"""What the server forgets is what a plan made in RAM forgets."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core.__main__ import main
from memory_core.errors import InputError, StalePlanError
from memory_core.in_database import InDatabase
from memory_core.memory import Memory
from memory_core.policies import make as policy
from memory_core.protocols import Policy
from memory_core.store.postgres import PostgresStore
from tests.forgetting_memories import SAID, START, state
from tests.in_database.conftest import Make, Pair


def told(ram: Memory, spoken: str = "User") -> None:
    """Ten turns, a day apart, then answers that visited some nodes."""
    for day, (session, text) in enumerate(SAID):
        ram.say(text, at=START + timedelta(days=day), session=session, speaker=spoken)
    for day, question in ((20, "Where is Lena?"), (40, "Where is Lena, and Violin?")):
        ram.ask(question, touch_at=START + timedelta(days=day))


@pytest.fixture
def pair(both: Make) -> Pair:
    ram, there = both()
    told(ram)
    return ram, there


def same_plan(ram: Memory, there: InDatabase, made: Policy, **cut: Any) -> dict[str, object]:
    """The plan as both print it, which is one plan; returned without what only the server tells."""
    ours = there.plan(made, **cut).to_json()
    histogram = ours.pop("histogram")
    assert isinstance(histogram, list)
    assert sum(bar["nodes"] for bar in histogram) == ours["nodes_before"]
    assert sum(bar["forgotten"] for bar in histogram) == len(there.plan(made, **cut).forgotten)
    assert ours == ram.plan(made, **cut).to_json()
    return ours


POLICIES = st.one_of(
    st.builds(
        lambda **values: policy("importance", values), half_life=st.floats(1, 700), turn_half_life=st.floats(10, 9000),
        turns_from=st.sampled_from(("creation", "access")),
    ),
    st.builds(
        lambda **values: policy("budgeted", values), half_life=st.floats(1, 700), similarity=st.floats(0, 1),
        since=st.sampled_from(("insertion", "access")),
    ),
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    made=POLICIES,
    cut=st.one_of(
        st.fixed_dictionaries({"threshold": st.floats(0, 1)}), st.fixed_dictionaries({"keep": st.integers(0, 20)})
    ),
    days=st.integers(-10, 2000),
)
def test_any_policy_any_cut_any_time_the_same_scores_and_the_same_plan(
    pair: Pair, made: Policy, cut: dict[str, float], days: int
) -> None:
    ram, there = pair
    at = START + timedelta(days=days)
    view = ram.scoring_view()
    scores = there.scores(made, at, view.turn)
    assert [node for node, _ in scores] == list(view.ids)
    assert np.allclose([score for _, score in scores], made.score(view, at).score, rtol=0, atol=1e-6)
    same_plan(ram, there, made, at=at, **cut)


def test_ages_beyond_the_range_of_numbers_score_as_in_ram(pair: Pair) -> None:
    ram, there = pair
    made = policy("importance", {"half_life": 1, "turn_half_life": 10})
    at, turn = START + timedelta(days=200_000), 2_000_000
    expected = made.score(replace(ram.scoring_view(), turn=turn), at).score
    assert np.allclose([score for _, score in there.scores(made, at, turn)], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("rule", ["label=Location", "speaker=USER", "word=violin", "word=Grüße", "word=quiet"])
def test_pins_and_rules_hold(pair: Pair, rule: str) -> None:
    ram, there = pair
    ram.say("Concept:Viele Grüße | said at the end", at=START + timedelta(days=41))
    ram.pin("n3", True, at=START)
    ram.protect(rule)
    kept = same_plan(ram, there, policy("importance"), keep=0)
    assert kept["protected"] == int(ram.plan(policy("importance"), keep=0).held.sum()) > 1
    assert "n3" not in kept["forgotten"]  # type: ignore[operator]
    same_plan(ram, there, policy("importance"), threshold=1.0)


def test_a_pass_made_in_the_database_is_in_the_history_and_undo_takes_it_back(pair: Pair) -> None:
    ram, there = pair
    before = state(ram)
    plan = there.plan(policy("importance"), keep=5)
    done = there.apply(plan)
    _ = ram.revision
    assert {node for node in ram.graph.ids if not ram.graph.is_live(node)} == set(plan.forgotten)
    assert ram.graph.node_count == 5
    told_pass = ram.passes()[-1]
    assert (told_pass.id, told_pass.nodes, told_pass.edges, told_pass.summary["plan"]) == (
        done, len(plan.forgotten), len(plan.edges), plan.id,
    )  # fmt: skip
    assert there.plan(policy("importance"), keep=5).forgotten == ()
    ram.undo(done, at=START)
    assert state(ram) == before


def test_both_ways_leave_the_same_rows(both: Make) -> None:
    (ram, _), (other, there) = both(), both()
    told(ram)
    told(other)
    assert ram.apply(ram.plan(policy("importance"), keep=4)) == there.apply(there.plan(policy("importance"), keep=4))
    _ = other.revision
    assert state(ram) == state(other)
    tables = "node", "edge", "change", "meta"
    names = {
        "node": "id, forgotten_by",
        "edge": "id, forgotten_by",
        "change": "id, summary, rows",
        "meta": "key, value",
    }
    for table in tables:
        sql = f"SELECT {names[table]} FROM {table} ORDER BY 1"
        assert ram.store.query(sql) == other.store.query(sql)


def test_a_plan_of_another_moment_or_memory_is_refused(both: Make) -> None:
    (ram, there), (other, elsewhere) = both(), both()
    told(ram)
    told(other)
    plan = there.plan(policy("importance"), keep=4)
    with pytest.raises(StalePlanError):
        elsewhere.apply(plan)
    ram.say("Person:Nora", at=START + timedelta(days=50))
    with pytest.raises(StalePlanError):
        there.apply(plan)
    assert ram.graph.node_count == len(ram.graph.ids)


def test_an_empty_memory_has_a_plan_that_forgets_nothing(both: Make) -> None:
    ram, there = both()
    assert same_plan(ram, there, policy("importance"), threshold=0.1)["warning"] is None


def test_other_policies_and_zero_weights_are_refused_in_words(both: Make) -> None:
    _, there = both()
    with pytest.raises(InputError, match="lru cannot be computed in the database"):
        there.plan(policy("lru"), keep=3)
    nothing = dict.fromkeys(("recency", "frequency", "centrality", "turns"), 0.0)
    with pytest.raises(InputError, match="zero"):
        there.plan(policy("importance", nothing), keep=3)


# -- the commands ------------------------------------------------------------------------------------------------------


def test_the_commands_ask_and_forget_on_the_server(postgres: str, capsys: pytest.CaptureFixture[str]) -> None:
    address = f"{postgres}?memory=commands"
    with Memory.open(address) as memory:
        memory.say("My sister Mira lives in Porto.", at="2024-05-01T10:00:00Z")
    assert main(["ask", "Where does Mira live?", "--in-database", "--index", "--memory", address, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "Porto" in found["answer"]
    assert found["roots"][0]["title"] == "Mira"
    assert main(["forget", "--in-database", "--keep", "0", "--apply", "--memory", address, "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["applied"], len(done["forgotten"])) == (True, done["nodes_before"])
    assert main(["undo", done["id"], "--memory", address, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["restored"]["nodes"] == done["nodes_before"]
    with closing(PostgresStore(address)) as store:
        store.query("SELECT drop_index()")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "Who?", "--in-database", "--memory", "notes.sqlite3"], "is a file"),
        (["ask", "Who?", "--in-database", "--retriever", "hybrid", "--memory", "postgresql://h/d"], "graph retriever"),
        (["ask", "Who?", "--index", "--memory", "notes.sqlite3"], "give --in-database"),
        (["ask", "Who?", "--in-database", "--touch", "--memory", "postgresql://h/d"], "changes nothing"),
        (["forget", "--in-database", "--bytes", "9", "--memory", "postgresql://h/d"], "leave out --bytes"),
        (["forget", "--in-database", "--where", "label=Event", "--memory", "postgresql://h/d"], "leave out --where"),
        (["forget", "--in-database", "--turns", "with_nodes", "--memory", "postgresql://h/d"], "leave out --turns"),
    ],
)
def test_what_only_a_memory_in_ram_can_do_is_told_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_a_purge_by_the_app_waits_for_no_vacuum_and_an_administrator_rewrites_later(
    on_server: str, app_login: dict[str, str], postgres: str, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"{app_login['FORGETTING_LAB_MEMORY'].partition('?')[0]}?memory=purged"
    with Memory.open(address) as memory:
        memory.say("My sister Mira lives in Porto.", at="2024-05-01T10:00:00Z")
        done = memory.apply(memory.plan(policy("importance"), keep=0))
        assert memory.purge(done)["receipt"]["rewritten"] is False  # type: ignore[index]
        assert memory.store.meta("rewrite") == "due"
        assert main(["server", "--rewrite", postgres, "--json"]) == 0
        sizes = json.loads(capsys.readouterr().out)
        assert 0 < sizes["bytes_after"] <= sizes["bytes_before"]
        assert memory.store.meta("rewrite") == ""
