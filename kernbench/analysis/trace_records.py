"""The tables of a kept trace as records, made one by one when they are asked for."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import numpy.typing as npt
import pyarrow as pa
import pyarrow.types

from kernbench.analysis.columns import Texts


class Message(NamedTuple):
    """A transaction. Times in ns; ``op`` is its operation's id or -1."""

    id: int
    kind: str
    src: str
    dst: str
    t_submit: float
    t_done: float
    op: int


class Place(NamedTuple):
    """One place on a transaction's way, as its last flit saw it."""

    resource: str
    is_link: bool
    t_out: float
    service_ns: float
    wait_ns: float
    bytes: int


class Work(NamedTuple):
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


Record = TypeVar("Record", Message, Place, Work)


class Records(Generic[Record]):
    """A table's rows as records of ``kind``; only the columns that are its fields are read."""

    def __init__(self, table: pa.Table, kind: type[Record]) -> None:
        self._kind: type[Any] = kind
        self._numbers: dict[str, npt.NDArray[Any]] = {}
        self._texts: dict[str, Texts] = {}
        for field in kind._fields:
            if pyarrow.types.is_string(table[field].type):
                self._texts[field] = Texts(table[field])
            else:
                self._numbers[field] = table[field].to_numpy()
        columns: dict[str, Any] = {**self._numbers, **self._texts}
        self._columns = [columns[field] for field in kind._fields]
        self._count = int(table.num_rows)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: int) -> Record:
        """The record of a row, from 0."""
        record: Record = self._kind(*[column.item(row) for column in self._columns])
        return record

    def numbers(self, field: str) -> npt.NDArray[Any]:
        """A column of numbers."""
        return self._numbers[field]

    def texts(self, field: str) -> Texts:
        """A column of texts."""
        return self._texts[field]
