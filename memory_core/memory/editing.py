"""Changes a person makes: pin, edit, delete, merge, and undo, which replays what stood before."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from memory_core.errors import InputError
from memory_core.memory.checks import moment_given
from memory_core.memory.looking import Looking
from memory_core.memory.turn_rows import Counters, dump
from memory_core.schema import LABELS, Node, Scalar, descriptor
from memory_core.store.rows import KEYS, Row, RowChange, Value, insert, pack, unpack, update
from memory_core.validation.items import MAX_ATTRIBUTES, MAX_CONTENT, MAX_TITLE
from memory_core.validation.values import Report, clean, flat_attributes

if TYPE_CHECKING:
    from memory_core.schema import Edge

Result = TypeVar("Result")


class Editing(Looking):
    """Writing side of a memory that a person drives; each act is one row of the history and can be undone."""

    counters: Counters

    def commit(self, changes: Sequence[RowChange], *, reload: bool = False) -> None:
        """Store and follow."""
        raise NotImplementedError

    def retrying(self, make: Callable[[], Result]) -> Result:
        """Run a write, again when another process was faster."""
        raise NotImplementedError

    def live_node(self, node_id: str) -> Node:
        """A node that is not forgotten. Raises InputError."""
        if node_id not in self.graph.row_of or not self.graph.is_live(node_id):
            raise InputError(f"There is no live node {node_id}: it was forgotten, deleted or never stored.")
        return self.graph.node(node_id)

    def live_edge(self, edge_id: str) -> Edge:
        """An edge that is not forgotten. Raises InputError."""
        if edge_id not in self.graph.edge_row or not self.graph.is_live(edge_id):
            raise InputError(f"There is no live edge {edge_id}: it was forgotten, deleted or never stored.")
        return self.graph.edge(edge_id)

    def pin(self, node_id: str, pinned: bool, *, at: datetime) -> str:
        """Pin a node, so that no forgetting takes it, or let it go. Returns the id of the change."""

        def write() -> str:
            node = self.live_node(node_id)
            change = update("node", node_id, {"pinned": int(node.pinned)}, {"pinned": int(pinned)})
            kind = "pin" if pinned else "unpin"
            return self._record(kind, at, {"node": node_id, "title": node.title}, [change])

        return self.retrying(write)

    def edit(
        self,
        node_id: str,
        *,
        at: datetime,
        label: str | None = None,
        title: str | None = None,
        content: str | None = None,
        attributes: Mapping[str, Scalar] | None = None,
    ) -> str:
        """Change fields of a node; its vector follows. Returns the id of the change. Raises InputError."""

        def write() -> str:
            node = self.live_node(node_id)
            wanted: dict[str, Value] = {
                "label": label or node.label,
                "title": node.title if title is None else " ".join(_text(title, "title", MAX_TITLE).split()),
                "content": node.content if content is None else _text(content, "content", MAX_CONTENT).strip(),
                "attributes": dump(node.attributes if attributes is None else _attributes(attributes)),
            }
            if wanted["label"] not in LABELS or not wanted["title"]:
                raise InputError(f"A node needs a title and one of the labels {', '.join(LABELS)}.")
            stored = {
                "label": node.label,
                "title": node.title,
                "content": node.content,
                "attributes": dump(node.attributes),
            }
            after = {column: value for column, value in wanted.items() if value != stored[column]}
            if not after:
                raise InputError("Nothing was changed.")
            change = update("node", node_id, {column: stored[column] for column in after}, after)
            access = insert("access", id=self.counters.take("access"), node=node_id, at=moment_given(at).timestamp(),
                            turn=self.graph.turns, kind="edit")  # fmt: skip
            return self._record("edit", at, {"node": node_id, "title": node.title}, [change, access])

        return self.retrying(write)

    def delete(self, item: str, *, at: datetime) -> str:
        """Take a node with its edges, or one edge, out of the live memory. Returns the id of the change."""

        def write() -> str:
            by = f"c{self.counters.change}"
            if item in self.graph.row_of:
                title = self.live_node(item).title
                edges = [self.graph.edge_ids[edge] for edge, _ in self.graph.neighbours(self.graph.row_of[item])]
                rows = [_forgotten("node", item, by), *(_forgotten("edge", edge, by) for edge in edges)]
                return self._record("delete", at, {"node": item, "title": title, "edges": len(edges)}, rows)
            edge = self.live_edge(item)
            return self._record(
                "delete", at, {"edge": item, "title": edge.relationship}, [_forgotten("edge", item, by)]
            )

        return self.retrying(write)

    def undo(self, change_id: str, *, at: datetime) -> dict[str, object]:
        """Take a change back: every row is again as it stood before; what was changed since keeps its newer value.

        Returns {"id", "restored": {nodes, edges, turns}, "kept": rows left as they are}. Raises InputError for an
        unknown or already undone id.
        """
        return self.retrying(lambda: self._undo(change_id, at))

    def _undo(self, change_id: str, at: datetime) -> dict[str, object]:
        rows = self.store.query("SELECT state, kind, rows FROM change WHERE id = ?", change_id)
        if not rows:
            raise InputError(f"There is no change {change_id} in this memory: `history` lists them.")
        state, kind, blob = rows[0]
        if state != "applied":
            raise InputError(f"Change {change_id} ({kind}) is already {state}.")
        back, kept = self._inverse(unpack(blob))
        held = self._held(back)
        gone = {(table, (item,)) for table in ("node", "node_vector", "edge") for item in held}
        back = self._waiting([one for one in back if one.after or (one.table, one.key) not in gone])
        kept += len(held)
        done = update("change", change_id, {"state": "applied"}, {"state": "undone"})
        self.commit([*back, *self._vectors(back), done], reload=True)
        restored = {name: sum(change.table == table for change in back)
                    for name, table in (("nodes", "node"), ("edges", "edge"), ("turns", "turn"))}  # fmt: skip
        return {"id": change_id, "restored": restored, "kept": kept}

    def _inverse(self, changes: Sequence[RowChange]) -> tuple[list[RowChange], int]:
        """Row changes that lead back, and how many were left out because something newer stands there."""
        back: list[RowChange] = []
        kept = 0
        for change in reversed(changes):
            now = self._row(change)
            if change.after is None and change.before is not None:
                if now is None:
                    back.append(RowChange(change.table, change.key, None, change.before))
            elif change.before is None:
                if now is not None:
                    back.append(RowChange(change.table, change.key, change.after, None))
            elif change.after is not None:
                step, left = _step_back(change, change.before, change.after, now)
                back += step
                kept += left
        return back, kept

    def _held(self, back: Sequence[RowChange]) -> set[Value]:
        """Nodes and edges that would go, and that something said since still speaks of."""
        going = {(change.table, change.key) for change in back if change.after is None}
        held = {key[0] for table, key in going if table in ("edge", "node") and self._named(key[0], going)}
        for table, key in going:
            if table == "node" and key[0] in self.graph.row_of:
                edges = [self.graph.edge_ids[edge] for edge in self.graph.incident[self.graph.row_of[str(key[0])]]]
                if any(("edge", (edge,)) not in going or edge in held for edge in edges):
                    held.add(key[0])
        return held

    def _named(self, item: Value, going: set[tuple[str, tuple[Value, ...]]]) -> bool:
        for table, column in (("provenance", "item"), ("access", "node"), ("value_history", "item")):
            rows = self.store.query(f"SELECT {', '.join(KEYS[table])} FROM {table} WHERE {column} = ?", item)
            if any((table, row) not in going for row in rows):
                return True
        return False

    def _waiting(self, back: Sequence[RowChange]) -> list[RowChange]:
        """The same, but an edge that comes back while an end stays forgotten waits for the pass that took that end."""
        graph = self.graph
        by = dict(zip(graph.ids, graph.forgotten_by, strict=True)) | {
            str(one.key[0]): one.after["forgotten_by"]
            for one in back
            if one.table == "node" and one.after and "forgotten_by" in one.after
        }

        def waiting(change: RowChange) -> RowChange:
            after = change.after
            if change.table != "edge" or after is None or after.get("forgotten_by", "") is not None:
                return change
            row = graph.edge_row.get(str(change.key[0]))
            now = [None, None] if row is None else [graph.ids[end] for end in graph.ends.values[row].tolist()]
            ends = after.get("source", now[0]), after.get("target", now[1])
            stays = next((taken for end in ends if (taken := by.get(str(end))) is not None), None)
            return replace(change, after={**after, "forgotten_by": stays})

        return [waiting(change) for change in back]

    def _row(self, change: RowChange) -> Row | None:
        columns = list(change.after or change.before or ())
        where = " AND ".join(f"{key} = ?" for key in change.where)
        rows = self.store.query(f"SELECT {', '.join(columns)} FROM {change.table} WHERE {where}", *change.key)
        return dict(zip(columns, rows[0], strict=True)) if rows else None

    def _vectors(self, changes: Sequence[RowChange]) -> list[RowChange]:
        """A vector follows its descriptor: nodes that come back or change what is embedded get theirs anew."""
        texts: dict[str, str] = {}
        for change in changes:
            after = change.after
            if change.table == "node" and after is not None and {"label", "title", "content"} & after.keys():
                node_id = str(change.key[0])
                node = self.graph.node(node_id) if node_id in self.graph.row_of else None
                known = {"label": node.label, "title": node.title, "content": node.content} if node else {}
                row = {**known, **after}
                texts[node_id] = descriptor(str(row["label"]), str(row["title"]), str(row["content"]))
        if not texts:
            return []
        vectors = self.outside.embed(self.embedder, list(texts.values()))
        rows = zip(texts, vectors, strict=True)
        return [insert("node_vector", node=node_id, vector=row.astype(np.float16).tobytes()) for node_id, row in rows]

    def _record(self, kind: str, at: datetime, summary: Mapping[str, object], rows: Sequence[RowChange]) -> str:
        number = self.counters.take("change")
        change = insert(
            "change", id=f"c{number}", number=number, at=moment_given(at).timestamp(), kind=kind, made_by="user",
            state="applied", summary=json.dumps(dict(summary), ensure_ascii=False), rows=pack(rows),
        )  # fmt: skip
        self.commit([*rows, *self._vectors(rows), change])
        return f"c{number}"


def _text(given: str, what: str, most: int) -> str:
    kept = clean(given, what, Report())
    if len(kept) > most:
        raise InputError(f"The {what} has {len(kept):,} characters; the most is {most:,}: shorten it.")
    return kept


def _attributes(given: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
    report = Report()
    flat = flat_attributes(given, "the node", report, MAX_ATTRIBUTES, MAX_CONTENT)
    if report.drops:
        raise InputError(f"Attributes of {report.drops[0].reason}.")
    return flat


def _forgotten(table: str, item: str, by: str) -> RowChange:
    return update(table, item, {"forgotten_by": None}, {"forgotten_by": by})


def _step_back(change: RowChange, before: Row, after: Row, now: Row | None) -> tuple[list[RowChange], int]:
    if now is None:
        return [], 1
    same = {column: before[column] for column in after if now[column] == after[column]}
    left = int(len(same) < len(after))
    if not same:
        return [], left
    return [RowChange(change.table, change.key, {column: now[column] for column in same}, same)], left
