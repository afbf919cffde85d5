"""A question's whole way as one JSON value: what `ask --json` prints and what the retrieval page exports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any, Protocol

from memory_core.context import line_tokens, token_estimate
from memory_core.memory import Asked
from memory_core.protocols import Retriever
from memory_core.schema import Turn


class Told(Protocol):
    """What of a memory is told beside a retrieval."""

    def titles(self, ids: Sequence[str]) -> dict[str, str]: ...
    def turns(self, ids: Sequence[str]) -> list[Turn]: ...


def ask_document(memory: Told, asked: Asked, part: Retriever) -> dict[str, Any]:
    """The answer and every step of the retrieval that `part` made; times in milliseconds, tokens as estimates."""
    found = asked.retrieval
    titles = memory.titles([visit.id for visit in found.nodes])
    return {
        "question": asked.question,
        "answer": asked.answer.text,
        "reason": asked.answer.reason,
        "cites": list(asked.answer.turns),
        "retriever": found.retriever,
        "parameters": parameters_of(part),
        "entities": list(found.entities),
        "floor": found.floor,
        "approximate": found.approximate,
        "candidates": [asdict(root) for root in found.candidates],
        "roots": [asdict(root) for root in found.roots],
        "nodes": [asdict(visit) | {"title": titles[visit.id]} for visit in found.nodes],
        "edges": list(found.edges),
        "capped": list(found.capped),
        "turns": _turns(memory, asked),
        "context": found.context,
        "context_tokens": token_estimate(found.context),
        "lines": [asdict(line) | {"tokens": line_tokens(line)} for line in found.lines],
        "left_out": found.left_out,
        "touched": list(asked.touched),
        "ms": dict(found.ms),
    }


def parameters_of(part: Retriever) -> dict[str, Any]:
    """The parameters a retriever was made with, by name."""
    own: Any = part
    return {one.name: getattr(own, one.name) for one in fields(own)}


def _turns(memory: Told, asked: Asked) -> list[dict[str, Any]]:
    ranked = asked.retrieval.turns
    sources = {turn.id: turn.source_id for turn in memory.turns([turn.id for turn in ranked])}
    return [asdict(turn) | {"source_id": sources.get(turn.id, "")} for turn in ranked]
