"""What the retrieval page promises, without a browser: each step with its numbers, and looking that changes nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from memory_core.__main__ import main
from memory_core.evaluation import sweep
from memory_core.exporters import to_document
from memory_core.importers.transcripts import read_transcript
from memory_core.ingestion import ingest
from memory_core.memories import Memories
from memory_core.memory import Memory
from memory_core.parts import RETRIEVERS
from pages._ui.retrieval import stepping
from tests.pages.conftest import html, opened_at
from tests.pages.large import QuickEmbedder, make_large

opened = partial(opened_at, "retrieval")
SAID = {
    "K:1": "My sister Mira lives in Porto.",
    "K:2": "I work at Harbor Bakery and I love rye bread.",
    "K:3": "My dog Rollo is six years old.",
    "K:4": "Mira plays the cello in a quartet.",
    "K:5": "Hm, right.",
}
QUESTION = "Where does my sister Mira live?"
ASKED = [
    {"id": "Q1", "question": QUESTION, "answer": "Porto", "type": "plain", "evidence": ["K:1"]},
    {"id": "Q2", "question": "How old is Rollo?", "answer": "six", "type": "plain", "evidence": ["K:3"]},
    {"id": "Q3", "question": "What did I mumble?", "answer": "Hm", "type": "plain", "evidence": ["K:5"]},
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty, a small, a demo-sized and a large memory, and questions about the small one."""
    folder = tmp_path_factory.mktemp("made")
    with Memory.open(folder / "empty.sqlite3") as memory:
        memory.retrying(lambda: memory.commit([]))
    turns = [
        {"id": name, "session": "K", "role": "user", "text": text, "at": f"2024-05-01T10:0{name[2]}:00Z"}
        for name, text in SAID.items()
    ]
    write(folder / "talk.jsonl", turns)
    write(folder / "talk_questions.jsonl", ASKED)
    with Memory.open(folder / "small.sqlite3") as memory:
        ingest(memory, read_transcript(folder / "talk.jsonl").conversations[0].turns)
    for name, size in (("middle", 600), ("large", 2000)):
        make_large(folder / f"{name}.sqlite3", size)
        with Memory.open(folder / f"{name}.sqlite3", embedder=QuickEmbedder()) as memory:
            memory.turn_vectors()
    return folder


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def told(app: AppTest) -> str:
    return " ".join(box.value.replace("\\", "") for box in [*app.info, *app.warning, *app.error])


@pytest.mark.parametrize("size", ["middle", "large"])
def test_every_step_of_a_question_stands_there_in_order(memories: Memories, size: str) -> None:
    shown = html(opened(size, q="Where is the harbour of the north?"))
    steps = ["1 Entities", "2 Candidates", "3 Walk", "4 Context", "5 Answer"]
    places = [shown.index(step) for step in steps]
    assert places == sorted(places)


def test_an_empty_memory_says_so(memories: Memories) -> None:
    app = opened("empty", q="Where is my key?")
    assert "This memory is empty" in told(app)
    assert not app.exception


def test_no_question_asks_for_one(memories: Memories) -> None:
    assert "Ask something on the left" in told(opened("small"))


@pytest.mark.both_places
def test_the_numbers_are_those_of_the_retrieval(memories: Memories) -> None:
    found = memories.open("small").memory.retrieve(QUESTION)
    shown = html(opened("small", q=QUESTION))
    for root in found.roots:
        assert f"<b>{root.score:.2f}</b>" in shown
    assert f"<b>{len(found.nodes)} nodes</b>" in shown
    assert "My sister Mira lives in Porto." in shown


def test_evidence_is_found_or_says_where_it_was_lost(memories: Memories, made: Path) -> None:
    file = str(made / "talk.jsonl")
    assert '<span class="tag">found, place 1</span>' in html(opened("small", file=file, id="Q1"))
    lost = html(opened("small", file=file, id="Q3"))
    assert "lost: never written" in lost
    assert "lost: not" not in lost


