"""Numbers that grow while a run goes on: containers in two forms, these and compiled ones (``columns.pyx``).

Rows that are gathered here are formatted when the run is over. A finished transaction costs a few calls, and
a row its bytes: a tuple of Python floats for each hop would take four times the room, and the collector would
look at it. Columns of one container grow together, so what a row is stands in one place.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

_LONG, _DOUBLE, _PAIR = struct.Struct("=q"), struct.Struct("=d"), struct.Struct("=ii")
_BATCH = 8192
"""Rows that wait as tuples before they go into typed arrays: few enough to be small, enough to be cheap."""


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


class Words:
    """Rows of ``width`` values of eight bytes, whole numbers or floats, one after the other."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._data = bytearray()

    @property
    def count(self) -> int:
        """Whole rows so far."""
        return len(self._data) // (8 * self.width)

    def integer(self, value: int) -> None:
        """The next value is a whole number below 2^63."""
        self._data += _LONG.pack(value)

    def integers(self, values: Any) -> None:
        """The next values are those of an array of whole numbers of eight bytes."""
        self._data += values.tobytes()

    def number(self, value: float) -> None:
        """The next value is a float."""
        self._data += _DOUBLE.pack(value)

    def pair(self, first: int, second: int) -> None:
        """The next value is two whole numbers below 2^31."""
        self._data += _PAIR.pack(first, second)

    def blank(self, count: int) -> None:
        """The next ``count`` values are set later."""
        self._data += bytes(8 * count)

    def set_integer(self, place: int, value: int) -> None:
        """Value number ``place`` of all is that whole number."""
        _LONG.pack_into(self._data, 8 * place, value)

    def set_number(self, place: int, value: float) -> None:
        """Value number ``place`` of all is that float."""
        _DOUBLE.pack_into(self._data, 8 * place, value)

    def set_pair(self, place: int, first: int, second: int) -> None:
        """Value number ``place`` of all is those two whole numbers."""
        _PAIR.pack_into(self._data, 8 * place, first, second)

    def integer_at(self, place: int) -> int:
        """Value number ``place`` of all, a whole number."""
        found: int = _LONG.unpack_from(self._data, 8 * place)[0]
        return found

    def rows(self, layout: Any) -> Any:
        """The rows as an array of that structured type, a view: no row can be added while there is one."""
        return np.frombuffer(self._data, layout)

    def column(self, number: int, typecode: str) -> bytes:
        """The values of column ``number``, as an ``array`` of that type code holds them."""
        values = np.frombuffer(self._data, "f8" if typecode == "d" else "i8")[number :: self.width]
        return values.astype(typecode).tobytes()


class _Rows:
    """Rows as tuples, then in an array a column."""

    _NAMES: tuple[str, ...]
    _FLOATS: frozenset[str]

    def __init__(self) -> None:
        self._rows: list[Any] = []
        self._arrays: list[array[Any]] | None = None
        self._settled = 0

    @property
    def count(self) -> int:
        """Rows so far, forgotten ones too."""
        return self._settled + len(self._rows)

    def tuples(self) -> list[Any]:
        """The rows of a container that is not large."""
        return list(self._rows)

    def columns(self) -> dict[str, Any]:
        """The columns as arrays by name: views, so that no row can be added while there are such arrays."""
        self._settle()
        assert self._arrays is not None
        return {
            name: np.frombuffer(column, np.dtype("f8" if name in self._FLOATS else "i8"))
            for name, column in zip(self._NAMES, self._arrays, strict=True)
        }

    def _grown(self) -> None:
        if len(self._rows) >= _BATCH:
            self._settle()

    def _settle(self) -> None:
        if self._arrays is None:
            self._arrays = [array("d" if name in self._FLOATS else "q") for name in self._NAMES]
        self._settled += len(self._rows)
        if self._rows:
            for column, values in zip(self._arrays, zip(*self._rows, strict=True), strict=True):
                column.extend(values)
            self._rows.clear()


class Hops(_Rows):
    """Nodes and links that transactions passed, with times in ns."""

    _NAMES = ("resource", "t_in", "t_start", "t_out", "service_ns", "wait_ns", "nbytes")
    _FLOATS = frozenset(_NAMES[1:6])

    def add(
        self,
        resource: int,
        t_in: float,
        t_start: float,
        t_out: float,
        service_ns: float,
        wait_ns: float,
        nbytes: int,
    ) -> None:
        """One more."""
        self._rows.append((resource, t_in, t_start, t_out, service_ns, wait_ns, nbytes))

    def extend(self, more: Hops) -> None:
        """All of ``more``, which is not large."""
        self._rows += more._rows
        self._grown()


class Waits(_Rows):
    """Waits of transactions, each on one holder; ``of`` is who waited, ``seq`` the hop at which it stood."""

    _NAMES = ("of", "holder", "resource", "holders", "seq", "ns", "t_from", "t_to")
    _FLOATS = frozenset(_NAMES[5:])

    def add(
        self,
        of: int,
        holder: int,
        resource: int,
        holders: int,
        seq: int,
        ns: float,
        t_from: float,
        t_to: float,
    ) -> None:
        """One more."""
        self._rows.append((of, holder, resource, holders, seq, ns, t_from, t_to))

    def times(self) -> list[float]:
        """The ns of each."""
        return [row[5] for row in self._rows]

    def extend_joined(self, more: Waits) -> None:
        """All of ``more``; its waits on one holder at one resource and hop become one."""
        joined: dict[tuple[int, int, int], Any] = {}
        for row in more._rows:
            of, holder, resource, holders, seq, ns, t_from, t_to = row
            before = joined.get((holder, resource, seq))
            if before is not None:
                row = (
                    of, holder, resource, max(before[3], holders), seq, before[5] + ns,
                    min(before[6], t_from), max(before[7], t_to),
                )  # fmt: skip
            joined[holder, resource, seq] = row
        self._rows += joined.values()
        self._grown()


class Numbers(_Rows):
    """Transactions that have ended: what is a number of theirs."""

    _NAMES = ("id", "parent", "op", "launch", "nbytes", "hops", "address", "channel", "t_submit", "t_done")
    _FLOATS = frozenset(_NAMES[8:])

    def add(
        self,
        id: int,
        parent: int,
        op: int,
        launch: int,
        nbytes: int,
        hops: int,
        address: int,
        channel: int,
        t_submit: float,
        t_done: float,
    ) -> None:
        """One more."""
        self._rows.append((id, parent, op, launch, nbytes, hops, address, channel, t_submit, t_done))
        self._grown()
