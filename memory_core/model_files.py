"""Checks the files of models that arrive as wheels from small publishers, once a process, before anything runs them."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from memory_core.errors import ModelFileError


@lru_cache
def checked_file(package: str, relative: str, sha256: str, install: str, instead: str) -> Path:
    """The path of `relative` inside the installed `package`, its content equal to `sha256`.

    Raises ModelFileError when the package is not installed or the file was altered; the message gives the `install`
    command and what to use `instead`.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelFileError(f"Model package {package} is not installed: run `pip install {install}`, or {instead}.")
    path = Path(spec.submodule_search_locations[0]) / relative
    if not path.is_file():
        raise ModelFileError(f"{package} lacks {relative}: `pip install --force-reinstall {install}`, or {instead}.")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise ModelFileError(
            f"{package}/{relative} was altered (sha256 {found[:12]}… instead of {sha256[:12]}…): "
            f"run `pip install --force-reinstall {install}`, or {instead}."
        )
    return path
