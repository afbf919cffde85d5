"""Retention policies, found by their files: `policies/lru.py` holds the policy `lru`.

A policy is a frozen dataclass of parameters with one method, `score`. Fields carry a label and a range as metadata;
they become the sliders, and `make` holds what a user gives against them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, get_args, get_type_hints

from memory_core.errors import InputError
from memory_core.protocols import Policy


@dataclass(frozen=True)
class Parameter:
    """One field of a policy: a number within [low, high], or one of `choices`."""

    name: str
    label: str
    default: float | int | str
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are allowed."""
        return isinstance(self.default, int)


@cache
def found() -> dict[str, type[Policy]]:
    """Name -> class of every policy in this folder, by name.

    >>> sorted(found())[:3]
    ['act_r', 'budgeted', 'coverage']
    """
    return {module.name: _policy(module.name) for module in iter_modules(__path__)}


def _policy(name: str) -> type[Policy]:
    module = import_module(f"{__name__}.{name}")
    classes: list[Any] = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and is_dataclass(value)
        and hasattr(value, "score")
    ]
    if len(classes) != 1:
        raise TypeError(f"{module.__file__} must define one dataclass with a method score, not {len(classes)}.")
    policy: type[Policy] = classes[0]
    return policy


def name_of(policy: Policy) -> str:
    """The name of a policy: that of its module."""
    return type(policy).__module__.rpartition(".")[2]


def parameters(policy: type[Policy] | Policy) -> tuple[Parameter, ...]:
    """The parameters of a policy in the order of its fields, with label, range and default."""
    kind: Any = policy if isinstance(policy, type) else type(policy)
    hints = get_type_hints(kind)
    made = []
    for field in fields(kind):
        choices = tuple(str(value) for value in get_args(hints[field.name]))
        low, high = field.metadata.get("range", (0.0, 0.0))
        default: Any = field.default
        made.append(Parameter(field.name, field.metadata["label"], default, low, high, choices))
    return tuple(made)


def values_of(policy: Policy) -> dict[str, float | int | str]:
    """The parameters a policy was made with."""
    return {field.name: getattr(policy, field.name) for field in parameters(policy)}


def make(name: str, values: Mapping[str, object] | None = None) -> Policy:
    """The policy `name` with some parameters set. Raises InputError for an unknown name or parameter, or a bad value.

    >>> make("importance", {"half_life": "30"}).half_life
    30.0
    """
    if name not in found():
        raise InputError(f"There is no policy {name}: choose one of {', '.join(sorted(found()))}.")
    known = {parameter.name: parameter for parameter in parameters(found()[name])}
    unknown = sorted((values or {}).keys() - known)
    if unknown:
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise InputError(f"Policy {name} has no parameter {unknown[0]}: {has}.")
    given = {key: _value(name, known[key], value) for key, value in (values or {}).items()}
    kind: Any = found()[name]
    policy: Policy = kind(**given)
    return policy


def _value(policy: str, parameter: Parameter, value: object) -> float | int | str:
    if parameter.choices:
        if str(value) not in parameter.choices:
            raise InputError(f"{policy}: {parameter.name} is {value}; choose one of {', '.join(parameter.choices)}.")
        return str(value)
    try:
        number = float(str(value))
    except ValueError:
        raise InputError(f"{policy}: {parameter.name} is {value}; it must be a number.") from None
    if not math.isfinite(number) or not parameter.low <= number <= parameter.high:
        limits = f"between {parameter.low:g} and {parameter.high:g}"
        raise InputError(f"{policy}: {parameter.name} is {value}; it must lie {limits}.")
    if parameter.whole and number != int(number):
        raise InputError(f"{policy}: {parameter.name} is {value}; it must be a whole number.")
    return int(number) if parameter.whole else number
