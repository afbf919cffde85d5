"""Parts a reader can compute by hand: letter counts as vectors, an extractor that reads what the turn spells out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from memory_core.errors import ProviderError
from memory_core.protocols import Floats, Kind
from memory_core.schema import Extraction, FoundEdge, FoundNode, Turn

_ITEM = r"([A-Z]\w+):([^{|>;]+?)(?:\s*\{([^}]*)\})?(?:\s*\|\s*([^>;]*?))?"
_STATEMENT = re.compile(rf"^\s*{_ITEM}(?:\s*-(\w+)->\s*{_ITEM})?\s*$")


@dataclass(frozen=True)
class LetterEmbedder:
    """Counts of the letters a to z, unit length; `fixed` gives chosen texts a chosen vector instead."""

    id: str = "letters"
    dim: int = 26
    match_threshold: float = 0.99
    floor: float = 0.5
    languages: tuple[str, ...] = ("*",)
    fixed: Mapping[str, Sequence[float]] = field(default_factory=dict, hash=False)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Shape (n, dim)."""
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self._one(text)
        return rows

    def _one(self, text: str) -> Floats:
        for known, vector in self.fixed.items():
            if known in text:
                counts = np.array([*vector, *[0.0] * (self.dim - len(vector))], np.float32)
                break
        else:
            counts = np.array([text.lower().count(chr(97 + letter)) for letter in range(self.dim)], np.float32)
        return np.asarray(counts / max(float(np.linalg.norm(counts)), 1e-9), np.float32)


@dataclass(frozen=True)
class SpelledExtractor:
    """Reads `Label:Title {key=value} | content` and `… -relationship-> …`, one statement between semicolons.

    A turn that spells nothing is empty; `fails` makes every turn fail, as a server that is down would.
    """

    id: str = "spelled-1"
    fails: bool = False

    def extract(self, turn: Turn) -> Extraction:
        """The nodes and edges that the text spells out."""
        if self.fails:
            return Extraction("failed", reason="the server is down", extractor=self.id)
        nodes: list[FoundNode] = []
        edges: list[FoundEdge] = []
        for statement in turn.text.split(";"):
            match = _STATEMENT.match(statement)
            if match:
                source = _place(nodes, match.groups()[:4], turn.text)
                if match[5]:
                    edges.append(FoundEdge(source, _place(nodes, match.groups()[5:9], turn.text), match[5]))
        return Extraction("ok" if nodes else "empty", tuple(nodes), tuple(edges), extractor=self.id)

    def entities(self, question: str) -> list[str]:
        """The words with a capital letter."""
        return re.findall(r"\b[A-Z]\w+", question)


def _place(nodes: list[FoundNode], parts: Sequence[str | None], text: str) -> int:
    label, title, attributes, content = parts
    assert label is not None
    assert title is not None
    pairs = (pair.split("=") for pair in (attributes or "").split(",") if "=" in pair)
    values = {key.strip(): value.strip() for key, value in pairs}
    start = text.index(title)
    node = FoundNode(label, title.strip(), (content or "").strip(), values, (start, start + len(title.strip())))
    same = [place for place, known in enumerate(nodes) if (known.label, known.title) == (node.label, node.title)]
    if same:
        return same[0]
    nodes.append(node)
    return len(nodes) - 1


class BrokenEmbedder(LetterEmbedder):
    """An embedder whose server is down."""

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Raises ProviderError."""
        raise ProviderError("The embedding server does not answer: start it and try again.")
