"""Two nodes made one by hand, and what a person says about a pair of nodes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory_core.errors import InputError
from memory_core.memory.checks import moment_given
from memory_core.memory.editing import Editing
from memory_core.memory.turn_rows import as_json, dump
from memory_core.schema import Node
from memory_core.settings import Settings
from memory_core.store.rows import RowChange, Value, insert, pack, update

VERDICTS = ("same", "different", "unsure")


@dataclass(frozen=True)
class MergePreview:
    """What merging `gone` into `kept` would do. `values` are the fields that change: (field, from, to).

    Live edges are counted: `folded` ones say what an edge of `kept` says already, `loops` would join the node to
    itself: both end.
    """

    kept: Node
    gone: Node
    values: tuple[tuple[str, str, str], ...]
    edges: int
    folded: int
    loops: int
    turns: int
    accesses: int


class Merging(Editing):
    """What a person decides about pairs of nodes."""

    def preview_merge(self, kept: str, gone: str) -> MergePreview:
        """What `merge` would do; changes nothing. Raises InputError."""
        with self.lock:
            plan = _Plan(self, kept, gone, "preview")
            stored = {"content": plan.kept.content, "attributes": dump(plan.kept.attributes)}
            after = plan.node_after()
            values = tuple((field, stored[field], str(after[field])) for field in stored if field in after)
            moved = Counter(kind for kind, edge in plan.edges() if edge["live"])
            return MergePreview(
                plan.kept, plan.gone, values, moved["moved"], moved["folded"], moved["loop"],
                len(self.citations(gone)), plan.gone.accesses,
            )  # fmt: skip

    def merge(self, kept: str, gone: str, *, at: datetime) -> str:
        """Make `gone` part of `kept`: edges, provenance, accesses and history move, the newest value of each field
        holds (P1 3.4 with our history). One change, which undo takes back exactly. Returns its id. Raises InputError.
        """

        def write() -> str:
            number = self.counters.take("change")
            plan = _Plan(self, kept, gone, f"c{number}")
            rows = plan.rows()
            verdict = self._verdict(kept, gone, "same", 0.0, "", "by hand")
            summary = {"node": kept, "title": plan.kept.title, "found": plan.gone.title, "gone": gone, "how": "by hand"}
            change = insert(
                "change", id=f"c{number}", number=number, at=moment_given(at).timestamp(), kind="merge", made_by="user",
                state="applied", summary=json.dumps(summary, ensure_ascii=False), rows=pack([*rows, verdict]),
            )  # fmt: skip
            self.commit([*rows, *self._vectors(rows), verdict, change], reload=True)
            return f"c{number}"

        return self.retrying(write)

    def judge(self, a: str, b: str, verdict: str, *, similarity: float, reason: str = "", kind: str = "near") -> None:
        """Keep a person's verdict on two nodes: same, different or unsure. Raises InputError for another word."""
        if verdict not in VERDICTS:
            raise InputError(f"{verdict!r} is no verdict: say {', '.join(VERDICTS[:-1])} or {VERDICTS[-1]}.")

        def write() -> None:
            self.live_node(a), self.live_node(b)
            self.commit([self._verdict(a, b, verdict, similarity, reason, kind)])

        self.retrying(write)

    def use_threshold(self, threshold: float) -> None:
        """Merge turns from now on above this cosine. Raises InputError outside [0, 1]."""
        if not 0 <= threshold <= 1:
            raise InputError(f"The threshold {threshold} is no cosine between 0 and 1.")
        self.change_settings(replace(self.settings, match_threshold=threshold))

    def change_settings(self, settings: Settings) -> None:
        """Save parameters with the memory."""
        raise NotImplementedError

    def pairs(self) -> list[dict[str, Any]]:
        """Pairs put up for merging or judged: {id, a, b, kind, reason, similarity, state}, oldest first."""
        names = ("id", "a", "b", "kind", "reason", "similarity", "state")
        rows = self.store.query(f"SELECT {', '.join(names)} FROM pair ORDER BY id")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _verdict(self, a: str, b: str, state: str, similarity: float, reason: str, kind: str) -> RowChange:
        sql = "SELECT id, state FROM pair WHERE (a = ? AND b = ?) OR (a = ? AND b = ?) ORDER BY id DESC LIMIT 1"
        for known, before in self.store.query(sql, a, b, b, a):
            return update("pair", known, {"state": before}, {"state": state})
        number = self.counters.take("pair")
        return insert("pair", id=number, a=a, b=b, kind=kind, reason=reason, similarity=similarity, state=state)


