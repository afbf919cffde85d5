"""What of a retriever can be set: its parameters with label and range, their saved values, and the part they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from datetime import datetime
from typing import Any, Protocol

from memory_core.errors import InputError
from memory_core.memory import Memory
from memory_core.parts import retriever
from memory_core.protocols import Embedder, Retriever
from memory_core.retrievers.hybrid import HybridRetriever
from memory_core.settings import Settings

Number = float | int
Values = Mapping[str, Number]


class Tunable(Protocol):
    """A memory as far as its retrievers' parameters go."""

    settings: Settings

    @property
    def embedder(self) -> Embedder: ...


_SHARED = ("floor", "roots", "hops", "cap")  # kept as settings of the memory, because the paper's graph reads them


@dataclass(frozen=True)
class Knob:
    """A parameter that is a number: `value` as saved with the memory, `default` as the part comes, `low` to `high`."""

    name: str
    label: str
    value: Number
    default: Number
    low: Number
    high: Number

    @property
    def step(self) -> Number:
        """1 for a whole number, else a hundredth of the range, rounded."""
        return 1 if isinstance(self.default, int) else 0.01 if self.high <= 1 else 0.05


#: Label and range of parameters whose fields do not say them.
_KNOWN: Mapping[str, tuple[str, tuple[Number, Number]]] = {
    "k": ("turns (k)", (1, 50)),
    "roots": ("roots", (1, 20)),
    "hops": ("hops", (0, 4)),
    "cap": ("cap on nodes", (1, 60)),
    "floor": ("floor", (0.0, 1.0)),
}


def knobs(memory: Tunable, name: str) -> tuple[Knob, ...]:
    """The parameters of a retriever that are numbers with a range, with what is saved in `memory`.

    Label and range come from the metadata of its fields. Raises InputError for an unknown retriever.
    """
    made: Any = retriever(name, memory.settings)
    plain: Any = retriever(name, Settings())
    found = []
    for one in fields(made):
        label, limits = _KNOWN.get(one.name, ("", None))
        label, limits = one.metadata.get("label", label), one.metadata.get("range", limits)
        if limits:
            saved, default = (_number(getattr(part, one.name), memory) for part in (made, plain))
            found.append(Knob(one.name, label, saved, default, limits[0], max(limits[1], saved)))
    return tuple(found)


def _number(value: Number | None, memory: Tunable) -> Number:
    return memory.embedder.floor if value is None else value


def tuned(memory: Tunable, name: str, values: Values, asked_at: datetime | None = None) -> Retriever:
    """The retriever as saved, with other `values`; `asked_at` is when the question is asked, for a part that minds.

    Values it has no parameter for, and those equal to the saved ones, change nothing.
    """
    changed = {
        knob.name: values[knob.name] for knob in knobs(memory, name) if values.get(knob.name, knob.value) != knob.value
    }
    made: Any = retriever(name, memory.settings)
    if asked_at is not None and isinstance(made, HybridRetriever):
        changed |= {"asked_at": asked_at}  # type: ignore[dict-item]
    part: Retriever = replace(made, **changed) if changed else made
    return part


def read_values(memory: Tunable, name: str, given: Sequence[str]) -> dict[str, Number]:
    """`NAME=VALUE` texts as values of a retriever. Raises InputError for an unknown name or a value out of range."""
    known = {knob.name: knob for knob in knobs(memory, name)}
    made: dict[str, Number] = {}
    for text in given:
        key, _, typed = text.partition("=")
        if key not in known:
            raise InputError(f"{name} has no parameter {key!r}: it has {', '.join(known)}.")
        knob = known[key]
        try:
            value: Number = int(typed) if isinstance(knob.default, int) else float(typed)
        except ValueError:
            raise InputError(f"{text}: write NAME=NUMBER, e.g. {key}={knob.default}.") from None
        if not knob.low <= value <= knob.high:
            raise InputError(f"{key} is {typed}; it must lie between {knob.low:g} and {knob.high:g}.")
        made[key] = value
    return made


def save(memory: Memory, name: str, values: Values) -> None:
    """Keep `values` with the memory: the chat and `ask` retrieve with them from now on. Raises MemoryFileError."""
    settings = memory.settings
    default = {knob.name: knob.default for knob in knobs(memory, name)}
    shared = {key: _or_none(key, value, memory) for key, value in values.items() if key in _SHARED and key in default}
    own = {**settings.retrieve_parameters.get(name, {})}
    own |= {key: value for key, value in values.items() if key in default and key not in _SHARED}
    kept = {key: value for key, value in own.items() if value != default.get(key, MISSING)}
    others = {key: value for key, value in settings.retrieve_parameters.items() if key != name}
    retrieve = {**others, name: kept} if kept else others
    changed: dict[str, Any] = {**shared, "retrieve_parameters": retrieve}
    memory.change_settings(replace(settings, **changed))


def _or_none(key: str, value: Number, memory: Tunable) -> Number | None:
    return None if key == "floor" and value == memory.embedder.floor else value
