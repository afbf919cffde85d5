"""A memory's extraction in sum: who read how much at what price, which labels and relationships, what looks wrong."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from memory_core.inspection.cards import stems
from memory_core.inspection.kept import kept
from memory_core.inspection.lines import TurnLine, turn_lines
from memory_core.memory import Memory
from memory_core.schema import LABELS, normalise_title
from memory_core.stemming import stem

MOST = 50  # rows of each list; counts are of all
COLLAPSED = 0.6  # a label with more of the nodes than this swallows the others


@dataclass(frozen=True)
class Reader:
    """One extractor's work in this memory: turns, shares of its statuses, and the price (median seconds, tokens)."""

    name: str
    turns: int
    failed: int
    empty: int
    nodes_per_turn: float
    edges_per_turn: float
    drops: int
    seconds: float
    seconds_total: float
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True)
class Titled:
    """A node in a list: `note` says what is remarkable about it."""

    id: str
    label: str
    title: str
    note: str = ""


@dataclass(frozen=True)
class Overview:
    """Counts are of live nodes and edges. `effective_labels` is exp of the entropy of the label mix, 1 to 9: how many
    labels the memory uses as if evenly. Lists hold at most MOST rows, their counts all."""

    readers: tuple[Reader, ...]
    labels: dict[str, int]
    effective_labels: float
    collapsed: str  # the label that swallows the others, "" when none does
    relationships: tuple[tuple[str, int], ...]
    used_once: int
    variants: tuple[tuple[str, ...], ...]
    alone: tuple[Titled, ...]
    alone_count: int
    longest: tuple[Titled, ...]
    twins: tuple[tuple[Titled, Titled], ...]
    twin_count: int
    flips: tuple[tuple[Titled, ...], ...]
    drops: tuple[tuple[str, int], ...]


def overview(memory: Memory) -> Overview:
    """Made once a revision."""
    return kept(memory, "overview", _overview)


def _overview(memory: Memory) -> Overview:
    lines, graph = turn_lines(memory), memory.graph
    rows = graph.live_rows()
    nodes = [Titled(graph.ids[row], LABELS[graph.label.values[row]], graph.titles[row]) for row in rows.tolist()]
    counts = np.bincount(graph.label.values[rows], minlength=len(LABELS))
    labels = {label: int(count) for label, count in zip(LABELS, counts, strict=True)}
    top = max(LABELS, key=labels.__getitem__)
    names = Counter(graph.relationships[edge] for edge in graph.live_edges().tolist())
    alone = [node for node, degree in zip(nodes, graph.degree.values[rows].tolist(), strict=True) if not degree]
    pairs = twins(nodes)
    reasons = Counter(_kind(reason) for line in lines for reason in line.drops)
    return Overview(
        readers=tuple(_readers(lines)),
        labels=labels,
        effective_labels=_effective(counts),
        collapsed=top if len(nodes) >= 10 and labels[top] > COLLAPSED * len(nodes) else "",
        relationships=tuple(names.most_common()),
        used_once=sum(count == 1 for count in names.values()),
        variants=tuple(_variants(names)[:MOST]),
        alone=tuple(alone[:MOST]),
        alone_count=len(alone),
        longest=tuple(_longest(nodes)),
        twins=tuple(pairs[:MOST]),
        twin_count=len(pairs),
        flips=tuple(_flips(nodes)[:MOST]),
        drops=tuple(reasons.most_common(MOST)),
    )


def _readers(lines: Sequence[TurnLine]) -> list[Reader]:
    by: dict[str, list[TurnLine]] = defaultdict(list)
    for line in lines:
        if line.attempts:
            by[line.by].append(line)
    return [
        Reader(
            name, n := len(own), sum(line.failed for line in own), sum(line.status == "empty" for line in own),
            sum(line.added + line.merged for line in own) / n, sum(line.edges for line in own) / n,
            sum(len(line.drops) for line in own), median(line.seconds for line in own),
            sum(line.seconds for line in own), sum(line.tokens_in for line in own),
            sum(line.tokens_out for line in own),
        )
        for name, own in sorted(by.items(), key=lambda item: -len(item[1]))
    ]  # fmt: skip


def _effective(counts: NDArray[np.int64]) -> float:
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return float(np.exp(-(shares * np.log(shares)).sum())) if len(shares) else 0.0


def _variants(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Relationships that are one word in several forms: works_at, worked_at, work_at."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[" ".join(map(stem, re.split(r"[\s_-]+", name.casefold())))].append(name)
    return sorted(tuple(sorted(group)) for key, group in groups.items() if key and len(group) > 1)


def _longest(nodes: Sequence[Titled]) -> list[Titled]:
    longest = sorted(nodes, key=lambda node: -len(node.title))[:10]
    return [Titled(node.id, node.label, node.title, f"{len(node.title):,} characters") for node in longest]


def twins(nodes: Sequence[Titled]) -> list[tuple[Titled, Titled]]:
    """Nodes of one label whose titles have the same words, whatever their order and endings, or differ by one letter
    (five letters or more, no digit in it: model numbers are different things).

    >>> one, two = Titled("n1", "Person", "Katarina Holm"), Titled("n2", "Person", "Catarina Holm")
    >>> [(a.id, b.id) for a, b in twins([one, two, Titled("n3", "Person", "Karl Holm")])]
    [('n1', 'n2')]
    """
    keyed: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, node in enumerate(nodes):
        for key in _keys(node.title):
            keyed[node.label, key].append(place)
    found = {(a, b) for places in keyed.values() if 1 < len(places) <= 20 for a in places for b in places if a < b}
    return [(nodes[a], nodes[b]) for a, b in sorted(found) if _near(nodes[a].title, nodes[b].title)]


def _keys(title: str) -> set[str]:
    """The words in order of the alphabet; and the title with each letter left out, which two near titles share."""
    plain = normalise_title(title)[:80]
    words = " ".join(sorted(stems(title)))
    short = {plain[:at] + plain[at + 1 :] for at in range(len(plain))} if 5 <= len(plain) <= 40 else set()
    keys = {f"letters {text}" for text in (plain, *short)} if plain else set()
    return keys | {f"words {words}"} if words else keys


def _near(a: str, b: str) -> bool:
    one, other = normalise_title(a), normalise_title(b)
    if stems(a) == stems(b):
        return True
    if abs(len(one) - len(other)) > 1:
        return False
    start = next((at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    rest, left = one[start:], other[start:]
    same = rest[1:] == left[1:] or rest[1:] == left or rest == left[1:]
    return same and not any(letter.isdigit() for letter in (rest[:1] + left[:1]))


def _flips(nodes: Sequence[Titled]) -> list[tuple[Titled, ...]]:
    """One title under several labels."""
    groups: dict[str, list[Titled]] = defaultdict(list)
    for node in nodes:
        groups[normalise_title(node.title)].append(node)
    return [tuple(group) for group in groups.values() if len({node.label for node in group}) > 1]


def _kind(reason: str) -> str:
    """A reason without the item it names, so that equal ones count together."""
    return reason.rpartition(": ")[2][:120] or reason[:120]
