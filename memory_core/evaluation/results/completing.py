"""What a results file leaves out (types, expected answers, scores), from the benchmark it answers."""

from __future__ import annotations

from dataclasses import replace

from memory_core.evaluation.datasets import Benchmark, Question
from memory_core.evaluation.metrics import token_scores
from memory_core.evaluation.official import locomo_f1
from memory_core.evaluation.results.reading import Row, Run


def completed(run: Run, benchmark: Benchmark) -> Run:
    """The run with type, question, expected answer and token scores filled in where it has none, by question id.

    LongMemEval's hypotheses hold an id and an answer only. Ids that the benchmark does not have are named in
    `problems`; what the run says itself stays.
    """
    asked = {question.id: question for question in benchmark.questions}
    unknown = [row.id for row in run.rows if row.id not in asked]
    rows = tuple(_completed(row, asked[row.id], benchmark.format) if row.id in asked else row for row in run.rows)
    problems = run.problems
    if unknown:
        some = ", ".join(unknown[:5])
        problems = (*problems, f"{len(unknown)} ids are no questions of {benchmark.name}: {some}.")
    meta = {"data": benchmark.name, "format": benchmark.format, "split_hash": benchmark.split_hash, **run.meta}
    return replace(run, meta=meta, rows=rows, problems=problems)


def _completed(row: Row, question: Question, format: str) -> Row:
    answer = row.ground_truth if row.ground_truth is not None else question.answer
    scores: dict[str, float] = {}
    if row.predicted is not None and not row.error:
        if answer:
            found = token_scores(row.predicted, answer)
            scores = {"f1": found.f1, "precision": found.precision, "recall": found.recall}
        if format == "locomo":
            scores["locomo_f1"] = locomo_f1(row.predicted, answer, question.type)
    other = {"question": question.text, "evidence": list(question.evidence), **row.other}
    return replace(
        row, type=row.type or question.type, metrics={**scores, **row.metrics}, ground_truth=answer, other=other
    )
