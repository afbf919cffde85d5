"""LoCoMo's own output files: samples with their questions, each with one or more `…_prediction`."""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.errors import FormatError
from memory_core.evaluation.datasets import LOCOMO_CATEGORIES
from memory_core.evaluation.official import locomo_f1, locomo_recall
from memory_core.importers.textfile import Item

_ENDING = "_prediction"


def locomo_rows(samples: Sequence[Item], name: str, predicted: str = "") -> tuple[dict[str, object], list[Item]]:
    """Rows as run files have them, scored by LoCoMo's rules; `predicted` names the prediction when there are several.

    Question ids are those of `load_benchmark`: `conv-26:q0`. Raises FormatError without a prediction, or when it is not
    said which of several is meant.
    """
    asked = [(sample, number, row) for sample in samples for number, row in enumerate(_questions(sample))]
    keys = sorted({key for _, _, row in asked for key in row if key.endswith(_ENDING)})
    chosen = predicted or (keys[0] if len(keys) == 1 else "")
    if chosen not in keys:
        have = ", ".join(keys) if keys else "none"
        raise FormatError(f"{name} holds the predictions {have}: map one of them to predicted.")
    rows = [
        Item(f"{sample.place}, question {number + 1}", _row(_sample_id(sample), number, row, chosen, predicted))
        for sample, number, row in asked
    ]
    return {"reader": chosen.removesuffix(_ENDING), "format": "locomo"}, rows


def _questions(sample: Item) -> list[dict[str, object]]:
    rows = sample.value.get("qa") if isinstance(sample.value, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _sample_id(sample: Item) -> str:
    return str(sample.value.get("sample_id") or sample.place) if isinstance(sample.value, dict) else sample.place


def _row(sample: str, number: int, row: dict[str, object], chosen: str, mapped: str) -> dict[str, object]:
    category = row.get("category")
    kind = LOCOMO_CATEGORIES.get(category, str(category)) if isinstance(category, int) else str(category)
    answer = "" if row.get("answer") is None else str(row["answer"])
    found: dict[str, object] = {
        "question_id": f"{sample}:q{number}", "question_type": kind, "question": row.get("question"),
        "ground_truth": answer, "evidence": row.get("evidence"), (mapped or "predicted"): row.get(chosen),
    }  # fmt: skip
    if row.get(chosen) is None:
        return found | {"error": f"no {chosen} for this question"}
    found["locomo_f1"] = locomo_f1(str(row[chosen]), answer, kind)
    context, evidence = row.get(f"{chosen}_context"), row.get("evidence")
    if isinstance(context, list) and isinstance(evidence, list):
        found[f"locomo_recall@{len(context)}"] = locomo_recall(map(str, context), map(str, evidence))
    return found
