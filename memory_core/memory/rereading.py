"""A turn read again: what the old reading alone had brought goes, what the new one brings comes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory_core.errors import InputError
from memory_core.extraction import checked
from memory_core.memory.checks import moment_given
from memory_core.memory.merging import Merging
from memory_core.memory.reports import TurnReport
from memory_core.memory.turn_rows import dump
from memory_core.schema import Extraction, Turn
from memory_core.store.rows import RowChange, Value, insert, pack, update


class Rereading(Merging):
    """Taking another reading of a turn in place of the stored one."""

    def _written(self, turn: Turn, extraction: Extraction) -> tuple[TurnReport, list[RowChange]]:
        """The report of a reading and the rows that store it."""
        raise NotImplementedError

    def reread(self, turn_id: str, extraction: Extraction, *, at: datetime) -> tuple[str, TurnReport]:
        """Store another reading of a turn in place of what was read from it.

        Nodes and edges that only the old reading cites, and the new one does not name, leave the live memory; values
        only it set give way to the newest other one. What a person edited or pinned stays. One change, which undo takes
        back. Returns its id and the report. Raises InputError.
        """
        turn = self.turn(turn_id)
        if self.store.query("SELECT 1 FROM turn WHERE id = ? AND forgotten_by IS NOT NULL", turn_id):
            raise InputError(f"Turn {turn_id} left with a forgetting pass: undo that before it is read again.")
        kept = checked(extraction, turn, self.settings.on_invalid)
        return self.retrying(lambda: self._reread(turn, kept, at))

    def _reread(self, turn: Turn, extraction: Extraction, at: datetime) -> tuple[str, TurnReport]:
        number = self.counters.take("change")
        report, new = self._written(turn, extraction)
        old = _Old(self, turn, report, f"c{number}")
        new = old.without_echo(new)
        rows = combined([*old.leaving(), *new, *old.resets(new)])
        summary = {"turn": turn.id, "extractor": extraction.extractor, "added": len(report.added),
                   "gone": len(old.gone_nodes)}  # fmt: skip
        change = insert(
            "change", id=f"c{number}", number=number, at=moment_given(at).timestamp(), kind="reread", made_by="user",
            state="applied", summary=json.dumps(summary, ensure_ascii=False), rows=pack(_packable(rows)),
        )  # fmt: skip
        self.commit([*rows, change], reload=True)
        return f"c{number}", report


def combined(rows: Sequence[RowChange]) -> list[RowChange]:
    """One change a row, so that undo, which looks at the row as it stands, can take each back.

    >>> gone = RowChange("provenance", ("n1", "t1"), {"item": "n1", "start": 3}, None)
    >>> combined([gone, RowChange("provenance", ("n1", "t1"), None, {"item": "n1", "start": 3})])
    []
    """
    whole: dict[tuple[str, tuple[Value, ...]], RowChange] = {}
    for row in rows:
        first = whole.get((row.table, row.key))
        whole[row.table, row.key] = row if first is None else _joined(first, row)
    return [row for row in whole.values() if row.before != row.after]


def _joined(first: RowChange, second: RowChange) -> RowChange:
    if first.after is None or second.after is None:  # gone and back, or made and gone
        return RowChange(first.table, first.key, first.before, second.after)
    before = None if first.before is None else {**(second.before or {}), **first.before}
    return RowChange(first.table, first.key, before, {**first.after, **second.after})


def _packable(rows: Sequence[RowChange]) -> list[RowChange]:
    """Rows as undo replays them: of what cannot be packed only the key, enough to take it out again."""
    made = {row.key[0] for row in rows if row.table == "node" and row.before is None}
    kept: list[RowChange] = []
    for row in rows:
        if row.table == "node_vector":
            kept += [RowChange("node_vector", row.key, None, {"node": row.key[0]})] if row.key[0] in made else []
        elif row.table in ("change", "extraction") and row.before is None:
            kept.append(RowChange(row.table, row.key, None, {"id": row.key[0]}))
        else:
            kept.append(row)
    return kept


@dataclass
class _Old:
    """What the stored reading of a turn leaves behind when another takes its place."""

    memory: Rereading
    turn: Turn
    report: TurnReport
    by: str
    gone_nodes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.named = {node.id for node in self.report.nodes} | {edge.id for edge in self.report.edges}
        self.cited = [str(row[0]) for row in self._query("SELECT item FROM provenance WHERE turn = ? ORDER BY item")]
        edited = "SELECT DISTINCT node FROM access WHERE kind = 'edit'"
        self.own = {str(row[0]) for row in self.memory.store.query(edited)}

    def leaving(self) -> list[RowChange]:
        """Citations, statements and accesses of the old reading go; then what nothing else holds."""
        gone_edges = [item for item in self.cited if item in self.memory.graph.edge_row and self._only_here(item)]
        nodes = [item for item in self.cited if item in self.memory.graph.row_of and self._only_here(item)]
        self.gone_nodes = [node for node in nodes if not self._held(node, set(gone_edges))]
        return [*self._citations(), *self._statements(), *self._accesses(), *self._merges(),
                *(self._ended("edge", edge) for edge in gone_edges), *self._standing(set(gone_edges)),
                *(self._ended("node", node) for node in self.gone_nodes)]  # fmt: skip

    def without_echo(self, new: Sequence[RowChange]) -> list[RowChange]:
        """The new reading's rows, less the accesses and merges of nodes with what this very turn had made."""
        made = {node for node in self.cited if self._made_here(node)}
        return [row for row in new if not _echoes(row, made)]

    def _made_here(self, item: str) -> bool:
        graph = self.memory.graph
        return item in graph.row_of and int(graph.turns_at_creation.values[graph.row_of[item]]) == self._number

    @property
    def _number(self) -> int:
        return self.turn.position + 1

    def _only_here(self, item: str) -> bool:
        """Live, named by no other turn and not by the new reading, and never touched by a person."""
        graph = self.memory.graph
        if item in self.named or item in self.own or not graph.is_live(item):
            return False
        if item in graph.row_of and graph.node(item).pinned:
            return False
        others = self.memory.store.query("SELECT 1 FROM provenance WHERE item = ? AND turn <> ?", item, self.turn.id)
        return not others

    def _held(self, node: str, gone: set[str]) -> bool:
        graph = self.memory.graph
        edges = {graph.edge_ids[edge] for edge, _ in graph.neighbours(graph.row_of[node])}
        joined = {end for edge in self.report.edges for end in (edge.source, edge.target)}
        return bool(edges - gone) or node in joined

    def _citations(self) -> list[RowChange]:
        """Of live items only: what a pass has forgotten comes back with its words when that is undone."""
        rows = self._query("SELECT item, turn, start, stop FROM provenance WHERE turn = ? ORDER BY item")
        gone = [dict(zip(("item", "turn", "start", "stop"), row, strict=True)) for row in rows]
        return [
            RowChange("provenance", (row["item"], row["turn"]), row, None) for row in gone if self._live(row["item"])
        ]

    def _statements(self) -> list[RowChange]:
        names = ("id", "item", "field", "value", "turn", "at")
        rows = self._query(f"SELECT {', '.join(names)} FROM value_history WHERE turn = ? ORDER BY id")
        gone = [dict(zip(names, row, strict=True)) for row in rows]
        return [RowChange("value_history", (row["id"],), row, None) for row in gone if self._live(row["item"])]

    def _accesses(self) -> list[RowChange]:
        names = ("id", "node", "at", "turn", "kind")
        sql = f"SELECT {', '.join(names)} FROM access WHERE turn = ? AND kind = 'merge' ORDER BY id"
        gone = [dict(zip(names, row, strict=True)) for row in self.memory.store.query(sql, self._number)]
        return [RowChange("access", (row["id"],), row, None) for row in gone if self._live(row["node"])]

    def _live(self, item: str) -> bool:
        return self.memory.graph.is_live(item)

    def _merges(self) -> list[RowChange]:
        """Merges of the old reading can no more be split: what they joined is read anew."""
        sql = "SELECT id, summary FROM change WHERE kind = 'merge' AND made_by = 'ingest' AND state = 'applied' "
        sql += "ORDER BY number"
        rows = [change for change, text in self.memory.store.query(sql) if json.loads(text)["turn"] == self.turn.id]
        return [update("change", change, {"state": "applied"}, {"state": "replaced"}) for change in rows]

    def _standing(self, gone: set[str]) -> list[RowChange]:
        """Edges that an edge of the old reading had ended hold again."""
        rows: list[RowChange] = []
        sql = "SELECT id, attributes FROM edge WHERE attributes LIKE '%superseded_by%' ORDER BY rowid"
        for edge, text in self.memory.store.query(sql):
            values = json.loads(text)
            if values.get("superseded_by") in gone:
                kept = {key: value for key, value in values.items() if key not in ("superseded_by", "until")}
                rows.append(update("edge", edge, {"attributes": text}, {"attributes": dump(kept)}))
        return rows

    def resets(self, new: Sequence[RowChange]) -> list[RowChange]:
        """Nodes that stay lose the values that this turn alone had given them."""
        texts = {row.key[0]: row.after["attributes"] for row in new
                 if row.table == "node" and row.after and row.before and "attributes" in row.after}  # fmt: skip
        told = zip(self.report.nodes, self.report.extraction.nodes, strict=True)
        restated = {(node.id, f"attributes.{key}") for node, found in told for key in found.attributes}
        stay = (item for item in self.cited if item in self.memory.graph.row_of and self.memory.graph.is_live(item))
        rows = [self._reset(item, texts, restated) for item in stay if item not in self.own]
        return [row for row in rows if row is not None]

    def _reset(self, node_id: str, texts: Mapping[Value, Value], restated: set[tuple[str, str]]) -> RowChange | None:
        text = str(texts.get(node_id) or self.memory.graph.attributes[self.memory.graph.row_of[node_id]])
        after: dict[str, Any] = json.loads(text)
        told = self.memory.history_of(node_id)
        for said in told:
            key = said.field.removeprefix("attributes.")
            if said.turn != self.turn.id or not said.current or key == said.field or (node_id, said.field) in restated:
                continue
            others = [one.value for one in told if one.field == said.field and one.turn != self.turn.id]
            after.pop(key, None)
            after |= {key: others[-1]} if others else {}
        now = dump(after)
        return update("node", node_id, {"attributes": text}, {"attributes": now}) if now != text else None

    def _ended(self, table: str, item: str) -> RowChange:
        return update(table, item, {"forgotten_by": None}, {"forgotten_by": self.by})

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        return self.memory.store.query(sql, self.turn.id)


def _echoes(row: RowChange, made: set[str]) -> bool:
    if row.after is None or row.before is not None:
        return False
    if row.table == "access":
        return row.after["node"] in made
    return row.table == "change" and _merged(row.after["summary"]) in made


def _merged(summary: Value) -> str:
    return str(json.loads(str(summary)).get("node", ""))
