"""Parts that fail half-way, and parts that give what may not be stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from memory_core.errors import EmbeddingError
from memory_core.memory import Memory
from memory_core.protocols import Floats, Kind
from memory_core.schema import Extraction, FoundEdge, FoundNode, Turn
from tests.fakes import LetterEmbedder, SpelledExtractor

pytestmark = pytest.mark.usefixtures("kind")


class HalfEmbedder(LetterEmbedder):
    """Cannot embed what mentions a wheel."""

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        rows = super().embed(texts)
        failed = {place: "empty reply" for place, text in enumerate(texts) if "Wheel" in text}
        if failed:
            raise EmbeddingError("1 text could not be embedded.", rows, failed)
        return rows


@dataclass(frozen=True)
class CarelessExtractor(SpelledExtractor):
    """Gives a label outside the nine, an edge to nowhere and a loop."""

    def extract(self, turn: Turn) -> Extraction:
        nodes = (FoundNode("Person", "Mira", ""), FoundNode("City", "Ghent", ""))
        edges = (FoundEdge(0, 7, "lives_in"), FoundEdge(0, 0, "knows"))
        return Extraction("ok", nodes, edges)


def test_one_text_that_cannot_be_embedded_costs_only_its_own_vector() -> None:
    with Memory.open(":memory:", embedder=HalfEmbedder(), extractor=SpelledExtractor()) as memory:
        report = memory.say("Artifact:Wheel; Artifact:Bell", at="2024-01-01")
        assert [node.title for node in report.added] == ["Wheel", "Bell"]
        assert memory.graph.has_vector.values.tolist() == [False, True]
        assert report.extraction.repairs == ("no vector for Wheel: empty reply",)
        assert memory.say("Artifact:wheel", at="2024-01-02").merged[0].how == "title"


def test_when_no_text_can_be_embedded_the_turn_is_kept_to_be_retried() -> None:
    with Memory.open(":memory:", embedder=HalfEmbedder(), extractor=SpelledExtractor()) as memory:
        report = memory.say("Artifact:Wheel", at="2024-01-01")
        assert report.extraction.status == "failed"
        assert memory.failed("t1")
        assert memory.stats()["turns"] == 1


def test_what_a_careless_extractor_gives_is_validated_before_it_is_stored() -> None:
    with Memory.open(":memory:", embedder=LetterEmbedder(), extractor=CarelessExtractor()) as memory:
        report = memory.say("anything", at="2024-01-01")
        assert [node.title for node in report.added] == ["Mira"]
        assert memory.graph.edge_count == 0
        assert report.extraction.status == "repaired"
        assert len(report.extraction.drops) == 3
