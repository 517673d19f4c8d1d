"""The operations of a run in the order of their effects, in columns, and their tables for the run archive.

A long run has millions of operations, so none is kept as an object: numbers go into typed arrays, texts into
lists of the distinct ones with a code for each row (:class:`~kernbench.replay.coded.Coded`). An
:class:`~kernbench.replay.op_record.OpRecord` reads one row.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kernbench.program.operations import Operand, Region
from kernbench.replay.coded import Coded
from kernbench.replay.op_record import OUTPUT, OpRecord
from kernbench.replay.op_rows import OpRows
from kernbench.replay.tensor_log import TensorLog

Table = dict[str, Any]
"""Columns by name: numpy arrays for numbers, lists for strings, all of one length."""

LabelKey = tuple[str, tuple[tuple[int, ...], ...], tuple[int, ...] | None, str]
"""The parts of a label: name, shapes of inputs, shape and type of the output."""


class OpLog(OpRows):
    """Finished operations, in report order; append-only.

    ``tile`` operations are kept like all others: they carry the timing of a composite's stages.
    """

    def __init__(self) -> None:
        self._integers = {name: array("q") for name in ("id", "launch", "parent", "bytes")}
        self._times = {name: array("d") for name in ("t_ready", "t_start", "t_end")}
        self._texts: dict[str, Coded[Any]] = {
            name: Coded(str) for name in ("kind", "name", "stage", "component", "source")
        }
        self._texts["label"] = Coded(_label)
        # Rows of one operation's transactions, operands and dependencies adjoin; these are where each ends.
        self._ends = {name: array("q") for name in ("moved", "operand", "edge")}
        self._moved = array("q")
        self._operand = {n: array("q") for n in ("position", "handle", "address")}
        self._operand_texts: dict[str, Coded[Any]] = {"shape": Coded(_shape), "dtype": Coded(str)}
        self._region_end = array("q")
        self._region = {n: array("q") for n in ("addr", "bytes")}
        self._edge_on = array("q")
        self._edge_hazard: Coded[str] = Coded(str)
        self.tensors = TensorLog()
        """The run's tensors and their accesses."""
        texts, of_operands = [*self._texts.values()], [*self._operand_texts.values()]
        super().__init__(
            [text.codes for text in (*texts, *of_operands, self._edge_hazard)],
            [
                [*self._integers.values(), *self._times.values(), *_rows(texts), *self._ends.values()],
                [*self._operand.values(), *_rows(of_operands), self._region_end],
                [*self._region.values()],
                [self._edge_on, self._edge_hazard.rows],
                [self._moved],
            ],
        )

    def __iter__(self) -> Iterator[OpRecord]:
        return (OpRecord(self, row) for row in range(len(self)))

    def __getitem__(self, row: int) -> OpRecord:
        """The operation that was reported as number ``row``."""
        if not 0 <= row < len(self):
            raise IndexError(row)
        return OpRecord(self, row)

    def integers(self) -> dict[str, array[int]]:
        """The columns of whole numbers."""
        self.gather()
        return self._integers

    def times(self) -> dict[str, array[float]]:
        """The columns of times, ns."""
        self.gather()
        return self._times

    def texts(self) -> dict[str, Coded[Any]]:
        """The columns of texts."""
        self.gather()
        return self._texts

    def find(self, op_id: int) -> OpRecord | None:
        """The operation with that id, if it has been reported."""
        rows = np.flatnonzero(self._ids() == op_id)
        return OpRecord(self, int(rows[0])) if len(rows) else None

    @property
    def components(self) -> set[str]:
        """Names of the components that carried operations out."""
        return {name for name in self.texts()["component"].to_list() if name}

    def dependencies(self) -> Iterator[tuple[int, int, str]]:
        """All ``(op, on, hazard)``, in report order of ``op``."""
        return zip(self._edge_ops().tolist(), self._edge_on, self._edge_hazard.to_list(), strict=True)

    def dependencies_of(self, row: int) -> list[tuple[int, str]]:
        """``(op id, hazard)`` of the operation of a row."""
        rows = self._span("edge", row)
        return [(self._edge_on[at], self._edge_hazard[at]) for at in rows]

    def transactions_of(self, row: int) -> list[int]:
        """Ids of the transactions that carried out the operation of a row."""
        rows = self._span("moved", row)
        return list(self._moved[rows.start : rows.stop])

    def operands_of(self, row: int) -> list[tuple[int, Operand]]:
        """``(position, operand)`` of the operation of a row, inputs first."""
        return [(self._operand["position"][at], self._operand_at(at)) for at in self._span("operand", row)]

    def _span(self, what: str, row: int) -> range:
        """The rows of an operation's transactions, operands or dependencies."""
        self.gather()
        ends = self._ends[what]
        return range(_start(ends, row), ends[row])

    def _edge_ops(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The operation of each dependency."""
        ids = self._ids()
        return np.repeat(ids, _counts(self._ends["edge"]))

    def tables(self) -> dict[str, Table]:
        """The archive's tables ``Op``, ``Operand``, ``Region``, ``DependsOn``, ``Awaited``, and of tensors.

        Times in ns, sizes in bytes. A dependency on an operation that never finished, because the run failed
        before, is left out; a part of such an operation stands for itself (``parent`` is -1).
        """
        return {
            "Op": self._op_table(),
            "Operand": self.operand_table(),
            "Region": self.region_table(),
            "DependsOn": self._depends_on_table(),
            "Awaited": self._awaited_table(),
            **self.tensors.tables(self._ids()),
        }

    def operand_table(self) -> Table:
        """A row for each operand: ``op position handle address shape dtype``, in order of ``op``'s report.

        ``position`` counts inputs from 0 and is -1 for the output; ``handle`` and ``address`` are -1 where
        there is none; ``shape`` is text such as ``64x32``.
        """
        return {
            "op": np.repeat(self._ids(), _counts(self._ends["operand"])),
            **{name: np.array(column, np.int64) for name, column in self._operand.items()},
            **{name: column.to_list() for name, column in self._operand_texts.items()},
        }

    def region_table(self) -> Table:
        """A row for each run of physical bytes of an operand: ``op position addr bytes``, in memory order."""
        operands = self.operand_table()
        counts = _counts(self._region_end)
        return {
            "op": np.repeat(operands["op"], counts),
            "position": np.repeat(operands["position"], counts),
            **{name: np.array(column, np.int64) for name, column in self._region.items()},
        }

    def _operand_at(self, at: int) -> Operand:
        shape = self._operand_texts["shape"][at]
        handle, address = self._operand["handle"][at], self._operand["address"][at]
        return Operand(
            () if shape == "scalar" else tuple(map(int, shape.split("x"))),
            self._operand_texts["dtype"][at],
            None if handle < 0 else handle,
            None if address < 0 else address,
            tuple(
                Region(self._region["addr"][i], self._region["bytes"][i])
                for i in range(_start(self._region_end, at), self._region_end[at])
            ),
        )

    def _ids(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.array(self.integers()["id"], np.int64)

    def _op_table(self) -> Table:
        parents = np.array(self.integers()["parent"], np.int64)
        text = {name: column.to_list() for name, column in self._texts.items()}
        number = {name: np.array(column, np.int64) for name, column in self._integers.items()}
        return {
            "number": number["id"],
            **{name: text[name] for name in ("kind", "name", "stage", "component")},
            "launch": number["launch"],
            "parent": np.where(np.isin(parents, number["id"]), parents, -1),
            "bytes": number["bytes"],
            **self._sizes(text["kind"]),
            **{name: np.array(column, np.float64) for name, column in self._times.items()},
            "source": text["source"],
            "label": text["label"],
        }

    def _sizes(self, kinds: list[str]) -> Table:
        """Columns ``m k n flops dtype``: of GEMMs their sizes, of every operation the type of its result."""
        mkn = np.zeros((len(kinds), 3), np.int64)
        dtypes = [""] * len(kinds)
        for row, kind in enumerate(kinds):
            operands = dict(self.operands_of(row))
            if OUTPUT in operands:
                dtypes[row] = operands[OUTPUT].dtype
            if kind == "gemm" and len(operands[0].shape) == len(operands[1].shape) == 2:
                mkn[row] = (*operands[0].shape, operands[1].shape[1])
        m, k, n = mkn.T
        return {"m": m, "k": k, "n": n, "flops": 2 * m * k * n, "dtype": dtypes}

    def _depends_on_table(self) -> Table:
        op = self._edge_ops()
        on = np.array(self._edge_on, np.int64)
        known = np.isin(on, self._ids())
        hazards = self._edge_hazard.to_list()
        if not known.all():
            hazards = [h for h, keep in zip(hazards, known, strict=True) if keep]
        return {"op": op[known], "on": on[known], "hazard": hazards}

    def _awaited_table(self) -> Table:
        return {
            "op": np.repeat(self._ids(), _counts(self._ends["moved"])),
            "txn": np.array(self._moved, np.int64),
        }


def _rows(texts: Sequence[Coded[Any]]) -> list[array[int]]:
    return [text.rows for text in texts]


def _label(key: LabelKey) -> str:
    """An operation in one phrase: ``dot 64x32 32x16 -> 64x16 f16``."""
    name, inputs, output, dtype = key
    words = [name, *map(_shape, inputs)]
    if output is not None:
        words += ["->", _shape(output), dtype]
    return " ".join(words)


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _start(ends: array[int], row: int) -> int:
    return ends[row - 1] if row else 0


def _counts(ends: array[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    counts = np.array(ends, np.int64)
    counts[1:] -= counts[:-1].copy()
    return counts
