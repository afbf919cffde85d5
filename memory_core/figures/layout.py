"""Where the nodes of a whole memory lie on its map: communities as discs, related discs near each other.

A force layout of 27,000 nodes looks like a ball of wool. Communities (Leiden: Traag, Waltman and van Eck, 2019) are
found first; each becomes a disc whose area follows its number of nodes, and the discs are packed around the largest.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import igraph
import numpy as np
from numpy.typing import NDArray

APART = 60_000  # nodes; below, a process of its own takes longer to start than the layout
SECONDS = 5e-5  # a node, about, on a laptop
_DUST = 4  # a component of at most this many nodes lies in the belt around the map
_GOLDEN = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True)
class MapLayout:
    """Positions `xy` (n, 2) about the origin, about 1 apart; `community` (n,): 0 largest, -1 loose, in the belt."""

    xy: NDArray[np.float32]
    community: NDArray[np.int32]


def map_layout(n: int, sources: NDArray[np.int64], targets: NDArray[np.int64], seed: int = 0) -> MapLayout:
    """Lay out `n` nodes joined by edges `sources[k]` - `targets[k]` (places from 0). Same input and seed, same map.

    >>> made = map_layout(3, np.array([0]), np.array([1]))
    >>> made.xy.shape, made.community.tolist()
    ((3, 2), [-1, -1, -1])
    """
    with _seeded(seed):
        graph = igraph.Graph(n=n, edges=np.column_stack([sources, targets]).tolist()).simplify()
        community = _communities(graph)
        members = [np.flatnonzero(community == c) for c in range(community.max(initial=-1) + 1)]
        radii = np.array([np.sqrt(len(nodes)) * 0.62 + 0.5 for nodes in members])
        centres = _pack(radii, _directions(graph, community, len(members)))
        xy = np.zeros((n, 2))
        for nodes, centre, radius in zip(members, centres, radii, strict=True):
            xy[nodes] = centre + _disc(graph.induced_subgraph(nodes.tolist()), radius)
    edge = float(np.max(np.hypot(*centres.T) + radii)) if members else 0.0
    xy[community < 0] = _belt(int((community < 0).sum()), edge)
    return MapLayout(xy.astype(np.float32), community)


def laid_out(
    n: int,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    advance: Callable[[float], None] = lambda seconds: None,
) -> MapLayout:
    """`map_layout`, of more than APART nodes in a process of its own: igraph would let no other thread work.

    `advance` is told the seconds gone by, now and then; it may raise to stop.
    """
    if n <= APART:
        return map_layout(n, sources, targets)
    began = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(1, os.nice, (5,)) as pool:  # left with terminate()
        laying = pool.apply_async(map_layout, (n, sources, targets))
        while not laying.ready():
            laying.wait(0.3)
            advance(time.monotonic() - began)
        return laying.get()


def grown(made: MapLayout, n: int, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> MapLayout:
    """The map with nodes added: those there stay where they are, each new one lies beside the first neighbour that is
    placed, else in the belt. Edges as of `map_layout`, of all `n` nodes.

    >>> one = map_layout(3, np.array([0]), np.array([1]))
    >>> grown(one, 4, np.array([0, 3]), np.array([1, 0])).xy[:3].tolist() == one.xy.tolist()
    True
    """
    known = len(made.xy)
    xy, community = np.zeros((n, 2), np.float32), np.full(n, -1, np.int32)
    xy[:known], community[:known] = made.xy, made.community
    edge = float(np.hypot(*made.xy.T).max(initial=0.0))
    new = np.flatnonzero(((sources >= known) | (targets >= known)) & (sources != targets))
    beside: dict[int, int] = {}
    for source, target in zip(sources[new].tolist(), targets[new].tolist(), strict=True):
        beside.setdefault(max(source, target), min(source, target))
    for node in range(known, n):  # a neighbour with a lower number is placed already
        near, turn = beside.get(node, node), node * _GOLDEN
        middle, away = (xy[near], 0.9) if near < node else (np.zeros(2, np.float32), edge + 1.5)
        xy[node] = middle + away * np.array([np.cos(turn), np.sin(turn)])
        community[node] = community[near] if near < node else -1
    return MapLayout(xy, community)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """igraph draws from one generator for the whole process; it is given back afterwards."""
    igraph.set_random_number_generator(random.Random(seed))
    try:
        yield
    finally:
        igraph.set_random_number_generator(random)


def _communities(graph: igraph.Graph) -> NDArray[np.int32]:
    component = np.array(graph.connected_components().membership, dtype=np.int64)
    loose = np.bincount(component, minlength=1)[component] <= _DUST if len(component) else np.zeros(0, dtype=bool)
    found = np.array(graph.community_leiden("modularity", n_iterations=4).membership, dtype=np.int64)
    sizes = np.bincount(found[~loose], minlength=found.max(initial=-1) + 1)
    order = np.argsort(-sizes, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return np.where(loose, -1, place[found] if len(found) else 0).astype(np.int32)


def _directions(graph: igraph.Graph, community: NDArray[np.int32], count: int) -> NDArray[np.float64]:
    """The angle of each community in a drawing of the communities alone, so that related ones lie to one side."""
    if count < 3:
        return np.linspace(0, np.pi, count)
    ends = community[np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)]
    between = ends[(ends[:, 0] != ends[:, 1]) & (ends >= 0).all(axis=1)]
    pairs, weight = np.unique(np.sort(between, axis=1), axis=0, return_counts=True)
    drawn = igraph.Graph(n=count, edges=pairs.tolist()).layout_fruchterman_reingold(
        weights=np.sqrt(weight).tolist(), niter=300
    )
    at = np.array(drawn.coords)
    at -= at.mean(axis=0)
    return np.asarray(np.arctan2(at[:, 1], at[:, 0]))


def _pack(radii: NDArray[np.float64], angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centres (k, 2) of discs that do not overlap: each, largest first, as near the middle as its direction allows."""
    centres = np.zeros((len(radii), 2))
    for i, radius in enumerate(radii):
        if i:
            turns = angles[i] + np.concatenate([[0.0], *[[k * 0.09, -k * 0.09] for k in range(1, 6)]])
            rays = np.column_stack([np.cos(turns), np.sin(turns)])
            reach = [_first_gap(ray, centres[:i], radii[:i] + radius + 0.9) for ray in rays]
            best = int(np.argmin(np.array(reach) * (1 + 0.03 * np.abs(turns - angles[i]))))
            centres[i] = rays[best] * reach[best]
    return centres


