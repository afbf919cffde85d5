"""Reads without a model: the stored sentence nearest to the question, with its date, or "not in memory"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_core.protocols import Answer, Doubles, Embedder, Retrieval
from memory_core.schema import Turn, content_words
from memory_core.stemming import stems

_MARKER = re.compile(r"^\s*(?:[-*•]+\s+)+")  # of a list; the minus of "-5 °C" is none
_FEW = 3  # content words below which a sentence adds little to the question
_KINDS = (
    (
        re.compile(r"^\s*(?:when|on (?:which|what) (?:day|date)|(?:what|which) (?:date|day|month))\b", re.IGNORECASE),
        re.compile(
            r"\d|\b(?:yesterday|today|tomorrow|last|next|ago|week|month|day|january|february|march|april|may|june|july|"
            r"august|september|october|november|december)\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(
            r"\bhow (?:much|many|long|old|often|far)\b|\b(?:what|which) (?:time|age|price|year)\b", re.IGNORECASE
        ),
        re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|half)\b", re.IGNORECASE),
    ),
    (
        re.compile(r"^\s*(?:who|whose|where|which)\b|\bname\b", re.IGNORECASE),
        re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]"),
    ),
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]*")


@dataclass(frozen=True)
class EmbeddedReader:
    """Ranks the sentences of the retrieved turns: cosine with the question, `shared` times the share of its words that
    stand there, `place` times the turn's share of the best retrieval score, `kind` when a sentence holds what is asked
    for (a number, a date, a name), less `little` when it adds fewer than three words to the question; one that adds
    none is no answer. The newest wins among those within `tie` (P1's knowledge updates). Below `floor` (cosine and
    shared words alone) it is not in memory.

    Weights chosen on 41 questions of the demo and 110 of LoCoMo-dev: an evidence turn is cited in .51 and .44 of them,
    in .44 and .29 with similarity alone.
    """

    embedder: Embedder
    floor: float = 0.33
    tie: float = 0.02
    shared: float = 0.3
    place: float = 0.4
    kind: float = 0.1
    little: float = 0.2
    most: int = 80  # sentences looked at, from the first retrieved turn on

    def answer(self, question: str, retrieval: Retrieval, turns: Sequence[Turn]) -> Answer:
        """The best source sentence in a template, citing its turn. Never writes anything that was not said."""
        said = [(sentence, turn) for turn in turns for sentence in sentences(turn.text)][: self.most]
        asked = set(stems(question))
        said = [(sentence, turn) for sentence, turn in said if set(stems(sentence)) - asked]
        if not said:
            return Answer(None, "Not in memory: nothing stored is near this question.")
        near, scores = self._scores(question, said, retrieval)
        if near.max() < self.floor:
            told = f"the nearest sentence has similarity {near.max():.2f}, below {self.floor}"
            return Answer(None, f"Not in memory: {told}.")
        best = np.flatnonzero(scores >= scores.max() - self.tie)
        place = max(best.tolist(), key=lambda place: (said[place][1].at, said[place][1].position, scores[place]))
        sentence, turn = said[place]
        return Answer(f"On {turn.at:%-d %B %Y}, {turn.speaker or turn.role} said: “{sentence}”", turns=(turn.id,))

    def _scores(self, question: str, said: Sequence[tuple[str, Turn]], retrieval: Retrieval) -> tuple[Doubles, Doubles]:
        """(similarity, whole score) of each sentence, shape (n,)."""
        vectors = self.embedder.embed([sentence for sentence, _ in said])
        cosines = (vectors @ self.embedder.embed([question], "query")[0]).astype(np.float64)
        asked, holds = set(stems(question)), _asked_for(question)
        words = [set(stems(sentence)) for sentence, _ in said]
        shared = np.array([len(asked & told) / max(1, len(asked)) for told in words])
        little = np.array([len(told - asked) < _FEW for told in words])
        best = max((turn.score for turn in retrieval.turns), default=0.0)
        share = {turn.id: turn.score / best if best > 0 else 0.0 for turn in retrieval.turns}
        places = np.array([share.get(turn.id, 0.0) for _, turn in said])
        kinds = np.array([bool(holds and holds.search(sentence)) for sentence, _ in said])
        whole = cosines + self.shared * shared + self.place * places + self.kind * kinds - self.little * little
        return cosines + 0.15 * shared, whole


def _asked_for(question: str) -> re.Pattern[str] | None:
    """What a sentence must hold to answer: a number, a date, a name; None when the question does not tell."""
    return next((holds for asks, holds in _KINDS if asks.search(question)), None)


def sentences(text: str) -> list[str]:
    """The sentences and list items of a turn that say something, at most 300 characters each; questions say nothing.

    >>> sentences("I moved to Porto. Nice, no?\\n- a flat with 2.5 rooms")
    ['I moved to Porto.', 'a flat with 2.5 rooms']
    """
    found = (_MARKER.sub("", match.group()).strip(" \t*•") for match in _SENTENCE.finditer(text))
    return [sentence[:300] for sentence in found if len(content_words(sentence)) > 1 and not sentence.endswith("?")]
