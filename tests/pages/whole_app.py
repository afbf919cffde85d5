"""The app for AppTest. Beside a folder `pages` it would run a page without app.py; here is none."""

from __future__ import annotations

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).parents[2] / "app.py"), run_name="__main__")
