"""An embedder that embeds each text once, so that a slider does not embed the same sentences at every move."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from memory_core.protocols import Embedder, Floats, Kind


@dataclass
class Remembering:
    """Gives what `inner` gives; the `most` texts met last are kept. Threads may share it: at worst both embed."""

    inner: Embedder
    most: int = 5000
    _known: OrderedDict[tuple[str, str], Floats] = field(default_factory=OrderedDict, repr=False)

    @property
    def id(self) -> str:
        """That of `inner`, as everything but `embed`."""
        return self.inner.id

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self.inner.dim

    @property
    def match_threshold(self) -> float:
        """Cosine of de-duplication."""
        return self.inner.match_threshold

    @property
    def floor(self) -> float:
        """Cosine a root must reach."""
        return self.inner.floor

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes."""
        return self.inner.languages

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Shape (len(texts), dim). Raises what `inner` raises."""
        known = {text: self._known.get((kind, text)) for text in dict.fromkeys(texts)}
        missing = [text for text, vector in known.items() if vector is None]
        if missing:
            made = self.inner.embed(missing, kind)
            known |= dict(zip(missing, made, strict=True))
            self._known.update({(kind, text): vector for text, vector in zip(missing, made, strict=True)})
            while len(self._known) > self.most:
                self._known.popitem(last=False)
        vectors = [known[text] for text in texts]
        return np.array(vectors, np.float32).reshape(len(texts), self.dim)
