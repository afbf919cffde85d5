"""What data/ promises: hand-written rows that are complete, consistent with each other, and dated in order."""

import json
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memory_core.schema import LABELS, content_words, normalise_title, utc

DATA = Path(__file__).resolve().parents[1] / "data"
QUESTION_TYPES = {
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "knowledge-update",
    "multi-session",
    "temporal-reasoning",
}


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


DEMO, QUESTIONS, GOLD, PAIRS = (rows(f"{name}.jsonl") for name in ("demo", "demo_questions", "gold", "pairs"))
TURNS = {row["id"]: row for row in DEMO}


@pytest.mark.parametrize("file", [DEMO, QUESTIONS, GOLD, PAIRS], ids=["demo", "questions", "gold", "pairs"])
def test_ids_are_unique(file: list[dict[str, Any]]) -> None:
    assert [key for key, count in Counter(row["id"] for row in file).items() if count > 1] == []


def test_every_file_has_its_origin_and_its_count_in_the_readme() -> None:
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert "MIT" in readme
    for name, file in (("demo", DEMO), ("demo_questions", QUESTIONS), ("gold", GOLD), ("pairs", PAIRS)):
        assert f"| `{name}.jsonl` | {len(file)} " in readme


class TestDemo:
    def test_is_long_enough_to_forget_something(self) -> None:
        assert len(DEMO) >= 300
        assert utc(DEMO[-1]["at"]) - utc(DEMO[0]["at"]) >= timedelta(days=700)
        assert 30 <= len({row["session"] for row in DEMO}) <= 45

    def test_rows_hold_what_ingest_reads(self) -> None:
        assert all(set(row) == {"id", "session", "role", "speaker", "text", "at"} for row in DEMO)
        assert {(row["role"], row["speaker"]) for row in DEMO} == {("user", "User"), ("assistant", "Assistant")}
        assert all(row["at"].endswith("Z") and row["text"] == row["text"].strip() != "" for row in DEMO)

    def test_time_runs_forward_through_sessions_that_are_never_reopened(self) -> None:
        assert all(before["at"] < after["at"] for before, after in pairwise(DEMO))
        sessions = [row["session"] for row in DEMO]
        assert sessions == sorted(sessions)

    def test_ids_are_the_session_and_the_place_in_it(self) -> None:
        seen: Counter[str] = Counter()
        for row in DEMO:
            seen[row["session"]] += 1
            assert row["id"] == f"{row['session']}:{seen[row['session']]}"

    def test_no_turn_repeats_another(self) -> None:
        assert len({row["text"] for row in DEMO}) == len(DEMO)

    def test_two_people_share_a_first_name(self) -> None:
        told = " ".join(row["text"] for row in DEMO if row["role"] == "user")
        assert "Sam Okafor" in told
        assert "Sam Whitlock" in told


class TestQuestions:
    def test_every_type_is_asked_and_no_other(self) -> None:
        assert len(QUESTIONS) >= 25
        assert {row["type"] for row in QUESTIONS} == QUESTION_TYPES

    @pytest.mark.parametrize("question", QUESTIONS, ids=lambda row: row["id"])
    def test_evidence_was_said_before_it_is_asked_for(self, question: dict[str, Any]) -> None:
        assert all(TURNS[turn]["at"] < question["asked_at"] for turn in question["evidence"])

    def test_only_abstention_has_no_evidence(self) -> None:
        without = [row for row in QUESTIONS if not row["evidence"]]
        assert [row["id"] for row in without] == [row["id"] for row in QUESTIONS if row["id"].endswith("_abs")]
        assert 2 <= len(without) <= 5
        assert {row["answer"] for row in without} == {"Not in memory"}

    def test_the_type_agrees_with_where_the_evidence_stands(self) -> None:
        for row in QUESTIONS:
            turns = [TURNS[turn] for turn in row["evidence"]]
            if row["type"].startswith("single-session"):
                assert len({turn["session"] for turn in turns}) <= 1, row["id"]
            if row["type"] == "multi-session" and turns:
                assert len({turn["session"] for turn in turns}) > 1, row["id"]
            if row["type"] == "single-session-assistant":
                assert {turn["role"] for turn in turns} == {"assistant"}, row["id"]

    def test_most_answers_stand_word_for_word_in_their_evidence(self) -> None:
        answerable = [row for row in QUESTIONS if row["evidence"]]
        stored = [
            row["id"]
            for row in answerable
            if set(content_words(row["answer"]))
            <= set(content_words(" ".join(TURNS[turn]["text"] for turn in row["evidence"])))
        ]
        assert len(stored) / len(answerable) >= 0.8


