"""A deterministic memory-like graph: a speaker everybody hangs on, topic clusters, a long tail, a few loose nodes."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

from memory_core.figures.network import GraphEdge, GraphNode
from memory_core.schema import LABELS

_WORDS = "amber birch copper delta ember fjord garnet harbor indigo juniper kestrel lantern meadow north pine".split()
_VERBS = ("knows", "works at", "lives in", "likes", "plans", "visited", "uses", "is part of")


def memory_graph(n: int, seed: int = 7) -> tuple[list[GraphNode], list[GraphEdge]]:
    """`n` nodes and about 1.7 n edges; node i and the edges of the first i nodes do not depend on n."""
    dice = random.Random(seed)
    pairs: list[tuple[int, int]] = []
    labels, titles = [], []
    for i in range(n):
        labels.append("Person" if i == 0 else dice.choices(LABELS, (10, 7, 9, 14, 24, 16, 9, 6, 5))[0])
        titles.append("Mira Solano" if i == 0 else f"{dice.choice(_WORDS)} {dice.choice(_WORDS)} {i}")
        cluster = max(1, i // 18 * 18)
        if i and dice.random() < 0.97:
            pairs.append((i, 0 if dice.random() < 0.12 else dice.randrange(min(cluster, i - 1), i) if i > 1 else 0))
        pairs += [(i, dice.randrange(min(cluster, i - 1), i)) for _ in range(2) if i > 2 and dice.random() < 0.37]
    pairs = [(a, b) for a, b in pairs if a != b]
    verbs = [dice.choice(_VERBS) for _ in pairs]
    degree = Counter(end for pair in pairs for end in pair)
    nodes = [GraphNode(str(i), labels[i], titles[i], f"Said in turn {i}.\nSecond line.", degree[i]) for i in range(n)]
    return nodes, [GraphEdge(f"e{k}", str(a), str(b), verbs[k]) for k, (a, b) in enumerate(pairs)]


def large_memory(n: int = 27_021, m: int = 46_538, seed: int = 3) -> tuple[Any, Any, Any]:
    """Label places (n,), sources (m,), targets (m,) of a memory with topics of uneven size, hubs and loose nodes."""
    dice = np.random.default_rng(seed)
    topics = np.repeat(np.arange(160), dice.multinomial(n, dice.dirichlet(np.full(160, 0.9))))[:n]
    first = np.searchsorted(topics, topics)
    size = np.bincount(topics, minlength=160)[topics]
    sources = dice.integers(0, int(n * 0.93), m)
    within = first[sources] + (size[sources] * dice.random(m) ** 2.6).astype(np.int64)
    targets = np.where(dice.random(m) < 0.86, within, (n * 0.9 * dice.random(m) ** 4).astype(np.int64))
    labels = dice.choice(9, n, p=np.array([10, 7, 9, 14, 24, 16, 9, 6, 5]) / 100)
    return labels.astype(np.int8), sources.astype(np.int64), np.minimum(targets, n - 1).astype(np.int64)
