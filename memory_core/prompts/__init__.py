"""Prompts are files with versions: what a model was asked stands in every extraction and run file by the file's name.

A file is a system part and a user part, with a line `---` between. Words of a conversation only ever go into the user
part, between markers that they cannot contain.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

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
    """Every prompt there is, sorted.

    >>> "extraction-v1" in versions()
    True
    """
    return sorted(file.name.removesuffix(".txt") for file in files(__name__).iterdir() if file.name.endswith(".txt"))


_NAME = re.compile(r"\{(\w+)\}")


@lru_cache
def _parts(version: str) -> tuple[str, str]:
    if version not in versions():
        raise InputError(f"There is no prompt {version}; there are {', '.join(versions())}.")
    system, _, user = files(__name__).joinpath(f"{version}.txt").read_text(encoding="utf-8").partition("\n---\n")
    return system.strip(), user.strip()
