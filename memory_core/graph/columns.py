"""Arrays that grow by doubling, so that adding a row costs the same at any size."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Item = TypeVar("Item", bound=np.generic)


class Column(Generic[Item]):
    """A growable array of shape (n, *shape); `values` is a view of the filled part.

    >>> column = Column(np.int64)
    >>> for value in range(3):
    ...     column.append(value)
    >>> column.values.tolist()
    [0, 1, 2]
    """

    def __init__(self, dtype: DTypeLike, shape: tuple[int, ...] = ()) -> None:
        self._data: NDArray[Any] = np.zeros((16, *shape), dtype)
        self._count = 0

    @property
    def values(self) -> NDArray[Any]:
        """The filled rows; writing to it writes to the column."""
        return self._data[: self._count]

    def append(self, value: Any) -> None:
        """Add one row."""
        if self._count == len(self._data):
            self._grow(2 * self._count)
        self._data[self._count] = value
        self._count += 1

    def extend(self, values: NDArray[Any]) -> None:
        """Add many rows at once."""
        self.room(len(values))[:] = values

    def room(self, count: int) -> NDArray[Any]:
        """That many more rows, all zero, to be filled by whoever asked."""
        needed = self._count + count
        if needed > len(self._data):
            self._grow(needed + needed // 4)  # memory that is never written to takes none
        self._count = needed
        return self._data[needed - count : needed]

    def _grow(self, capacity: int) -> None:
        grown = np.zeros((capacity, *self._data.shape[1:]), self._data.dtype)
        grown[: self._count] = self._data[: self._count]
        self._data = grown

    def __len__(self) -> int:
        return self._count
