"""Questions know the turns that hold their answers; what a file says wrongly is mended, dropped and counted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_core.errors import FormatError, InputError
from memory_core.evaluation.datasets import (
    LOCOMO_CATEGORIES,
    Benchmark,
    Question,
    for_coverage,
    for_retrieval,
    load_benchmark,
)

Load = Callable[..., Benchmark]
DATA = Path(__file__).parents[2] / "data"


def test_a_folder_is_no_benchmark() -> None:
    for folder in ("/", "."):
        with pytest.raises(InputError, match="cannot be read: Is a directory"):
            load_benchmark(folder)


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def write_and_load(value: object, **options: bool) -> Benchmark:
        path = tmp_path / "bench.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        return load_benchmark(path, **options)

    return write_and_load


def haystack(id: str = "q1", asked: str = "2023/05/30 (Tue) 22:00", **more: object) -> dict[str, object]:
    """Two sessions on 30 May, at 8 and at 21; the answer is in a user's and an assistant's turn of the second."""
    return {
        "question_id": id,
        "question_type": "multi-session",
        "question": "How many skis?",
        "answer": 3,
        "question_date": asked,
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/30 (Tue) 08:00", "2023/05/30 (Tue) 21:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "hi", "has_answer": False}],
            [
                {"role": "user", "content": "three", "has_answer": True},
                {"role": "assistant", "content": "three indeed", "has_answer": True},
            ],
        ],
        **more,
    }


def sample(*questions: dict[str, object], id: str = "conv-1") -> dict[str, object]:
    rows = [{"speaker": "Nia", "text": f"line {n}", "dia_id": f"D1:{n}"} for n in range(1, 6)]
    said = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": rows}
    return {"sample_id": id, "conversation": said, "qa": list(questions)}


def asked(category: int = 4, evidence: object = ("D1:1",), **more: object) -> dict[str, object]:
    return {"question": "What?", "answer": "that", "category": category, "evidence": evidence, **more}


class TestLongMemEval:
    def test_evidence_is_every_marked_turn_of_both_roles(self, load: Load) -> None:
        (question,) = load([haystack()]).questions
        assert question.evidence == ("s2:0", "s2:1")
        assert (question.conversation, question.type, question.answer) == ("q1", "multi-session", "3")
        assert question.asked_at == datetime(2023, 5, 30, 22, tzinfo=UTC)

    def test_abstention_items_are_flagged_and_no_evidence_metric_counts_them(self, load: Load) -> None:
        benchmark = load([haystack(), haystack("q2_abs")])
        assert [question.abstention for question in benchmark.questions] == [False, True]
        assert [question.id for question in for_retrieval(benchmark.questions)] == ["q1"]

    def test_imp_10_a_question_dated_before_the_last_session_loads_with_a_flag(self, load: Load) -> None:
        benchmark = load([haystack(asked="2023/05/30 (Tue) 08:00")])
        assert benchmark.questions[0].late_sessions == 1
        assert len(benchmark.conversations[0].turns) == 3

    def test_imp_10_later_sessions_can_be_left_out_and_their_evidence_is_dropped(self, load: Load) -> None:
        benchmark = load([haystack(asked="2023/05/30 (Tue) 08:00")], later_sessions=False)
        assert [turn.source_id for turn in benchmark.conversations[0].turns] == ["s1:0"]
        assert benchmark.questions[0].evidence == ()
        assert benchmark.questions[0].dropped_evidence == ("s2:0", "s2:1")

    def test_a_question_without_a_readable_date_is_named_and_left_out(self, load: Load) -> None:
        benchmark = load([haystack(asked="soon"), haystack("q2")])
        assert [question.id for question in benchmark.questions] == ["q2"]
        assert "question q1 has a date that cannot be read" in benchmark.problems[0]

    def test_pooled_all_questions_ask_one_conversation_by_the_same_turn_names(self, load: Load) -> None:
        benchmark = load([haystack(), haystack("q2")], pooled=True)
        assert [conversation.id for conversation in benchmark.conversations] == ["pooled"]
        assert len(benchmark.conversations[0].turns) == 3
        assert [(question.conversation, question.evidence) for question in benchmark.questions] == [
            ("pooled", ("s2:0", "s2:1"))
        ] * 2


class TestLoCoMo:
    @pytest.mark.parametrize(
        ("evidence", "found", "dropped"),
        [
            (["D1:3"], ("D1:3",), ()),
            (["D:1:3"], ("D1:3",), ()),
            (["D1:03", "D01:4"], ("D1:3", "D1:4"), ()),
            (["D1:3; D1:4"], ("D1:3", "D1:4"), ()),
            (["D1:3 D1:4", "D1:3"], ("D1:3", "D1:4"), ()),
            (["D"], (), ("D",)),
            (["D1:3, somewhere"], ("D1:3",), ("somewhere",)),
            (["D9:99"], (), ("D9:99",)),
            ([], (), ()),
            (None, (), ()),
            ([None], (), ("None",)),
        ],
    )
    def test_evidence_is_mended_and_the_rest_dropped_and_counted(
        self, load: Load, evidence: object, found: tuple[str, ...], dropped: tuple[str, ...]
    ) -> None:
        benchmark = load([sample(asked(evidence=evidence))])
        assert benchmark.questions[0].evidence == found
        assert benchmark.questions[0].dropped_evidence == dropped
        assert benchmark.dropped_evidence == len(dropped)

    def test_imp_13_category_numbers_carry_their_right_names(self, load: Load) -> None:
        names = ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"]
        assert list(LOCOMO_CATEGORIES.values()) == names
        assert [q.type for q in load([sample(*(asked(number) for number in range(1, 6)))]).questions] == names

    def test_all_categories_count_for_retrieval_and_1_to_4_for_coverage(self, load: Load) -> None:
        questions = load([sample(*(asked(number) for number in range(1, 6)))]).questions
        assert (len(for_retrieval(questions)), len(for_coverage(questions))) == (5, 4)

    def test_an_adversarial_question_has_no_answer_unless_the_file_gives_one(self, load: Load) -> None:
        trap = {"question": "What?", "adversarial_answer": "a trap", "category": 5, "evidence": ["D1:1"]}
        assert [q.answer for q in load([sample(trap, {**trap, "answer": "none"})]).questions] == ["", "none"]

    def test_numbers_as_answers_are_text(self, load: Load) -> None:
        assert load([sample(asked(answer=2022))]).questions[0].answer == "2022"

    def test_an_unknown_category_is_named(self, load: Load) -> None:
        assert "category 9" in load([sample(asked(9))]).problems[0]

    def test_pooled_evidence_has_the_conversation_in_front(self, load: Load) -> None:
        benchmark = load([sample(asked()), sample(asked(), id="conv-2")], pooled=True)
        assert [question.evidence for question in benchmark.questions] == [("conv-1:D1:1",), ("conv-2:D1:1",)]
        assert [question.id for question in benchmark.questions] == ["conv-1:q0", "conv-2:q0"]


class TestAnyBenchmark:
    def test_the_split_is_known_by_the_hash_of_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "b.json"
        path.write_bytes(json.dumps([haystack()]).encode())
        assert load_benchmark(path).split_hash == hashlib.sha256(path.read_bytes()).hexdigest()

    def test_every_evidence_turn_is_a_turn_of_its_conversation(self, load: Load) -> None:
        for value in ([haystack(), haystack("q2")], [sample(asked(evidence=["D1:1", "D7:7"]))]):
            for pooled in (False, True):
                benchmark = load(value, pooled=pooled)
                turns = {c.id: {turn.source_id for turn in c.turns} for c in benchmark.conversations}
                assert all(set(q.evidence) <= turns[q.conversation] for q in benchmark.questions)

    def test_a_transcript_without_questions_is_no_benchmark(self, tmp_path: Path) -> None:
        path = tmp_path / "chat.jsonl"
        path.write_text('{"role": "user", "text": "hi", "at": "2024-01-01"}\n')
        with pytest.raises(FormatError, match=r"no chat_questions\.jsonl beside it"):
            load_benchmark(path)

    def test_leaving_out_later_sessions_needs_a_haystack_a_question(self, load: Load) -> None:
        with pytest.raises(InputError, match="haystack of its own"):
            load([sample(asked())], later_sessions=False)

    def test_questions_beside_a_transcript_are_found_from_either_file(self, tmp_path: Path) -> None:
        turns, questions = tmp_path / "chat.jsonl", tmp_path / "chat_questions.jsonl"
        turns.write_text('{"role": "user", "text": "I ski.", "at": "2024-01-02", "id": "S1:1"}\n')
        question = {
            "id": "Q1",
            "question": "Sport?",
            "answer": "ski",
            "type": "single-session-user",
            "evidence": ["S1:1"],
        }
        questions.write_text(json.dumps({**question, "asked_at": "2024-01-01"}) + "\n" + '{"id": "Q2"}\n')
        benchmark = load_benchmark(turns)
        assert benchmark == load_benchmark(questions)
        assert benchmark.questions == (
            Question(
                "Q1",
                "Sport?",
                "ski",
                "single-session-user",
                "chat",
                ("S1:1",),
                datetime(2024, 1, 1, tzinfo=UTC),
                late_sessions=1,
            ),
        )
        assert benchmark.problems == ("line 2: question Q2 has no text; this question was left out.",)

    def test_the_demo_that_ships_is_whole(self) -> None:
        benchmark = load_benchmark(DATA / "demo.jsonl")
        assert benchmark.problems == ()
        assert benchmark.dropped_evidence == 0
        assert len(benchmark.conversations[0].turns) >= 300
        assert len(for_retrieval(benchmark.questions)) >= 25
