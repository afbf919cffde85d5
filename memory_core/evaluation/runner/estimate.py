"""What a run may take of models, on the high side, said before the first call."""

from __future__ import annotations

from memory_core.evaluation.runner.experiment import Experiment
from memory_core.evaluation.runner.extractions import KeptExtractor
from memory_core.extractors.llm import LLMExtractor
from memory_core.readers.llm import LLMReader
from memory_core.spending import Spent
from memory_core.tokens import tokens_at_most

_RULES = 450  # tokens of the instructions of a reading, a judging or a question's entities


def estimate(experiment: Experiment) -> Spent:
    """Tokens and dollars at most, for what is not extracted yet and every question under every condition."""
    spent = Spent()
    _extraction(experiment, spent)
    for _, condition in experiment.runs():
        for question in experiment.questions:
            asked = tokens_at_most(question.text)
            _reading(experiment, condition, question.conversation, asked, spent)
            if experiment.judge is not None:
                judge = experiment.judge
                spent.add(judge.llm.id, _RULES + asked + tokens_at_most(question.answer) + 256, judge.max_tokens)
    return spent


def _extraction(experiment: Experiment, spent: Spent) -> None:
    kept = experiment.extractor
    if isinstance(kept, KeptExtractor) and isinstance(kept.extractor, LLMExtractor):
        turns = kept.missing(turn for said in experiment.needed().conversations for turn in said.turns)
        spent.add(kept.extractor.llm.id, *kept.extractor.estimate(turns))
        retrieving = {condition for _, condition in experiment.runs()} & {"graph", "hybrid"}
        if retrieving:
            spent.add(kept.extractor.llm.id, _RULES * len(experiment.questions), 64 * len(experiment.questions))


def _reading(experiment: Experiment, condition: str, of: str, asked: int, spent: Spent) -> None:
    reader = experiment.reader
    if not isinstance(reader, LLMReader):
        return
    context = 0 if condition == "none" else reader.budget
    if condition == "full":
        said = next(one for one in experiment.benchmark.conversations if one.id == of)
        context = min(reader.llm.context_window, sum(tokens_at_most(turn.text) + 12 for turn in said.turns))
    spent.add(reader.llm.id, _RULES + asked + context, reader.max_tokens)
