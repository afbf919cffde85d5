"""The systems that `bench speed` can time: what each is, how it is installed, what it does more or less in a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_core.errors import InputError

OURS = "forgetting-lab"
ROOT = Path(__file__).parents[3]
REQUIREMENTS = ROOT / "requirements-peers"


@dataclass(frozen=True)
class System:
    """One system. `file` is its module in `peers`; `package` the distribution whose version is told.

    `most` is the number of nodes it is filled to at most; `turns` how many turns are timed, where 20 would take hours.
    """

    name: str
    file: str
    package: str = ""
    note: str = ""
    most: int | None = None
    turns: int | None = None

    @property
    def requirements(self) -> Path | None:
        """What is installed for it, in an environment of its own; None for what needs nothing but the app."""
        return REQUIREMENTS / f"{self.name}.txt" if self.package else None

    @property
    def path(self) -> Path:
        """The file its process runs."""
        return Path(__file__).parent / "peers" / f"{self.file}.py"


SYSTEMS: tuple[System, ...] = (
    System(
        OURS, "ours",
        note="Turn: validation, de-duplication of six nodes with guards, merge, history, citations, one commit with "
        "fsync. Retrieval: cosine over all nodes, five roots, two hops.",
    ),
    System(
        "paper", "paper", turns=3,
        note="P1's design, its own code: six scans of one numpy product a node, the whole JSON file written by "
        "json.dump. Less: no guards, no history, no citations, no turns.",
    ),
    System(
        "mem0", "mem0", "mem0ai",
        note="Turn: add() with six facts, inference stubbed, local qdrant, history in SQLite. More: keeps the last "
        "messages. Less: no edges; facts are compared by hash, the rest is left to the model; its keyword search and "
        "entity linking need extras with downloaded models and are off. Search: search().",
    ),
    System(
        "lightrag", "lightrag", "lightrag-hku",
        note="Turn: ainsert_custom_kg() with one chunk, six entities, their relations; all files are written. More: "
        "vectors of relations and chunks. Less: entities match by name only. Search: aquery_data() in local mode with "
        "keywords given. Size: entities and graph, without the vectors of relations and chunks.",
    ),
    System(
        "graphiti", "graphiti", "graphiti-core", most=5000, turns=5,
        note="At 5,000 nodes, so in no ratio. Turn: add_triplet() for three pairs of nodes, model stubbed, kuzu. More: "
        "bi-temporal edges with vectors, hybrid searches for each. Search: search(), vectors and full text.",
    ),
    System(
        "nano-vectordb", "nano_vectordb", "nano-vectordb",
        note="Turn: six queries, one upsert, the whole file written. Less: nodes only, no edges, no hops, no turns, no "
        "fsync. Search: one scan.",
    ),
)  # fmt: skip
MATRIX = System("matrix", "matrix", note="Vectors in RAM and numpy's product, nothing else.")
PEERS = tuple(system.name for system in SYSTEMS[1:])


def chosen(names: Sequence[str]) -> list[System]:
    """Ours and the named ones. Raises InputError for an unknown name."""
    if unknown := [name for name in names if name not in PEERS]:
        raise InputError(f"There is no peer {', '.join(unknown)}: choose among {', '.join(PEERS)}.")
    return [system for system in SYSTEMS if system.name in (OURS, *names)]
