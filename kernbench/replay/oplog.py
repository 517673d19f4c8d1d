"""The operations of a run in the order of their effects, in columns, and their tables for the run archive.

A long run has millions of operations, so none is kept as an object: numbers go into typed arrays, texts into
lists of the distinct ones with a code for each row. :class:`OpRecord` reads one row.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from kernbench.errors import KernBenchError
from kernbench.program.operations import Op, Operand, Region
from kernbench.replay.tensor_log import TensorLog

Table = dict[str, Any]
"""Columns by name: numpy arrays for numbers, lists for strings, all of one length."""

OUTPUT = -1
"""``position`` of an operation's output in the table ``Operand``; inputs count from 0."""


class Texts:
    """A column of texts, each distinct one kept once."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._known: list[str] = []
        self._rows = array("i")

    def append(self, text: str) -> None:
        """Add a row."""
        code = self._codes.get(text)
        if code is None:
            code = self._codes[text] = len(self._known)
            self._known.append(text)
        self._rows.append(code)

    def __getitem__(self, row: int) -> str:
        return self._known[self._rows[row]]

    def to_list(self) -> list[str]:
        """The texts of all rows."""
        known = self._known
        return [known[code] for code in self._rows]


class OpRecord:
    """One row of an :class:`OpLog`: the fields of an :class:`Op` without its values and parameters."""

    __slots__ = ("_log", "row")

    def __init__(self, log: OpLog, row: int) -> None:
        self._log = log
        self.row = row

    def __repr__(self) -> str:
        return f"<OpRecord {self.id} {self.kind}/{self.name} {self.t_start:g}..{self.t_end:g} ns>"

    @property
    def id(self) -> int:
        """Number of the operation."""
        return self._log.integers["id"][self.row]

    @property
    def launch(self) -> int:
        """Launch it belongs to, -1 when none."""
        return self._log.integers["launch"][self.row]

    @property
    def parent(self) -> int:
        """Operation it is a part of, -1 when none."""
        return self._log.integers["parent"][self.row]

    @property
    def nbytes(self) -> int:
        """Bytes moved or produced."""
        return self._log.integers["bytes"][self.row]

    @property
    def kind(self) -> str:
        """``memory``, ``gemm``, ``math``, ``view`` or ``tile``."""
        return self._log.texts["kind"][self.row]

    @property
    def name(self) -> str:
        """Name within its kind, such as ``dma_read``."""
        return self._log.texts["name"][self.row]

    @property
    def stage(self) -> str:
        """Stage of a tile pipeline, empty when none."""
        return self._log.texts["stage"][self.row]

    @property
    def component(self) -> str:
        """Component that carried it out."""
        return self._log.texts["component"][self.row]

    @property
    def label(self) -> str:
        """The operation in one phrase."""
        return self._log.texts["label"][self.row]

    @property
    def source(self) -> str:
        """``file.py:12``, the line of the kernel that asked for it; empty for the host's operations."""
        return self._log.texts["source"][self.row]

    @property
    def t_ready(self) -> float:
        """When the component received it, ns."""
        return self._log.times["t_ready"][self.row]

    @property
    def t_start(self) -> float:
        """When it began, ns."""
        return self._log.times["t_start"][self.row]

    @property
    def t_end(self) -> float:
        """When it was done, ns."""
        return self._log.times["t_end"][self.row]

    @property
    def after(self) -> list[tuple[int, str]]:
        """The operations that it depends on, with the hazard."""
        return self._log.dependencies_of(self.row)

    @property
    def transactions(self) -> list[int]:
        """Transactions that carried it out."""
        return self._log.transactions_of(self.row)

    @property
    def inputs(self) -> tuple[Operand, ...]:
        """Operands read, in order."""
        return tuple(operand for position, operand in self._log.operands_of(self.row) if position != OUTPUT)

    @property
    def output(self) -> Operand | None:
        """Operand written, if any."""
        found = self._log.operands_of(self.row)
        return next((operand for position, operand in found if position == OUTPUT), None)


