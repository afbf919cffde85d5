"""Every format people keep chats in becomes the same turns; what cannot be read is named, never guessed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_core.errors import FormatError, InputError
from memory_core.importers.transcripts import (
    FORMATS,
    START,
    Conversation,
    Transcript,
    as_said,
    parse_date,
    pool,
    pooled_names,
    read_transcript,
)


def written(value: object) -> bytes:
    return json.dumps(value).encode()


def lines(*rows: object) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def only(transcript: Transcript) -> Conversation:
    (conversation,) = transcript.conversations
    return conversation


def said(transcript: Transcript) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in only(transcript).turns]


def our_row(text: str, role: str = "user", at: str = "2024-03-01T09:00:00Z", **more: object) -> dict[str, object]:
    return {"role": role, "text": text, "at": at, **more}


def question(id: str, sessions: dict[str, tuple[str, list[str]]], **more: object) -> dict[str, object]:
    """A LongMemEval question whose sessions are {id: (date, texts)}; users and assistants take turns."""
    return {
        "question_id": id,
        "question": "Where do I ski?",
        "question_date": "2024/01/05 (Fri) 10:00",
        "haystack_session_ids": list(sessions),
        "haystack_dates": [date for date, _ in sessions.values()],
        "haystack_sessions": [
            [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]
            for _, texts in sessions.values()
        ],
        **more,
    }


def sample(id: str, **sessions: tuple[str, list[dict[str, str]]]) -> dict[str, object]:
    """A LoCoMo sample whose sessions are session_1=(date, rows)."""
    conversation: dict[str, object] = {"speaker_a": "Nia", "speaker_b": "Tom"}
    for name, (date, rows) in sessions.items():
        conversation |= {f"{name}_date_time": date, name: rows}
    return {"sample_id": id, "conversation": conversation, "qa": []}


class TestOurs:
    def test_rows_keep_their_names_dates_and_sessions(self) -> None:
        row = our_row("I ski.", at="2024-03-01T10:00:00+01:00", id="S1:1", session="S1", speaker="Nia")
        (turn,) = only(read_transcript(lines(row))).turns
        assert (turn.source_id, turn.session, turn.speaker) == ("S1:1", "S1", "Nia")
        assert turn.at == datetime(2024, 3, 1, 9, tzinfo=UTC)

    def test_without_session_and_id_a_row_is_named_by_its_day_and_place(self) -> None:
        found = only(read_transcript(lines(our_row("a"), our_row("b"), our_row("c", at="2024-03-02T09:00:00Z"))))
        assert [turn.source_id for turn in found.turns] == ["2024-03-01:0", "2024-03-01:1", "2024-03-02:0"]

    def test_sessions_come_in_order_of_their_dates(self) -> None:
        late, early = our_row("b", session="B", at="2024-05-01"), our_row("a", session="A", at="2024-04-01")
        assert [turn.text for turn in only(read_transcript(lines(late, early))).turns] == ["a", "b"]

    def test_a_broken_line_is_named_and_the_others_stay(self) -> None:
        data = lines(our_row("a")) + b'\n{"role": "user", "text": \n' + lines(our_row("c"))
        found = read_transcript(data)
        assert [text for _, text in said(found)] == ["a", "c"]
        assert len(found.problems) == 1
        assert found.problems[0].startswith("line 2: not JSON")

    @pytest.mark.parametrize("at", ["yesterday", "", None, 1709283600, "0001-01-01T00:00:00+14:00"])
    def test_a_row_without_a_readable_date_is_left_out_and_named(self, at: object) -> None:
        found = read_transcript(lines(our_row("a"), {**our_row("b", session="S2"), "at": at}))
        assert said(found) == [("user", "a")]
        assert found.problems[0].startswith("line 2 (session S2) has")

    def test_a_name_given_twice_stays_unique(self) -> None:
        found = read_transcript(lines(our_row("a", id="1", session="S"), our_row("b", id="1", session="S")))
        assert [turn.source_id for turn in only(found).turns] == ["1", "1#2"]
        assert "'1' stands there again" in found.problems[0]

    @given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(min_size=1))))
    def test_what_is_written_is_read_back_exactly(self, turns: list[tuple[str, str]]) -> None:
        kept = [(role, text) for role, text in turns if "\0" not in text and text.isprintable()]
        if kept:
            assert said(read_transcript(lines(*(our_row(text, role) for role, text in kept)))) == kept

    @given(st.integers(min_value=0, max_value=400))
    def test_a_file_cut_anywhere_gives_the_turns_before_the_cut(self, cut: int) -> None:
        texts = ["Zoë skis in Åre", "雪", "and {swims}", "done"]
        whole = "\n".join(json.dumps(our_row(text), ensure_ascii=False) for text in texts).encode()
        try:
            found = read_transcript(whole[:cut])
        except FormatError:
            return
        read = [text for _, text in said(found)]
        assert read == texts[: len(read)]
        assert len(read) == len(texts) or found.problems or whole[:cut].endswith((b"}", b"}\n"))


class TestLongMemEval:
    def test_imp_08_dates_with_a_weekday_parse_exactly(self) -> None:
        assert parse_date("2023/04/10 (Mon) 17:50") == datetime(2023, 4, 10, 17, 50, tzinfo=UTC)
        assert parse_date("2023/05/30 (Tue) 23:17") == datetime(2023, 5, 30, 23, 17, tzinfo=UTC)

    def test_imp_08_a_date_that_cannot_be_read_is_an_error_naming_the_session(self) -> None:
        data = written([question("q1", {"s1": ("2023/04/10 (Mon) 17:50", ["hi"]), "s7": ("not a date", ["ho"])})])
        with pytest.raises(FormatError, match=r"session s7 of question q1 .*'not a date'"):
            read_transcript(data)

    def test_a_question_that_cannot_be_read_does_not_stop_the_others(self) -> None:
        good = question("q1", {"s1": ("2023/04/10 (Mon) 17:50", ["hi"])})
        bad = {**good, "question_id": "q2", "haystack_dates": []}
        found = read_transcript(written([bad, good]))
        assert only(found).id == "q1"
        assert "item 1 (line 1): question q2" in found.problems[0]

    def test_turns_are_named_by_session_and_place_from_0_earliest_session_first(self) -> None:
        sessions = {"s2": ("2023/04/11 (Tue) 09:00", ["c"]), "s1": ("2023/04/10 (Mon) 17:50", ["a", "b"])}
        found = only(read_transcript(written([question("q1", sessions)])))
        assert [(turn.source_id, turn.role) for turn in found.turns] == [
            ("s1:0", "user"),
            ("s1:1", "assistant"),
            ("s2:0", "user"),
        ]

    def test_pooled_each_session_stands_once_though_two_questions_share_it(self) -> None:
        shared = ("2023/04/10 (Mon) 17:50", ["a", "b"])
        data = written(
            [question("q1", {"s1": shared}), question("q2", {"s0": ("2023/04/09 (Sun) 9:00", ["z"]), "s1": shared})]
        )
        assert [turn.source_id for turn in pool(read_transcript(data)).turns] == ["s0:0", "s1:0", "s1:1"]

    def test_pooled_another_session_under_the_same_id_is_kept_beside_it(self) -> None:
        day = "2023/04/10 (Mon) 17:50"
        found = read_transcript(written([question("q1", {"s1": (day, ["a"])}), question("q2", {"s1": (day, ["b"])})]))
        assert [(turn.source_id, turn.text) for turn in pool(found).turns] == [("s1:0", "a"), ("q2:s1:0", "b")]
        assert pooled_names(found) == {("q1", "s1:0"): "s1:0", ("q2", "s1:0"): "q2:s1:0"}

    def test_a_session_given_twice_in_one_haystack_is_taken_once_and_named(self) -> None:
        record = question("q1", {"s1": ("2023/04/10 (Mon) 17:50", ["a"])})
        for key in ("haystack_session_ids", "haystack_dates", "haystack_sessions"):
            record[key] = record[key] * 2  # type: ignore[operator]
        found = read_transcript(written([record]))
        assert len(only(found).turns) == 1
        assert "session 's1' stands there twice" in found.problems[0]

    def test_a_file_cut_half_way_keeps_the_questions_before_the_cut(self) -> None:
        records = [question(f"q{n}", {f"s{n}": ("2023/04/10 (Mon) 17:50", ["hello"])}) for n in range(3)]
        whole = json.dumps(records, indent=1)
        found = read_transcript(whole[: whole.index("q2") + 4].encode())
        assert [conversation.id for conversation in found.conversations] == ["q0", "q1"]
        line = whole[: whole.index('"q2"')].count("\n")  # the line the third question opens on
        assert found.problems[0].startswith(f"item 3 (line {line}): not JSON")


class TestLoCoMo:
    day = "1:56 pm on 8 May, 2023"

    def test_dates_in_words_parse_exactly(self) -> None:
        assert parse_date(self.day) == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
        assert parse_date("12:09 am on 13 September, 2023") == datetime(2023, 9, 13, 0, 9, tzinfo=UTC)

    def test_imp_14_a_caption_is_marked_as_one_and_the_words_stay(self) -> None:
        row = {
            "speaker": "Nia",
            "text": "I painted this sunrise last year!",
            "blip_caption": "a painting of a sunset over a lake",
            "dia_id": "D1:12",
        }
        (turn,) = only(read_transcript(written([sample("conv-1", session_1=(self.day, [row]))]))).turns
        assert turn.text == "I painted this sunrise last year! [shares a picture: a painting of a sunset over a lake]"
        assert (turn.speaker, turn.role, turn.source_id, turn.session) == ("Nia", "user", "D1:12", "session_1")
        assert as_said(turn) == f"Nia: {turn.text}"

    def test_sessions_are_sorted_by_date_not_by_name_and_dates_without_words_are_no_session(self) -> None:
        data = sample(
            "conv-1",
            session_2=("9:00 am on 1 May, 2023", [{"speaker": "Tom", "text": "first", "dia_id": "D2:1"}]),
            session_10=(self.day, [{"speaker": "Nia", "text": "second", "dia_id": "D10:1"}]),
        )
        data["conversation"]["session_11_date_time"] = self.day  # type: ignore[index]
        found = read_transcript(written([data]))
        assert [turn.source_id for turn in only(found).turns] == ["D2:1", "D10:1"]
        assert found.problems == ()

    def test_a_date_that_cannot_be_read_names_the_session(self) -> None:
        row = {"speaker": "Nia", "text": "hi", "dia_id": "D3:1"}
        with pytest.raises(FormatError, match="session_3 of sample conv-1 has no date"):
            read_transcript(written([sample("conv-1", session_3=("", [row]))]))

    def test_pooled_names_have_the_conversation_in_front(self) -> None:
        row = {"speaker": "Nia", "text": "hi", "dia_id": "D1:3"}
        found = read_transcript(written([sample(id, session_1=(self.day, [row])) for id in ("conv-26", "conv-30")]))
        together = pool(found)
        assert [turn.source_id for turn in together.turns] == ["conv-26:D1:3", "conv-30:D1:3"]
        assert [turn.session for turn in together.turns] == ["conv-26:session_1", "conv-30:session_1"]


def export(title: str, *messages: dict[str, Any], **more: object) -> dict[str, object]:
    """A ChatGPT conversation with its messages in one line from the root."""
    mapping: dict[str, object] = {"m0": {"message": None, "parent": None}}
    for number, message in enumerate(messages, start=1):
        mapping[f"m{number}"] = {"message": message, "parent": f"m{number - 1}"}
    return {
        "title": title,
        "create_time": 1700000000.0,
        "mapping": mapping,
        "current_node": f"m{len(messages)}",
        **more,
    }


def message(role: str, *parts: object, **more: object) -> dict[str, Any]:
    return {"author": {"role": role}, "content": {"content_type": "text", "parts": list(parts)}, **more}


class TestChatGPT:
    def test_imp_02_a_picture_is_no_text(self) -> None:
        picture = {
            "content_type": "image_asset_pointer",
            "asset_pointer": "file-service://file-ABC",
            "width": 800,
            "height": 600,
        }
        found = read_transcript(written([export("Plants", message("user", picture, "What plant is this?"))]))
        assert said(found) == [("user", "What plant is this?")]

    def test_a_message_of_a_picture_alone_says_so(self) -> None:
        picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-ABC"}
        assert said(read_transcript(written([export("Plants", message("user", picture))]))) == [("user", "[image]")]

    def test_imp_04_hidden_entries_are_no_turns_and_a_bad_conversation_is_named(self) -> None:
        profile = {
            "author": {"role": "user"},
            "metadata": {"is_visually_hidden_from_conversation": True},
            "content": {"content_type": "user_editable_context", "user_profile": "Likes tea"},
        }
        bad = {"title": "Broken", "mapping": "a string"}
        found = read_transcript(
            written(
                [
                    export("One", profile, message("user", "hi"), id="c1"),
                    bad,
                    export("Three", message("user", "ho"), id="c3"),
                ]
            )
        )
        assert [conversation.id for conversation in found.conversations] == ["c1", "c3"]
        assert [turn.text for conversation in found.conversations for turn in conversation.turns] == ["hi", "ho"]
        assert found.problems[0].startswith("item 2 (line 1) ('Broken')")
        assert "1 hidden messages" in found.problems[1]

    def test_only_the_branch_the_conversation_was_left_on_is_read(self) -> None:
        data = export("Edited", message("user", "first try"), message("assistant", "old answer"))
        mapping: Any = data["mapping"]
        mapping["m9"] = {"message": message("user", "second try"), "parent": "m0"}
        data["current_node"] = "m9"
        assert said(read_transcript(written([data]))) == [("user", "second try")]

    def test_times_are_the_messages_own_or_those_before_them(self) -> None:
        data = export(
            "T", message("user", "a"), message("assistant", "b", create_time=1700000060), message("user", "c")
        )
        times = [turn.at.timestamp() for turn in only(read_transcript(written([data]))).turns]
        assert times == [1700000000, 1700000060, 1700000060]

    def test_a_conversation_without_any_time_is_named_not_dated_now(self) -> None:
        with pytest.raises(FormatError, match=r"'T'.*no time"):
            read_transcript(written([{**export("T", message("user", "a")), "create_time": None}]))

    def test_a_tree_whose_parents_run_in_a_circle_ends(self) -> None:
        data = export("Loop", message("user", "a"), message("assistant", "b"))
        data["mapping"]["m1"]["parent"] = "m2"  # type: ignore[index]
        assert len(only(read_transcript(written([data]))).turns) == 2


class TestShareGPT:
    def test_imp_06_mixed_role_words_are_understood_and_unknown_ones_named(self) -> None:
        record = {
            "conversations": [
                {"from": "user", "value": "hi"},
                {"from": "chatgpt", "value": "hello"},
                {"role": "user", "content": "I ski"},
                {"from": "bing", "value": "?"},
            ]
        }
        found = read_transcript(written([record]))
        assert said(found) == [("user", "hi"), ("assistant", "hello"), ("user", "I ski")]
        assert found.problems == ("item 1 (line 1), message 4: the role 'bing' is neither user nor assistant.",)

    def test_con_11_reminders_put_in_by_a_program_are_no_turns(self) -> None:
        history = [
            {
                "role": "user",
                "content": "<system-reminder>Time to reflect on memory.</system-reminder>",
                "source": "internal",
            },
            {"role": "user", "content": "Remind me to buy stamps", "source": "human"},
        ]
        found = read_transcript(written({"history": history}))
        assert said(found) == [("user", "Remind me to buy stamps")]
        assert found.problems == (
            "left out: 1 internal messages (role system or tool, reminders put in by a program).",
        )

    @pytest.mark.parametrize("role", ["system", "tool", "developer", "function"])
    def test_con_11_neither_are_system_and_tool_messages(self, role: str) -> None:
        found = read_transcript(lines(our_row("You are helpful.", role), our_row("I ski.")))
        assert said(found) == [("user", "I ski.")]
        assert "1 internal messages" in found.problems[0]

    def test_con_11_a_reminder_around_a_turn_is_cut_off_and_one_inside_it_is_somebodys_words(self) -> None:
        block = "<system-reminder>Reflect.</system-reminder>"
        found = read_transcript(
            lines(our_row(f"{block}\nBuy stamps\n\n{block}\n"), our_row(f"What does {block} mean?"))
        )
        assert said(found) == [("user", "Buy stamps"), ("user", f"What does {block} mean?")]
        assert "2 reminders" in found.problems[0]

    def test_turns_follow_a_minute_apart_through_the_whole_file(self) -> None:
        records = [{"conversations": [{"from": "human", "value": text}]} for text in ("a", "b")]
        found = read_transcript(lines(*records), start=datetime(2020, 1, 1, tzinfo=UTC))
        assert [turn.at.minute for conversation in found.conversations for turn in conversation.turns] == [0, 1]

    def test_an_openai_list_of_messages_with_parts_is_read(self) -> None:
        parts = [{"type": "image_url", "image_url": {"url": "data:"}}, {"type": "text", "text": "Which plant?"}]
        assert said(read_transcript(written([{"role": "user", "content": parts}]))) == [("user", "Which plant?")]


class TestPlain:
    def test_lines_after_a_role_belong_to_its_turn(self) -> None:
        text = "User: I ski.\n\n- in Åre\nNote: in winter\n**Assistant:** Nice\nhuman:bye"
        assert said(read_transcript(text.encode())) == [
            ("user", "I ski.\n\n- in Åre\nNote: in winter"),
            ("assistant", "Nice"),
            ("user", "bye"),
        ]

    def test_words_before_the_first_role_are_named(self) -> None:
        assert read_transcript(b"My chat\n\nuser: hi").problems == (
            "lines 1 to 2: words before the first `role:` line were left out.",
        )

    def test_dates_start_where_documented(self) -> None:
        assert only(read_transcript(b"user: hi")).turns[0].at == START == datetime(2000, 1, 1, tzinfo=UTC)


class TestAnyFile:
    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"", "is empty"),
            (b" \n\t\n", "is empty"),
            (b"\xef\xbb\xbf", "is empty"),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "NUL bytes"),
            (b"user: caf\xe9 au lait", r"not UTF-8 text \(line 1\); save it as UTF-8"),
            (b"Dear diary, today I skied.", "no known format; known are ours, longmemeval"),
            (b"[]", "no known format"),
            (b"[1, 2]", "no known format"),
            (b'{"a": 1}', "no known format"),
            (b'{"role": "user", "text": "a", "at": "2024-', r"no known format \(line 1: not JSON"),
            (b"[" * 100_000, "nested too deeply"),
            (b"[" + b"9" * 5000 + b"]", "no known format"),
        ],
    )
    def test_what_is_no_transcript_is_refused_in_one_line(self, data: bytes, reason: str) -> None:
        with pytest.raises(FormatError, match=reason) as caught:
            read_transcript(data)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
    def test_a_byte_order_mark_is_no_letter(self, encoding: str) -> None:
        assert said(read_transcript("user: Zoë".encode(encoding))) == [("user", "Zoë")]

    def test_windows_line_ends_leave_no_trace(self) -> None:
        assert said(read_transcript(b"user: a\r\nassistant: b\r\n")) == [("user", "a"), ("assistant", "b")]

    def test_a_turn_of_200_kb_is_read_whole(self) -> None:
        assert said(read_transcript(lines(our_row("x" * 200_000)))) == [("user", "x" * 200_000)]

    def test_nul_and_half_characters_are_taken_out_and_counted(self) -> None:
        found = read_transcript(b'{"role": "user", "text": "a\\u0000b\\ud83dc \\ud83d\\ude00", "at": "2024-01-01"}')
        assert said(found) == [("user", "ab\ufffdc \U0001f600")]
        assert [problem.partition(" ")[2][:5] for problem in found.problems] == ["out: "] * 2

    @pytest.mark.parametrize("text", [None, 7, {"a": 1}])
    def test_a_row_without_words_is_named(self, text: object) -> None:
        found = read_transcript(lines(our_row("a"), {**our_row("b"), "text": text}))
        assert found.problems == ("line 2: has no text.",)

    def test_a_file_that_is_not_there_or_is_a_folder_is_named(self, tmp_path: Path) -> None:
        for path in (tmp_path / "no.jsonl", tmp_path):
            with pytest.raises(InputError, match="cannot be read"):
                read_transcript(path)

    def test_an_unknown_format_name_lists_the_known_ones(self) -> None:
        with pytest.raises(FormatError, match=", ".join(FORMATS)):
            read_transcript(b"user: hi", format="whatsapp")

    @pytest.mark.parametrize("format", [name for name in FORMATS if name != "plain"])
    def test_a_format_that_the_file_is_not_is_refused(self, format: str) -> None:
        with pytest.raises(FormatError, match=f"not {format}"):
            read_transcript(b"user: hi", format=format)

    @pytest.mark.parametrize("format", list(FORMATS))
    def test_a_conversation_read_twice_is_the_same(self, format: str) -> None:
        data = {
            "ours": lines(our_row("a"), our_row("b")),
            "longmemeval": written([question("q1", {"s1": ("2023/04/10 (Mon) 17:50", ["a", "b"])})]),
            "locomo": written([sample("c", session_1=(TestLoCoMo.day, [{"speaker": "Nia", "text": "a"}]))]),
            "chatgpt": written([export("T", message("user", "a"))]),
            "sharegpt": written([{"conversations": [{"from": "human", "value": "a"}]}]),
            "plain": b"user: a",
        }[format]
        assert read_transcript(data) == read_transcript(data)
        assert read_transcript(data).format == format
        assert read_transcript(data, format) == read_transcript(data)

    json_values = st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    "role text at content from value mapping current_node message author parts conversation qa history "
                    "haystack_sessions haystack_dates haystack_session_ids session_1 session_1_date_time".split()
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )

    @given(
        st.binary(max_size=200)
        | json_values.map(written)
        | st.text(max_size=100).map(lambda text: f"user: {text}".encode())
    )
    @example(b'{"mapping": {}, "current_node": []}')
    def test_any_bytes_give_turns_or_a_clear_error(self, data: bytes) -> None:
        try:
            found = read_transcript(data)
        except FormatError:
            return
        assert all(conversation.turns for conversation in found.conversations)
        assert len(pool(found).turns) == len({turn.source_id for turn in pool(found).turns}) > 0
