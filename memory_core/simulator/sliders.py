"""How a policy's parameters and words become controls."""

from __future__ import annotations

import inspect
import math
import re

from memory_core.policies import Parameter, found


def step(parameter: Parameter) -> float:
    """A round step that divides the range into 100 to 1,000.

    >>> step(Parameter("half_life", "Half-life", 90.0, 1.0, 730.0)), step(Parameter("a", "A", 0.5, 0.0, 1.0))
    (1.0, 0.01)
    """
    width = max(parameter.high - parameter.low, 1e-6)
    return float(10.0 ** math.floor(math.log10(width / 100) + 1e-9))


def explained(policy: str) -> str:
    """Formula, units and source of a policy as its docstring gives them, without the example.

    Lines of a paragraph are joined, formulas (indented) stay as they stand.
    """
    lines = inspect.cleandoc(found()[policy].__doc__ or "").split("\n")
    stop = next((place for place, line in enumerate(lines) if line.startswith(">>>")), len(lines))
    told = ""
    for line in lines[:stop]:
        if line.startswith(" "):
            told += f"\n{line}"
        elif line:
            told += f" {line}" if told and told[-1] != "\n" else line
        else:
            told += "\n\n"
    return re.sub(r"\n{3,}", "\n\n", told).strip("\n")
