"""Every embedder that runs inside the app keeps the contract; a model file that is not the one it was is refused."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import memory_core.embedders
from memory_core import model_files
from memory_core.embedders import minilm, use
from memory_core.errors import ModelFileError
from memory_core.memory import Memory
from memory_core.protocols import Embedder
from tests.fakes import LetterEmbedder

TEXTS = (
    "Person | Mira | The user's sister.", "Location | Porto | A city.", "", "   ", "a", "I moved to Porto in 2021.",
    "Zoë Hiếu", "Zoe\u0308", "北京大学", "مرحبا بالعالم", "👩‍👩‍👧‍👦", "\u200b",
    "word " * 3000, "!!!", "12345", "<b>&amp;</b>",
    "line\nbreaks\tand\rtabs", "[CLS] [SEP] [PAD]",
)  # fmt: skip


def embedded() -> list[Embedder]:
    """One of each class in the embedders' folder that is a model and needs no server, and the fake of other tests."""
    found: list[Embedder] = [LetterEmbedder()]
    for module in pkgutil.iter_modules(memory_core.embedders.__path__):
        loaded = importlib.import_module(f"memory_core.embedders.{module.name}")
        for _, of in inspect.getmembers(loaded, inspect.isclass):
            model = hasattr(of, "id") and hasattr(of, "embed") and not hasattr(of, "patience")
            if of.__module__ == loaded.__name__ and model:
                found.append(of())
    return found


EMBEDDERS = embedded()
every = pytest.mark.parametrize("embedder", EMBEDDERS, ids=[embedder.id for embedder in EMBEDDERS])


@pytest.fixture(scope="module")
def rows() -> Callable[[Embedder], np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    made: dict[str, np.ndarray[tuple[int, int], np.dtype[np.float32]]] = {}

    def of(embedder: Embedder) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        if embedder.id not in made:
            made[embedder.id] = embedder.embed(TEXTS)  # type: ignore[assignment]
        return made[embedder.id]

    return of


def test_both_embedded_models_are_found() -> None:
    assert {embedder.id for embedder in EMBEDDERS} >= {"minilm-l6-v2-int8", "use-multilingual-v3"}
    assert len({embedder.id for embedder in EMBEDDERS}) == len(EMBEDDERS)


@every
def test_it_says_what_it_is(embedder: Embedder) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.id
    assert embedder.dim > 1
    assert 0 < embedder.floor < embedder.match_threshold <= 1
    assert all(language == "*" or len(language) == 2 for language in embedder.languages)
    assert hash(embedder) == hash(type(embedder)())


@every
def test_a_row_a_text_each_of_length_one(embedder: Embedder, rows: Callable[..., np.ndarray]) -> None:  # type: ignore[type-arg]
    found = rows(embedder)
    assert found.shape == (len(TEXTS), embedder.dim)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    lengths = np.linalg.norm(found, axis=1)
    assert lengths[[0, 1, 4, 5, 12]] == pytest.approx(1, abs=1e-5)
    assert all(length == 0 or length == pytest.approx(1, abs=1e-5) for length in lengths)
    assert lengths[2] == lengths[3] == 0


@every
def test_nothing_is_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dim)


@every
def test_a_text_has_one_vector_whatever_stands_beside_it(embedder: Embedder, rows: Callable[..., np.ndarray]) -> None:  # type: ignore[type-arg]
    found = rows(embedder)
    order = np.random.default_rng(4).permutation(len(TEXTS))
    assert np.array_equal(embedder.embed([TEXTS[place] for place in order]), found[order])
    for place in (0, 5, 8):
        assert np.array_equal(embedder.embed([TEXTS[place]])[0], found[place])


@pytest.mark.parametrize("embedder", EMBEDDERS[1:], ids=[embedder.id for embedder in EMBEDDERS[1:]])
def test_what_means_the_same_is_nearer_than_what_does_not(embedder: Embedder) -> None:
    asked, near, far = embedder.embed(["Where does Mira live?", "Mira lives in Porto.", "The bicycle is red."])
    assert asked @ near > asked @ far
    question = embedder.embed(["Where does Mira live?"], "query")[0]
    assert question @ near > embedder.floor


def test_the_multilingual_one_reads_across_languages() -> None:
    embedder = use.MultilingualUSE()
    one, other, far = embedder.embed(["my sister lives in Porto", "mi hermana vive en Oporto", "el coche es rojo"])
    assert one @ other > one @ far + 0.2


# -- model files -------------------------------------------------------------------------------------------------------


@pytest.fixture
def unread() -> None:
    """Model files are looked at again, as in a new process."""
    model_files.checked_file.cache_clear()
    for module in (minilm, use):
        module._model.cache_clear()


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(("embedder", "other"), [(minilm.MiniLM(), "`use`"), (use.MultilingualUSE(), "`minilm`")])
def test_an_altered_model_is_never_run_and_the_other_embedder_is_offered(
    monkeypatch: pytest.MonkeyPatch, embedder: Embedder, other: str
) -> None:
    class Altered:
        def hexdigest(self) -> str:
            return "0" * 64

    monkeypatch.setattr(model_files.hashlib, "sha256", lambda data: Altered())
    with pytest.raises(ModelFileError) as error:
        embedder.embed(["hello"])
    for word in ("was altered", "sha256 000000000000", "pip install --force-reinstall", "==", other):
        assert word in str(error.value)
    assert "\n" not in str(error.value)
    monkeypatch.undo()
    assert embedder.embed(["hello"]).shape == (1, embedder.dim)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(("embedder", "other"), [(minilm.MiniLM(), "`use`"), (use.MultilingualUSE(), "`minilm`")])
def test_a_missing_model_names_its_package_and_the_other_embedder(
    monkeypatch: pytest.MonkeyPatch, embedder: Embedder, other: str
) -> None:
    monkeypatch.setattr(model_files, "find_spec", lambda package: None)
    with pytest.raises(ModelFileError) as error:
        embedder.embed(["hello"])
    for word in ("is not installed", "pip install", other):
        assert word in str(error.value)


@pytest.mark.usefixtures("unread")
def test_a_file_that_is_gone_from_its_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(model_files, "find_spec", lambda package: Spec())
    with pytest.raises(ModelFileError, match=r"lacks model.onnx.*choose the embedder `use`"):
        minilm.MiniLM().embed(["hello"])


@pytest.mark.usefixtures("unread")
def test_without_the_model_a_turn_is_kept_and_read_later(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.fakes import SpelledExtractor

    with Memory.open(":memory:", embedder=minilm.MiniLM(), extractor=SpelledExtractor()) as memory:
        with monkeypatch.context() as gone:
            gone.setattr(model_files, "find_spec", lambda package: None)
            report = memory.say("Person:Mira", at="2024-05-01")
        assert report.extraction.status == "failed"
        assert "choose the embedder `use`" in report.extraction.reason
        assert memory.retry("t1").added[0].title == "Mira"
