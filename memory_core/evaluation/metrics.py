"""What one answer or one ranking is worth: token F1, and how much evidence was brought."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import log2

_ARTICLES = frozenset({"a", "an", "the"})
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class TokenScores:
    """Share of the prediction's tokens that are right, of the gold tokens that were found, and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def answer_tokens(text: object) -> list[str]:
    """Lower-case words without ASCII punctuation and without a, an, the (SQuAD's normalisation, P1 A.7).

    >>> answer_tokens("The hidden-role game, of course!")
    ['hiddenrole', 'game', 'of', 'course']
    """
    return [word for word in _words(text) if word not in _ARTICLES]


def answer_length(text: object) -> int:
    """Words of an answer, articles counted: shown for each row, because long answers please a judge (case MET-18)."""
    return len(_words(text))


def _words(text: object) -> list[str]:
    return ("" if text is None else str(text)).lower().translate(_NO_PUNCTUATION).split()


def token_scores(prediction: object, gold: object) -> TokenScores:
    """Token precision, recall and F1 as multisets; 1 when both are empty, 0 when one is (case MET-14).

    Dates are words like any other: "2023-05-07" and "7 May 2023" share nothing (case MET-19).

    >>> token_scores("the GPS", "GPS system")
    TokenScores(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    said, wanted = answer_tokens(prediction), answer_tokens(gold)
    if not said and not wanted:
        return TokenScores(1.0, 1.0, 1.0)
    shared = (Counter(said) & Counter(wanted)).total()
    if not shared:
        return TokenScores(0.0, 0.0, 0.0)
    return TokenScores(shared / len(said), shared / len(wanted), 2 * shared / (len(said) + len(wanted)))


_REFUSAL = re.compile(
    r"\bnot (?:in (?:the |my )?memory|mentioned|specified|provided|stated|known|available|answerable)\b"
    r"|\bno (?:information|answer|mention|record)\b|\b(?:do not|don't|does not|doesn't|cannot|can't) "
    r"(?:know|say|tell|answer|recall|mention|contain|provide|specify)\b|\bunanswerable\b|\bunknown\b|\bunable to\b",
    re.IGNORECASE,
)


def abstains(prediction: object) -> bool:
    """Whether an answer says that it has none; an always-refusing system shows by its rate (case MET-16).

    >>> abstains("Not mentioned"), abstains("Blue")
    (True, False)
    """
    text = "" if prediction is None else str(prediction).replace("’", "'")
    return not text.strip() or _REFUSAL.search(text) is not None


def ranked_once(ranking: Iterable[str]) -> list[str]:
    """A ranking without repeats: the first place of each turn counts."""
    return list(dict.fromkeys(ranking))


def recall_any(ranking: Iterable[str], evidence: Iterable[str], k: int) -> float:
    """1 when any evidence turn is among the first k. Raises ValueError without evidence, as all these do.

    >>> recall_any(["a", "b", "c"], ["c", "x"], 3), recall_any(["a", "b", "c"], ["c", "x"], 2)
    (1.0, 0.0)
    """
    return float(bool(_found(ranking, evidence, k)[0]))


def recall_all(ranking: Iterable[str], evidence: Iterable[str], k: int) -> float:
    """1 when every evidence turn is among the first k.

    >>> recall_all(["a", "b", "c"], ["a", "c"], 3), recall_all(["a", "b", "c"], ["a", "c"], 2)
    (1.0, 0.0)
    """
    found, wanted = _found(ranking, evidence, k)
    return float(found == wanted)


def fraction(ranking: Iterable[str], evidence: Iterable[str], k: int) -> float:
    """The share of the evidence turns that are among the first k.

    >>> fraction(["a", "b", "c"], ["c", "x"], 3)
    0.5
    """
    found, wanted = _found(ranking, evidence, k)
    return len(found) / len(wanted)


def ndcg(ranking: Iterable[str], evidence: Iterable[str], k: int) -> float:
    """Normalised discounted cumulative gain of the first k, gain 1 an evidence turn, discount log2(rank + 1).

    >>> round(ndcg(["a", "b"], ["b"], 5), 4)  # 1 / log2(3)
    0.6309
    """
    order, wanted = ranked_once(ranking)[:k], _wanted(evidence)
    gain = sum(1 / log2(rank + 1) for rank, turn in enumerate(order, start=1) if turn in wanted)
    return gain / sum(1 / log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))


def provenance_precision(ranking: Iterable[str], evidence: Iterable[str]) -> float:
    """The share of the turns brought that are evidence; 0 when none were brought.

    >>> provenance_precision(["a", "b", "c", "d"], ["b"])
    0.25
    """
    brought, wanted = ranked_once(ranking), _wanted(evidence)
    return sum(turn in wanted for turn in brought) / len(brought) if brought else 0.0


def _wanted(evidence: Iterable[str]) -> set[str]:
    wanted = set(evidence)
    if not wanted:
        raise ValueError("A question without evidence has no evidence metrics; leave it out.")
    return wanted


def _found(ranking: Iterable[str], evidence: Iterable[str], k: int) -> tuple[set[str], set[str]]:
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1.")
    wanted = _wanted(evidence)
    return wanted.intersection(ranked_once(ranking)[:k]), wanted
