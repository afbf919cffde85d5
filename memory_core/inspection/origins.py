"""Where an imported memory came from: which labels were mapped, what was left out, what its file could not hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from memory_core.memory import Memory


@dataclass(frozen=True)
class Origin:
    """`labels` is how often each label of the other system became one of the nine; `missing` is what no page can show;
    `left_out` names up to 200 parts of the file that could not be used."""

    system: str
    missing: tuple[str, ...]
    labels: Mapping[str, int]
    left_out: tuple[str, ...]


def origin(memory: Memory) -> Origin | None:
    """The origin kept at import, None for a memory that was made here."""
    text = memory.store.meta("origin")
    if not text:
        return None
    kept = json.loads(text)
    return Origin(kept["system"], tuple(kept["missing"]), kept["labels"], tuple(kept["left_out"]))
