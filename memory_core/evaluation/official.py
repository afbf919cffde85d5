"""The data sets' own definitions, to stand beside ours under names of their own: never average the one with the other.

LoCoMo: answer F1 by category (`task_eval/evaluation.py` of its repository; stems by Porter's original algorithm, where
theirs adds NLTK's few exceptions). LongMemEval: retrieval over user turns only (`src/retrieval/eval_utils.py`), whose
gain discounts the third place first; accuracy averaged over question types and on abstention
(`src/evaluation/print_qa_metrics.py`).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log2
from statistics import fmean

from memory_core.evaluation.datasets import LOCOMO_CATEGORIES
from memory_core.evaluation.metrics import ranked_once
from memory_core.stemming import porter

_SKIPPED = re.compile(r"\b(a|an|the|and)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_UNANSWERED = ("no information available", "not mentioned")


def locomo_f1(prediction: str, answer: str, category: str) -> float:
    """LoCoMo's score of one answer, in [0, 1]; `category` is a name of LOCOMO_CATEGORIES.

    Adversarial: 1 when the prediction says that nothing is known. Multi-hop: answers are separated by commas; each
    counts its best match. Open-domain: what follows a semicolon in the answer is a remark.

    >>> locomo_f1("She was painting, and running", "paints, swims", "multi-hop")
    0.25
    >>> locomo_f1("Not mentioned.", "", "adversarial"), locomo_f1("likely yes", "Likely yes; she is", "open-domain")
    (1.0, 1.0)
    """
    if category == LOCOMO_CATEGORIES[5]:
        return float(any(words in prediction.lower() for words in _UNANSWERED))
    if category == LOCOMO_CATEGORIES[1]:
        said = [_stems(part) for part in prediction.split(",")]
        return fmean(max(_f1(part, _stems(wanted)) for part in said) for wanted in answer.split(","))
    wanted = answer.split(";")[0] if category == LOCOMO_CATEGORIES[3] else answer
    return _f1(_stems(prediction), _stems(wanted))


def _stems(text: str) -> list[str]:
    words = _SKIPPED.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()
    return [porter(word) for word in words]


def _f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    shared = (Counter(said) & Counter(wanted)).total()
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def locomo_recall(brought: Iterable[str], evidence: Iterable[str]) -> float:
    """LoCoMo's recall of a context: the share of the evidence in it, and 1 for a question without evidence."""
    wanted, found = list(evidence), set(brought)
    return sum(turn in found for turn in wanted) / len(wanted) if wanted else 1.0


def longmemeval_retrieval(
    ranking: Iterable[str], evidence: Iterable[str], user_turns: Iterable[str], ks: Sequence[int] = (5, 10)
) -> dict[str, float]:
    """LongMemEval's retrieval figures of one ranking of turns (`session:index`), for turns and for their sessions.

    Only user turns are in its corpus and count as evidence; {} for a question whose evidence is the assistant's alone,
    which it leaves out.

    >>> figures = longmemeval_retrieval(["s1:1", "s1:0", "s2:0"], ["s2:0"], ["s1:0", "s2:0"], [2])
    >>> figures["longmemeval_recall_any@2"], figures["longmemeval_ndcg_any@2"]
    (1.0, 1.0)
    """
    corpus = set(user_turns)
    turns = [turn for turn in ranked_once(ranking) if turn in corpus]
    wanted = corpus.intersection(evidence)
    if not wanted:
        return {}
    sessions, wanted_sessions = [_session(turn) for turn in turns], {_session(turn) for turn in wanted}
    figures: dict[str, float] = {}
    for k in ks:
        figures |= _figures("longmemeval_", turns[:k], wanted, len(wanted), k)
        depth = next((place for place in range(k, len(turns) + 1) if len(set(sessions[:place])) >= k), len(turns))
        relevant = sum(_session(turn) in wanted_sessions for turn in corpus)
        figures |= _figures("longmemeval_session_", sessions[:depth], wanted_sessions, relevant, max(k, depth), k)
    return figures


def _figures(
    prefix: str, order: Sequence[str], wanted: set[str], relevant: int, depth: int, k: int | None = None
) -> dict[str, float]:
    found = wanted.intersection(order)
    gain = sum(_discounted(place) for place, item in enumerate(order) if item in wanted)
    ideal = sum(_discounted(place) for place in range(min(relevant, depth)))
    named = k or depth
    return {
        f"{prefix}recall_any@{named}": float(bool(found)),
        f"{prefix}recall_all@{named}": float(found == wanted),
        f"{prefix}ndcg_any@{named}": gain / ideal,
    }


def _discounted(place: int) -> float:
    """Its gain at a place from 0: the first two places weigh the same."""
    return 1.0 if place == 0 else 1 / log2(place + 1)


def _session(turn: str) -> str:
    return turn.rpartition(":")[0]


def longmemeval_accuracy(verdicts: Iterable[tuple[str, str, bool]]) -> Mapping[str, float | None]:
    """From (question id, type, verdict): LongMemEval's overall, mean over types, and accuracy on its `_abs` questions.

    >>> longmemeval_accuracy([("q1", "a", True), ("q2", "a", False), ("q3_abs", "b", True)])
    {'overall': 0.6666666666666666, 'task_averaged': 0.75, 'abstention': 1.0}
    """
    rows = list(verdicts)
    types: dict[str, list[bool]] = {}
    for _, kind, correct in rows:
        types.setdefault(kind, []).append(correct)
    abstained = [correct for id, _, correct in rows if "_abs" in id]
    return {
        "overall": fmean(correct for _, _, correct in rows) if rows else None,
        "task_averaged": fmean(fmean(of) for of in types.values()) if types else None,
        "abstention": fmean(abstained) if abstained else None,
    }