class TestGold:
    def test_sixty_turns_of_both_roles_and_of_two_people_talking(self) -> None:
        assert len(GOLD) == 60
        speakers = {row["turn"]["speaker"] for row in GOLD}
        assert {row["turn"]["role"] for row in GOLD} == {"user", "assistant"}
        assert len(speakers - {"User", "Assistant"}) >= 6

    @pytest.mark.parametrize("row", GOLD, ids=lambda row: row["id"])
    def test_labels_are_the_nine_and_titles_are_told_apart(self, row: dict[str, Any]) -> None:
        assert {node["label"] for node in row["nodes"]} <= set(LABELS)
        accepted = [
            title
            for node in row["nodes"]
            for title in {normalise_title(name) for name in [node["title"], *node.get("aliases", [])]}
        ]
        assert [title for title, count in Counter(accepted).items() if count > 1 or not title] == []

    @pytest.mark.parametrize("row", GOLD, ids=lambda row: row["id"])
    def test_edges_join_nodes_of_their_row(self, row: dict[str, Any]) -> None:
        titles = {node["title"] for node in row["nodes"]}
        assert all({edge["source"], edge["target"]} <= titles for edge in row["edges"] + row["negated"])

    @pytest.mark.parametrize("row", GOLD, ids=lambda row: row["id"])
    def test_what_must_be_found_rests_on_nothing_optional(self, row: dict[str, Any]) -> None:
        optional = {node["title"] for node in row["nodes"] if node.get("optional")}
        required = [edge for edge in row["edges"] if not edge.get("optional")]
        assert [edge for edge in required if optional & {edge["source"], edge["target"]}] == []

    @pytest.mark.parametrize("row", GOLD, ids=lambda row: row["id"])
    def test_nothing_is_both_a_fact_and_ruled_out(self, row: dict[str, Any]) -> None:
        facts = {
            (edge["source"], name, edge["target"])
            for edge in row["edges"]
            for name in [edge["relationship"], *edge.get("aliases", [])]
        }
        ruled_out = {(edge["source"], edge["relationship"], edge["target"]) for edge in row["negated"]}
        assert facts & ruled_out == set()

    def test_every_label_has_to_be_found_somewhere(self) -> None:
        required = {node["label"] for row in GOLD for node in row["nodes"] if not node.get("optional")}
        assert required == set(LABELS)

    def test_some_turns_hold_nothing_and_many_rule_something_out(self) -> None:
        assert sum(all(node.get("optional") for node in row["nodes"]) for row in GOLD) >= 4
        assert sum(bool(row["negated"]) for row in GOLD) >= 20


class TestPairs:
    def test_fifty_of_the_same_and_a_hundred_of_the_different(self) -> None:
        counts = Counter(row["same"] for row in PAIRS)
        assert counts[True] >= 50
        assert counts[False] >= 100

    def test_a_pair_is_two_readings_under_one_of_the_nine_labels(self) -> None:
        for row in PAIRS:
            assert row["a"]["label"] == row["b"]["label"] in LABELS, row["id"]
            assert row["a"] != row["b"], row["id"]
            assert all(row[side][field] for side in "ab" for field in ("title", "content")), row["id"]

    def test_titles_differ_so_that_only_a_guard_or_a_vector_can_decide(self) -> None:
        assert [
            row["id"] for row in PAIRS if normalise_title(row["a"]["title"]) == normalise_title(row["b"]["title"])
        ] == []

    def test_a_kind_is_either_sameness_or_a_trap(self) -> None:
        kinds = {(row["kind"], row["same"]) for row in PAIRS}
        assert len(kinds) == len({kind for kind, _ in kinds}) >= 12
