"""Reads without a model: the stored sentence nearest to the question, with its date, or "not in memory"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_core.protocols import Answer, Embedder, Retrieval
from memory_core.schema import Turn, content_words

_MARKER = re.compile(r"^\s*(?:[-*•]+\s+)+")  # of a list; the minus of "-5 °C" is none
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]*")


@dataclass(frozen=True)
class EmbeddedReader:
    """Ranks the sentences of the retrieved turns; the newest wins among near ties (P1's knowledge updates).

    `floor` is the cosine below which the memory does not hold the answer; `tie` the cosine within which two sentences
    say the same thing; `most` how many sentences are looked at, from the first retrieved turn on.
    """

    embedder: Embedder
    floor: float = 0.37
    tie: float = 0.03
    most: int = 80

    def answer(self, question: str, retrieval: Retrieval, turns: Sequence[Turn]) -> Answer:
        """The best source sentence in a template, citing its turn. Never writes anything that was not said."""
        said = [(sentence, turn) for turn in turns for sentence in sentences(turn.text)][: self.most]
        if not said:
            return Answer(None, "Not in memory: nothing stored is near this question.")
        scores = self._scores(question, [sentence for sentence, _ in said])
        best = float(scores.max())
        if best < self.floor:
            return Answer(None, f"Not in memory: the nearest sentence has similarity {best:.2f}, below {self.floor}.")
        near = [place for place in range(len(said)) if scores[place] >= best - self.tie]
        place = max(near, key=lambda place: (said[place][1].at, said[place][1].position, scores[place]))
        sentence, turn = said[place]
        return Answer(f"On {turn.at:%-d %B %Y}, {turn.speaker or turn.role} said: “{sentence}”", turns=(turn.id,))

    def _scores(self, question: str, candidates: list[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Cosine plus a small bonus for shared content words: exact names and numbers matter to a reader."""
        vectors = self.embedder.embed(candidates)
        cosines = (vectors @ self.embedder.embed([question], "query")[0]).astype(np.float64)
        asked = set(content_words(question))
        shared = [len(asked & set(content_words(sentence))) / max(1, len(asked)) for sentence in candidates]
        return np.asarray(cosines + 0.15 * np.array(shared))


def sentences(text: str) -> list[str]:
    """The sentences and list items of a turn that say something, at most 300 characters each; questions say nothing.

    >>> sentences("I moved to Porto. Nice, no?\\n- a flat with 2.5 rooms")
    ['I moved to Porto.', 'a flat with 2.5 rooms']
    """
    found = (_MARKER.sub("", match.group()).strip(" \t*•") for match in _SENTENCE.finditer(text))
    return [sentence[:300] for sentence in found if len(content_words(sentence)) > 1 and not sentence.endswith("?")]
