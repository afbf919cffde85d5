"""Changing the embedder of a memory: in the background, resumable, never half-mixed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memory_core.errors import Cancelled, EmbedderMismatchError
from memory_core.exporters import to_document
from memory_core.memory import Memory
from memory_core.memory.reembedding import reembed
from tests.fakes import LetterEmbedder, SpelledExtractor

pytestmark = pytest.mark.usefixtures("kind")

LETTERS = LetterEmbedder()
OTHER = replace(LETTERS, id="wide letters", dim=40)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Memory.open(tmp_path / "m.sqlite3", embedder=LETTERS, extractor=SpelledExtractor()) as memory:
        for place in range(150):
            memory.say(f"Artifact:Thing {'abcdefghij'[place % 10]}{place}", at="2024-01-01")
        memory.turn_vectors()
        memory.touch(memory.retrieve("Thing"), memory.clock or pytest.fail("no clock"))
    return tmp_path / "m.sqlite3"


def opened(path: Path, embedder: LetterEmbedder = LETTERS) -> Memory:
    return Memory.open(path, embedder=embedder, extractor=SpelledExtractor())


def test_every_vector_is_the_new_embedders_and_nothing_else_changed(path: Path) -> None:
    with opened(path) as memory:
        before = to_document(memory)
        assert reembed(memory, OTHER) == 151
        after = to_document(memory)
        assert memory.graph.vectors.values.shape == (150, 40)
        wanted = OTHER.embed(["Artifact | Thing a0 | "])[0]
        assert np.allclose(memory.graph.vectors.values[0], wanted, atol=1e-3)
        assert memory.turn_vectors()[1].shape == (150, 40)
    assert after | {"embedder": None} == before | {"embedder": None}
    with pytest.raises(EmbedderMismatchError, match="wide letters"):
        opened(path)
    opened(path, OTHER).close()


def test_a_stopped_run_leaves_the_old_vectors_and_goes_on_where_it_was(path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise Cancelled("stopped")

    with opened(path) as memory:
        with pytest.raises(Cancelled):
            reembed(memory, OTHER, stop)
        assert memory.graph.vectors.values.shape == (150, 26)
        assert memory.retrieve("Thing").roots
    with opened(path) as memory:
        assert reembed(memory, OTHER) == 151 - 64


def test_a_turn_that_comes_in_between_is_embedded_too(path: Path) -> None:
    with opened(path) as memory:
        came = []

        def say(done: int, total: int) -> None:
            if not came:
                came.append(memory.say("Artifact:Latecomer", at="2024-01-02"))

        reembed(memory, OTHER, say)
        assert memory.graph.has_vector.values.all()
        assert len(memory.graph.ids) == 151


def test_another_process_with_the_old_embedder_is_told(path: Path) -> None:
    with opened(path) as first, opened(path) as second:
        reembed(first, OTHER)
        with pytest.raises(EmbedderMismatchError, match="re-embed"):
            second.say("Artifact:Wheel", at="2024-01-02")
