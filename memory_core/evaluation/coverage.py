"""How much of what the questions need is in the memory (design, section 4, "Coverage of extraction")."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean

from memory_core.evaluation.datasets import Question
from memory_core.schema import Scalar, content_words

#: Words counted of a title and of an attribute's value: a whole sentence put into either does not count as read.
TITLE_WORDS, VALUE_WORDS = 8, 6


@dataclass(frozen=True)
class StoredBy:
    """What the live memory holds because of one turn.

    `cited`: a live node that is no speaker, or an edge, was read from it. `titles`, `values` (of attributes) and
    `relationships` are those that this turn set.
    """

    cited: bool = False
    titles: Collection[str] = ()
    values: Collection[Scalar] = ()
    relationships: Collection[str] = ()

    def words(self) -> set[str]:
        """The content words that count: 8 words of a title, 6 of a value, a relationship split at its underscores.

        >>> sorted(StoredBy(True, ["Porto"], ["a flat by the old fish market"], ["moved_to"]).words())
        ['fish', 'flat', 'moved', 'old', 'porto']
        """
        titles = (_first(title, TITLE_WORDS) for title in self.titles)
        values = (_first(str(value), VALUE_WORDS) for value in self.values)
        relationships = (relationship.replace("_", " ") for relationship in self.relationships)
        return {word for text in (*titles, *values, *relationships) for word in content_words(text)}


@dataclass(frozen=True)
class Coverage:
    """Per question id whether it is written and whether its answer is stored, per turn the share of its words stored.

    `answered` holds only questions whose answer has content words that all stand in the evidence turns. Coverages of
    several memories add up with `+`. The means are NaN when there is nothing to average.
    """

    written: Mapping[str, bool] = field(default_factory=dict)
    answered: Mapping[str, bool] = field(default_factory=dict)
    shares: tuple[float, ...] = ()

    @property
    def write_coverage(self) -> float:
        """Share of the questions whose every evidence turn is cited."""
        return _mean(self.written.values())

    @property
    def answer_coverage(self) -> float:
        """Share of the answerable questions whose answer's words are all stored by the evidence turns."""
        return _mean(self.answered.values())

    @property
    def stored_share(self) -> float:
        """Mean share of a turn's content words that are stored: the guard against storing everything (at most .6)."""
        return _mean(self.shares)

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(
            {**self.written, **other.written}, {**self.answered, **other.answered}, (*self.shares, *other.shares)
        )


def coverage(questions: Iterable[Question], said: Mapping[str, str], stored: Mapping[str, StoredBy]) -> Coverage:
    """Coverage of questions with evidence, over the turns `said` (source id -> text) of one memory.

    Turns missing from `stored` have set nothing. Pass `datasets.for_coverage(questions)`; a question without evidence
    raises ValueError.
    """
    set_by = {turn: stored.get(turn, StoredBy()).words() for turn in said}
    words = {turn: set(content_words(text)) for turn, text in said.items()}
    written, answered = {}, {}
    for question in questions:
        if not question.evidence:
            raise ValueError(f"question {question.id} has no evidence; coverage cannot count it.")
        written[question.id] = all(stored.get(turn, StoredBy()).cited for turn in question.evidence)
        answer = set(content_words(question.answer))
        if answer and answer <= _union(words, question.evidence):
            answered[question.id] = answer <= _union(set_by, question.evidence)
    shares = tuple(len(spoken & set_by[turn]) / len(spoken) for turn, spoken in words.items() if spoken)
    return Coverage(written, answered, shares)


def _union(words: Mapping[str, set[str]], turns: Iterable[str]) -> set[str]:
    return set().union(*(words.get(turn, set()) for turn in turns))


def _first(text: str, count: int) -> str:
    return " ".join(text.split()[:count])


def _mean(values: Collection[float]) -> float:
    return fmean(values) if values else float("nan")
