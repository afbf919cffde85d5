"""The figures that bench speed kept, as the page and the README tell them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory_core.errors import FormatError
from memory_core.evaluation.results.speed import KEPT, bounds, conditions, curves, lines, markdown, read_speed, recalls

LIMIT = {
    "pass_ms": 2.0, "retrieval_passes": 1.1, "dedup_passes": 7.0, "commit_ms": 3.0, "fsync_ms": 2.5,
    "two_hops_ms": 0.05, "open_ms": 240.0, "size_ratio": 1.4, "whole_ratio": 2.2,
}  # fmt: skip
TOLD: dict[str, Any] = {
    "nodes": 27021, "dim": 768, "turns": 20, "searches": 100, "limit": LIMIT,
    "systems": {
        "forgetting-lab": {"n": 27021, "version": "", "turn_ms": 15.0, "graph_bytes": 58_000_000, "note": "ours"},
        "mem0": {"n": 27021, "version": "2.2.1", "turn_ms": 450.0, "note": "theirs"},
        "letta": {"n": 27021, "version": "", "turn_ms": None, "note": "x", "failed": "not installed"},
    },
    "ratios": {"mem0": {"turn": 30.0}},
    "conditions": {"cpu": "A CPU", "cores": 2, "load": 0.4, "python": "3.11.7", "numpy": "2.4.6", "sqlite": "3.40.1",
                   "blas": ["openblas SkylakeX"], "blas_threads": 2},
    "growth": [{"vectors": "made up", "dim": 768, "sizes": [
        {"n": 1000, "forgetting-lab": {"turn_ms": 5.0}, "matrix": {"turn_ms": 2.0}, "recall@5": 1.0},
        {"n": 9000, "forgetting-lab": {"turn_ms": None}, "matrix": {"turn_ms": 8.0}, "recall@5": 0.99},
    ]}],
}  # fmt: skip


def test_a_line_a_system_with_its_version_and_the_reason_of_one_that_failed() -> None:
    ours, mem0, letta = lines(TOLD)
    assert (ours.values["turn"], ours.values["size"], ours.values["open"]) == ("15.0 ms", "58.0 MB", "")
    assert (mem0.name, mem0.ratios) == ("mem0 2.2.1", {"turn": 30.0})
    assert letta.note == "left out: not installed"


def test_a_bound_that_is_missed_is_told() -> None:
    held = {bound.what: bound.held for bound in bounds(TOLD)}
    assert [what for what, kept in held.items() if not kept] == ["six nodes compared with all, in passes"]
    assert len(held) == 7
    assert bounds({"limit": {"failed": "ours did not start"}}) == []


def test_conditions_and_growth_are_told() -> None:
    told = conditions(TOLD)
    for words in ("27,021 nodes x 768", "A CPU, 2 cores", "openblas SkylakeX, 2 threads", "SQLite 3.40.1"):
        assert words in told
    assert conditions(TOLD["growth"][0]) == ""
    assert conditions({"conditions": TOLD["conditions"]}).startswith("A CPU, 2 cores")
    assert curves(TOLD["growth"][0], "turn_ms") == {
        "forgetting-lab": [(1000, 5.0)],
        "matrix": [(1000, 2.0), (9000, 8.0)],
    }
    assert recalls(TOLD["growth"][0]) == "1.000 at 1,000, 0.990 at 9,000"


def test_the_readme_gets_both_tables() -> None:
    told = markdown(TOLD)
    assert "| mem0 2.2.1 | 27,021 | 450.0 ms (×30) | | | | |" in told
    assert "| 1,000 | 5.00 ms | 2.00 ms |  |  |  | 1.000 |" in told


def test_no_file_is_none_and_one_of_another_kind_is_named(tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    assert read_speed(path) is None
    for text in ("{", "[]", "{}"):
        path.write_text(text)
        with pytest.raises(FormatError, match=r"speed\.json"):
            read_speed(path)
    path.write_text(json.dumps(TOLD))
    assert read_speed(path) == TOLD


def test_what_ships_with_the_app_can_be_read() -> None:
    told = read_speed(KEPT)
    assert told is not None
    assert lines(told)
    assert bounds(told)
    assert "cores" in conditions(told)
