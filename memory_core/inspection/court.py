"""The merge court: pairs of nodes near the de-duplication threshold, with everything known of both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from memory_core.dedup import difference, homonym
from memory_core.graph import Graph
from memory_core.inspection.kept import kept
from memory_core.inspection.overview import Overview, overview
from memory_core.inspector import Link, Quote, links, quotes
from memory_core.memory import Memory
from memory_core.schema import LABELS, FoundNode, Node, normalise_title

MARGIN = 0.15  # how far below the threshold a pair is still looked at
MOST = 500  # pairs kept, the nearest to the threshold
_CHUNK = 512  # rows compared at once


@dataclass(frozen=True)
class Pair:
    """Two live nodes of one label. `similarity` is the cosine of their descriptors (None when one has no vector);
    `guard` is why a guard would hold the merge back, "" when none would; `verdict` is "open" or what a person said;
    `kind` says how it came here: near, title, labels (one title under two), homonym, restored, chosen, by hand."""

    a: str
    b: str
    titles: tuple[str, str]
    label: str
    similarity: float | None
    guard: str
    kind: str
    verdict: str = "open"


@dataclass(frozen=True)
class Side:
    """One node of a pair with what surrounds it."""

    node: Node
    links: tuple[Link, ...]
    quotes: tuple[Quote, ...]


def threshold(memory: Memory) -> float:
    """The cosine above which this memory merges: its setting, else its embedder's."""
    set_to = memory.settings.match_threshold
    return memory.embedder.match_threshold if set_to is None else set_to


def pairs(memory: Memory) -> list[Pair]:
    """Pairs to be judged: those put up for merging or judged, those of like titles, then the nearest to the threshold;
    made once a revision."""
    return kept(memory, "court", _pairs)


def _pairs(memory: Memory) -> list[Pair]:
    known, near = overview(memory), _near(memory)
    with memory.lock:
        stored = [_stored(memory, row) for row in memory.pairs() if _both_live(memory, row)]
        found: dict[frozenset[str], Pair] = {}
        for pair in (*stored, *_alike(memory, known), *near):
            found.setdefault(frozenset((pair.a, pair.b)), pair)
        return [pair for pair in found.values() if memory.graph.is_live(pair.a) and memory.graph.is_live(pair.b)]


def _alike(memory: Memory, known: Overview) -> list[Pair]:
    """Nodes of nearly the same title, and of one title under two labels, however far apart their vectors are."""
    two_labels = [(a.id, b.id) for group in known.flips for a, b in combinations(group, 2) if a.label != b.label]
    titles = [(a.id, b.id) for a, b in known.twins]
    live = memory.graph.is_live
    return [
        pair_of(memory, a, b, kind)
        for kind, group in (("title", titles), ("labels", two_labels))
        for a, b in group
        if live(a) and live(b)
    ]


def pair_of(memory: Memory, a: str, b: str, kind: str = "chosen") -> Pair:
    """Any two live nodes side by side. Raises InputError."""
    one, other = memory.live_node(a), memory.live_node(b)
    label = one.label if one.label == other.label else f"{one.label} / {other.label}"
    guard = guard_between(one, other)
    if one.label != other.label:
        guard = guard or "different labels: never merged by themselves"
    return Pair(a, b, (one.title, other.title), label, cosine(memory, a, b), guard, kind)


def _both_live(memory: Memory, row: Mapping[str, Any]) -> bool:
    return memory.graph.is_live(row["a"]) and memory.graph.is_live(row["b"])


def _stored(memory: Memory, row: Mapping[str, Any]) -> Pair:
    pair = pair_of(memory, row["a"], row["b"], row["kind"])
    return replace(pair, guard=row["reason"] or pair.guard, verdict=row["state"])


def cosine(memory: Memory, a: str, b: str) -> float | None:
    """Cosine of two nodes' descriptors, None when one has no vector."""
    rows = [memory.graph.row_of[a], memory.graph.row_of[b]]
    if not memory.graph.has_vector.values[rows].all():
        return None
    one, other = memory.graph.vectors.values[rows]
    return float(one @ other)


def guard_between(a: Node, b: Node) -> str:
    """Why a guard of the matcher would keep two nodes apart, "" when none would."""
    if normalise_title(a.title) == normalise_title(b.title):
        years = (b.created_at - a.created_at).days / 365.25
        conflict = homonym(a.attributes, b.attributes, years)
        return f"one name, two people or things: {conflict}" if conflict else ""
    return difference(a.title, a.content, FoundNode(b.label, b.title, b.content, b.attributes))


