"""The live turns in RAM: who said what when as columns, their words, their vectors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_core.graph.columns import Column
from memory_core.graph.words import Words
from memory_core.protocols import Doubles
from memory_core.schema import Role
from memory_core.stemming import stems

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_K1, _B = 1.2, 0.75  # Robertson & Zaragoza 2009; what FTS5 uses


@dataclass(frozen=True)
class Neighbourhood:
    """How far a turn is read together with those around it in its session.

    A neighbour `d` turns earlier counts `weight ** d`, one later `later` times that; none counts as more than `words`
    words, so that a long reply does not drown the short turn beside it.
    """

    reach: int = 2
    weight: float = 0.7
    later: float = 0.6
    words: int = 15

    def steps(self) -> list[tuple[int, float]]:
        """(places from the turn to its neighbour, how much that neighbour counts)."""
        near = [(d, self.weight**d) for d in range(1, self.reach + 1)]
        return [(-d, w) for d, w in near if w] + [(d, w * self.later) for d, w in near if w * self.later]


class TurnColumns:
    """Live turns by place, in the order they were stored; a place is not a position: forgotten turns have none.

    Turns are only added; when one is forgotten or comes back, whoever holds the columns makes them anew.
    """

    def __init__(self, dim: int) -> None:
        self.ids: list[str] = []
        self.place: dict[str, int] = {}
        self.last_position = -1
        self.sessions: dict[str, int] = {}
        self.speakers: dict[str, int] = {}
        self.position = Column[np.int64](np.int64)
        self.session = Column[np.int32](np.int32)
        self.speaker = Column[np.int32](np.int32)
        self.assistant = Column[np.bool_](np.bool_)
        self.at = Column[np.float64](np.float64)
        self.stated = Column[np.float64](np.float64)  # content words outside questions
        self.words = Words()
        self.vectors = Column[np.float32](np.float32, (dim,))  # filled when asked for

    def __len__(self) -> int:
        return len(self.ids)

    def extend(self, rows: Iterable[tuple[int, str, str, Role, str, str, float]]) -> None:
        """Add turns: (position, id, session, role, speaker, text, at), positions ascending."""
        for position, turn, session, role, speaker, text, at in rows:
            self.last_position = position
            self.place[turn] = len(self.ids)
            self.ids.append(turn)
            self.position.append(position)
            self.session.append(self.sessions.setdefault(session, len(self.sessions)))
            self.speaker.append(self.speakers.setdefault(speaker, len(self.speakers)))
            self.assistant.append(role == "assistant")
            self.at.append(at)
            found = [(sentence.rstrip().endswith("?"), stems(sentence)) for sentence in _SENTENCE.findall(text)]
            self.stated.append(sum(len(words) for asks, words in found if not asks))
            self.words.add([stem for _, words in found for stem in words])

    def neighbours(self, places: NDArray[np.int64], step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Those of `places` that have a turn `step` places on in the same session, and that turn's place."""
        others = places + step
        inside = (others >= 0) & (others < len(self))
        here, there = places[inside], others[inside]
        same = self.session.values[here] == self.session.values[there]
        return here[same], there[same]

    def word_share(self, question: Sequence[str], near: Neighbourhood) -> Doubles:
        """BM25 of each turn read with its neighbours, as a share of what a perfect match would score; shape (n,).

        Terms are counted over the neighbourhood (BM25 of weighted fields, Robertson & Zaragoza 2009, 3.6.2); a rare
        stem of the question weighs more. In [0, 1]; does not depend on how many turns there are.
        """
        scores = np.zeros(len(self))
        known = list(dict.fromkeys(question))
        best = sum(self.words.rarity(stem) for stem in known) * (_K1 + 1)
        if not len(self) or not best:
            return scores
        lengths = self.words.lengths.values
        shrink = np.minimum(1.0, near.words / np.maximum(lengths, 1.0))
        around = self._added(lengths, lengths * shrink, np.arange(len(self)), near)
        norm = _K1 * (1 - _B + _B * around / max(float(around.mean()), 1e-9))
        for stem in known:
            holding, times = self.words.postings(stem)
            counts = np.zeros(len(self))
            counts[holding] = times
            counts = self._added(counts, counts * shrink, holding, near)
            found = np.flatnonzero(counts)
            scores[found] += self.words.rarity(stem) * counts[found] * (_K1 + 1) / (counts[found] + norm[found])
        return scores / best

    def _added(self, own: Doubles, given: Doubles, givers: NDArray[np.int64], near: Neighbourhood) -> Doubles:
        """What each turn has of its own and is given by those of its neighbours that are among the `givers`."""
        total = own.copy()
        for step, weight in near.steps():
            there, here = self.neighbours(givers, -step)
            total[here] += weight * given[there]
        return total
