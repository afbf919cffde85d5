"""Which nodes have which title."""

from __future__ import annotations

from collections.abc import Iterable

from memory_core.schema import normalise_title


class Titles:
    """Rows by label (its place in `LABELS`) and normalised title, live or not, oldest first; made when first asked for.

    >>> titles = Titles()
    >>> titles.load([(2, "Porto"), (0, "Mira"), (2, " porto")])
    >>> titles.find(2, "PORTO")
    [0, 2]
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[int, str], list[int]] = {}
        self._loaded: Iterable[tuple[int, str]] = ()

    def load(self, titles: Iterable[tuple[int, str]]) -> None:
        """Take the place of all: label and title of each row."""
        self._rows, self._loaded = {}, titles

    def _index(self) -> dict[tuple[int, str], list[int]]:
        loaded, self._loaded = self._loaded, ()
        for row, (label, title) in enumerate(loaded):
            self._rows.setdefault((label, normalise_title(title)), []).append(row)
        return self._rows

    def find(self, label: int, title: str) -> list[int]:
        """The rows of that label and title."""
        return self._index().get((label, normalise_title(title)), [])

    def add(self, row: int, label: int, title: str) -> None:
        """One more row."""
        rows = self._index().setdefault((label, normalise_title(title)), [])
        rows.append(row)
        rows.sort()

    def remove(self, row: int, label: int, title: str) -> None:
        """Take a row out, which has that label and title."""
        self._index()[label, normalise_title(title)].remove(row)
