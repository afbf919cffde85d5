"""One extraction with the time it took, and nothing in it that may not be stored."""

from __future__ import annotations

import time
from dataclasses import replace

from memory_core.protocols import Extractor
from memory_core.schema import FAILED_STATUSES, Extraction, Turn
from memory_core.validation import OnInvalid, validate


def timed(extractor: Extractor, turn: Turn) -> Extraction:
    """What the extractor reads from the turn, with wall-clock seconds where it does not give its own."""
    started = time.perf_counter()
    made = extractor.extract(turn)
    return made if made.seconds else replace(made, seconds=time.perf_counter() - started)


def checked(made: Extraction, turn: Turn, on_invalid: OnInvalid = "drop") -> Extraction:
    """The extraction as validation leaves it, whatever extractor it came from; what goes is added to its drops.

    >>> from memory_core.schema import FoundNode, utc
    >>> turn = Turn("user", "Ghent!", utc("2024-01-01"))
    >>> checked(Extraction("ok", (FoundNode("City", "Ghent", ""),)), turn).status
    'rejected'
    """
    if made.status in FAILED_STATUSES or not (made.nodes or made.edges):
        return made
    speaker = turn.speaker if turn.role == "user" and turn.speaker else "User"
    kept = validate(made.nodes, made.edges, speaker=speaker, role=turn.role, on_invalid=on_invalid, limit=False)
    if kept.status == "ok":
        return replace(made, nodes=kept.nodes, edges=kept.edges)  # "I" has become the one who speaks
    return replace(
        made,
        status=kept.status,
        nodes=kept.nodes,
        edges=kept.edges,
        drops=(*made.drops, *kept.drops),
        repairs=(*made.repairs, *kept.repairs),
        reason=made.reason or kept.reason,
    )
