"""A key, kept from every place where it could be read."""

from __future__ import annotations

import re
from typing import Any


class Secret:
    """A key that is sent and never shown: not by repr, str, f-string, log or pickle.

    >>> Secret("sk-abcdef"), bool(Secret(""))
    (Secret(****), False)
    """

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value.strip()

    def reveal(self) -> str:
        """The key itself, for the one place that sends it."""
        return self._value

    def hide(self, text: str) -> str:
        """`text` without this key and without whatever looks like one."""
        text = text.replace(self._value, "****") if self._value else text
        return re.sub(r"\b(sk-|Bearer )[\w*.-]+", "****", text)

    def __repr__(self) -> str:
        return "Secret(****)" if self._value else "Secret()"

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __deepcopy__(self, memo: dict[int, object]) -> Secret:
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("A key is never written anywhere.")
