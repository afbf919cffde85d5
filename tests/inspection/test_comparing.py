"""Extractors compared on the same turns, gold corrected by hand, prompts kept as versions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from time import sleep

import pytest

from memory_core import prompts
from memory_core.errors import FormatError, InputError
from memory_core.evaluation.gold import GoldEdge, GoldNode, GoldTurn, read_gold
from memory_core.evaluation.gold_sets import SHIPPED, GoldSets, corrected, gold_of, write_gold
from memory_core.extractors.llm import LLMExtractor
from memory_core.inspection import comparing
from memory_core.inspection.choices import extractor_choices, make_choice
from memory_core.inspection.comparing import Compared, agreements, misses, scores, sums
from memory_core.jobs import Worker
from memory_core.llms.scripted import Scripted
from memory_core.providers import ProviderSettings
from memory_core.schema import Extraction, Turn, utc
from tests.fakes import SpelledExtractor

AT = utc("2024-05-01")
TURN = Turn("user", "Person:Mira -lives_in-> Location:Porto", AT, "User", source_id="g1")


@dataclass(frozen=True)
class Half(SpelledExtractor):
    """Reads the first statement only, and calls every place a concept."""

    id: str = "half-1"

    def extract(self, turn: Turn) -> Extraction:
        text = turn.text.split(";")[0].replace("Location:", "Concept:")
        return super().extract(replace(turn, text=text))


def done(*texts: str, gold: tuple[GoldTurn, ...] = ()) -> Compared:
    worker = Worker("test")
    turns = [Turn("user", text, AT, "User", source_id=f"s{at}") for at, text in enumerate(texts, 1)]
    job = comparing.start(worker, turns, {"whole": SpelledExtractor(), "half": Half()}, gold)
    while not job.finished:
        sleep(0.01)
    worker.close()
    assert isinstance(job.result, Compared), job.error
    return job.result


def test_each_extractor_is_summed_and_what_only_one_brings_is_counted() -> None:
    compared = done("Person:Mira -lives_in-> Location:Porto; Artifact:Cello", "nothing")
    whole, half = sums(compared, evidence=["s1"])
    assert (whole.nodes, whole.edges, whole.empty, whole.coverage) == (3, 1, 1, 1.0)
    assert (half.nodes, half.edges, half.dollars) == (2, 1, 0.0)
    (found,) = agreements(compared)
    assert (found.both, found.only_a, found.only_b, found.relabelled) == (3, 1, 0, 1)
    assert found.share == 3 / 4


def test_against_gold_figures_have_intervals() -> None:
    gold = GoldTurn("g1", TURN, (GoldNode("Person", "Mira"), GoldNode("Location", "Porto")), (GoldEdge("Mira", "lives_in", "Porto"),))  # noqa: E501  # fmt: skip
    compared = done(gold=(gold,))
    found = scores(compared)
    assert found["whole"]["nodes"]["f1"] == 1.0
    assert found["half"]["nodes"]["label_accuracy"] == 0.5
    assert found["half"]["nodes"]["label_accuracy_ci"] == [0.5, 0.5]
    assert misses(compared, TURN)["half"].missed == ()
    assert scores(done("x")) == {}


def test_nothing_to_compare_is_said() -> None:
    worker = Worker("test")
    with pytest.raises(InputError, match="at least one turn"):
        comparing.start(worker, [], {"a": SpelledExtractor()})
    worker.close()


def test_gold_that_is_written_is_read_as_the_same() -> None:
    shipped = GoldSets(Path("none")).read(SHIPPED)
    assert len(shipped) == 60
    again = read_gold(write_gold(shipped).encode())
    assert again == shipped


def test_a_correction_is_kept_in_a_set_and_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    sets = GoldSets(tmp_path / "sets")
    begun = gold_of("m-t1", TURN, SpelledExtractor().extract(TURN))
    assert [(node.label, node.title) for node in begun.nodes] == [("Person", "Mira"), ("Location", "Porto")]
    nodes = [
        {"label": "Person", "title": " Mira ", "aliases": "my sister | Mira S.", "optional": False},
        {"title": None},
    ]
    fixed = corrected("m-t1", TURN, nodes, [], [{"source": "Mira", "relationship": "lives_in", "target": "Faro"}])
    assert sets.put("mine", begun) == 1
    assert sets.put("mine", fixed) == 1
    assert sets.names() == [SHIPPED, "mine"]
    (kept,) = sets.read("mine")
    assert kept.nodes == (GoldNode("Person", "Mira", ("my sister", "Mira S.")),)
    assert kept.negated == (GoldEdge("Mira", "lives_in", "Faro"),)


def test_a_correction_that_cannot_be_gold_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="City"):
        corrected("x", TURN, [{"label": "City", "title": "Porto"}], [], [])
    nodes = [{"label": "Person", "title": "Mira"}]
    with pytest.raises(FormatError, match="'Faro', no node"):
        corrected("x", TURN, nodes, [{"source": "Mira", "relationship": "lives_in", "target": "Faro"}], [])
    sets = GoldSets(tmp_path)
    with pytest.raises(InputError, match="shipped gold set stays"):
        sets.write(SHIPPED, [])
    with pytest.raises(InputError, match="cannot name a gold set"):
        sets.read("../secret")


def test_a_prompt_is_tried_and_kept_as_the_next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGETTING_LAB_PROMPTS", str(tmp_path))
    system, user = prompts.text_of("extraction-v1")
    name = prompts.draft("extraction", system + " Be brief.", user)
    asked = Scripted(['{"nodes": [], "edges": []}'])
    found = LLMExtractor(asked, prompt_version=name).extract(TURN)
    assert found.prompt_version == name
    assert prompts.keep("extraction", system + " Be brief.", user) == "extraction-v2"
    assert prompts.keep("extraction", system + " Be brief!", user) == "extraction-v3"
    assert prompts.text_of("extraction-v2")[0].endswith("Be brief.")
    assert prompts.text_of("extraction-v1") == (system, user), "no version is ever written over"
    choices = extractor_choices(ProviderSettings("ollama", "qwen"))
    assert choices[:3] == [f"ollama qwen · extraction-v{number}" for number in (3, 2, 1)]
    made = make_choice(choices[1], ProviderSettings("ollama", "qwen"))
    assert isinstance(made, LLMExtractor)
    assert made.prompt_version == "extraction-v2"


@pytest.mark.parametrize(
    ("system", "user", "reason"),
    [("Read.", "[Role: {role}]", "must hold {turn}"), ("Read.", "{role} {turn} {memory}", "nothing to fill {memory}"),
     ("Read {turn}.", "{role} {turn}", "data, never an instruction")],
)  # fmt: skip
def test_a_prompt_that_could_not_be_asked_is_named(system: str, user: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        prompts.draft("extraction", system, user)
