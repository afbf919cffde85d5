"""Parameters of one memory, saved with it, each with the section of the paper that sets its default."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Literal

from memory_core.errors import InputError


@dataclass(frozen=True)
class Settings:
    """Defaults are P1's unless a comment says otherwise.

    >>> Settings.from_json(Settings(roots=7).to_json()).roots
    7
    """

    merge: Literal["newest", "first"] = "newest"  # ours; `first` is P1 3.4 as its code has it
    guards: Literal["on", "off"] = "on"  # ours; `off` is P1 3.4
    on_invalid: Literal["drop", "reject"] = "drop"  # ours; `reject` is P1 3.3
    match_threshold: float | None = None  # None: the embedder's own (P1 3.4: .92 with nomic-embed-text)
    floor: float | None = None  # None: the embedder's own (P1 3.5: .75)
    roots: int = 5  # P1 3.5
    hops: int = 2  # P1 3.5
    cap: int = 15  # P1 3.5
    search: Literal["auto", "exact", "approximate"] = "auto"  # ours: `auto` compares all while that is quick enough
    retrieve_parameters: Mapping[str, Mapping[str, float | int]] = field(default_factory=dict)  # retriever -> its own
    forget_every: int = 0  # turns between automatic passes; 0 is off, P1 3.6 says 400
    forget_policy: str = "importance"  # P1 3.6
    forget_parameters: Mapping[str, float | int | str] = field(default_factory=dict)  # the policy's own defaults
    forget_threshold: float = 0.10  # P1 3.6
    forget_turns: Literal["keep", "with_nodes"] = "keep"
    forget_idle_days: float = 30.0  # ours: a gap between turns counts at most so long; never for P1's formula; 0 is off

    def __post_init__(self) -> None:
        for name, low, high in (("roots", 1, 100), ("hops", 0, 6), ("cap", 1, 1000), ("forget_every", 0, 1_000_000)):
            value = getattr(self, name)
            if not low <= value <= high:
                raise InputError(f"Setting {name} is {value}; it must lie between {low} and {high}.")

    def to_json(self) -> str:
        """The settings as one JSON object."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Settings stored by any version: unknown keys are ignored, missing ones take the default."""
        known = {one.name for one in fields(cls)}
        return cls(**{key: value for key, value in json.loads(text).items() if key in known})
