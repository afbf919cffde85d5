"""One extraction with the time it took."""

from __future__ import annotations

import time
from dataclasses import replace

from memory_core.protocols import Extractor
from memory_core.schema import Extraction, Turn


def timed(extractor: Extractor, turn: Turn) -> Extraction:
    """What the extractor reads from the turn, with wall-clock seconds where it does not give its own."""
    started = time.perf_counter()
    made = extractor.extract(turn)
    return made if made.seconds else replace(made, seconds=time.perf_counter() - started)