def _first_gap(ray: NDArray[np.float64], centres: NDArray[np.float64], clear: NDArray[np.float64]) -> float:
    """The smallest distance along `ray` at which every centre is at least `clear` away."""
    along = centres @ ray
    half = clear**2 - ((centres**2).sum(axis=1) - along**2)
    touched = half > 0
    root = np.sqrt(half[touched])
    start, stop = along[touched] - root, along[touched] + root
    at = 0.0
    for k in np.argsort(start):
        if start[k] > at:
            break
        at = max(at, float(stop[k]))
    return at


def _disc(graph: igraph.Graph, radius: float) -> NDArray[np.float64]:
    """A community spread evenly over its disc: the angles of a force layout, its distances from the middle as ranks."""
    n = graph.vcount()
    drawn = np.array(graph.layout_fruchterman_reingold(niter=60, grid=n > 300).coords).reshape(n, 2)
    weight = np.array(graph.degree(), dtype=np.float64) + 1
    drawn -= (drawn * weight[:, None]).sum(axis=0) / weight.sum()
    distance, angle = np.hypot(*drawn.T), np.arctan2(drawn[:, 1], drawn[:, 0])
    rank = np.empty(n)
    rank[np.lexsort((np.arange(n), distance))] = np.arange(n)
    r = radius * np.sqrt((rank + 0.5) / n) if n > 1 else np.zeros(1)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle)])


def _belt(count: int, inner: float) -> NDArray[np.float64]:
    k = np.arange(count)
    r = np.sqrt((inner + 2.5) ** 2 + k * 0.8)
    return np.column_stack([r * np.cos(k * _GOLDEN), r * np.sin(k * _GOLDEN)])