class OpLog:
    """Finished operations, in report order; append-only.

    ``tile`` operations are kept like all others: they carry the timing of a composite's stages.
    """

    def __init__(self) -> None:
        self.integers = {name: array("q") for name in ("id", "launch", "parent", "bytes")}
        self.times = {name: array("d") for name in ("t_ready", "t_start", "t_end")}
        self.texts = {name: Texts() for name in ("kind", "name", "stage", "component", "label", "source")}
        self._at: dict[int, int] = {}
        # Rows of one operation's transactions and operands adjoin; these are where each operation's end.
        self._moved_end, self._operand_end = array("q"), array("q")
        self._moved = array("q")
        self._operand = {n: array("q") for n in ("position", "handle", "address")}
        self._operand_texts = {n: Texts() for n in ("shape", "dtype")}
        self._region_end = array("q")
        self._region = {n: array("q") for n in ("addr", "bytes")}
        self._edge_op, self._edge_on = array("q"), array("q")
        self._edge_hazard = Texts()
        self._edge_end = array("q")
        self.tensors = TensorLog()
        """The run's tensors and their accesses."""

    def __len__(self) -> int:
        return len(self._at)

    def __iter__(self) -> Iterator[OpRecord]:
        return (OpRecord(self, row) for row in range(len(self)))

    def __getitem__(self, row: int) -> OpRecord:
        """The operation that was reported as number ``row``."""
        if not 0 <= row < len(self):
            raise IndexError(row)
        return OpRecord(self, row)

    def append(self, op: Op, dependencies: Iterable[tuple[int, str]] = ()) -> None:
        """Add a finished operation and its ``(op id, hazard)`` dependencies.

        Raises:
            KernBenchError: An operation of that id is in the log already.
        """
        row = len(self._at)
        if self._at.setdefault(op.id, row) != row:
            raise KernBenchError(
                f"op {op.id} ({op.kind}/{op.name} on {op.component}) was reported twice; "
                "a component reports an operation once, when it is done"
            )
        integers, times, texts = self.integers, self.times, self.texts
        integers["id"].append(op.id)
        integers["launch"].append(op.launch)
        integers["parent"].append(op.parent)
        integers["bytes"].append(op.nbytes)
        times["t_ready"].append(op.t_ready)
        times["t_start"].append(op.t_start)
        times["t_end"].append(op.t_end)
        texts["kind"].append(op.kind)
        texts["name"].append(op.name)
        texts["stage"].append(op.stage)
        texts["component"].append(op.component)
        texts["label"].append(label(op))
        texts["source"].append(op.source)
        self._moved.extend(dict.fromkeys(op.transactions))
        self._moved_end.append(len(self._moved))
        for position, operand in enumerate(op.inputs):
            self._append_operand(position, operand)
        if op.output is not None:
            self._append_operand(OUTPUT, op.output)
        self._operand_end.append(len(self._operand["position"]))
        for on, hazard in dependencies:
            self._edge_op.append(op.id)
            self._edge_on.append(on)
            self._edge_hazard.append(hazard)
        self._edge_end.append(len(self._edge_on))

    def find(self, op_id: int) -> OpRecord | None:
        """The operation with that id, if it has been reported."""
        row = self._at.get(op_id)
        return None if row is None else OpRecord(self, row)

    @property
    def components(self) -> set[str]:
        """Names of the components that carried operations out."""
        return {name for name in self.texts["component"].to_list() if name}

    def dependencies(self) -> Iterator[tuple[int, int, str]]:
        """All ``(op, on, hazard)``, in report order of ``op``."""
        return zip(self._edge_op, self._edge_on, self._edge_hazard.to_list(), strict=True)

    def dependencies_of(self, row: int) -> list[tuple[int, str]]:
        """``(op id, hazard)`` of the operation of a row."""
        rows = range(_start(self._edge_end, row), self._edge_end[row])
        return [(self._edge_on[at], self._edge_hazard[at]) for at in rows]

    def transactions_of(self, row: int) -> list[int]:
        """Ids of the transactions that carried out the operation of a row."""
        return list(self._moved[_start(self._moved_end, row) : self._moved_end[row]])

    def operands_of(self, row: int) -> list[tuple[int, Operand]]:
        """``(position, operand)`` of the operation of a row, inputs first."""
        return [
            (self._operand["position"][at], self._operand_at(at))
            for at in range(_start(self._operand_end, row), self._operand_end[row])
        ]

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
            "op": np.repeat(self._ids(), _counts(self._operand_end)),
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

    def _append_operand(self, position: int, operand: Operand) -> None:
        columns = self._operand
        columns["position"].append(position)
        columns["handle"].append(-1 if operand.handle is None else operand.handle)
        columns["address"].append(-1 if operand.address is None else operand.address)
        self._operand_texts["shape"].append(_shape(operand))
        self._operand_texts["dtype"].append(operand.dtype)
        for addr, nbytes in operand.regions:
            self._region["addr"].append(addr)
            self._region["bytes"].append(nbytes)
        self._region_end.append(len(self._region["addr"]))

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
        return np.array(self.integers["id"], np.int64)

    def _op_table(self) -> Table:
        parents = np.array(self.integers["parent"], np.int64)
        text = {name: column.to_list() for name, column in self.texts.items()}
        number = {name: np.array(column, np.int64) for name, column in self.integers.items()}
        return {
            "number": number["id"],
            **{name: text[name] for name in ("kind", "name", "stage", "component")},
            "launch": number["launch"],
            "parent": np.where(np.isin(parents, number["id"]), parents, -1),
            "bytes": number["bytes"],
            **self._sizes(text["kind"]),
            **{name: np.array(column, np.float64) for name, column in self.times.items()},
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
        op = np.array(self._edge_op, np.int64)
        on = np.array(self._edge_on, np.int64)
        known = np.isin(on, self._ids())
        hazards = self._edge_hazard.to_list()
        if not known.all():
            hazards = [h for h, keep in zip(hazards, known, strict=True) if keep]
        return {"op": op[known], "on": on[known], "hazard": hazards}

    def _awaited_table(self) -> Table:
        return {
            "op": np.repeat(self._ids(), _counts(self._moved_end)),
            "txn": np.array(self._moved, np.int64),
        }


def label(op: Op) -> str:
    """The operation in one phrase: ``dot 64x32 32x16 -> 64x16 f16``."""
    words = [op.name, *(_shape(operand) for operand in op.inputs)]
    if op.output is not None:
        words += ["->", _shape(op.output), op.output.dtype]
    return " ".join(words)


def _shape(operand: Operand) -> str:
    return "x".join(map(str, operand.shape)) or "scalar"


def _start(ends: array[int], row: int) -> int:
    return ends[row - 1] if row else 0


def _counts(ends: array[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    counts = np.array(ends, np.int64)
    counts[1:] -= counts[:-1].copy()
    return counts
