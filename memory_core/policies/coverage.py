"""Ours: forget first what leaves the least unsaid."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memory_core.protocols import Doubles, Said, Scores, ScoringView, halved


@dataclass(frozen=True)
class Coverage:
    """Keep what was said. Of the nodes left, the one goes next whose going loses the least; what is lost is

        Σ rare(w) / said(t)^evenness  over every (turn t, content word w of it) that nothing else left keeps
        + edge  for every edge that goes with it  + importance · (recency + frequency) / 2

    in units of the mean word: rare(w) = ln(1 + T / T_w)^rarity, T turns, T_w of them with w; said(t) = Σ rare(w) over
    what is kept of turn t, so that a long list does not drown a short remark; recency = 2^(-days since access / 90),
    frequency = ln(1 + c) / ln(2 + c_max). A node keeps the words of its title and attributes in the turns it was read
    from, an edge those of its relationship as long as both its ends are left. The words kept are a weighted coverage, a
    monotone submodular function of the nodes; going backwards from all of them is its greedy order, so every stricter
    cut forgets a superset. There is no scale: the score is the place in that order, (place - 1/2) / n.

    Said once, in rare words: stays long. Said elsewhere too, or in words everybody uses: goes soon.

    >>> from datetime import UTC
    >>> none = np.zeros(0, np.int64)
    >>> kept = Said(np.array([0, 1, 2]), np.array([0, 0, 1]), none.reshape(0, 2), none, none, np.array([0, 1]),
    ...             np.array([1, 1]), 2)
    >>> view = ScoringView.of(days=[9, 8, 7], said=lambda: kept)
    >>> Coverage(importance=0).score(view, datetime.fromtimestamp(0, UTC)).score.round(4).tolist()
    [0.1667, 0.5, 0.8333]

    Nodes 0 and 1 keep the same word, so one of them can go for nothing (the older); then both others lose one each.
    """

    rarity: float = field(default=3.0, metadata={"label": "Weight of rare words", "range": (0.0, 4.0)})
    evenness: float = field(default=0.35, metadata={"label": "Evenness over turns", "range": (0.0, 1.0)})
    edge: float = field(default=0.1, metadata={"label": "Worth of an edge, in words", "range": (0.0, 10.0)})
    importance: float = field(default=0.1, metadata={"label": "Worth of importance, in words", "range": (0.0, 10.0)})

    def score(self, view: ScoringView, at: datetime) -> Scores:
        """Places in the greedy order of all nodes, read from the words the memory keeps."""
        said, n = view.said(), len(view.ids)
        weights = self._weights(said)
        order = _peel(said, weights, self.edge, self.importance * _importance(view, at), _newest_last(view))
        score = np.empty(n)
        score[order] = (np.arange(n) + 0.5) / max(n, 1)
        return Scores(score, {"place": score}, ranks=True)

    def _weights(self, said: Said) -> Doubles:
        rare = np.log1p(said.turn_count / np.maximum(said.counts, 1)) ** self.rarity
        shared = rare / np.bincount(said.turns, rare)[said.turns] ** self.evenness if len(rare) else rare
        return np.asarray(shared / (shared.mean() if len(shared) else 1.0), np.float64)


def _importance(view: ScoringView, at: datetime) -> Doubles:
    recency = halved(view.days_since(view.last_access, at), 90.0)
    frequency = np.log1p(view.accesses) / np.log(view.accesses.max(initial=0) + 2.0)
    return np.asarray((recency + frequency) / 2.0, np.float64)


def _newest_last(view: ScoringView) -> list[int]:
    """Place of each node from the oldest to the newest: who goes first when nothing else decides."""
    ranks = np.empty(len(view.ids), np.int64)
    ranks[np.lexsort((-np.arange(len(view.ids)), view.created))] = np.arange(len(view.ids))
    order: list[int] = ranks.tolist()
    return order


def _peel(said: Said, weights: Doubles, edge: float, own: Doubles, ties: list[int]) -> list[int]:
    """Nodes in the order in which they go. `own` (n,) is what a node is worth by itself."""
    left = _Left(said, weights.tolist(), edge, own.tolist())
    queue = [(loss, ties[node], node) for node, loss in enumerate(left.loss)]
    heapq.heapify(queue)
    order: list[int] = []
    while queue:
        loss, _, node = heapq.heappop(queue)
        if left.alive[node] and loss == left.loss[node]:
            order.append(node)
            for other in left.remove(node):
                if left.alive[other]:
                    heapq.heappush(queue, (left.loss[other], ties[other], other))
    return order


class _Left:
    """What is left and what the going of each node would lose; holders are nodes, then edges, by number."""

    def __init__(self, said: Said, weights: list[float], edge: float, own: list[float]) -> None:
        self.n, edges = len(own), len(said.edge_ends)
        holders = np.concatenate([said.rows, said.edge_rows + self.n])
        elements = np.concatenate([said.elements, said.edge_elements])
        pairs = np.unique(np.column_stack([holders, elements]), axis=0)
        self.elements, self.starts = pairs[:, 1].tolist(), _starts(pairs[:, 0], self.n + edges)
        self.count = np.bincount(pairs[:, 1], minlength=len(weights)).tolist()
        self.holder = np.bincount(pairs[:, 1], pairs[:, 0], len(weights)).astype(np.int64).tolist()  # sum of holders
        sides = np.argsort(said.edge_ends.ravel(), kind="stable")
        self.incident, self.edge_starts = (sides // 2).tolist(), _starts(said.edge_ends.ravel()[sides], self.n)
        self.ends = said.edge_ends.tolist()
        self.weights, self.worth = weights, [edge] * edges
        self.alive, self.edge_alive, self.loss = [True] * self.n, [True] * edges, own
        for number in range(edges):
            self._worth_more(number, edge)
        for element, count in enumerate(self.count):
            if count == 1:
                self._only_holder(element)

    def _worth_more(self, edge: int, by: float) -> list[int]:
        """Both ends lose an edge when they go; one that is its own both ends loses it once."""
        ends = list(dict.fromkeys(self.ends[edge]))
        for end in ends:
            self.loss[end] += by
        return ends

    def _only_holder(self, element: int) -> list[int]:
        """One holder is left, and the sum of the holders is that one; returns the nodes that now lose the element."""
        holder, weight = self.holder[element], self.weights[element]
        if holder < self.n:
            self.loss[holder] += weight
            return [holder]
        self.worth[holder - self.n] += weight
        return self._worth_more(holder - self.n, weight)

    def remove(self, node: int) -> list[int]:
        """Take a node and its edges away; returns the nodes whose loss changed."""
        self.alive[node] = False
        changed: list[int] = []
        gone = [node]
        for edge in self.incident[self.edge_starts[node] : self.edge_starts[node + 1]]:
            if self.edge_alive[edge]:
                self.edge_alive[edge] = False
                gone.append(self.n + edge)
                changed += self._worth_more(edge, -self.worth[edge])
        for holder in gone:
            for element in self.elements[self.starts[holder] : self.starts[holder + 1]]:
                self.count[element] -= 1
                self.holder[element] -= holder
                if self.count[element] == 1:
                    changed += self._only_holder(element)
        return changed


def _starts(sorted_keys: NDArray[np.int64], count: int) -> list[int]:
    starts: list[int] = np.searchsorted(sorted_keys, np.arange(count + 1)).tolist()
    return starts