@pytest.mark.parametrize("context", ["999", "-1", "1e300", "many"])
def test_a_mistaken_link_opens_on_what_there_is(memories: Memories, context: str) -> None:
    app = opened("small", q=QUESTION, by="foo", view="Sideways", context=context)
    assert "Mira" in html(app)
    kept = app.session_state["RetrievalState"]
    assert (kept["by"], kept["view"], kept["tokens"]) == ("graph", "Steps", 1000)
    assert "<b>bm25</b>" in html(opened("small", q=QUESTION, view="Side by side", context=context))


def test_a_question_of_another_conversation_offers_its_memory(memories: Memories, made: Path) -> None:
    app = opened("middle", file=str(made / "talk.jsonl"), id="Q1")
    assert "which this memory does not hold" in told(app)
    app.button(key="retrieval-open").click().run()
    assert any(name.startswith("talk-") for name in memories.names())
    assert not app.exception


def test_side_by_side_every_retriever_brings_turns_within_the_same_room(memories: Memories, made: Path) -> None:
    shown = html(opened("small", file=str(made / "talk.jsonl"), id="Q1", view="Side by side"))
    for name in RETRIEVERS:
        assert f"<tr><td><b>{name}</b></td>" in shown
    assert shown.count("<td>1 of 1</td>") == len(RETRIEVERS)


@pytest.mark.both_places
@pytest.mark.parametrize("view", ["Steps", "Side by side"])
def test_looking_changes_nothing(memories: Memories, view: str) -> None:
    memory = memories.open("small").memory
    before = (memory.revision, to_document(memory))
    for name in RETRIEVERS:
        app = opened("small", q=QUESTION, by=name, view=view)
        app.slider[0].set_value(app.slider[0].max).run()
        assert not app.exception
    assert (memory.revision, to_document(memory)) == before


@pytest.mark.both_places
def test_a_slider_acts_at_once_and_settings_are_saved_with_the_memory(memories: Memories) -> None:
    app = opened("small", q=QUESTION)
    key = "retrieval-small-graph-hops"
    app.slider(key=key).set_value(0).run()
    roots = len(memories.open("small").memory.retrieve(QUESTION).roots)
    assert f"<b>{roots} node{'s' if roots != 1 else ''}</b>" in html(app), "no hop: the roots alone"
    assert app.query_params["set.hops"] == "0"
    app.button(key="retrieval-save").click().run()
    assert memories.open("small").memory.settings.hops == 0
    again = opened("small", q=QUESTION)
    assert again.slider(key=key).value == 0
    assert "set.hops" not in again.query_params


def test_settings_saved_elsewhere_move_the_slider(memories: Memories) -> None:
    app = opened("small", q=QUESTION)
    memory = memories.open("small").memory
    memory.change_settings(replace(memory.settings, cap=4))
    app.run()
    assert app.slider(key="retrieval-small-graph-cap").value == 4
    assert "set.cap" not in app.query_params


def test_weights_of_the_hybrid_are_saved_and_used_by_every_command(memories: Memories) -> None:
    app = opened("small", q=QUESTION, by="hybrid")
    app.slider(key="retrieval-small-hybrid-dense").set_value(1.5).run()
    app.button(key="retrieval-save").click().run()
    assert memories.open("small").memory.settings.retrieve_parameters == {"hybrid": {"dense": 1.5}}


@pytest.mark.both_places
def test_the_address_opens_the_same_question_and_settings(memories: Memories) -> None:
    app = opened("small", q=QUESTION, by="graph", set_cap="3", set_hops="1")
    assert app.text_input(key="retrieval-small-question").value == QUESTION
    assert app.slider(key="retrieval-small-graph-cap").value == 3
    assert [app.query_params[name] for name in ("q", "set.cap", "set.hops")] == [QUESTION, "3", "1"]


