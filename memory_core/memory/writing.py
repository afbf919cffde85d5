"""From one turn and what was read from it to the row changes that store it: de-duplication, merge, history."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from memory_core.dedup import Match, Matcher
from memory_core.graph import Graph
from memory_core.memory.reports import Placed, PlacedEdge, TurnReport, pack_report
from memory_core.memory.superseding import superseded_edges
from memory_core.protocols import Embedder, Floats
from memory_core.schema import Extraction, FoundNode, Turn, descriptor, normalise_title
from memory_core.settings import Settings
from memory_core.store.rows import RowChange, Value, insert, pack, update
from memory_core.store.sqlite import SqliteStore

_YEAR = 365.25 * 86400


@dataclass
class Counters:
    """The next number of each kind of row. Numbers are never used twice, so a change can name a row not yet made."""

    node: int = 1
    edge: int = 1
    change: int = 1
    access: int = 1
    value_history: int = 1
    extraction: int = 1
    question: int = 1
    pair: int = 1

    def take(self, kind: str) -> int:
        """The next number of `kind`."""
        number: int = getattr(self, kind)
        setattr(self, kind, number + 1)
        return number


@dataclass
class TurnWriter:
    """Builds the changes of one turn against the graph as it is; nothing is changed until they are committed."""

    graph: Graph
    store: SqliteStore
    embedder: Embedder
    settings: Settings
    counters: Counters
    turn: Turn
    extraction: Extraction
    number: int  # the turn's place among all turns, from 1
    changes: list[RowChange] = field(default_factory=list)
    _touched: set[str] = field(default_factory=set)
    _held: dict[str, set[str]] = field(default_factory=dict)

    def write(self) -> TurnReport:
        """All changes of the turn but the turn row itself, in `changes`, and the report of what became of each item."""
        found = self.extraction.nodes
        matches, vectors = self._match(found)
        placed = [self._place(*item) for item in zip(found, matches, vectors, strict=True)]
        edges = [self._place_edge(place, placed) for place in range(len(self.extraction.edges))]
        self._embed_changed()
        report = TurnReport(self.turn.id, self.extraction, tuple(placed), tuple(edge for edge in edges if edge))
        self.changes.append(self._extraction_row(report))
        return report

    # -- nodes -----------------------------------------------------------------------------------------------------

    def _match(self, found: Sequence[FoundNode]) -> tuple[list[Match], list[Floats | None]]:
        threshold = self.settings.match_threshold
        guards = self.settings.guards == "on"
        matcher = Matcher(self.embedder.match_threshold if threshold is None else threshold, guards)
        speakerless = Matcher(matcher.threshold, guards=False)
        matches = [
            (speakerless if self._is_speaker(node) else matcher).by_title(self.graph, node, self._years(node))
            for node in found
        ]
        vectors: list[Floats | None] = [None] * len(found)
        unknown = [place for place, match in enumerate(matches) if match.node is None]
        if unknown:
            texts = [descriptor(found[place].label, found[place].title, found[place].content) for place in unknown]
            embedded = self.embedder.embed(texts)
            cosines = self.graph.cosines(embedded)
            for row, place in enumerate(unknown):
                vectors[place] = embedded[row]
                if not any(held.homonym for held in matches[place].held):
                    matches[place] = matcher.by_cosine(self.graph, found[place], cosines[row])
        return matches, vectors

    def _is_speaker(self, node: FoundNode) -> bool:
        return node.label == "Person" and normalise_title(node.title) in ("user", normalise_title(self.turn.speaker))

    def _years(self, node: FoundNode) -> float:
        rows = self.graph.find_title(node.label, node.title)
        return abs(self.turn.at.timestamp() - float(self.graph.created.values[rows[0]])) / _YEAR if rows else 0.0

    def _place(self, found: FoundNode, match: Match, vector: Floats | None) -> Placed:
        if match.node is None:
            node_id = self._new_node(found, vector)
            self._pair_homonyms(node_id, match)
        else:
            node_id = match.node
            self._merge(node_id, found, match)
        opposed = {held.node for held in match.held if held.reason == "opposite polarity"}
        self._held[node_id] = self._held.get(node_id, set()) | opposed
        return Placed(node_id, found.label, found.title, match.how, match.similarity, match.held, found.span)

    def _new_node(self, found: FoundNode, vector: Floats | None) -> str:
        node_id = f"n{self.counters.take('node')}"
        self.changes.append(insert("node", **self._node_row(node_id, found)))
        if vector is not None:
            self.changes.append(insert("node_vector", node=node_id, vector=vector.astype(np.float16).tobytes()))
        self.changes += self._statements(node_id, found)
        self.changes.append(self._citation(node_id, found.span))
        self._touched.add(node_id)
        return node_id

    def _node_row(self, node_id: str, found: FoundNode) -> dict[str, Value]:
        return {
            "id": node_id, "label": found.label, "title": found.title, "content": found.content,
            "attributes": dump(found.attributes), "created": self.turn.at.timestamp(), "turns_at_creation": self.number,
            "pinned": 0, "forgotten_by": None,
        }  # fmt: skip

    def _merge(self, node_id: str, found: FoundNode, match: Match) -> None:
        """Newest value wins (`merge=first`: the stored one does); every value goes to the history (P1 3.4)."""
        after = self._merged(node_id, found)
        row = self.graph.row_of[node_id]
        before = {"content": self.graph.contents[row], "attributes": self.graph.attributes[row]}
        effects: list[RowChange] = []
        if after != before:
            changed = {column: after[column] for column in after if after[column] != before[column]}
            effects.append(update("node", node_id, {column: before[column] for column in changed}, changed))
        effects += self._statements(node_id, found)
        if match.how == "cosine":
            effects.append(self._statement(node_id, "title", found.title))
        if node_id not in self._touched:
            effects.append(self._access(node_id))
            effects.append(self._citation(node_id, found.span))
        self.changes += effects
        if not self._is_speaker(found) and node_id not in self._touched:
            self._record_merge(node_id, found, match, effects)
        self._touched.add(node_id)

    def _merged(self, node_id: str, found: FoundNode) -> dict[str, str]:
        row = self.graph.row_of[node_id]
        attributes, content = json.loads(self.graph.attributes[row]), self.graph.contents[row]
        newest = self._newest(node_id)
        for key, value in found.attributes.items():
            if key not in attributes or (self.settings.merge == "newest" and self._newer(newest, f"attributes.{key}")):
                attributes[key] = value
        keep = self.settings.merge == "first" or self._is_speaker(found)
        if found.content and (not content or (not keep and self._newer(newest, "content"))):
            content = found.content
        return {"content": content, "attributes": dump(attributes)}

    def _newest(self, item: str) -> dict[str, float]:
        """Time of the newest statement of each field; empty when the turn is the newest of all, as it mostly is."""
        if self.turn.at.timestamp() >= self.graph.clock:
            return {}
        rows = self.store.query("SELECT field, max(at) FROM value_history WHERE item = ? GROUP BY field", item)
        return {str(field): float(at) for field, at in rows}

    def _newer(self, newest: dict[str, float], field: str) -> bool:
        return self.turn.at.timestamp() >= newest.get(field, float("-inf"))

    def _record_merge(self, node_id: str, found: FoundNode, match: Match, effects: list[RowChange]) -> None:
        """A change row whose *before* is the memory in which the found node had become one of its own."""
        apart = f"n{self.counters.take('node')}"
        alone = RowChange("node", (apart,), self._node_row(apart, found), None)
        cited = self._citation(apart, found.span)
        split = [alone, RowChange("provenance", cited.key, cited.after, None)]
        summary = {"node": node_id, "title": self.graph.titles[self.graph.row_of[node_id]], "found": found.title,
                   "how": match.how, "similarity": round(match.similarity, 4), "turn": self.turn.id}  # fmt: skip
        self.changes.append(self.change_row("merge", "ingest", summary, effects + split))

    def _pair_homonyms(self, node_id: str, match: Match) -> None:
        for held in match.held:
            if held.homonym:
                self.changes.append(
                    insert(
                        "pair",
                        id=self.counters.take("pair"),
                        a=held.node,
                        b=node_id,
                        kind="homonym",
                        reason=held.reason,
                        similarity=held.similarity,
                        state="open",
                    )
                )

    # -- edges -----------------------------------------------------------------------------------------------------

    def _place_edge(self, place: int, placed: Sequence[Placed]) -> PlacedEdge | None:
        found = self.extraction.edges[place]
        source, target = placed[found.source].id, placed[found.target].id
        if source == target:
            return None  # both ends turned out to be the same stored node
        stored = self._same_edge(source, target, found.relationship)
        edge_id = stored or f"e{self.counters.take('edge')}"
        if stored is None:
            row = {"id": edge_id, "source": source, "target": target, "relationship": found.relationship,
                   "attributes": dump(found.attributes)}  # fmt: skip
            self.changes.append(insert("edge", **row, forgotten_by=None))
            self.changes += superseded_edges(self.graph, self.store, self.turn, row, self._held.get(target, set()))
        elif found.attributes:
            self._merge_edge(edge_id, dict(found.attributes))
        if edge_id not in self._touched:
            self.changes.append(self._citation(edge_id, found.span))
        self.changes += [
            self._statement(edge_id, f"attributes.{key}", value) for key, value in found.attributes.items()
        ]
        self._touched.add(edge_id)
        return PlacedEdge(edge_id, source, found.relationship, target, stored is None, found.span)

    def _same_edge(self, source: str, target: str, relationship: str) -> str | None:
        for change in self.changes:
            row = change.after or {}
            ends = (row.get("source"), row.get("target"), row.get("relationship"))
            if change.table == "edge" and ends == (source, target, relationship):
                return str(row["id"])
        if source not in self.graph.row_of or target not in self.graph.row_of:
            return None
        for edge in self.graph.between(self.graph.row_of[source], self.graph.row_of[target]):
            superseded = '"until"' in self.graph.edge_attributes[edge]
            if self.graph.relationships[edge] == relationship and not superseded:
                return self.graph.edge_ids[edge]
        return None

    def _merge_edge(self, edge_id: str, attributes: dict[str, object]) -> None:
        if edge_id not in self.graph.edge_row:
            return
        before = self.graph.edge_attributes[self.graph.edge_row[edge_id]]
        stored = json.loads(before)
        newest = self._newest(edge_id)
        for key, value in attributes.items():
            if key not in stored or (self.settings.merge == "newest" and self._newer(newest, f"attributes.{key}")):
                stored[key] = value
        if dump(stored) != before:
            self.changes.append(update("edge", edge_id, {"attributes": before}, {"attributes": dump(stored)}))

    # -- rows ------------------------------------------------------------------------------------------------------

    def _statements(self, item: str, found: FoundNode) -> list[RowChange]:
        values = {"content": found.content} | {f"attributes.{key}": value for key, value in found.attributes.items()}
        return [self._statement(item, field, value) for field, value in values.items() if value != ""]

    def _statement(self, item: str, field: str, value: object) -> RowChange:
        return insert(
            "value_history", id=self.counters.take("value_history"), item=item, field=field,
            value=json.dumps(value, ensure_ascii=False), turn=self.turn.id, at=self.turn.at.timestamp(),
        )  # fmt: skip

    def _access(self, node_id: str) -> RowChange:
        number = self.counters.take("access")
        return insert("access", id=number, node=node_id, at=self.turn.at.timestamp(), turn=self.number, kind="merge")

    def _citation(self, item: str, span: tuple[int, int] | None) -> RowChange:
        start, stop = span or (None, None)
        return insert("provenance", item=item, turn=self.turn.id, start=start, stop=stop)

    def _embed_changed(self) -> None:
        """A vector follows its descriptor: nodes whose content changed are embedded anew."""
        contents = {
            str(change.key[0]): str(change.after["content"])
            for change in self.changes
            if change.table == "node" and change.before is not None and change.after and "content" in change.after
        }
        nodes = [self.graph.node(node_id) for node_id in contents]
        texts = [descriptor(node.label, node.title, contents[node.id]) for node in nodes]
        for node, vector in zip(nodes, self.embedder.embed(texts) if texts else (), strict=True):
            self.changes.append(insert("node_vector", node=node.id, vector=vector.astype(np.float16).tobytes()))

    def change_row(self, kind: str, by: str, summary: object, rows: Sequence[RowChange]) -> RowChange:
        """A row of `change` that undo can replay."""
        number = self.counters.take("change")
        return insert(
            "change", id=f"c{number}", number=number, at=self.turn.at.timestamp(), kind=kind, made_by=by,
            state="applied", summary=json.dumps(summary, ensure_ascii=False), rows=pack(rows),
        )  # fmt: skip

    def _extraction_row(self, report: TurnReport) -> RowChange:
        made = self.extraction
        return insert(
            "extraction", id=self.counters.take("extraction"), turn=self.turn.id, at=self.turn.at.timestamp(),
            status=made.status, reason=made.reason, report=pack_report(report), raw=zlib.compress(made.raw.encode()),
            extractor=made.extractor, model=made.model, prompt_version=made.prompt_version, seconds=made.seconds,
            tokens_in=made.tokens_in, tokens_out=made.tokens_out,
        )  # fmt: skip


def dump(attributes: Mapping[str, object]) -> str:
    """Attributes as stored: JSON with sorted keys."""
    return json.dumps(dict(attributes), ensure_ascii=False, sort_keys=True)
