"""The evidence turns of a benchmark question: found at which place, or lost at which step."""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.evaluation.datasets import Question
from memory_core.evaluation.fates import Fate
from pages._ui.words import day, plural, safe


def evidence_html(question: Question, fates: Sequence[Fate], retriever: str) -> str:
    """The expected answer and one row for each evidence turn."""
    if not question.evidence:
        why = "The memory is expected not to know." if question.abstention else "The file names no turn that holds it."
        return f'<section class="card evidence"><h4>Evidence</h4><p>{why}</p>{_expected(question)}</section>'
    found = sum(fate.found for fate in fates)
    title = f"Evidence: {found} of {plural(len(fates), 'turn')} found by {retriever}"
    rows = "".join(map(_row, fates))
    dropped = plural(len(question.dropped_evidence), "entry", "entries")
    lost = f'<p class="said">{dropped} of the file name no turn.</p>' if question.dropped_evidence else ""
    return f'<section class="card evidence"><h4>{title}</h4>{rows}{lost}{_expected(question)}</section>'


def _row(fate: Fate) -> str:
    if fate.found:
        place = f"found, place {fate.place}" if fate.place else "found as a fact"
        mark = f'<span class="tag">{place}</span>'
    else:
        mark = f'<span class="tag lost" title="{safe(fate.why)}">lost: {safe(fate.lost)}</span>'
    said = f"<q>{safe(fate.turn.text[:140])}{'…' if len(fate.turn.text) > 140 else ''}</q>" if fate.turn else ""
    when = f" · {day(fate.turn.at)}, {safe(fate.turn.speaker or fate.turn.role)}" if fate.turn else ""
    why = f"<small>{safe(fate.why)}</small>" if fate.why else ""
    return f'<div class="row">{mark} <small>{safe(fate.source_id)}{when}</small>{why}{said}</div>'


def _expected(question: Question) -> str:
    kind = f" ({safe(question.type)})" if question.type else ""
    return f"<h4>Expected answer{kind}</h4><p>{safe(question.answer) or 'none'}</p>"
