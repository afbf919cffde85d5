"""`bench server` measures what it says, and leaves nothing behind."""

from __future__ import annotations

import json

import pytest

from memory_core.__main__ import main
from memory_core.store.address import Address
from memory_core.store.server import connect

ARGUMENTS = ["--nodes", "300", "--dim", "24", "--turns", "2", "--searches", "12", "--json"]


def measured(postgres: str, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, dict[str, float]]:
    address = f"{postgres}?memory=measured"
    assert main(["bench", "server", address, *ARGUMENTS, *more]) == 0
    with connect(Address.parse(address)) as db:
        left = db.execute("SELECT count(*) FROM forgetting_lab.memory WHERE name = 'measured'").fetchone()
        rows = db.execute("SELECT count(*) FROM forgetting_lab.node JOIN forgetting_lab.memory USING (tenant) "
                          "WHERE name = 'measured'").fetchone()  # fmt: skip
    assert (left, rows) == ((0,), (0,))
    found: dict[str, dict[str, float]] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGETTING_LAB_CACHE", str(tmp_path_factory.mktemp("cache")))


def test_turns_questions_forgetting_and_upkeep_are_measured(postgres: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(postgres, capsys)
    assert (found["nodes"], found["edges"], found["dim"]) == (300, 516, 24)
    assert found["forgetting"]["nodes"] in range(30, 45)  # what the turns added goes first
    assert found["forgetting"]["purge_ms"] > 0
    assert found["ram"]["turn_ms"]["n"] == 2  # type: ignore[index]
    assert found["database"]["recall@5"] > 0.9
    assert set(found["vacuum_ms"]) == {"node", "edge", "node_vector", "total"}
    bytes_of = found["bytes"]
    parts = sum(sum(part.values()) for part in bytes_of["tables"].values())  # type: ignore[attr-defined]
    assert bytes_of["total"] == bytes_of["vector_index"] + parts


def test_without_ram_no_memory_is_opened(
    postgres: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_core.memory.Memory._load", None)  # whoever loads one fails
    found = measured(postgres, capsys, "--in-database")
    assert found["ram"] is None
    assert set(found["forgetting"]) == {"nodes", "edges", "apply_in_database_ms"}


def test_too_few_nodes_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "server", "--nodes", "5", "--json"]) == 1
    assert "at least 100 nodes" in capsys.readouterr().err
