"""A peer's own virtual environment, made once in the cache folder; never the app's."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from memory_core.evaluation.ingested import cache_folder
from memory_core.evaluation.speed.systems import ROOT, System

_MINUTES = 15


class PeerError(Exception):
    """A peer cannot be installed, started or asked; the text is the reason its row gives."""


def python_of(system: System, *, install: bool = True) -> Path:
    """The interpreter of a system, its environment made first when it is missing. Raises PeerError.

    An environment is named by what stands in the requirements file: another version is another environment.
    """
    if system.requirements is None:
        return Path(sys.executable)
    if not system.requirements.exists():
        raise PeerError(f"{system.requirements.name} is missing from {system.requirements.parent.name}")
    digest = hashlib.sha256(system.requirements.read_bytes()).hexdigest()[:12]
    folder = cache_folder().resolve() / "peers" / f"{system.name}-{digest}"
    if not folder.exists():
        if not install:
            raise PeerError("not installed: run without --no-install")
        _make(folder, system.requirements)
    return folder / "bin" / "python"


def _make(folder: Path, requirements: Path) -> None:
    """Where it will stay, since scripts of an environment name their folder; gone again when anything fails."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        _run([sys.executable, "-m", "venv", str(folder)])
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, "-r", str(requirements)])
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 * _MINUTES)
    except subprocess.TimeoutExpired:
        raise PeerError(f"installing took more than {_MINUTES} minutes") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise PeerError(f"not installed: {(errors or done.stderr.splitlines() or ['no reason given'])[-1][:300]}")


def surroundings(system: System, work: Path) -> dict[str, str]:
    """The environment variables of a system's process: nobody is told of it, nothing is kept outside `work`."""
    quiet = {
        "ANONYMIZED_TELEMETRY": "false", "MEM0_TELEMETRY": "false", "GRAPHITI_TELEMETRY_ENABLED": "false",
        "POSTHOG_DISABLED": "true", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1", "HOME": str(work),
        "MEM0_DIR": str(work / "mem0"), "OPENAI_API_KEY": "none", "PYTHONUNBUFFERED": "1",
    }  # fmt: skip
    own = {"PYTHONPATH": str(ROOT)} if system.requirements is None else {}
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return kept | quiet | own
