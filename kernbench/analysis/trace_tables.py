"""The tables of a kept trace: columns searched as arrays, rows as records on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types

from kernbench.hardware.topology.nodes import HOST_CPU

Ints = npt.NDArray[np.int64]
_FEW = 100_000
"""Texts that Python numbers sooner than ``pyarrow.compute`` is imported, which Arrow's own way needs."""


def host_of(tables: Mapping[str, pa.Table]) -> str:
    """The name of the host CPU of a run; the usual one where it did nothing."""
    use = tables["Use"]
    row = use["kind"].index("host_cpu").as_py()
    return HOST_CPU if row < 0 else str(use["resource"][row])


class Texts:
    """A column of texts, each kept once."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self._dictionary, self.codes = _encode(column)
        """By row a number that stands for the text."""
        self._made: dict[int, str] = {}

    def item(self, row: int) -> str:
        """The text of a row."""
        return self._made_of(self.codes.item(row))

    def items(self, rows: list[int]) -> list[str]:
        """The texts of some rows."""
        return [self._made_of(code) for code in self.codes[rows].tolist()]

    def _made_of(self, code: int) -> str:
        text = self._made.get(code)
        if text is None:
            text = self._made[code] = str(self._dictionary[code])
        return text

    def all(self) -> list[str]:
        """The texts by code."""
        texts: list[str] = self._dictionary.to_pylist()
        return texts

    def rows(self, fits: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
        """Whether the text ``fits``, by row."""
        which = np.array([fits(text) for text in self._dictionary.to_pylist()], np.bool_)
        mask: npt.NDArray[np.bool_] = which[self.codes]
        return mask


def _encode(column: pa.ChunkedArray) -> tuple[pa.Array, npt.NDArray[Any]]:
    """The texts, as they first occur, and by row the number of its text."""
    if pyarrow.types.is_string(column.type) and len(column) <= _FEW:
        numbers: dict[str, int] = {}
        texts = column.to_numpy(zero_copy_only=False).tolist()
        codes = np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int32)
        return pa.array(list(numbers), column.type), codes
    coded = column.combine_chunks().dictionary_encode()
    return coded.dictionary, coded.indices.to_numpy()


def rows_of(column: pa.ChunkedArray, index: Mapping[str, int]) -> Ints:
    """By row the number that ``index`` has for its text; -1 where it has none."""
    texts = Texts(column)
    rows: Ints = np.array([index.get(text, -1) for text in texts.all()], np.int64)[texts.codes]
    return rows


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
        """The rows of these ids, which must all be there."""
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


class TracedMessage(NamedTuple):
    """A transaction. Times in ns; ``op`` is its operation's id or -1."""

    id: int
    kind: str
    src: str
    dst: str
    t_submit: float
    t_done: float
    op: int


class TracedHop(NamedTuple):
    """One location on a transaction's path, as its last flit saw it."""

    resource: str
    t_out: float
    service_ns: float
    wait_ns: float
    bytes: int


class TracedOp(NamedTuple):
    """An operation, or one stage of one tile of it."""

    id: int
    name: str
    stage: str
    component: str
    launch: int
    parent: int
    t_ready: float
    t_start: float
    t_end: float
    label: str
    source: str


Record = TypeVar("Record", TracedMessage, TracedHop, TracedOp)


class Records(Generic[Record]):
    """A table's rows as records of ``kind``; only the columns that are its fields are read."""

    def __init__(self, table: pa.Table, kind: type[Record]) -> None:
        self._kind: type[Any] = kind
        self._numbers: dict[str, npt.NDArray[Any]] = {}
        self._texts: dict[str, Texts] = {}
        for field in kind._fields:
            column = table["number" if field == "id" else field]
            if pyarrow.types.is_string(column.type):
                self._texts[field] = Texts(column)
            else:
                self._numbers[field] = column.to_numpy()
        columns: dict[str, Any] = {**self._numbers, **self._texts}
        self._columns = [columns[field] for field in kind._fields]
        self._count = int(table.num_rows)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: int) -> Record:
        """The record of a row, from 0."""
        record: Record = self._kind(*[column.item(row) for column in self._columns])
        return record

    def several(self, rows: list[int]) -> list[Record]:
        """The records of some rows."""
        columns = [
            column.items(rows) if isinstance(column, Texts) else column[rows].tolist()
            for column in self._columns
        ]
        return list(map(self._kind._make, zip(*columns, strict=True)))

    def numbers(self, field: str) -> npt.NDArray[Any]:
        """A column of numbers."""
        return self._numbers[field]

    def texts(self, field: str) -> Texts:
        """A column of texts."""
        return self._texts[field]
