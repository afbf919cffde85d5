"""The map of a whole memory as bytes for the browser: geometry once a revision, one byte a node to recolour it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memory_core.errors import InputError
from memory_core.figures import palette
from memory_core.figures.layout import MapLayout
from memory_core.schema import LABELS

Coloring = Literal["label", "score", "fate"]
FATE_NAMES = tuple(palette.FATES)
NO_SCORE = 255
DRAWN = 60_000  # nodes a browser draws, and redraws after each move, without stopping
_STEPS = 254


@dataclass(frozen=True)
class MapPicture:
    """A whole memory to draw: columns of length n in one order, edges (m,) as places; `revision` names the state."""

    revision: str
    ids: Sequence[str]
    titles: Sequence[str]
    labels: NDArray[np.int8]  # place in schema.LABELS, -1 for none of them
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    layout: MapLayout
    degrees: NDArray[np.int64] | None = None  # of a part: in the whole

    @property
    def degree(self) -> NDArray[np.int64]:
        """Edges of each node, (n,)."""
        if self.degrees is not None:
            return self.degrees
        return np.bincount(np.concatenate([self.sources, self.targets]), minlength=len(self.ids))

    @cached_property
    def drawn(self) -> NDArray[np.int64]:
        """Places of the nodes that a browser is sent, ascending: all, or of more than DRAWN half of that many by degree
        and a seeded sample of the rest."""
        n = len(self.ids)
        if n <= DRAWN:
            return np.arange(n)
        order = np.argsort(-self.degree, kind="stable")
        rest = np.random.default_rng(0).choice(order[DRAWN // 2 :], DRAWN - DRAWN // 2, replace=False)
        return np.sort(np.concatenate([order[: DRAWN // 2], rest]))

    @cached_property
    def part(self) -> MapPicture:
        """The picture of what is `drawn`, with the edges between."""
        if len(self.ids) <= DRAWN:
            return self
        place = np.full(len(self.ids), -1, np.int64)
        place[self.drawn] = np.arange(DRAWN)
        ends = np.column_stack([place[self.sources], place[self.targets]])
        inside = ends[(ends >= 0).all(axis=1)]
        ids, titles = [[of[at] for at in self.drawn.tolist()] for of in (self.ids, self.titles)]
        layout = MapLayout(self.layout.xy[self.drawn], self.layout.community[self.drawn])
        return MapPicture(
            self.revision, ids, titles, self.labels[self.drawn], inside[:, 0], inside[:, 1], layout,
            self.degree[self.drawn],
        )  # fmt: skip

    @property
    def words(self) -> str:
        """How much there is, and how much of it is drawn."""
        n, m = f"{len(self.ids):,} nodes", f"{len(self.sources):,} edges"
        return f"{n}, {m}" if len(self.ids) <= DRAWN else f"{DRAWN:,} of {n} drawn: the best connected and a sample"


@dataclass(frozen=True)
class MapColors:
    """One byte a node (`values`, (n,)) and the legend that says what the bytes mean."""

    values: NDArray[np.uint8]
    legend: Mapping[str, Any]


def by_label(picture: MapPicture) -> MapColors:
    """Each node in the colour of its label."""
    values = np.where(picture.labels < 0, len(LABELS), picture.labels).astype(np.uint8)
    counts = np.bincount(values, minlength=len(LABELS) + 1)
    marks = palette.data()
    entries = [{"name": m["label"], "color": m["color"], "count": int(k)} for m, k in zip(marks, counts, strict=True)]
    return MapColors(values, {"kind": "label", "entries": entries})


def by_score(picture: MapPicture, scores: NDArray[np.float64], cut: float | None = None) -> MapColors:
    """Each node by its score (n,), the lowest orange, the highest blue, NaN grey; the legend gives the two ends."""
    if len(scores) != len(picture.ids):
        raise InputError(f"the map has {len(picture.ids)} nodes but {len(scores)} scores: score this revision again")
    missing = np.isnan(scores)
    known = scores[~missing]
    low = float(known.min()) if known.size else 0.0
    high = float(known.max()) if known.size and known.max() > low else low + 1.0
    steps = np.rint((np.where(missing, low, scores) - low) / (high - low) * _STEPS).astype(np.uint8)
    legend = {"kind": "score", "ramp": list(palette.SCORES), "steps": _STEPS, "low": low, "high": high, "cut": cut}
    return MapColors(np.where(missing, np.uint8(NO_SCORE), steps), legend | {"none": int(missing.sum())})


def by_fate(picture: MapPicture, forgotten: Collection[str], pinned: Collection[str] = ()) -> MapColors:
    """What a plan does: kept, forgotten, or pinned (which keeps it, whatever the score)."""
    gone, held = set(forgotten), set(pinned)
    values = np.fromiter((2 if i in held else 1 if i in gone else 0 for i in picture.ids), np.uint8, len(picture.ids))
    counts = np.bincount(values, minlength=3)
    entries = [
        {"name": name, "color": palette.FATES[name], "count": int(counts[k])} for k, name in enumerate(FATE_NAMES)
    ]
    return MapColors(values, {"kind": "fate", "entries": entries})


def geometry(picture: MapPicture) -> dict[str, bytes]:
    """What does not change while a revision is looked at: positions, edges, sizes, labels, communities and titles."""
    edges = np.column_stack([picture.sources, picture.targets]).astype("<u4")
    size = np.minimum(picture.degree, 255).astype(np.uint8)
    titles = "\n".join(" ".join(title.split())[:80] for title in picture.titles)
    return {
        "xy": picture.layout.xy.astype("<f4").tobytes(),
        "edges": edges.tobytes(),
        "degree": size.tobytes(),
        "labels": np.where(picture.labels < 0, len(LABELS), picture.labels).astype(np.uint8).tobytes(),
        "community": picture.layout.community.astype("<i4").tobytes(),
        "titles": titles.encode(),
    }


def message(head: Mapping[str, Any], parts: Mapping[str, bytes]) -> bytes:
    """Header and parts as one block: length of the header (u32), the header as JSON with each part's [offset, length],
    then the parts, each at a multiple of 4 bytes from the start of the block that follows the header.

    >>> block = message({"key": "m"}, {"values": b"abc"})
    >>> json.loads(block[4 : 4 + int.from_bytes(block[:4], "little")])["parts"]
    {'values': [0, 3]}
    """
    places, body, at = {}, [], 0
    for name, part in parts.items():
        places[name] = [at, len(part)]
        padded = part + b"\0" * (-len(part) % 4)
        body.append(padded)
        at += len(padded)
    words = json.dumps({**head, "parts": places}).encode()
    words += b" " * (-(len(words) + 4) % 4)
    return len(words).to_bytes(4, "little") + words + b"".join(body)
