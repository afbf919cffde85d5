"""Embeddings from servers: unit rows in the order of the texts, nothing empty sent, a failure costs only its text."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from memory_core.embedders.ollama import OllamaEmbedder
from memory_core.embedders.openai import OpenAIEmbedder
from memory_core.errors import EmbedderMismatchError, EmbeddingError, ProviderError
from memory_core.protocols import Embedder
from memory_core.remote import Patience, Secret
from tests.servers.hostile import Answer, Hostile
from tests.servers.ollama import EMBEDDING_MODEL, Translator

KEY = "sk-proj-0123456789abcdef"


def of_openai(url: str) -> Embedder:
    return OpenAIEmbedder("m", f"{url}/v1", Secret(KEY), patience=Patience(attempts=2, sleep=lambda _: None))


def of_ollama(url: str) -> Embedder:
    return OllamaEmbedder("m", url, patience=Patience(attempts=2, sleep=lambda _: None))


def as_openai(vectors: list[object]) -> str:
    return json.dumps({"data": [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]})


def as_ollama(vectors: list[object]) -> str:
    return json.dumps({"model": "m", "embeddings": vectors})


BOTH = pytest.mark.parametrize(
    ("made", "form"), [(of_openai, as_openai), (of_ollama, as_ollama)], ids=["openai", "ollama"]
)
Made = Callable[[str], Embedder]
Form = Callable[[list[object]], str]


@BOTH
def test_rows_have_length_one_and_keep_their_order(hostile: Hostile, made: Made, form: Form) -> None:
    hostile.says(form([[1.0, 0.0]]), form([[3.0, 4.0], [0.0, 2.0]]))
    rows = made(hostile.url).embed(["a", "b"])
    assert rows.tolist() == [pytest.approx([0.6, 0.8]), [0.0, 1.0]]
    assert rows.dtype == np.float32


@BOTH
def test_pro_08_an_empty_text_is_never_sent(hostile: Hostile, made: Made, form: Form) -> None:
    hostile.says(form([[1.0, 0.0]]), form([[0.0, 1.0]]))
    rows = made(hostile.url).embed(["", "a", " \n"])
    assert rows.tolist() == [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    assert [asked["input"] for asked in hostile.asked] == [["dimension"], ["a"]]


@BOTH
def test_pro_08_an_empty_reply_costs_only_its_text(hostile: Hostile, made: Made, form: Form) -> None:
    hostile.says(form([[1.0, 0.0]]), form([]), form([[0.0, 1.0]]), form([]))
    with pytest.raises(EmbeddingError, match="no vector for 'b'") as caught:
        made(hostile.url).embed(["a", "b"])
    assert list(caught.value.failed) == [1]
    assert np.asarray(caught.value.vectors).tolist() == [[0.0, 1.0], [0.0, 0.0]]


@BOTH
@pytest.mark.parametrize("bad", [[], [0.0, 0.0]], ids=["no numbers", "no direction"])
def test_a_vector_that_is_none_is_asked_for_again_alone(
    hostile: Hostile, made: Made, form: Form, bad: list[float]
) -> None:
    hostile.says(form([[1.0, 0.0]]), form([[1.0, 0.0], bad]), form([[1.0, 0.0]]), form([[0.0, 1.0]]))
    assert made(hostile.url).embed(["a", "b"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@BOTH
def test_another_dimension_is_refused(hostile: Hostile, made: Made, form: Form) -> None:
    hostile.says(form([[1.0, 0.0]]), form([[1.0, 0.0, 0.0]]))
    with pytest.raises(EmbedderMismatchError, match="dimension 3 where 2 was expected"):
        made(hostile.url).embed(["a"])


@BOTH
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answer("<html><title>Login</title></html>", kind="text/html"), "answered with|did not answer"),
        (Answer("{}"), "answered with|did not answer"),
        (Answer("[]"), "answered with|did not answer"),
        (Answer("", 503), "busy or failing"),
        (Answer(hang_up=True), "hung up"),
        (Answer(f"bad key {KEY}", 401), "does not accept the key"),
        (Answer(pieces=[b"x" * 1_000_000] * 20), "more than 8 MB"),
    ],
    ids=["a page", "nothing", "a list", "busy", "hangs up", "wrong key", "20 MB"],
)
def test_a_bad_answer_is_one_line(hostile: Hostile, made: Made, form: Form, answer: Answer, says: str) -> None:
    hostile.says(form([[1.0, 0.0]]), answer)
    with pytest.raises(ProviderError, match=says) as caught:
        made(hostile.url).embed(["a"])
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)


def test_openai_rows_follow_their_index(hostile: Hostile) -> None:
    rows = [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]
    hostile.says(as_openai([[1.0, 0.0]]), json.dumps({"data": rows}))
    assert of_openai(hostile.url).embed(["a", "b"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_many_texts_go_in_batches(hostile: Hostile) -> None:
    hostile.says(as_openai([[1.0, 0.0]]), as_openai([[1.0, 0.0]] * 128), as_openai([[0.0, 1.0]] * 2))
    rows = of_openai(hostile.url).embed([str(n) for n in range(130)])
    assert rows[[127, 128]].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert [len(asked["input"]) for asked in hostile.asked[1:]] == [128, 2]


def test_the_papers_embedder_has_its_thresholds_and_prefixes(hostile: Hostile) -> None:  # RET-13
    embedder = OllamaEmbedder(host=hostile.url)
    assert (embedder.id, embedder.dim, embedder.match_threshold, embedder.floor) == (
        "ollama/nomic-embed-text",
        768,
        0.92,
        0.75,
    )
    hostile.says(as_ollama([[1.0] * 768]))
    embedder.embed(["Porto"])
    embedder.embed(["Where?"], "query")
    assert [asked["input"] for asked in hostile.asked] == [["search_document: Porto"], ["search_query: Where?"]]


def test_pro_03_and_04_down_and_not_pulled_are_told_with_the_command(hostile: Hostile) -> None:
    with pytest.raises(ProviderError, match=r"http://127.0.0.1:9. Start it with: ollama serve"):
        OllamaEmbedder(host="http://127.0.0.1:9").embed(["a"])
    hostile.says(Answer('{"error": "model \\"nomic-embed-text\\" not found, try pulling it first"}', 404))
    with pytest.raises(ProviderError, match="ollama pull nomic-embed-text"):
        OllamaEmbedder(host=hostile.url).embed(["a"])
    assert len(hostile.paths) == 1


def test_the_default_of_openai_names_its_model() -> None:
    embedder = OpenAIEmbedder(api_key=Secret(KEY))
    assert (embedder.id, embedder.dim) == ("openai/text-embedding-3-small", 1536)
    assert KEY not in repr(embedder)


def test_a_real_openai_server_embeds_alike_each_time(llama: str) -> None:
    embedder = OpenAIEmbedder("smollm2", llama)
    rows = embedder.embed(["Mira lives in Porto.", "", "A blue bike."])
    assert rows.shape == (3, 576)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1.0, 0.0, 1.0])
    assert embedder.embed(["Mira lives in Porto."])[0] @ rows[0] == pytest.approx(1.0, abs=1e-3)


def test_the_real_ollama_client_embeds(ollama: Translator) -> None:
    rows = OllamaEmbedder(EMBEDDING_MODEL, ollama.url).embed(["Porto", "Graz"])
    assert rows.shape == (2, 768)
    assert ollama.asked[0][1]["input"] == ["search_document: Porto", "search_document: Graz"]