@dataclass
class _Plan:
    """The row changes of one merge; `by` names the change."""

    memory: Merging
    kept_id: str
    gone_id: str
    by: str

    def __post_init__(self) -> None:
        if self.kept_id == self.gone_id:
            raise InputError("A node cannot be merged with itself: choose another one.")
        self.kept, self.gone = self.memory.live_node(self.kept_id), self.memory.live_node(self.gone_id)

    def rows(self) -> list[RowChange]:
        after = self.node_after()
        stored: dict[str, Value] = {
            "content": self.kept.content, "attributes": dump(self.kept.attributes),
            "created": float(self._row(self.kept_id).created), "turns_at_creation": self.kept.turns_at_creation,
            "pinned": int(self.kept.pinned),
        }  # fmt: skip
        rows = [self._ended("node", self.gone_id), *self._edge_rows(), *self._provenance(self.gone_id, self.kept_id)]
        if after:
            rows.append(update("node", self.kept_id, {column: stored[column] for column in after}, after))
        rows += [update(table, number, {column: self.gone_id}, {column: self.kept_id})
                 for table, column in (("value_history", "item"), ("access", "node"))
                 for (number,) in self._ids(table, column)]  # fmt: skip
        return rows + self._called()

    def node_after(self) -> dict[str, Value]:
        """The columns of the kept node that change: newest value of each field, earliest creation, pin of either."""
        ours, theirs = self._newest(self.kept_id), self._newest(self.gone_id)
        attributes = dict(self.kept.attributes)
        for key, value in self.gone.attributes.items():
            name = f"attributes.{key}"
            if key not in attributes or theirs.get(name, -1e18) > ours.get(name, -1e18):
                attributes[key] = value
        newer = theirs.get("content", -1e18) > ours.get("content", -1e18)
        content = self.gone.content if self.gone.content and (newer or not self.kept.content) else self.kept.content
        kept, gone = self._row(self.kept_id), self._row(self.gone_id)
        wanted: dict[str, Value] = {
            "content": content, "attributes": dump(attributes), "created": min(kept.created, gone.created),
            "turns_at_creation": min(kept.turns, gone.turns), "pinned": int(self.kept.pinned or self.gone.pinned),
        }  # fmt: skip
        stored = (self.kept.content, dump(self.kept.attributes), kept.created, kept.turns, int(self.kept.pinned))
        return {column: value for (column, value), was in zip(wanted.items(), stored, strict=True) if value != was}

    def edges(self) -> list[tuple[str, dict[str, Any]]]:
        """Each edge of the node that goes, live or not, with what becomes of it: moved, folded or loop."""
        names = ("id", "source", "target", "relationship", "forgotten_by")
        sql = f"SELECT {', '.join(names)} FROM edge WHERE source = ? OR target = ? ORDER BY rowid"
        said = [dict(zip(names, row, strict=True)) for row in self.memory.store.query(sql, self.gone_id, self.gone_id)]
        own = self.memory.store.query(sql, self.kept_id, self.kept_id)
        known = {(row[1], row[3], row[2]): row[0] for row in own if self.memory.graph.is_live(row[0])}
        return [self._becomes(edge, known) for edge in said]

    def _becomes(self, edge: dict[str, Any], known: dict[tuple[str, str, str], str]) -> tuple[str, dict[str, Any]]:
        source, target = (self.kept_id if edge[end] == self.gone_id else edge[end] for end in ("source", "target"))
        live = self.memory.graph.is_live(edge["id"])
        same = known.get((source, edge["relationship"], target)) if live else None
        edge = edge | {"to": (source, target), "live": live, "same": same}
        if live and not same and source != target:
            known[source, edge["relationship"], target] = edge["id"]
        return ("loop" if source == target else "folded" if same else "moved"), edge

    def _edge_rows(self) -> list[RowChange]:
        rows: list[RowChange] = []
        for kind, edge in self.edges():
            if kind == "moved":
                before = {"source": edge["source"], "target": edge["target"]}
                rows.append(update("edge", edge["id"], before, dict(zip(before, edge["to"], strict=True))))
                continue
            if edge["live"]:
                rows.append(self._ended("edge", edge["id"]))
            if kind == "folded":
                rows += self._provenance(edge["id"], edge["same"])
        return rows

    def _provenance(self, item: str, to: str) -> list[RowChange]:
        sql = "SELECT turn, start, stop FROM provenance WHERE item = ? ORDER BY turn"
        known = {turn for turn, *_ in self.memory.store.query(sql, to)}
        rows: list[RowChange] = []
        for turn, start, stop in self.memory.store.query(sql, item):
            row: dict[str, Value] = {"item": item, "turn": turn, "start": start, "stop": stop}
            rows.append(RowChange("provenance", (item, turn), row, None))
            if turn not in known:
                rows.append(insert("provenance", **(row | {"item": to})))
        return rows

    def _called(self) -> list[RowChange]:
        """The other title goes to the history, with the first turn that used it."""
        cited = self.memory.citations(self.gone_id)
        if not cited or self.gone.title == self.kept.title:
            return []
        turn = self.memory.turn(cited[0].turn)
        return [insert("value_history", id=self.memory.counters.take("value_history"), item=self.kept_id, field="title",
                       value=as_json(self.gone.title), turn=turn.id, at=turn.at.timestamp())]  # fmt: skip

    def _ended(self, table: str, item: str) -> RowChange:
        return update(table, item, {"forgotten_by": None}, {"forgotten_by": self.by})

    def _ids(self, table: str, column: str) -> Sequence[tuple[int]]:
        return self.memory.store.query(f"SELECT id FROM {table} WHERE {column} = ? ORDER BY id", self.gone_id)

    def _newest(self, item: str) -> Mapping[str, float]:
        sql = "SELECT field, max(at) FROM value_history WHERE item = ? GROUP BY field"
        return {str(field): float(at) for field, at in self.memory.store.query(sql, item)}

    def _row(self, item: str) -> _Times:
        row = self.memory.store.query("SELECT created, turns_at_creation FROM node WHERE id = ?", item)[0]
        return _Times(float(row[0]), int(row[1]))


@dataclass(frozen=True)
class _Times:
    created: float
    turns: int
