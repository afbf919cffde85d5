"""Everything the pages need, imported by the first browser alone: the first import of app.py and of every page.

Two browsers that open two pages of a fresh server at once would import the same modules in two orders, each waiting for
the other; Python then hands out a half-made module. This one has a single lock that all wait for first.
"""

from __future__ import annotations

import gc
import importlib
from pathlib import Path

_HERE = Path(__file__).parent

gc.disable()  # modules are no garbage: looking at them again and again takes a third of the time
try:
    for _file in sorted(_HERE.rglob("*.py")):
        _name = ".".join(_file.relative_to(_HERE.parents[1]).with_suffix("").parts)
        if _file != Path(__file__):
            importlib.import_module(_name.removesuffix(".__init__"))
finally:
    gc.enable()