def _near(memory: Memory) -> list[Pair]:
    """Pairs of one label above the threshold less the margin, the nearest to the threshold; equal titles always."""
    graph, level = memory.graph, threshold(memory)
    found: list[tuple[float, float, int, int]] = []
    rows = graph.live_rows()
    rows = rows[graph.has_vector.values[rows]]
    for code in range(len(LABELS)):
        own = rows[graph.label.values[rows] == code]
        vectors = graph.vectors.values[own]
        for start in range(0, len(own), _CHUNK):
            scores = vectors[start : start + _CHUNK] @ vectors.T
            ours, theirs = np.nonzero(scores > level - MARGIN)
            later = theirs > ours + start
            found += [
                (abs(score - level), score, int(own[start + a]), int(own[b]))
                for a, b, score in zip(
                    ours[later].tolist(), theirs[later].tolist(), scores[ours[later], theirs[later]].tolist(),
                    strict=True,
                )
            ]  # fmt: skip
            found = sorted(found)[:MOST]
    return [_pair(graph, a, b, score) for _, score, a, b in found]


def _pair(graph: Graph, row: int, other: int, score: float) -> Pair:
    a, b = (graph.node(graph.ids[at]) for at in (row, other))
    return Pair(a.id, b.id, (a.title, b.title), a.label, score, guard_between(a, b), "near")


def side(memory: Memory, node_id: str) -> Side:
    """A node with neighbours and turns. Raises InputError for one that is not live."""
    with memory.lock:
        return Side(memory.live_node(node_id), links(memory, node_id), quotes(memory, node_id))


@dataclass(frozen=True)
class Merge:
    """A merge that was made: `found` is the title that became part of node `node`. `how` is title, cosine or by hand;
    `verdict` is what a person said of it: "" not asked, "same", or "different" when it was split."""

    change: str
    node: str
    title: str
    found: str
    how: str
    similarity: float
    turn: str
    state: str

    @property
    def split(self) -> bool:
        """Whether it was taken back."""
        return self.state == "undone"


def merges(memory: Memory) -> list[Merge]:
    """Merges of different titles, newest first, made or split; those of equal titles only when split."""
    done = "state IN ('applied', 'undone')"  # not: blanked by a purge, replaced by another reading
    sql = f"SELECT id, summary, state FROM change WHERE kind = 'merge' AND {done} ORDER BY number"
    rows = [(change, json.loads(summary), state) for change, summary, state in memory.store.query(sql)]
    made = [
        Merge(change, about["node"], about["title"], about["found"], about["how"], about.get("similarity", 0.0),
              about.get("turn", ""), state)
        for change, about, state in rows
    ]  # fmt: skip
    return [one for one in reversed(made) if one.how != "title" or one.split]


@dataclass(frozen=True)
class Chain:
    """A node that grew by merges whose ends are unlike: `titles` are what it was called, `far` the two least alike of
    them and `cosine` their similarity, which is below the threshold."""

    node: str
    titles: tuple[str, ...]
    far: tuple[str, str]
    cosine: float


def chains(memory: Memory, most: int = 200) -> list[Chain]:
    """Nodes that took in two or more others by cosine, A like B and B like C, while A and C are below the threshold.

    The first `most` such nodes are looked at; the titles are embedded, so ask for it in the background of a page.
    """
    grown: dict[str, list[str]] = {}
    for merge in merges(memory):
        if merge.how != "title" and not merge.split and memory.graph.is_live(merge.node):
            grown.setdefault(merge.node, []).append(merge.found)
    found = []
    for node_id, titles in list(grown.items())[:most]:
        node = memory.graph.node(node_id)
        names = list(dict.fromkeys([node.title, *titles]))
        if len(names) > 2:
            found.append(_chain(memory, node, names))
    return [chain for chain in found if chain.cosine <= threshold(memory)]


def _chain(memory: Memory, node: Node, names: list[str]) -> Chain:
    vectors = memory.embedder.embed([f"{node.label} | {name}" for name in names])
    scores = vectors @ vectors.T
    a, b = np.unravel_index(int(scores.argmin()), scores.shape)
    return Chain(node.id, tuple(names), (names[int(a)], names[int(b)]), float(scores[a, b]))
