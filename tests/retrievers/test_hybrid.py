"""What each term of the hybrid's score does, on memories of a few turns."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memory_core.context import line_tokens
from memory_core.graph.turn_columns import Neighbourhood, TurnColumns
from memory_core.memory import Memory
from memory_core.protocols import Retrieval
from memory_core.retrievers.hybrid import HybridRetriever
from memory_core.retrievers.hybrid.choosing import best, spread
from memory_core.retrievers.hybrid.cues import asks_several, role_asked, speaker_named
from memory_core.retrievers.hybrid.dates import interval
from tests.fakes import LetterEmbedder
from tests.memories import fake_memory

START = datetime(2024, 5, 1, 12, tzinfo=UTC)
WORDS_ONLY = HybridRetriever(dense=0, graph=0, role=0, dates=0, speaker=0, statement=0, sessions=0, neighbours=0)
FAR = LetterEmbedder(fixed={"": [0.0] * 25 + [1.0]}, floor=2.0)  # every text alike, and none near enough


def told(*turns: str, session_of: int = 100, embedder: LetterEmbedder = FAR, days: int = 1) -> Memory:
    """A turn every `days` days; `who: text` names the speaker, `assistant: text` the role too."""
    memory = fake_memory(embedder=embedder)
    for place, turn in enumerate(turns):
        speaker, _, text = turn.rpartition(": ")
        role = "assistant" if speaker == "assistant" else "user"
        memory.say(
            text, role=role, speaker=speaker.title(), at=START + timedelta(days=days * place),
            session=f"s{place // session_of}",
        )  # fmt: skip
    return memory


def order(found: Retrieval) -> list[str]:
    return [turn.id for turn in found.turns]


# -- words ---------------------------------------------------------------------------------------------------------


def columns(*texts: str, session: str = "s1") -> TurnColumns:
    made = TurnColumns(2)
    made.extend((place, f"t{place}", session, "user", "Mira", text, 0.0) for place, text in enumerate(texts))
    return made


def test_the_word_share_is_bm25_over_what_a_perfect_match_would_score() -> None:
    # two turns of two words: every length norm is 1, so a stem once is (1 * 2.2) / (1 + 1.2) of its rarity, and the
    # best possible is 2.2 of it
    alone = columns("red bicycle", "garden table").word_share(["bicycl"], Neighbourhood(reach=0))
    assert alone.tolist() == pytest.approx([1 / 2.2, 0.0])


def test_a_stem_no_turn_holds_lowers_every_share() -> None:
    some = columns("red bicycle", "garden table")
    asked = (["bicycl"], ["bicycl", "zzz"])
    known, with_unknown = (some.word_share(stems, Neighbourhood(reach=0)) for stems in asked)
    assert 0 < with_unknown[0] < known[0]


def test_a_neighbour_counts_less_the_further_and_the_later_it_is() -> None:
    shares = columns("aa bb", "cc dd", "bicycle ee", "ff gg", "hh ii").word_share(["bicycl"], Neighbourhood())
    assert shares[2] > shares[3] > shares[4] > shares[0] > 0
    assert shares[3] > shares[1]  # what follows is read with what came before


def test_neighbours_are_of_the_same_session() -> None:
    made = columns("bicycle")
    made.extend([(1, "t1", "s2", "user", "Mira", "garden table", 0.0)])
    assert made.word_share(["bicycl"], Neighbourhood()).tolist()[1] == 0.0


def test_a_long_neighbour_counts_as_fifteen_words_at_most() -> None:
    short = columns("bicycle " + "garden " * 14, "yes indeed").word_share(["bicycl"], Neighbourhood(later=0))
    long = columns("bicycle " + "garden " * 149, "yes indeed").word_share(["bicycl"], Neighbourhood(later=0))
    assert 0 < long[1] < short[1]


def test_words_are_stemmed_and_stop_words_say_nothing() -> None:
    with told("I was recommending books", "and then what was it") as memory:
        assert order(memory.retrieve("What was recommended?", WORDS_ONLY)) == ["t1"]


def test_an_answer_is_found_by_the_question_before_it() -> None:
    with told("tom: Where did you buy the bicycle?", "mira: In the little shop by the river.") as memory:
        assert order(memory.retrieve("bicycle", WORDS_ONLY)) == ["t1"]
        assert order(memory.retrieve("bicycle", replace(WORDS_ONLY, neighbours=0.7))) == ["t1", "t2"]


# -- who and when --------------------------------------------------------------------------------------------------


def test_what_you_recommended_is_looked_for_in_the_assistants_turns() -> None:
    with told("user: a museum in Porto", "assistant: a museum in Porto") as memory:
        part = replace(WORDS_ONLY, role=0.4)
        assert order(memory.retrieve("Which museum did you recommend?", part)) == ["t2", "t1"]
        assert order(memory.retrieve("Which museum did I visit?", part)) == ["t1", "t2"]
        assert order(memory.retrieve("Which museum is it?", part)) == ["t1", "t2"]


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("What was the name of the book you suggested?", 1),
        ("Remind me of the recipe", 1),
        ("In our last conversation there was a list", 1),
        ("You also gave me a tip", 1),
        ("Can you recommend a museum?", 0),
        ("What should I cook? Can you recommend something?", -1),
        ("Where do I live now?", -1),
        ("Where does Mira live?", 0),
    ],
)
def test_the_role_a_question_is_about(question: str, role: int) -> None:
    assert role_asked(question) == role


def test_the_speaker_named_first_is_preferred() -> None:
    with told("tom: I bought a kite", "mira: I bought a kite") as memory:
        part = replace(WORDS_ONLY, speaker=0.04)
        assert order(memory.retrieve("Which kite did Mira buy from Tom? kite", part))[0] == "t2"
    assert speaker_named("Miranda came", ["Mira"]) is None
    assert speaker_named("user", ["User", ""]) is None


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What happened on 2023-06-07?", "2023-06-07", "2023-06-08"),
        ("What happened on 7 June, 2023?", "2023-06-07", "2023-06-08"),
        ("What happened on June 7th?", "2023-06-07", "2023-06-08"),
        ("What happened in December 2022?", "2022-12-01", "2023-01-01"),
        ("What happened in March?", "2024-03-01", "2024-04-01"),
        ("What happened in August?", "2023-08-01", "2023-09-01"),
        ("What happened in 2022?", "2022-01-01", "2023-01-01"),
        ("What did I do yesterday?", "2024-05-19", "2024-05-20"),
        ("Whom did I meet last Tuesday?", "2024-05-14", "2024-05-15"),
        ("What did I buy 5 days ago?", "2024-05-15", "2024-05-16"),
        ("What did I buy two weeks ago?", "2024-05-03", "2024-05-11"),
        ("What did I buy in the past two weeks?", "2024-05-05", "2024-05-21"),
    ],
)
def test_the_time_a_question_names(question: str, start: str, end: str) -> None:
    found = interval(question, datetime(2024, 5, 20, 9))
    assert found is not None
    assert [f"{limit:%Y-%m-%d}" for limit in found] == [start, end]


@pytest.mark.parametrize("question", ["Where is May?", "31 February", "on 2023-13-45", "9999 years ago", "7 a day"])
def test_what_is_no_time_is_not_read_as_one(question: str) -> None:
    assert interval(question, datetime(2024, 5, 20, 9)) is None


def test_a_time_in_the_question_is_held_against_the_turns_dates() -> None:
    with told("a concert", "a concert", "a concert", days=30) as memory:
        part = replace(WORDS_ONLY, dates=0.25)
        assert order(memory.retrieve("Which concert was in May 2024?", part))[0] == "t1"
        assert order(memory.retrieve("Which concert was a month ago?", part))[0] == "t2"  # from the memory clock
        asked = replace(part, asked_at=datetime(2024, 5, 2, tzinfo=UTC))
        assert order(memory.retrieve("Which concert was yesterday?", asked))[0] == "t1"


def test_a_turn_that_states_something_goes_before_one_that_asks() -> None:
    with told("Did the kite fall into the river?", "The kite fell into the river.") as memory:
        assert order(memory.retrieve("kite river", WORDS_ONLY)) == ["t1", "t2"]
        assert order(memory.retrieve("kite river", replace(WORDS_ONLY, statement=0.2))) == ["t2", "t1"]


# -- several -------------------------------------------------------------------------------------------------------


def test_a_question_for_several_things_gets_several_sessions() -> None:
    with told("kite kite", "kite a", "a kite b c", session_of=2) as memory:
        part = replace(WORDS_ONLY, sessions=0.5, k=2)
        assert order(memory.retrieve("How many kites are there?", part)) == ["t1", "t3"]
        assert order(memory.retrieve("Where is the kite?", part)) == ["t1", "t2"]


def test_questions_for_several_things_are_told_from_others() -> None:
    assert [asks_several(question) for question in ("How much did it cost in total?", "Who is Mira?")] == [True, False]


def test_choosing() -> None:
    assert best(np.zeros(0), 3).tolist() == []
    assert best(np.full(3, -np.inf), 3).tolist() == []
    assert spread(np.zeros(0), np.zeros(0, np.int32), 0.1, 3) == []


# -- the whole -----------------------------------------------------------------------------------------------------


def test_the_parts_of_a_score_add_up_to_it_and_order_the_turns() -> None:
    turns = ("mira: I bought a kite in May 2024", "tom: a kite", "assistant: kites fly")
    with told(*turns, embedder=LetterEmbedder()) as memory:
        found = memory.retrieve("Which kite did Mira buy in May 2024?", HybridRetriever())
        assert len(found.turns) == 3
        for turn in found.turns:
            assert sum(turn.parts.values()) == pytest.approx(turn.score)
            assert set(turn.parts) <= {"words", "dense", "graph", "role", "dates", "speaker", "statement"}
        assert [turn.score for turn in found.turns] == sorted((turn.score for turn in found.turns), reverse=True)


def test_a_cue_alone_brings_nothing() -> None:
    with told("user: I bought a kite") as memory:
        assert memory.retrieve("What did I do yesterday?", HybridRetriever()).turns == ()


def test_turns_are_reached_through_the_graph() -> None:
    fixed = {"Zoo": [1.0], "Mira": [0.0, 1.0], "Tierpark": [0.0, 0.0, 1.0]}
    with told("Person:Mira -works_in-> Location:Zoo", "Person:Mira -was_in-> Location:Rome",
              embedder=LetterEmbedder(fixed=fixed, match_threshold=2.0, floor=0.9)) as memory:  # fmt: skip
        found = memory.retrieve("Zoo", replace(WORDS_ONLY, words=0, graph=1.0))
        assert [root.title for root in found.roots] == ["Zoo"]
        assert order(found) == ["t1", "t2"]  # t2 by way of Mira
        assert [(memory.graph.titles[memory.graph.row_of[visit.id]], visit.hop) for visit in found.nodes[:2]] == [
            ("Zoo", 0),
            ("Mira", 1),
        ]


@pytest.mark.parametrize("budget", [100, 130, 400])
def test_the_context_keeps_whole_lines_within_the_budget_and_counts_the_rest(budget: int) -> None:
    with told(*(f"The kite number {place} flew over the long river." for place in range(9))) as memory:
        found = memory.retrieve("kite", HybridRetriever(tokens=budget))
        assert sum(line_tokens(line) for line in found.lines) <= budget
        assert len(found.lines) + found.left_out == len(found.turns) == 9
        said = {turn.text for turn in memory.turns(order(found))}
        assert all(line.text.split(": ", 1)[1] in said for line in found.lines)
        assert found.lines[0].text.startswith("[2024-05-")


def test_con_02_the_newest_fact_comes_first_and_the_old_one_is_marked() -> None:
    fixed = {"Elena": [1.0], "Osaka": [0.0, 1.0], "Berlin": [0.0, 0.0, 1.0]}
    with told("Person:Elena -lives_in-> Location:Osaka", "Person:Elena -lives_in-> Location:Berlin", days=184,
              embedder=LetterEmbedder(fixed=fixed, match_threshold=2.0, floor=0.9)) as memory:  # fmt: skip
        found = memory.retrieve("Where does Elena live?", HybridRetriever())
        lines = [line for line in found.lines if "-->" in line.text]
        assert [(line.text, line.superseded) for line in lines] == [
            ("[2024-11-01] Elena -- lives_in --> Berlin", False),
            ("[2024-05-01] Elena -- lives_in --> Osaka (until 2024-11-01, no longer current)", True),
        ]


def test_every_weight_has_a_label_and_a_range_for_its_slider() -> None:
    for one in fields(HybridRetriever):
        if one.name != "asked_at":
            low, high = one.metadata["range"]
            assert one.metadata["label"]
            assert low <= one.default <= high
