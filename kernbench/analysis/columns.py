"""Columns of a trace's tables, searched without making Python values of all that they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]


class Texts:
    """A column of texts, each kept once."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        coded = column.combine_chunks().dictionary_encode()
        self._dictionary = coded.dictionary
        self.codes = coded.indices.to_numpy()
        """By row a number that stands for the text."""
        self._made: dict[int, str] = {}

    def item(self, row: int) -> str:
        """The text of a row."""
        code = self.codes.item(row)
        text = self._made.get(code)
        if text is None:
            text = self._made[code] = str(self._dictionary[code])
        return text

    def rows(self, fits: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
        """Whether the text ``fits``, by row."""
        which = np.array([fits(text) for text in self._dictionary.to_pylist()], np.bool_)
        mask: npt.NDArray[np.bool_] = which[self.codes]
        return mask


class Groups:
    """Rows by the value of a column: finds those of one value without looking at the others."""

    def __init__(self, keys: npt.NDArray[Any]) -> None:
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]

    def __getitem__(self, key: float) -> list[int]:
        """The rows with exactly this value, ascending."""
        begin, end = self._sorted.searchsorted(key, "left"), self._sorted.searchsorted(key, "right")
        rows: list[int] = self._order[begin:end].tolist()
        return rows


class RowsOf:
    """The row of each id."""

    def __init__(self, ids: Ints) -> None:
        self._order = np.argsort(ids, kind="stable")
        self._sorted = ids[self._order]

    def of(self, ids: Ints) -> Ints:
        """The rows of these ids, all of which are there."""
        return self._order[self._sorted.searchsorted(ids)]

    def find(self, number: int) -> int | None:
        """The row of an id, if there is one."""
        at = int(self._sorted.searchsorted(number))
        if at < len(self._sorted) and self._sorted.item(at) == number:
            return self._order.item(at)
        return None

    def __getitem__(self, number: int) -> int:
        """The row of an id that is there."""
        row = self.find(number)
        if row is None:
            raise KeyError(number)
        return row
