"""Gold sets that people make: an extraction corrected by hand, kept in a file that `bench extraction` reads too."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_core.errors import FormatError, InputError
from memory_core.evaluation.gold import GoldEdge, GoldNode, GoldTurn, read_gold
from memory_core.exporters import write_whole
from memory_core.schema import Extraction, Turn

SHIPPED = "shipped"
_SHIPPED_FILE = Path(__file__).parents[2] / "data" / "gold.jsonl"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
Rows = Sequence[Mapping[str, Any]]


def gold_of(id: str, turn: Turn, found: Extraction) -> GoldTurn:
    """An extraction as gold to be corrected, under an id of its own in a set."""
    titles = [node.title for node in found.nodes]
    edges = (GoldEdge(titles[edge.source], edge.relationship, titles[edge.target]) for edge in found.edges)
    return GoldTurn(id, turn, tuple(GoldNode(node.label, node.title) for node in found.nodes), tuple(edges))


def gold_record(gold: GoldTurn) -> dict[str, Any]:
    """A turn of gold as one line of its file."""
    turn = {"role": gold.turn.role, "speaker": gold.turn.speaker, "text": gold.turn.text}
    nodes = [{"label": node.label, "title": node.title, **_extras(node)} for node in gold.nodes]
    edges, negated = ([_edge(edge) for edge in group] for group in (gold.edges, gold.negated))
    return {"id": gold.id, "turn": turn | {"at": gold.turn.at.isoformat()}, "nodes": nodes, "edges": edges,
            "negated": negated}  # fmt: skip


def _edge(edge: GoldEdge) -> dict[str, Any]:
    return {"source": edge.source, "relationship": edge.relationship, "target": edge.target, **_extras(edge)}


def _extras(item: GoldNode | GoldEdge) -> dict[str, Any]:
    return ({"aliases": list(item.aliases)} if item.aliases else {}) | ({"optional": True} if item.optional else {})


def write_gold(turns: Sequence[GoldTurn]) -> str:
    """Gold as JSON lines; `read_gold` of it gives the same turns."""
    return "".join(json.dumps(gold_record(turn), ensure_ascii=False) + "\n" for turn in turns)


def corrected(id: str, turn: Turn, nodes: Rows, edges: Rows, negated: Rows) -> GoldTurn:
    """Gold from the rows of the editor, where aliases are one text with `|` between. Empty rows are left out; an edge
    must name nodes by title or alias. Raises FormatError."""
    said = {"role": turn.role, "speaker": turn.speaker, "text": turn.text, "at": turn.at.isoformat()}
    record = {"id": id, "turn": said, "nodes": _rows(nodes, "title"), "edges": _rows(edges, "source", "target"),
              "negated": _rows(negated, "source", "target")}  # fmt: skip
    gold = read_gold(json.dumps(record).encode())[0]
    known = {name for node in gold.nodes for name in (node.title, *node.aliases)}
    for edge in gold.edges:
        for end in (edge.source, edge.target):
            if end not in known:
                raise FormatError(f"The edge {edge.source} {edge.relationship} {edge.target} names {end!r}, no node.")
    return gold


def _rows(rows: Rows, *needed: str) -> list[dict[str, Any]]:
    kept = []
    for row in rows:
        clean = {key: value.strip() for key, value in row.items() if isinstance(value, str)}
        if any(clean.get(name) for name in needed):
            names = [name.strip() for name in clean.pop("aliases", "").split("|") if name.strip()]
            kept.append(clean | {"aliases": names, "optional": row.get("optional") is True})
    return kept


@dataclass(frozen=True)
class GoldSets:
    """The gold sets of a folder by name, and the shipped one, which is never written."""

    folder: Path

    @classmethod
    def default(cls) -> GoldSets:
        """The folder $FORGETTING_LAB_GOLD, else `data/gold_sets`."""
        return cls(Path(os.environ.get("FORGETTING_LAB_GOLD") or "data/gold_sets"))

    def names(self) -> list[str]:
        """The shipped set first, then one's own, sorted."""
        found = sorted(file.stem for file in self.folder.glob("*.jsonl")) if self.folder.is_dir() else []
        return [SHIPPED, *(name for name in found if _NAME.fullmatch(name))]

    def read(self, name: str) -> tuple[GoldTurn, ...]:
        """The turns of a set, none for a new name. Raises InputError for a name that cannot be one, FormatError."""
        path = self._path(name)
        return read_gold(path) if path.exists() else ()

    def put(self, name: str, gold: GoldTurn) -> int:
        """Add a turn to a set, or take the place of the one with its id. Returns how many it holds now."""
        return self.write(name, [*(turn for turn in self.read(name) if turn.id != gold.id), gold])

    def write(self, name: str, turns: Sequence[GoldTurn]) -> int:
        """Write a whole set, as an import does. Raises InputError for the shipped one."""
        if name == SHIPPED:
            raise InputError("The shipped gold set stays as it is: save under another name.")
        write_whole(self._path(name), write_gold(turns))
        return len(turns)

    def _path(self, name: str) -> Path:
        if name == SHIPPED:
            return _SHIPPED_FILE
        if not _NAME.fullmatch(name):
            raise InputError(f"{name[:80]!r} cannot name a gold set: use 1 to 64 letters (a to z), digits, - and _.")
        return self.folder / f"{name}.jsonl"