@pytest.mark.parametrize("name", RETRIEVERS)
def test_the_trace_is_what_ask_prints(
    memories: Memories, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    traces: list[dict[str, Any]] = []
    monkeypatch.setattr(stepping, "exports", lambda memory, trace, picture: traces.append(trace))
    changed = {"graph": "cap", "flat": "k", "bm25": "k", "hybrid": "k"}[name]
    opened("small", q=QUESTION, by=name, **{f"set_{changed}": "2"})
    path = str(memories.path("small"))
    given = ["ask", QUESTION, "--retriever", name, "--set", f"{changed}=2", "--json", "--memory", path]
    assert main(given) == 0
    printed = json.loads(capsys.readouterr().out)
    exported = json.loads(json.dumps(traces[-1], default=str))
    assert exported.pop("ms").keys() == printed.pop("ms").keys()
    assert exported == printed


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("hm", "No entity was read from the question"),
        ("Rollo", ""),
        ("¿Dónde vive mi hermana con su perro?", "This looks like Spanish"),
        ("What is the boiling point of tungsten?", "Nothing stored is near"),
        ('"Mira" AND (Porto* OR NEAR/3) NOT "', ""),
        ("where is Porto " * 700, "Only the first 10,000"),
    ],
)
@pytest.mark.parametrize("name", ["graph", "hybrid"])
def test_any_question_gives_a_clear_state(memories: Memories, question: str, says: str, name: str) -> None:
    app = opened("small", by=name)
    app.text_input(key="retrieval-small-question").set_value(question).run()
    assert "strip" in html(app)
    if name == "graph":
        assert says in told(app)


def test_a_memory_without_turns_is_searched_by_its_graph_alone(memories: Memories, tmp_path: Path) -> None:
    document = to_document(memories.open("small").memory)
    bare = {**document, "turns": [], "provenance": [], "value_history": []}
    (tmp_path / "bare.json").write_text(json.dumps(bare), "utf-8")
    assert main(["import", str(tmp_path / "bare.json"), "--memory", str(memories.path("bare"))]) == 0
    assert "holds no turns" in told(opened("bare", q=QUESTION, by="flat"))
    shown = html(opened("bare", q=QUESTION))
    assert "Porto" in shown


def test_markup_in_a_question_is_text(memories: Memories) -> None:
    app = opened("small", q="Where is <img src=x onerror=alert(1)> Mira?")
    assert "<img src=x" not in html(app)


def test_a_sweep_runs_in_the_background_and_measures_every_point(memories: Memories, made: Path) -> None:
    app = opened("small", file=str(made / "talk.jsonl"), view="Sweep")
    app.button(key="sweep-start").click().run()
    job = sweep.latest(memories.open("small").worker)
    assert job is not None
    end = monotonic() + 20
    while not job.finished and monotonic() < end:
        sleep(0.02)
    assert job.state == "done"
    points = {(point.retriever, point.value): point for point in job.result}  # type: ignore[attr-defined]
    assert len(points) == len(RETRIEVERS) * len(sweep.ROOM)
    assert points["flat", 2000].recall == 1.0, "all five turns fit"
    assert points["graph", 2000].recall == pytest.approx(2 / 3), "nothing was written of one of three"
    assert all(point.tokens <= point.value for point in points.values())


def test_missing_vectors_of_turns_are_made_with_progress(memories: Memories) -> None:
    memory = memories.open("middle").memory
    memory.store.query("DELETE FROM turn_vector WHERE turn IN (SELECT id FROM turn WHERE position >= 400)")
    memory.graph.turn_columns = None
    revision = memory.revision
    app = opened("middle", q=QUESTION, by="flat")
    assert not app.exception
    worker = memories.open("middle").worker
    end = monotonic() + 30
    while worker.current and monotonic() < end:
        sleep(0.05)
    assert worker.jobs[-1].state == "done"
    assert len(memory.turn_vectors()[0]) == 600
    assert memory.revision == revision
