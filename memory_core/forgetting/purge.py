"""Removal for good: every row of a pass, what other rows say about it, and the bytes it left in the file."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_core.forgetting.passes import PASSES
from memory_core.forgetting.where import Where
from memory_core.memory.reports import unpack_report
from memory_core.memory.scoring import Scoring
from memory_core.memory.turn_rows import dump
from memory_core.schema import normalise_title
from memory_core.store.rows import RowChange, Value, pack, unpack, update

#: Set in the transaction that erases, cleared when the file is rewritten: a killed purge goes on at the next opening.
REWRITE = "rewrite"


@dataclass(frozen=True)
class Doomed:
    """Ids of what a purge removes."""

    nodes: tuple[str, ...]
    edges: tuple[str, ...]
    turns: tuple[str, ...]

    @classmethod
    def of(cls, memory: Scoring, pass_id: str) -> Doomed:
        """What the pass took and still holds, what a merge into it or another reading of its turns had ended, and
        every edge that would lose an end."""
        graph = memory.graph
        left = memory.store.query("SELECT id FROM turn WHERE forgotten_by = ? ORDER BY position", pass_id)
        turns = [turn for (turn,) in left]
        ending = {pass_id, *_rereads(memory, set(turns))}
        rows = _with_merged(memory, [row for row, by in enumerate(graph.forgotten_by) if by in ending])
        edges = [
            graph.edge_ids[edge]
            for edge, (by, ends) in enumerate(zip(graph.edge_forgotten_by, graph.ends.values.tolist(), strict=True))
            if by in ending or not rows.isdisjoint(ends)
        ]
        return cls(tuple(graph.ids[row] for row in sorted(rows)), tuple(edges), tuple(turns))

    @property
    def items(self) -> tuple[str, ...]:
        """Nodes and edges."""
        return self.nodes + self.edges


def _rereads(memory: Scoring, turns: Collection[str]) -> list[str]:
    rows = memory.store.query("SELECT id, summary FROM change WHERE kind = 'reread'") if turns else []
    return [change for change, text in rows if json.loads(text).get("turn") in turns]


def _with_merged(memory: Scoring, rows: Sequence[int]) -> set[int]:
    """The rows and all that was merged into them by hand, one into another."""
    changes = memory.store.query("SELECT id, summary FROM change WHERE kind = 'merge' AND made_by = 'user'")
    kept = {change: json.loads(text).get("node") for change, text in changes}
    merged: dict[str, list[int]] = defaultdict(list)
    for row, by in enumerate(memory.graph.forgotten_by):
        if by in kept:
            merged[kept[by]].append(row)
    found, fresh = set(rows), list(rows)
    while fresh:
        fresh = [gone for row in fresh for gone in merged[memory.graph.ids[row]] if gone not in found]
        found.update(fresh)
    return found


def erasing(memory: Scoring, doomed: Doomed) -> tuple[list[RowChange], int]:
    """Row changes that remove what is doomed from every table, and how many turns keep their words.

    A stored question (`ask --touch`) goes when it was asked in a turn that goes; others stay, whatever they name.
    """
    kept = _kept_turns(memory, doomed)
    changes = [
        *_gone(memory, "provenance", ("item", "turn"), "item", doomed.items),
        *_gone(memory, "provenance", ("item", "turn"), "turn", doomed.turns),
        *_unsaid(memory, doomed),
        *_gone(memory, "value_history", ("id",), "item", doomed.items),
        *_gone(memory, "value_history", ("id",), "turn", doomed.turns),
        *_gone(memory, "access", ("id",), "node", doomed.nodes),
        *_gone(memory, "pending_vector", ("item",), "item", [f"node {node}" for node in doomed.nodes]),
        *_gone(memory, "pair", ("id",), "a", doomed.nodes),
        *_gone(memory, "pair", ("id",), "b", doomed.nodes),
        *_gone(memory, "extraction", ("id",), "turn", doomed.turns),
        *_unanswered(memory, doomed),
        *_blank_extractions(memory, kept, doomed),
        *_blank_changes(memory, doomed),
        *(RowChange("node_vector", (node,), {}, None) for node in doomed.nodes),
        *(RowChange("turn_vector", (turn,), {}, None) for turn in doomed.turns),
        *(RowChange("edge", (edge,), {}, None) for edge in doomed.edges),
        *(RowChange("node", (node,), {}, None) for node in doomed.nodes),
        *(RowChange("turn", (turn,), {}, None) for turn in doomed.turns),
    ]
    return changes, len(kept)


def _gone(
    memory: Scoring, table: str, keys: Sequence[str], column: str, values: Sequence[Value]
) -> Iterable[RowChange]:
    rows = memory.store.query_in(f"SELECT {', '.join(keys)} FROM {table} WHERE {column} IN ({{}})", values)
    return (RowChange(table, tuple(row), {}, None) for row in rows)


def _unanswered(memory: Scoring, doomed: Doomed) -> list[RowChange]:
    """Answers that a doomed turn asked for or that quote one, and the questions asked in doomed turns."""
    turns = set(doomed.turns)
    rows = memory.store.query("SELECT key, value FROM meta WHERE key LIKE 'answer:%'") if turns else []
    quoting = [(key, json.loads(value)) for key, value in rows]
    answers = [
        RowChange("meta", (key,), {}, None)
        for key, answer in quoting
        if key.removeprefix("answer:") in turns or not turns.isdisjoint(answer.get("turns") or ())
    ]
    asked = [answer["question"] for key, answer in quoting if key.removeprefix("answer:") in turns]
    questions = [number for (number,) in memory.store.query_in("SELECT id FROM question WHERE text IN ({})", asked)]
    pending = _gone(memory, "pending_vector", ("item",), "item", [f"question {number}" for number in questions])
    return [*answers, *pending, *(RowChange("question", (number,), {}, None) for number in questions)]


def _kept_turns(memory: Scoring, doomed: Doomed) -> list[str]:
    """Turns that what goes was read from and that stay: something live still cites them, or they were kept."""
    cited = {turn for (turn,) in memory.store.query_in("SELECT turn FROM provenance WHERE item IN ({})", doomed.items)}
    return sorted(cited.difference(doomed.turns))


def _unsaid(memory: Scoring, doomed: Doomed) -> list[RowChange]:
    """What stays and holds a value that only a doomed turn said (a speaker's node) takes the newest other value."""
    if not doomed.turns:
        return []
    rows = memory.store.query_in("SELECT item, field, value FROM value_history WHERE turn IN ({})", doomed.turns)
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    for item, field, value in rows:
        if item in memory.graph.row_of and item not in doomed.nodes:
            said[item, field].add(value)
    by_item: dict[str, dict[str, set[str]]] = defaultdict(dict)
    for (item, field), values in said.items():
        by_item[item][field] = values
    return [change for item, fields in by_item.items() for change in _without(memory, item, fields, set(doomed.turns))]


def _without(memory: Scoring, item: str, fields: Mapping[str, Collection[str]], turns: set[str]) -> list[RowChange]:
    row = memory.graph.row_of[item]
    before = {"content": memory.graph.contents[row], "attributes": memory.graph.attributes[row]}
    content, attributes = before["content"], json.loads(before["attributes"])
    for field, values in fields.items():
        rest = memory.store.query(_STATEMENTS, item, field)
        others = [value for value, turn in rest if turn not in turns]
        key = field.removeprefix("attributes.")
        held = json.dumps(content if field == "content" else attributes.get(key), ensure_ascii=False)
        if held not in values or held in others or field == "title":
            continue
        if field == "content":
            content = json.loads(others[-1]) if others else ""
        elif others:
            attributes[key] = json.loads(others[-1])
        else:
            attributes.pop(key, None)
    after = {"content": content, "attributes": dump(attributes)}
    changed = {column: after[column] for column in after if after[column] != before[column]}
    return [update("node", item, {column: before[column] for column in changed}, changed)] if changed else []


_STATEMENTS = """
    SELECT value, turn FROM value_history JOIN turn ON turn.id = turn
    WHERE item = ? AND field = ? ORDER BY value_history.at, position, value_history.id"""


def _blank_extractions(memory: Scoring, kept: Collection[str], doomed: Doomed) -> Iterable[RowChange]:
    """Every report loses what it says of what goes; of the kept turns that it was read from also the raw reply."""
    items, empty = set(doomed.items), zlib.compress(b"")
    for number, turn, blob in memory.store.query("SELECT id, turn, report FROM extraction"):
        if turn in doomed.turns:
            continue
        report = unpack_report(blob)
        left = {name: _of_others(rows, items) if name in ("nodes", "edges") else rows for name, rows in report.items()}
        after: dict[str, Value] = {}
        if turn in kept:
            left["drops"], after = [], {"raw": empty, "reason": ""}
        if after or left != report:
            after["report"] = zlib.compress(json.dumps(left, ensure_ascii=False).encode())
            yield update("extraction", number, {"report": blob}, after)


def _of_others(rows: Iterable[dict[str, Any]], items: set[str]) -> list[dict[str, Any]]:
    """Placements without those of the items, and without the matches with one that a guard held back."""
    left = (row for row in rows if row.get("id") not in items)
    return [
        row | {"held": [held for held in row["held"] if held["node"] not in items]} if row.get("held") else row
        for row in left
    ]


def _blank_changes(memory: Scoring, doomed: Doomed) -> Iterable[RowChange]:
    """Entries of the history that speak of what goes keep their date, kind and ids, and lose their content."""
    ids = {*doomed.items, *doomed.turns}
    words = {word for node in doomed.nodes for word in _title_words(memory.graph.titles[memory.graph.row_of[node]])}
    for change, kind, summary, blob in memory.store.query("SELECT id, kind, summary, rows FROM change"):
        about = json.loads(summary)
        if kind in PASSES and ids.isdisjoint({about.get("node"), about.get("edge")}):
            yield from _without_words(change, about, ids, words, blob)
            continue
        if ids.isdisjoint(_named(about, unpack(blob))):
            continue
        left = {name: about[name] for name in ("node", "turn") if about.get(name) not in {None, *ids}}
        blank = json.dumps({"purged": True} | left)
        yield update("change", change, {"state": "applied"}, {"state": "purged", "summary": blank, "rows": pack([])})


def _without_words(
    change: str, about: Mapping[str, object], ids: set[str], words: set[str], blob: bytes
) -> Iterable[RowChange]:
    """A pass holds ids, and the words by which a person selected: these go when they found or name what goes."""
    if not about.get("where"):
        return
    where = Where.parse(str(about["where"]))
    if not words.isdisjoint(_title_words(where.words)) or not ids.isdisjoint(_named(about, unpack(blob))):
        summary = {"summary": json.dumps({**about, "where": str(where.without_words())}, ensure_ascii=False)}
        yield update("change", change, {"summary": json.dumps(about, ensure_ascii=False)}, summary)


def _title_words(text: str) -> set[str]:
    return set(normalise_title(text).split())


def _named(about: Mapping[str, object], changes: Iterable[RowChange]) -> set[object]:
    named: set[object] = {about.get("node"), about.get("edge"), about.get("turn")}
    for change in changes:
        named.update(change.key)
        for row in (change.before, change.after):
            named.update((row or {}).get(column) for column in ("item", "node", "source", "target", "turn"))
    return named - {None}
