"""What became of each item a turn's extraction held, kept with the extraction and shown under the turn."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass

from memory_core.dedup import Held, How
from memory_core.schema import Extraction


@dataclass(frozen=True)
class Placed:
    """A found node and the stored node it became: new, or merged by title or at cosine `similarity`."""

    id: str
    label: str
    title: str
    how: How
    similarity: float
    held: tuple[Held, ...] = ()
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class PlacedEdge:
    """A found edge and the stored edge it became; `new` is False when it was known already."""

    id: str
    source: str
    relationship: str
    target: str
    new: bool
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class TurnReport:
    """One turn remembered: its extraction, where its nodes and edges went, and what was held back."""

    turn: str
    extraction: Extraction
    nodes: tuple[Placed, ...] = ()
    edges: tuple[PlacedEdge, ...] = ()

    @property
    def added(self) -> tuple[Placed, ...]:
        """Nodes that are new."""
        return tuple(node for node in self.nodes if node.how == "new")

    @property
    def merged(self) -> tuple[Placed, ...]:
        """Nodes that were known already."""
        return tuple(node for node in self.nodes if node.how != "new")


def pack_report(report: TurnReport) -> bytes:
    """Placements, drops and repairs as compressed JSON (the reply itself stands in its own column)."""
    made = report.extraction
    parts = {
        "nodes": [asdict(node) for node in report.nodes],
        "edges": [asdict(edge) for edge in report.edges],
        "drops": [asdict(drop) for drop in made.drops],
        "repairs": list(made.repairs),
    }
    return zlib.compress(json.dumps(parts, ensure_ascii=False).encode())


def unpack_report(blob: bytes) -> dict[str, list[dict[str, object]]]:
    """The stored report as plain JSON values."""
    parts: dict[str, list[dict[str, object]]] = json.loads(zlib.decompress(blob))
    return parts
