"""A column of texts that repeat: each distinct one is kept once, and a code for each row."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Generic, TypeVar

K = TypeVar("K")


class _Codes(dict[K, int]):
    """A number for each distinct key, in the order in which they were first asked for."""

    def __missing__(self, key: K) -> int:
        code = self[key] = len(self)
        return code


class Coded(Generic[K]):
    """A column of texts, each distinct one kept once, made of its key by ``text``."""

    def __init__(self, text: Callable[[K], str]) -> None:
        self._text = text
        self._codes: _Codes[K] = _Codes()
        self._known: list[str] = []
        self._rows = array("i")

    @property
    def codes(self) -> dict[K, int]:
        """The code of each distinct key."""
        return self._codes

    @property
    def rows(self) -> array[int]:
        """The code of each row."""
        return self._rows

    def extend(self, keys: Iterable[K]) -> None:
        """Add a row for each of ``keys``."""
        self._rows.extend(map(self._codes.__getitem__, keys))

    def __getitem__(self, row: int) -> str:
        return self._texts()[self._rows[row]]

    def to_list(self) -> list[str]:
        """The texts of all rows."""
        return [*map(self._texts().__getitem__, self._rows)]

    def _texts(self) -> list[str]:
        """The text of each code."""
        if len(self._known) < len(self._codes):
            self._known += map(self._text, islice(self._codes, len(self._known), None))
        return self._known
