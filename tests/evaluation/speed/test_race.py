"""The measurement itself: the real engine is timed, both designs do the same work, a peer that fails stops nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_core.errors import InputError
from memory_core.evaluation.speed.command import keep, speed_command
from memory_core.evaluation.speed.given import Given, make
from memory_core.evaluation.speed.growth import growth
from memory_core.evaluation.speed.limit import GRAPH_PARTS
from memory_core.evaluation.speed.peers import ours, paper
from memory_core.evaluation.speed.race import Lane, Race
from memory_core.evaluation.speed.report import report
from memory_core.evaluation.speed.systems import OURS, PEERS, SYSTEMS, System, chosen
from memory_core.policies.importance import Importance
from memory_core.schema import LABELS

NODES = 600


@pytest.fixture
def given(tmp_path: Path) -> Given:
    (tmp_path / "given").mkdir()
    return make(tmp_path / "given", nodes=NODES, dim=768, turns=3, searches=6, labels=LABELS, seed=1)


@pytest.fixture
def session(given: Given, tmp_path: Path) -> Iterator[ours.Session]:
    session = ours.Session(given, tmp_path)
    session.fill()
    session.open()
    yield session
    session.close()


class TestOurs:
    def test_the_bulk_way_stores_what_was_given(self, session: ours.Session, given: Given) -> None:
        memory = session.memory
        assert (memory.graph.node_count, memory.graph.edge_count) == (NODES, len(given.ends))
        assert memory.graph.turns == given.stored_turns
        source, target = given.ends[-1].tolist()
        last = memory.graph.edge(f"e{len(given.ends)}")
        assert {last.source, last.target} <= {f"n{place + 1}" for ends in given.ends.tolist() for place in ends}
        assert memory.graph.between(source, target)
        assert [citation.turn for citation in memory.citations("n4")] == ["t2"]

    def test_a_turn_is_a_whole_one_and_so_is_a_search(self, session: ours.Session) -> None:
        told = session.turn(0)
        assert (told["nodes"], told["matched"]) == (6, 3)
        assert session.memory.graph.node_count == NODES + 3
        assert 0 < told["commit"] < told["ms"]
        found = session.search(0)
        assert found["found"] > 5
        assert found["ms"] < found["whole"]

    def test_the_parts_on_disk_are_the_whole_file(self, session: ours.Session) -> None:
        sizes = session.sizes()
        assert sum(sizes["parts"].values()) == sizes["whole"]
        assert sizes["graph"] == sum(sizes["parts"][name] for name in GRAPH_PARTS)
        assert sizes["parts"]["node vectors"] >= NODES * 768 * 2


class TestPaper:
    def test_both_designs_find_the_same_nodes_and_give_the_same_scores(
        self, session: ours.Session, given: Given, tmp_path: Path
    ) -> None:
        design = paper.Session(given, tmp_path)
        design.fill()
        design.open()
        assert design.search(0)["found"] == session.search(0)["found"]
        design.score()
        view = session.memory.scoring_view()
        at = datetime.fromtimestamp(given.at(given.stored_turns), UTC)
        scores = dict(zip(view.ids, Importance().score(view, at).score.tolist(), strict=True))
        for place in (0, 7, NODES - 1):
            told = design.graph["nodes"][f"n{place}"]["importance_score"]
            assert told == pytest.approx(scores[f"n{place + 1}"], abs=2e-4)  # its turns are counted from 0
        before = len(design.graph["nodes"])
        told = design.turn(0)
        assert len(design.graph["nodes"]) == before + 3
        assert told["save"] > told["scan"] / 100


@dataclass(frozen=True)
class Foreign(System):
    """A system whose file is not in the package."""

    at: Path = Path()

    @property
    def requirements(self) -> Path | None:
        return None

    @property
    def path(self) -> Path:
        return self.at


def race(folder: Path, *systems: System) -> Race:
    return Race([SYSTEMS[0], *systems], 300, 32, folder, turns=2, searches=4, openings=2, install=False)


class TestPeers:
    def test_one_that_is_not_installed_says_so_and_the_rest_goes_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FORGETTING_LAB_CACHE", str(tmp_path / "cache"))
        made = race(tmp_path, *chosen(["mem0"])[1:], System("gone", "gone", "gone"))
        found = report(made, made.run())
        assert "not installed" in found["systems"]["mem0"]["failed"]
        assert "gone.txt is missing" in found["systems"]["gone"]["failed"]
        assert found["systems"][OURS]["turn_ms"] > 0
        assert found["ratios"] == {}

    def test_one_that_breaks_or_asks_the_network_is_named_with_its_reason(self, tmp_path: Path) -> None:
        file = tmp_path / "broken.py"
        file.write_text(
            "import socket\n"
            "class Session:\n"
            "    def __init__(self, given, work): pass\n"
            "    def fill(self): print('not an answer')\n"
            "    def open(self): socket.create_connection(('example.org', 443), 1)\n"
        )
        lanes = race(tmp_path, Foreign("broken", "broken", at=file)).run()
        assert lanes[1].failed == "open failed: ConnectionRefusedError: No network in a measurement: example.org"
        assert len(lanes[0].told["turn"]) == 2

    def test_one_that_never_answers_is_ended(self, tmp_path: Path) -> None:
        file = tmp_path / "slow.py"
        file.write_text(
            "import time\nclass Session:\n    def __init__(self, *given): pass\n    def fill(self): time.sleep(60)\n"
        )
        from memory_core.evaluation.speed.environments import PeerError
        from memory_core.evaluation.speed.worker import Worker

        make(tmp_path, nodes=100, dim=8, turns=1, searches=1, labels=LABELS, seed=1)
        system = Foreign("slow", "slow", at=file)
        import sys

        with (
            Worker(system, Path(sys.executable), tmp_path, tmp_path) as worker,
            pytest.raises(PeerError, match="fill took more than 1 s"),
        ):
            worker.ask("fill", seconds=1.0)

    def test_every_peer_has_its_file_and_its_pinned_requirements(self) -> None:
        for system in SYSTEMS:
            assert system.path.exists()
            if system.requirements is not None:
                lines = [line for line in system.requirements.read_text("utf-8").splitlines() if line[:1] != "#"]
                assert lines
                assert all("==" in line for line in lines)

    def test_an_unknown_one_and_sizes_that_are_none_are_refused(self) -> None:
        for wrong in (
            ["--against", "letta"],
            ["--nodes", "many"],
            ["--nodes", "5"],
            ["--nodes", "200,200"],
            ["--turns", "0"],
        ):
            with pytest.raises(InputError):
                speed_command(wrong)
        assert [system.name for system in chosen(PEERS)] == [system.name for system in SYSTEMS]


def lane(system: System, **ms: float) -> Lane:
    made = Lane(system, 300)
    made.told = {do: [{"ms": value}] * 3 for do, value in ms.items()}
    return made


def test_ratios_are_theirs_over_ours_and_a_smaller_one_is_in_none(tmp_path: Path) -> None:
    lanes = [lane(SYSTEMS[0], turn=2.0, search=0.5, open=10.0), lane(SYSTEMS[1], turn=3000.0, search=4.0, open=600.0)]
    lanes.append(lane(SYSTEMS[4], turn=900.0))
    lanes[2].nodes = 100
    lanes[1].told["turn"] = [{"ms": 3000.0, "scan": 80.0}]
    found = report(race(tmp_path, *SYSTEMS[1:2]), lanes)
    assert found["ratios"] == {
        "paper": {"turn": 1500.0, "retrieval": 8.0, "open": 60.0},
        "paper, scan part only": {"turn": 40.0},
    }
    assert found["systems"]["graphiti"]["turn_ms"] == 900.0


def test_growth_compares_with_the_matrix_and_finds_the_exact_ones(tmp_path: Path) -> None:
    found = growth(race(tmp_path), [200, 400], None)
    assert [row["n"] for row in found["sizes"]] == [200, 400]
    for row in found["sizes"]:
        assert row["recall@5"] > 0.98
        assert row["recall@5 by signs"] > 0.98
        assert row["approximate"] is False
        assert row["matrix"]["retrieval_ms"] > 0


def test_race_and_growth_are_kept_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    keep(path, {"systems": {"a": 1}})
    keep(path, {"growth": [{"vectors": "x", "sizes": [1]}]})
    keep(path, {"growth": [{"vectors": "y", "sizes": [2]}]})
    keep(
        path,
        {
            "growth": [{"vectors": "x", "sizes": [3]}],
        },
    )
    told = json.loads(path.read_text())
    assert told["systems"] == {"a": 1}
    assert {one["vectors"]: one["sizes"] for one in told["growth"]} == {"x": [3], "y": [2]}
    path.write_text("[]")
    for place in (path, tmp_path / "nowhere" / "speed.json"):
        with pytest.raises(InputError, match=r"speed\.json|nowhere"):
            speed_command(["--nodes", "100", "--against", "", "--out", str(place)])
