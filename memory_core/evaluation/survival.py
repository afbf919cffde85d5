"""What a prune costs: which questions lose their evidence or their answer, and how chance would have done.

Three figures together (design, section 4): *evidence survival* of the questions whose evidence was written, *answer
survival* of those whose answer was stored, *graph recall@5* of all; beside them a band of random prunes of the same
number of nodes. No model is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core.evaluation.coverage import StoredBy
from memory_core.evaluation.datasets import Question
from memory_core.evaluation.recall import Recall
from memory_core.forgetting import Forgetting, ForgettingPlan
from memory_core.protocols import Doubles
from memory_core.schema import content_words

FIGURES = ("evidence_survival", "answer_survival", "graph_recall@5")
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Groups:
    """For each question some needs (turns or words), for each need the items any of which meets it, all in one row.

    `items` (k,): node row, or graph rows + edge row; `need_starts` (w,): where the items of a need begin;
    `question_starts` (q,): where the needs of a question begin; `names` (w,): the turn's source id or the word.
    """

    questions: NDArray[np.int64]
    items: NDArray[np.int64]
    need_starts: NDArray[np.int64]
    question_starts: NDArray[np.int64]
    names: tuple[str, ...]

    @classmethod
    def of(cls, needs: Sequence[tuple[int, Sequence[tuple[str, Sequence[int]]]]]) -> Groups:
        """From (question place, [(name, items)]) with at least one need a question and one item a need."""
        items: list[int] = []
        starts: list[int] = []
        question_starts: list[int] = []
        names: list[str] = []
        for _, of_question in needs:
            question_starts.append(len(starts))
            for name, meets in of_question:
                starts.append(len(items))
                names.append(name)
                items += meets
        places = _whole([place for place, _ in needs])
        return cls(places, _whole(items), _whole(starts), _whole(question_starts), tuple(names))

    def met(self, alive: Mask) -> Mask:
        """Which needs are met, shape (prunes, w), where `alive` (prunes, k) says which of `items` live."""
        if not len(self.need_starts):
            return np.zeros((len(alive), 0), np.bool_)
        return np.asarray(np.logical_or.reduceat(alive, self.need_starts, axis=1))

    def whole(self, met: Mask) -> Mask:
        """Which questions have all their needs, shape (prunes, q)."""
        if not len(self.question_starts):
            return np.zeros((len(met), 0), np.bool_)
        return np.asarray(np.logical_and.reduceat(met, self.question_starts, axis=1))


def _whole(numbers: Sequence[int]) -> NDArray[np.int64]:
    return np.array(numbers, np.int64)


@dataclass(frozen=True)
class Flip:
    """A question that a prune costs something: `lost` are its evidence turns (source ids) or its answer's words."""

    question: str
    text: str
    figure: str
    lost: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """Per question and prune: evidence (p, q1) and answer (p, q2) kept or not, graph recall@5 (p, q3) in [0, 1]."""

    evidence: Mask
    answer: Mask
    recall: Doubles

    def columns(self) -> dict[str, Doubles]:
        """Figure -> one value a prune and question."""
        values = (self.evidence, self.answer, self.recall)
        return {name: np.asarray(value, np.float64) for name, value in zip(FIGURES, values, strict=True)}


@dataclass
class Probe:
    """A set of questions made ready for one memory at one revision, so that any number of prunes is cheap to judge."""

    memory: Forgetting
    revision: int
    questions: tuple[Question, ...]
    evidence: Groups
    answer: Groups
    recall: Recall
    costs: dict[tuple[str, int, int], Any] = field(default_factory=dict)  # by plan, prunes and seed

    @classmethod
    def of(
        cls,
        memory: Forgetting,
        questions: Sequence[Question],
        advance: Callable[[str], None] = lambda message: None,
    ) -> Probe:
        """Of `datasets.for_coverage(questions)` or the memory's own (`past_questions`); `advance` may raise to stop."""
        asked = tuple(question for question in questions if question.evidence)
        with memory.lock:
            revision = memory.revision
            stored = _Stored.of(memory, {turn for question in asked for turn in question.evidence})
            evidence = [
                (place, [(turn, stored.citing[turn]) for turn in question.evidence])
                for place, question in enumerate(asked)
                if all(stored.citing.get(turn) for turn in question.evidence)
            ]
            answer = [
                (place, needs) for place, question in enumerate(asked) if (needs := stored.answer(question)) is not None
            ]
            recall = Recall.of(memory, asked, advance)
        return cls(memory, revision, asked, Groups.of(evidence), Groups.of(answer), recall)

    def kept(self, live: Mask) -> tuple[Mask, Mask]:
        """Evidence and answer survival of each question under each prune; `live` is (prunes, graph rows)."""
        return (
            self.evidence.whole(self.evidence.met(self._alive(live, self.evidence.items))),
            self.answer.whole(self.answer.met(self._alive(live, self.answer.items))),
        )

    def _alive(self, live: Mask, items: NDArray[np.int64]) -> Mask:
        rows = live.shape[1]
        graph = self.memory.graph
        nodes = items < rows
        alive = np.empty((len(live), len(items)), np.bool_)
        alive[:, nodes] = live[:, items[nodes]]
        ends = graph.ends.values[items[~nodes] - rows]
        alive[:, ~nodes] = live[:, ends[:, 0]] & live[:, ends[:, 1]]
        return alive

    def outcome(
        self, live: Mask, advance: Callable[[str], None] = lambda message: None, *, recall: bool = True
    ) -> Outcome:
        """The figures of every prune in `live`, (prunes, graph rows); graph recall@5 is NaN without `recall`."""
        fractions = np.full((len(live), len(self.questions)), np.nan)
        for prune, mask in enumerate(live if recall else ()):
            fractions[prune] = self.recall.fractions(mask)
            advance("graph recall@5")
        return Outcome(*self.kept(live), fractions)

    def without(self, turns: Sequence[str]) -> Probe:
        """The probe for a memory in which these turns (ids) have left too."""
        sources = {turn.source_id for turn in self.memory.turns(turns)}
        return replace(self, recall=self.recall.without(sources), costs={})

    def flips(self, live: Mask, *, recall: bool = True) -> list[Flip]:
        """Every question that loses evidence, answer or recall when only `live` (graph rows,) is left."""
        found = [
            *self._lost("evidence_survival", self.evidence, live),
            *self._lost("answer_survival", self.answer, live),
        ]
        whole = self.memory.graph.live.values
        for place, question in enumerate(self.questions if recall else ()):
            before = self.recall.ranking(place, whole)
            after = self.recall.ranking(place, live)
            lost = tuple(turn for turn in question.evidence if turn in before and turn not in after)
            if lost:
                found.append(Flip(question.id, question.text, "graph_recall@5", lost))
        return found

    def _lost(self, figure: str, groups: Groups, live: Mask) -> list[Flip]:
        met = groups.met(self._alive(live[None, :], groups.items))[0]
        ends = [*groups.question_starts[1:].tolist(), len(met)][: len(groups.questions)]
        flips = []
        for place, start, stop in zip(groups.questions.tolist(), groups.question_starts.tolist(), ends, strict=True):
            lost = tuple(groups.names[need] for need in range(start, stop) if not met[need])
            if lost:
                question = self.questions[place]
                flips.append(Flip(question.id, question.text, figure, lost))
        return flips


