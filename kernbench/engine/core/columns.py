"""Numbers that grow while a run goes on: containers in two forms, these and compiled ones (``columns.pyx``).

Rows that are gathered here are formatted when the run is over. A finished transaction costs a few calls, and
a row its bytes: a tuple of Python floats for each hop would take four times the room, and the collector would
look at it. The layout of rows is defined in one place, :mod:`kernbench.engine.core.records`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from kernbench.engine.core.records import HOPS, NUMBERS, WAITS

_LONG, _DOUBLE, _PAIR = struct.Struct("=q"), struct.Struct("=d"), struct.Struct("=ii")


class Doubles:
    """Floats, which are ``at[0]`` and so on: zeros when it has been ``sized``."""

    __slots__ = ("at", "size")

    def sized(self, size: int) -> Doubles:
        """Make it ``size`` zeros."""
        self.at = [0.0] * size
        self.size = size
        return self

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[float]:
        return iter(self.at)


class _Block:
    """Bytes that grow."""

    def __init__(self) -> None:
        self._data = bytearray()

    def rows(self, layout: Any) -> Any:
        """The rows as an array of that structured type, a view: no row can be added while there is one."""
        return np.frombuffer(self._data, layout)


class Words(_Block):
    """Rows of ``width`` values of eight bytes, whole numbers or floats, one after the other."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    @property
    def count(self) -> int:
        """Number of complete rows so far."""
        return len(self._data) // (8 * self.width)

    def integer(self, value: int) -> None:
        """Append a whole number below 2^63."""
        self._data += _LONG.pack(value)

    def integers(self, values: Any) -> None:
        """Append the values of an array of eight-byte whole numbers."""
        self._data += values.tobytes()

    def number(self, value: float) -> None:
        """Append a float."""
        self._data += _DOUBLE.pack(value)

    def pair(self, first: int, second: int) -> None:
        """Append one value of two whole numbers below 2^31."""
        self._data += _PAIR.pack(first, second)

    def blank(self, count: int) -> None:
        """Append ``count`` values that are set later."""
        self._data += bytes(8 * count)

    def set_integer(self, place: int, value: int) -> None:
        """Set value number ``place`` to a whole number."""
        _LONG.pack_into(self._data, 8 * place, value)

    def set_number(self, place: int, value: float) -> None:
        """Set value number ``place`` to a float."""
        _DOUBLE.pack_into(self._data, 8 * place, value)

    def set_pair(self, place: int, first: int, second: int) -> None:
        """Set value number ``place`` to two whole numbers."""
        _PAIR.pack_into(self._data, 8 * place, first, second)

    def integer_at(self, place: int) -> int:
        """Value number ``place``, a whole number."""
        found: int = _LONG.unpack_from(self._data, 8 * place)[0]
        return found

    def column(self, number: int, typecode: str) -> bytes:
        """The values of column ``number``, as an ``array`` of that type code holds them."""
        values = np.frombuffer(self._data, "f8" if typecode == "d" else "i8")[number :: self.width]
        return values.astype(typecode).tobytes()


class _Rows(_Block):
    """Rows of ``layout``."""

    layout: np.dtype[Any]

    def __init_subclass__(cls) -> None:
        kinds = [cls.layout[name].kind for name in cls.layout.names or ()]
        cls._row = struct.Struct("=" + "".join("d" if kind == "f" else "q" for kind in kinds))

    _row: struct.Struct

    @property
    def count(self) -> int:
        """Number of rows so far."""
        return len(self._data) // self._row.size

    def add(self, *row: float) -> None:
        """Append one row."""
        self._data += self._row.pack(*row)

    def extend(self, more: _Rows) -> None:
        """Append all rows of ``more``."""
        self._data += more._data

    def tuples(self) -> list[Any]:
        """The rows of a container that is not large."""
        return [*self._row.iter_unpack(self._data)]

    def columns(self) -> dict[str, Any]:
        """The columns as arrays by name: views, so that no row can be added while there are such arrays."""
        rows = self.rows(self.layout)
        return {name: rows[name] for name in self.layout.names or ()}


class Hops(_Rows):
    """Nodes and links that transactions passed, with times in ns."""

    layout = HOPS


class Waits(_Rows):
    """Waits of transactions, each on one holder."""

    layout = WAITS

    def times(self) -> list[float]:
        """The ns of each."""
        return [row[3] for row in self.tuples()]

    def extend_joined(self, more: Waits) -> None:
        """All of ``more``; its waits on one holder at one resource and hop become one."""
        joined: dict[tuple[int, int, int], Any] = {}
        for row in more.tuples():
            of, holder, resource, ns, holders, seq, t_from, t_to = row
            before = joined.get((holder, resource, seq))
            if before is not None:
                row = (
                    of, holder, resource, before[3] + ns, max(before[4], holders), seq,
                    min(before[6], t_from), max(before[7], t_to),
                )  # fmt: skip
            joined[holder, resource, seq] = row
        for row in joined.values():
            self.add(*row)


class Numbers(_Rows):
    """The numeric fields of transactions that have ended."""

    layout = NUMBERS
