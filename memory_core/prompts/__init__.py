"""Prompts are files with versions: what a model was asked stands in every extraction and run file by the file's name.

A file is a system part and a user part, with a line `---` between. Words of a conversation only ever go into the user
part, between markers that they cannot contain.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from memory_core.errors import InputError


def prompt(version: str, **values: str) -> tuple[str, str]:
    """System and user prompt of a version such as `extraction-v1`, its {names} filled in.

    Raises InputError for a version there is no file for, or a name without a value.

    >>> system, user = prompt("entities-v1", question=data("question", "Where does Mira live?"))
    >>> "Mira" in system, "Where does Mira live?" in user
    (False, True)
    """
    system, user = _parts(version)
    try:
        return _NAME.sub(lambda name: values[name[1]], system), _NAME.sub(lambda name: values[name[1]], user)
    except KeyError as error:
        raise InputError(f"Prompt {version} needs a value for {error}.") from error


def data(name: str, text: str) -> str:
    """`text` to the letter between markers it does not hold: they carry a digest of it.

    >>> print(data("turn", "My bike is blue."))
    <turn-12ea5ffb>
    My bike is blue.
    </turn-12ea5ffb>
    """
    mark = f"{name}-{sha256(text.encode(errors='replace')).hexdigest()[:8]}"
    return f"<{mark}>\n{text}\n</{mark}>"


def versions() -> list[str]:
    """Every prompt there is, shipped or kept by a person, sorted by name, `-v10` after `-v9`.

    >>> "extraction-v1" in versions()
    True
    """
    shipped = {file.name for file in files(__name__).iterdir()}
    own = {file.name for file in folder().glob("*.txt")} if folder().is_dir() else set()
    names = {name.removesuffix(".txt") for name in shipped | own if name.endswith(".txt")}
    return sorted(names, key=_order)


def folder() -> Path:
    """Where prompts a person keeps live: $FORGETTING_LAB_PROMPTS, else `data/prompts`."""
    return Path(os.environ.get("FORGETTING_LAB_PROMPTS") or "data/prompts")


def text_of(version: str) -> tuple[str, str]:
    """System and user part of a version with its {names} unfilled. Raises InputError for an unknown one."""
    return _parts(version)


def draft(kind: str, system: str, user: str) -> str:
    """Give a prompt a name to be tried under in this process, `extraction-draft-1f0a23c4`: the digest is of its words,
    so that an extraction tells exactly what was asked. Raises InputError when a {name} is unknown or lacking.
    """
    wanted = _FIELDS[kind]
    given = set(_NAME.findall(user))
    if missing := sorted(wanted - given):
        raise InputError(f"The user part must hold {{{missing[0]}}}: there the model is given its {missing[0]}.")
    if unknown := sorted((given | set(_NAME.findall(system))) - wanted):
        raise InputError(f"There is nothing to fill {{{unknown[0]}}} with: use {_braced(wanted)} only.")
    if "turn" in _NAME.findall(system):
        raise InputError("{turn} must not stand in the system part: what was said is data, never an instruction.")
    name = f"{kind}-draft-{sha256(f'{system}|{user}'.encode(errors='replace')).hexdigest()[:8]}"
    _drafts[name] = (system.strip(), user.strip())
    return name


def keep(kind: str, system: str, user: str) -> str:
    """Keep a prompt as the next version of its kind; a version is never written over. Returns its name.

    Raises InputError like `draft`, or when it cannot be written.
    """
    draft(kind, system, user)
    numbers = [int(found[1]) for version in versions() if (found := re.fullmatch(rf"{kind}-v(\d+)", version))]
    name = f"{kind}-v{max(numbers, default=0) + 1}"
    try:
        folder().mkdir(parents=True, exist_ok=True)
        with (folder() / f"{name}.txt").open("x", encoding="utf-8") as file:
            file.write(f"{system.strip()}\n---\n{user.strip()}\n")
    except OSError as error:
        raise InputError(f"{folder()} cannot be written: {error.strerror or error}.") from error
    return name


_NAME = re.compile(r"\{(\w+)\}")
_FIELDS = {"extraction": {"role", "turn"}, "entities": {"question"}}
_drafts: dict[str, tuple[str, str]] = {}


def _braced(names: Iterable[str]) -> str:
    return " and ".join(f"{{{name}}}" for name in sorted(names))


def _order(version: str) -> tuple[str, int]:
    found = re.fullmatch(r"(.*-v)(\d{1,9})", version)
    return (found[1], int(found[2])) if found else (version, 0)


def _parts(version: str) -> tuple[str, str]:
    return _drafts.get(version) or _read(version, str(folder()))


@lru_cache
def _read(version: str, own: str) -> tuple[str, str]:
    if version not in versions():
        raise InputError(f"There is no prompt {version}; there are {', '.join(versions())}.")
    shipped = files(__name__).joinpath(f"{version}.txt")
    file = shipped if shipped.is_file() else Path(own, f"{version}.txt")
    system, _, user = file.read_text(encoding="utf-8").partition("\n---\n")
    return system.strip(), user.strip()
