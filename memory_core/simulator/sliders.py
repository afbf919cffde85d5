"""How a policy's parameters and words become controls."""

from __future__ import annotations

import inspect
import math

from memory_core.policies import Parameter, found


def step(parameter: Parameter) -> float:
    """A round step that divides the range into 100 to 1,000.

    >>> step(Parameter("half_life", "Half-life", 90.0, 1.0, 730.0)), step(Parameter("a", "A", 0.5, 0.0, 1.0))
    (1.0, 0.01)
    """
    width = max(parameter.high - parameter.low, 1e-6)
    return float(10.0 ** math.floor(math.log10(width / 100) + 1e-9))


def explained(policy: str) -> str:
    """The formula, units and source of a policy as its docstring gives them, without the example."""
    words = inspect.cleandoc(found()[policy].__doc__ or "")
    lines = [line for line in words.split("\n") if not line.strip().startswith((">>>", "..."))]
    start = next((place for place, line in enumerate(words.split("\n")) if line.strip().startswith(">>>")), len(lines))
    return "\n".join(lines[:start]).strip()
