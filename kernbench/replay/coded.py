"""A column of texts that repeat: each distinct one is kept once, and a code for each row."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import islice
from typing import Generic, TypeVar

K = TypeVar("K")


class Coded(Generic[K]):
    """A column of texts, each distinct one kept once, made of its key by ``text``."""

    def __init__(self, text: Callable[[K], str]) -> None:
        self._text = text
        self._codes: dict[K, int] = {}
        self._known: list[str] = []
        self._rows = array("i")

    @property
    def codes(self) -> dict[K, int]:
        """The code of each distinct key: their number, in the order in which they first came."""
        return self._codes

    @property
    def rows(self) -> array[int]:
        """The code of each row."""
        return self._rows

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
