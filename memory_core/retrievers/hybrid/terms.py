"""The terms of a turn's score. Each is a share in [-1, 1] of what a turn could have, so sizes of memories compare."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np

from memory_core.graph.scan import dots
from memory_core.graph.turn_columns import Neighbourhood, TurnColumns
from memory_core.protocols import Doubles, Floats
from memory_core.retrievers.hybrid.cues import role_asked, speaker_named
from memory_core.retrievers.hybrid.dates import interval
from memory_core.stemming import stems

_GRACE = 7 * 86400.0  # seconds: people tell of a day in the week after it
_STATED = 15  # content words outside questions; a turn that says this much says enough

Terms = Mapping[str, Doubles]


def said_terms(columns: TurnColumns, question: str, vector: Floats, near: Neighbourhood) -> dict[str, Doubles]:
    """`words`: BM25 with the neighbours, as a share of a perfect match. `dense`: cosine, at least 0."""
    cosines = dots(columns.vectors.values, vector[None])[0].astype(np.float64)
    return {"words": columns.word_share(stems(question), near), "dense": np.maximum(cosines, 0.0)}


def cue_terms(columns: TurnColumns, question: str, asked_at: datetime) -> dict[str, Doubles]:
    """What the question says about the turn: `role`, `dates`, `speaker`; and `statement`: how much the turn states."""
    return {
        "role": _role(columns, question),
        "dates": _dates(columns, question, asked_at),
        "speaker": _speaker(columns, question),
        "statement": np.minimum(columns.stated.values / _STATED, 1.0),
    }


def _role(columns: TurnColumns, question: str) -> Doubles:
    """1 for an assistant's turn when the question is about what it said, -1 when it is about the user."""
    return np.asarray(role_asked(question) * columns.assistant.values.astype(np.float64))


def _dates(columns: TurnColumns, question: str, asked_at: datetime) -> Doubles:
    """1 within the time the question names, falling by half in five days (e in a week) outside; 0 without one."""
    span = interval(question, asked_at.astimezone(UTC))
    if span is None:
        return np.zeros(len(columns))
    at = columns.at.values
    off = np.maximum(span[0].timestamp() - at, 0.0) + np.maximum(at - span[1].timestamp(), 0.0)
    return np.asarray(np.exp(-off / _GRACE))


def _speaker(columns: TurnColumns, question: str) -> Doubles:
    """1 for the turns of the speaker the question names first."""
    name = speaker_named(question, columns.speakers)
    if name is None:
        return np.zeros(len(columns))
    return np.asarray((columns.speaker.values == columns.speakers[name]).astype(np.float64))
