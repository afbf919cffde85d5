"""From one turn and what was read from it to the row changes that store it: de-duplication, merge, history."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from memory_core.dedup import Match, Matcher
from memory_core.errors import EmbeddingError
from memory_core.graph import Graph
from memory_core.graph.scan import Near
from memory_core.memory.reports import Placed, PlacedEdge, TurnReport
from memory_core.memory.superseding import superseded_edges
from memory_core.memory.turn_rows import TurnRows, dump
from memory_core.protocols import Embedder, Floats
from memory_core.schema import Drop, FoundEdge, FoundNode, descriptor, normalise_title
from memory_core.settings import Settings
from memory_core.store.contract import Store
from memory_core.store.rows import RowChange, insert, update

_YEAR = 365.25 * 86400


@dataclass(frozen=True)
class _Merge:
    """A found node that became a stored one, at its place in the extraction, with the changes that made it so."""

    place: int
    node: str
    match: Match
    effects: list[RowChange]


@dataclass
class TurnWriter(TurnRows):
    """Builds the changes of one turn against the graph as it is; nothing is changed until they are committed."""

    graph: Graph
    store: Store
    embedder: Embedder
    settings: Settings
    above: Callable[[Floats, float], list[Near]]  # live rows above a cosine, for each vector
    changes: list[RowChange] = field(default_factory=list)
    _touched: set[str] = field(default_factory=set)
    _held: dict[str, set[str]] = field(default_factory=dict)
    _merges: list[_Merge] = field(default_factory=list)
    _now: dict[str, dict[str, str]] = field(default_factory=dict)  # nodes merged twice in this turn
    _edges: dict[tuple[str, str, str], str] = field(default_factory=dict)  # made in this turn

    def write(self) -> TurnReport:
        """All changes of the turn but the turn row itself, in `changes`, and the report of what became of each item."""
        found = self.extraction.nodes
        matches, vectors = self._match(found)
        placed = [self._place(place, matches[place], vectors[place]) for place in range(len(found))]
        self._embed_changed()  # ahead of the rest, which is made anew when the embedder has to be asked
        edges = [self._place_edge(place, placed) for place in range(len(self.extraction.edges))]
        for merge in self._merges:
            self._record_merge(merge, edges)
        report = TurnReport(self.turn.id, self.extraction, tuple(placed), tuple(edge for edge in edges if edge))
        self.changes.append(self.extraction_row(report))
        return report

    # -- nodes -----------------------------------------------------------------------------------------------------

    def _match(self, found: Sequence[FoundNode]) -> tuple[list[Match], list[Floats | None]]:
        threshold = self.settings.match_threshold
        guards = self.settings.guards == "on"
        matcher = Matcher(self.embedder.match_threshold if threshold is None else threshold, guards)
        speakerless = Matcher(matcher.threshold, guards=False)
        matches = [
            (speakerless if self._is_speaker(node) else matcher).by_title(self.graph, node, self._years)
            for node in found
        ]
        vectors: list[Floats | None] = [None] * len(found)
        unknown = [place for place, match in enumerate(matches) if match.node is None]
        if unknown:
            embedded, failed = self._embedded([found[place] for place in unknown])
            near = self.above(embedded, matcher.threshold)
            for row, place in enumerate(unknown):
                if row in failed:
                    continue  # stored without a vector: found by its title and its neighbours
                vectors[place] = embedded[row]
                if not any(held.homonym for held in matches[place].held):
                    matches[place] = matcher.by_cosine(self.graph, found[place], near[row])
        return matches, vectors

    def _embedded(self, found: Sequence[FoundNode]) -> tuple[Floats, Mapping[int, str]]:
        """Vectors, and the places of those that could not be made with the reason, which joins the repairs."""
        try:
            return self.embedder.embed([descriptor(node.label, node.title, node.content) for node in found]), {}
        except EmbeddingError as error:
            if len(error.failed) == len(found):
                raise
            told = (f"no vector for {found[place].title}: {reason}" for place, reason in error.failed.items())
            self.extraction = replace(self.extraction, repairs=(*self.extraction.repairs, *told))
            return np.asarray(error.vectors, np.float32), error.failed

    def _is_speaker(self, node: FoundNode) -> bool:
        return node.label == "Person" and normalise_title(node.title) in ("user", normalise_title(self.turn.speaker))

    def _years(self, row: int) -> float:
        """Years from the last statement of the stored node's age to this turn, below zero when the turn is older."""
        sql = "SELECT max(at) FROM value_history WHERE item = ? AND lower(field) = 'attributes.age'"
        stated = self.store.query(sql, self.graph.ids[row])[0][0] or float(self.graph.created.values[row])
        return (self.turn.at.timestamp() - float(stated)) / _YEAR

    def _place(self, place: int, match: Match, vector: Floats | None) -> Placed:
        found = self.extraction.nodes[place]
        if match.node is None:
            node_id = self._new_node(found, vector)
            self._pair_homonyms(node_id, match)
        else:
            node_id = match.node
            self._merge(place, node_id, match)
        opposed = {held.node for held in match.held if held.reason == "opposite polarity"}
        self._held[node_id] = self._held.get(node_id, set()) | opposed
        return Placed(node_id, found.label, found.title, match.how, match.similarity, match.held, found.span)

    def _new_node(self, found: FoundNode, vector: Floats | None) -> str:
        node_id = f"n{self.counters.take('node')}"
        self.changes.append(insert("node", **self.node_row(node_id, found)))
        if vector is not None:
            self.changes.append(insert("node_vector", node=node_id, vector=vector.astype(np.float16).tobytes()))
        self.changes += self.statements(node_id, found)
        self.changes.append(self.citation(node_id, found.span))
        self._touched.add(node_id)
        return node_id

    def _merge(self, place: int, node_id: str, match: Match) -> None:
        """Newest value wins (`merge=first`: the stored one does); every value goes to the history (P1 3.4)."""
        found, row = self.extraction.nodes[place], self.graph.row_of[node_id]
        stored = {"content": self.graph.contents[row], "attributes": self.graph.attributes[row]}
        before = self._now.get(node_id, stored)
        after = self._now[node_id] = self._merged(node_id, found, before)
        changed = {column: after[column] for column in after if after[column] != before[column]}
        effects = [update("node", node_id, {column: before[column] for column in changed}, changed)] if changed else []
        effects += self.statements(node_id, found)
        if match.how == "cosine":
            effects.append(self.statement(node_id, "title", found.title))
        if node_id not in self._touched:
            effects += [self.access(node_id), self.citation(node_id, found.span)]
        self.changes += effects
        if not self._is_speaker(found):
            self._merges.append(_Merge(place, node_id, match, effects))
        self._touched.add(node_id)

    def _merged(self, node_id: str, found: FoundNode, before: Mapping[str, str]) -> dict[str, str]:
        attributes, content = json.loads(before["attributes"]), before["content"]
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
        if self.graph.clock is None or self.turn.at.timestamp() >= self.graph.clock:
            return {}
        rows = self.store.query("SELECT field, max(at) FROM value_history WHERE item = ? GROUP BY field", item)
        return {str(field): float(at) for field, at in rows}

    def _newer(self, newest: dict[str, float], field: str) -> bool:
        return self.turn.at.timestamp() >= newest.get(field, float("-inf"))

    def _record_merge(self, merge: _Merge, edges: Sequence[PlacedEdge | None]) -> None:
        """A change row whose *before* is the memory in which the found node had become one of its own, with what this
        turn said of it."""
        found, node_id = self.extraction.nodes[merge.place], merge.node
        apart = f"n{self.counters.take('node')}"
        cited = self.citation(apart, found.span)
        rows = [RowChange("node", (apart,), self.node_row(apart, found), None),
                RowChange("provenance", cited.key, cited.after, None)]  # fmt: skip
        for effect in merge.effects:
            said = effect.table == "value_history"
            rows.append(update("value_history", effect.key[0], {"item": apart}, {"item": node_id}) if said else effect)
        for asked, edge in zip(self.extraction.edges, edges, strict=True):
            if edge is not None and edge.new:
                ends = [end for end in ("source", "target") if getattr(asked, end) == merge.place]
                rows += [update("edge", edge.id, {end: apart}, {end: node_id}) for end in ends]
        summary = {"node": node_id, "title": self.graph.titles[self.graph.row_of[node_id]], "found": found.title,
                   "how": merge.match.how, "similarity": round(merge.match.similarity, 4),
                   "turn": self.turn.id}  # fmt: skip
        self.changes.append(self.change_row("merge", "ingest", summary, rows))

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
            self._drop_edge(found)
            return None
        stored = self._same_edge(source, target, found.relationship)
        edge_id = stored or f"e{self.counters.take('edge')}"
        if stored is None:
            row = {"id": edge_id, "source": source, "target": target, "relationship": found.relationship,
                   "attributes": dump(found.attributes)}  # fmt: skip
            self.changes.append(insert("edge", **row, forgotten_by=None))
            self._edges[source, target, found.relationship] = edge_id
            self.changes += superseded_edges(self.graph, self.store, self.turn, row, self._held.get(target, set()))
        elif found.attributes:
            self._merge_edge(edge_id, dict(found.attributes))
        if edge_id not in self._touched:
            self.changes.append(self.citation(edge_id, found.span))
        self.changes += [self.statement(edge_id, f"attributes.{key}", value) for key, value in found.attributes.items()]
        self._touched.add(edge_id)
        return PlacedEdge(edge_id, source, found.relationship, target, stored is None, found.span)

    def _drop_edge(self, found: FoundEdge) -> None:
        """Both ends turned out to be one stored node: the page shows that the edge went."""
        ends = [self.extraction.nodes[place].title for place in (found.source, found.target)]
        item = f"{ends[0]} - {found.relationship} - {ends[1]}"
        drop = Drop("edge", item, f"{item}: both ends are the same stored node")
        status = "repaired" if self.extraction.status == "ok" else self.extraction.status
        self.extraction = replace(self.extraction, status=status, drops=(*self.extraction.drops, drop))

    def _same_edge(self, source: str, target: str, relationship: str) -> str | None:
        made = self._edges.get((source, target, relationship))
        if made is not None:
            return made
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
