"""What every system is given: the same nodes, edges, vectors, turns and questions, made from a seed.

Read in every peer's own environment, so nothing is imported here but numpy and the standard library.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Item = dict[str, Any]

EDGES_A_NODE = 1.72  # P1's graph: 46,538 edges of 27,021 nodes
NODES_A_TURN = 3  # nodes of one turn of the memory as it is filled
BROUGHT = 6  # nodes a timed turn brings: the first three are stored ones in other words, the others are new
_SYLLABLES = "ka ro mi ten lo su var din pel to na gri bo shi en qua ly mor".split()
_RELATIONSHIPS = "likes works_at lives_in part_of attended owns wants knows uses prefers located_in related_to".split()
_START = 1_700_000_000.0
_CHUNK = 50_000


@dataclass(frozen=True)
class Given:
    """The input in `folder`. Vectors are of unit length: (nodes, dim), (turns * 6, dim) and (searches, dim)."""

    folder: Path
    nodes: int
    dim: int
    turns: int
    searches: int
    labels: tuple[str, ...]
    seed: int = 0

    @classmethod
    def load(cls, folder: Path) -> Given:
        """What `make` wrote there."""
        told = json.loads((folder / "given.json").read_text("utf-8"))
        return cls(folder, **{**told, "labels": tuple(told["labels"])})

    @cached_property
    def vectors(self) -> Floats:
        """One a stored node."""
        return self._read("vectors")

    @cached_property
    def brought(self) -> Floats:
        """One a node of a timed turn."""
        return self._read("brought")

    @cached_property
    def queries(self) -> Floats:
        """One a question."""
        return self._read("queries")

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Source and target of each edge, (edges, 2): half of them near in time, half at hubs."""
        dice = np.random.default_rng([self.seed, 1])
        count = round(EDGES_A_NODE * self.nodes)
        source = np.minimum(np.arange(count) * self.nodes // count + dice.integers(0, 3, count), self.nodes - 1)
        near = np.maximum(source - dice.integers(1, 31, count), 0)
        hub = (0.9 * self.nodes * dice.random(count) ** 4).astype(np.int64)
        target = np.where(dice.random(count) < 0.5, near, hub)
        return np.column_stack([source, np.where(target == source, (source + 1) % self.nodes, target)])

    @property
    def stored_turns(self) -> int:
        """Turns that the stored nodes were read from."""
        return -(-self.nodes // NODES_A_TURN)

    def at(self, turn: int) -> float:
        """Seconds since the epoch of a turn, an hour after the one before."""
        return _START + 3600.0 * turn

    def node(self, place: int) -> Item:
        """A stored node: label, title, content, attributes; its title is no other node's."""
        dice = random.Random(self.seed * 1_000_003 + place)
        words = [_word(dice) for _ in range(dice.randint(12, 26))]
        return {
            "label": self.labels[dice.randrange(len(self.labels))],
            "title": f"{words[0]} {words[1]} {_unique(place)}",
            "content": " ".join(words[2:-2]),
            "attributes": {words[-1]: words[-2]},
        }

    def edge(self, place: int) -> Item:
        """A stored edge: source and target are places of nodes."""
        source, target = self.ends[place].tolist()
        return {"source": source, "target": target, "relationship": _RELATIONSHIPS[place % len(_RELATIONSHIPS)]}

    def text(self, turn: int) -> str:
        """The words of a stored turn."""
        return _prose(random.Random(f"{self.seed} said {turn}"), 40)

    def turn(self, number: int) -> Item:
        """A timed turn: its words, the six nodes it brings, each with its `vector`, and ten edges between these."""
        dice = random.Random(f"{self.seed} turn {number}")
        ends = [sorted(dice.sample(range(BROUGHT), 2)) for _ in range(round(EDGES_A_NODE * BROUGHT))]
        edges = [
            {"source": a, "target": b, "relationship": relationship}
            for (a, b), relationship in zip(ends, _RELATIONSHIPS, strict=False)
        ]
        return {
            "text": f"{_prose(dice, 40)} {_unique(number)}",
            "nodes": [self._brought(number, place) for place in range(BROUGHT)],
            "edges": edges,
        }

    def _brought(self, number: int, place: int) -> Item:
        row = number * BROUGHT + place
        if place < BROUGHT // 2:
            stored = self.node(known_place(self, row))
            told = {**stored, "title": f"the {stored['title']}", "content": f"{stored['content']} {_unique(number)}"}
        else:
            told = self.node(self.nodes + row)
        return {**told, "vector": self.brought[row]}

    def question(self, number: int) -> str:
        """The words of a question; its vector is `queries[number]`."""
        return f"{_prose(random.Random(f'{self.seed} asked {number}'), 6)} {_unique(number)}?"

    def _read(self, name: str) -> Floats:
        found: Floats = np.load(self.folder / f"{name}.npy", mmap_mode="r")
        return found


def make(folder: Path, *, nodes: int, dim: int, turns: int, searches: int, labels: tuple[str, ...], seed: int) -> Given:
    """Write the input to `folder`: clustered unit vectors, as descriptors of a memory give."""
    told = {"nodes": nodes, "dim": dim, "turns": turns, "searches": searches, "labels": labels, "seed": seed}
    clusters = _Clusters(dim, max(8, nodes // 18), seed)
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, (nodes, dim))
    for start in range(0, nodes, _CHUNK):
        vectors[start : start + _CHUNK] = clusters.draw(min(_CHUNK, nodes - start))
    vectors.flush()
    _write(folder, told, vectors, clusters.draw(turns * BROUGHT), np.random.default_rng([seed, 2]))
    return Given.load(folder)


def make_from(
    folder: Path, base: Floats, asked: Floats, *, nodes: int, turns: int, labels: tuple[str, ...], seed: int
) -> Given:
    """Write the input to `folder` from real vectors: `base` (m, dim) and noisy copies of them up to `nodes`; the
    questions are `asked` (q, dim) as they are."""
    dice, dim = np.random.default_rng([seed, 3]), base.shape[1]
    told = {"nodes": nodes, "dim": dim, "turns": turns, "searches": len(asked), "labels": labels, "seed": seed}
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, (nodes, dim))
    vectors[: len(base)] = base[:nodes]
    for start in range(len(base), nodes, _CHUNK):
        count = min(_CHUNK, nodes - start)
        copied = base[dice.integers(0, len(base), count)]
        vectors[start : start + count] = _near(copied, dice.uniform(0.3, 0.8, (count, 1)), dice)
    vectors.flush()
    fresh = _near(base[dice.integers(0, len(base), turns * BROUGHT)], 0.6, dice)
    _write(folder, told, vectors, fresh, dice)
    np.save(folder / "queries.npy", asked)
    return Given.load(folder)


def known_place(given: Given, row: int) -> int:
    """The stored node that the brought node of that row is, in other words: spread evenly over all."""
    return (row * 7919 + 13) % given.nodes


def _write(folder: Path, told: Item, vectors: Floats, fresh: Floats, dice: np.random.Generator) -> None:
    (folder / "given.json").write_text(json.dumps(told), "utf-8")
    given = Given.load(folder)
    for row in range(len(fresh)):
        if row % BROUGHT < BROUGHT // 2:
            fresh[row] = _near(vectors[known_place(given, row)][None], 0.15, dice)[0]
    np.save(folder / "brought.npy", fresh)
    asked = vectors[dice.integers(0, len(vectors), given.searches)]
    np.save(folder / "queries.npy", _near(asked, 0.45, dice))


class _Clusters:
    """About 18 nodes a cluster; two nodes of one have a cosine of about .84, any two of about .47."""

    def __init__(self, dim: int, count: int, seed: int) -> None:
        self.dice = np.random.default_rng([seed, 0])
        spread = np.arange(1, dim + 1, dtype=np.float32) ** -0.35
        self.spread = spread / np.linalg.norm(spread)
        self.mean = _unit(self.dice.standard_normal((1, dim), np.float32))
        self.centres = self.dice.standard_normal((count, dim), np.float32) * self.spread

    def draw(self, count: int) -> Floats:
        """Shape (count, dim)."""
        centres = self.centres[self.dice.integers(0, len(self.centres), count)]
        own = self.dice.standard_normal(centres.shape, np.float32) * self.spread
        return _unit(0.95 * self.mean + 0.85 * centres + 0.55 * own)


def _near(vectors: Floats, noise: Any, dice: np.random.Generator) -> Floats:
    """Vectors at cosine 1 / sqrt(1 + noise^2) of the given ones, in random directions."""
    away = _unit(dice.standard_normal(vectors.shape, np.float32))
    return _unit(np.asarray(vectors + noise * away, np.float32))


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _word(dice: random.Random) -> str:
    return "".join(dice.choices(_SYLLABLES, k=dice.randint(2, 4)))


def _prose(dice: random.Random, words: int) -> str:
    return " ".join(_word(dice) for _ in range(words))


def _unique(place: int) -> str:
    """A word of its own for each number, without digits (de-duplication compares numbers)."""
    syllables = [_SYLLABLES[place % 18]]
    while place := place // 18:
        syllables.append(_SYLLABLES[place % 18])
    return "xo" + "".join(syllables)