@dataclass(frozen=True)
class _Stored:
    """Of each evidence turn (source id): the items that cite it, and which items set which words."""

    citing: dict[str, list[int]]
    words: dict[str, dict[str, list[int]]]
    spoken: dict[str, set[str]]

    @classmethod
    def of(cls, memory: Forgetting, sources: set[str]) -> _Stored:
        graph = memory.graph
        turns = {turn: source for source, turn in memory.source_turns().items() if source in sources}
        speakers = set(memory.speaker_rows().tolist())
        citing: dict[str, list[int]] = {source: [] for source in turns.values()}
        words: dict[str, dict[str, list[int]]] = {source: {} for source in turns.values()}
        rows = memory.store.query_in(_CITED, list(turns))
        values = _values(memory, list(turns))
        for item, turn in rows:
            if not graph.is_live(item):
                continue
            if item in graph.row_of:
                row = place = graph.row_of[item]
                set_by = StoredBy(True, [graph.titles[row]], values.get((item, turn), ()))
            else:
                row = graph.edge_row[item]
                place = len(graph.ids) + row
                set_by = StoredBy(True, (), values.get((item, turn), ()), [graph.relationships[row]])
            if place not in speakers:
                citing[turns[turn]].append(place)
            for word in set_by.words():
                words[turns[turn]].setdefault(word, []).append(place)
        said = memory.turns(list(turns))
        return cls(citing, words, {turns[turn.id]: set(content_words(turn.text)) for turn in said})

    def answer(self, question: Question) -> list[tuple[str, list[int]]] | None:
        """(word, items that set it) of an answer all of whose words were said and stored by the evidence turns."""
        wanted = sorted(set(content_words(question.answer)))
        turns = [turn for turn in question.evidence if turn in self.words]
        said: set[str] = set().union(*(self.spoken[turn] for turn in turns))
        needs = [(word, [item for turn in turns for item in self.words[turn].get(word, ())]) for word in wanted]
        return needs if needs and all(items and word in said for word, items in needs) else None


_CITED = "SELECT item, turn FROM provenance WHERE turn IN ({}) ORDER BY turn, item"


def _values(memory: Forgetting, turns: Sequence[str]) -> dict[tuple[str, str], list[str]]:
    rows = memory.store.query_in(
        "SELECT item, turn, value FROM value_history WHERE turn IN ({}) AND field LIKE 'attributes.%' "
        "ORDER BY turn, id",
        turns,
    )
    values: dict[tuple[str, str], list[str]] = {}
    for item, turn, value in rows:
        values.setdefault((item, turn), []).append(str(value).strip('"'))
    return values


def random_prunes(candidates: Mask, forgotten: int, prunes: int, seed: int) -> Mask:
    """`prunes` masks of what lives, (prunes, rows), each without `forgotten` of the candidates drawn at random.

    Rows that are no candidates are as they were told: pass `live` where they live with `|`.
    """
    places = np.flatnonzero(candidates)
    live = np.ones((prunes, len(candidates)), np.bool_)
    if forgotten:
        drawn = np.random.default_rng(seed).random((prunes, len(places)), np.float32)
        gone = places[np.argpartition(drawn, forgotten - 1, axis=1)[:, :forgotten]]
        live[np.arange(prunes)[:, None], gone] = False
    return live


def masks(memory: Forgetting, plan: ForgettingPlan, prunes: int, seed: int) -> tuple[Mask, Mask]:
    """What lives after the plan (graph rows,), and after each random prune of as many nodes (prunes, graph rows)."""
    rows = memory.graph.live_rows()
    live, fate, free = (np.zeros(len(memory.graph.ids), np.bool_) for _ in range(3))
    live[rows], fate[rows], free[rows] = True, plan.fate, ~plan.held
    drawn = random_prunes(free, min(int(plan.fate.sum()), int(free.sum())), prunes, seed)
    return live & ~fate, drawn & live
