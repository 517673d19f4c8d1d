"""The operations of a run in the order of their effects, and their tables for the run archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.values.blocks import BlockRun
from kernbench.values.expanded import Columns, expanded
from kernbench.values.recorder import LAYOUT, OUTPUT, Recorder

Table = dict[str, Any]
"""Columns by name: numpy arrays for numbers, lists for strings, all of one length."""


class OpLog(Recorder):
    """Finished operations in report order, and the run's tensors in the order in which they were made.

    ``tile`` operations are kept like all others: they carry the timing of a composite's stages.
    """

    def __init__(self) -> None:
        Recorder.__init__(self)
        self.blocks: list[BlockRun] = []
        """Blocks of grids, in the order in which PEs took them."""
        self._tensors: list[tuple[str, Sequence[int], str, int, str]] = []
        self._placed: dict[tuple[int, str], int] = {}
        self._state = (-1, -1)
        self._found: dict[str, Columns] = {}
        self._ends: dict[str, Any] = {}

    def __iter__(self) -> Iterator[Op]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, row: int) -> Op:
        """The operation that was reported as number ``row``, without its values and parameters."""
        if not 0 <= row < len(self):
            raise IndexError(row)
        found, texts = self._columns(), self._texts()
        op = {name: column[row].item() for name, column in found["op"].items()}
        operands = [self._operand(at) for at in self._span("op", "operand", row)]
        moved, edges = self._span("op", "moved", row), self._span("op", "edge", row)
        on, why = (found["edge"][name][edges.start : edges.stop].tolist() for name in ("on", "hazard"))
        return Op(
            **{name: op[name] for name in ("id", "launch", "parent", "t_ready", "t_start", "t_end")},
            **{name: texts[op[name]] for name in ("kind", "name", "component", "stage", "source")},
            inputs=tuple(operand for position, operand in operands if position != OUTPUT),
            output=next((operand for position, operand in operands if position == OUTPUT), None),
            nbytes=op["bytes"],
            transactions=found["moved"]["txn"][moved.start : moved.stop].tolist(),
            after=[(one, texts[hazard]) for one, hazard in zip(on, why, strict=True)],
        )

    def find(self, op_id: int) -> Op | None:
        """The operation with that id, if it has been reported."""
        rows = np.flatnonzero(self._columns()["op"]["id"] == op_id)
        return self[int(rows[0])] if len(rows) else None

    @property
    def components(self) -> set[str]:
        """Names of the components that carried operations out."""
        texts = self._texts()
        return {texts[one] for one in np.unique(self._columns()["op"]["component"]).tolist()} - {""}

    def dependencies(self) -> Iterator[tuple[int, int, str]]:
        """All ``(op, on, hazard)``, in report order of ``op``."""
        table = self._of_ops("edge")
        return zip(table["op"].tolist(), table["on"].tolist(), self._words(table["hazard"]), strict=True)

    # -- tensors ----------------------------------------------------------------------------------------

    @property
    def tensors(self) -> int:
        """How many tensors were made."""
        return len(self._tensors)

    def add_tensor(self, name: str, shape: Sequence[int], dtype: str, nbytes: int, memory: str) -> int:
        """A tensor of ``nbytes`` in one copy was made in ``memory``; returns its number, from 0."""
        self._tensors.append((name, shape, dtype, nbytes, memory))
        return len(self._tensors) - 1

    def rename_tensor(self, tensor: int, name: str) -> None:
        """A tensor that had a number alone is called ``name``."""
        self._tensors[tensor] = (name, *self._tensors[tensor][1:])

    def place_tensor(self, tensor: int, component: str, nbytes: int) -> None:
        """``nbytes`` of a tensor lie in the memory ``component``."""
        self._placed[tensor, component] = self._placed.get((tensor, component), 0) + nbytes

    # -- tables -----------------------------------------------------------------------------------------

    def tables(self) -> dict[str, Table]:
        """The archive's tables of operations and of tensors.

        Times in ns, sizes in bytes. A dependency on an operation that never finished, because the run failed
        before, is left out, and so is an access by one; a part of such an operation stands for itself
        (``parent`` is -1).
        """
        ids = self._columns()["op"]["id"]
        edges = self._of_ops("edge")
        known = np.isin(edges["on"], ids)
        return {
            "Op": self._op_table(),
            "Operand": self.operand_table(),
            "Region": self.region_table(),
            "DependsOn": {
                **{name: edges[name][known] for name in ("op", "on")},
                "hazard": self._words(edges["hazard"][known]),
            },
            "Awaited": self._of_ops("moved"),
            **self._tensor_tables(ids),
        }

    def operand_table(self) -> Table:
        """A row for each operand: ``op position handle address shape dtype``, in order of ``op``'s report.

        ``position`` counts inputs from 0 and is -1 for the output; ``handle`` and ``address`` are -1 where
        there is none; ``shape`` is text such as ``64x32``.
        """
        table = self._of_ops("operand")
        return {
            **{name: table[name].astype(np.int64) for name in ("op", "position", "handle", "address")},
            **{name: self._words(table[name]) for name in ("shape", "dtype")},
        }

    def region_table(self) -> Table:
        """A row for each run of physical bytes of an operand: ``op position addr bytes``, in memory order."""
        operands, regions = self._of_ops("operand"), self._columns()["region"]
        return {
            **{n: np.repeat(operands[n].astype(np.int64), operands["region"]) for n in ("op", "position")},
            **{name: regions[name] for name in ("addr", "bytes")},
        }

    def accesses_to_tcm(self) -> Table:
        """The transactions that are recorded with the stages of commands: ``id op src nbytes hops is_write``,

        and when they asked for their port, had it and were through, ns.
        """
        found = self._columns()["tcm"]
        return {**found, "src": self._words(found["src"])}

    def _op_table(self) -> Table:
        found = self._columns()["op"]
        words = ("kind", "name", "stage", "component", "source", "label")
        text = {name: self._words(found[name]) for name in words}
        return {
            "number": found["id"],
            **{name: text[name] for name in ("kind", "name", "stage", "component")},
            "launch": found["launch"].astype(np.int64),
            "parent": np.where(np.isin(found["parent"], found["id"]), found["parent"], -1),
            "bytes": found["bytes"],
            **self._sizes(),
            **{name: found[name] for name in ("t_ready", "t_start", "t_end")},
            **{name: text[name] for name in ("source", "label")},
        }

    def _sizes(self) -> Table:
        """Columns ``m k n flops dtype``: of GEMMs their sizes, of every operation the type of its result."""
        found, texts = self._columns(), self._texts()
        ops, operands = found["op"], found["operand"]
        row = np.repeat(np.arange(len(self)), ops["operand"])
        dtype = np.full(len(self), len(texts))
        of_output = operands["position"] == OUTPUT
        dtype[row[of_output]] = operands["dtype"][of_output]
        # Of each code of a shape its extents, where there are two of them.
        matrices = [key if type(key) is tuple and len(key) == 2 else (-1, -1) for key in self.codes]
        extents = np.array([*matrices, (-1, -1)], np.int64)
        shapes = np.full((2, len(self), 2), -1)
        for side in (0, 1):
            there = operands["position"] == side
            shapes[side, row[there]] = extents[operands["shape"][there]]
        product = (ops["kind"] == self.codes.get("gemm", -1)) & (shapes >= 0).all(axis=(0, 2))
        words = [*texts, ""]
        m, k, n = (np.where(product, one, 0) for one in (shapes[0, :, 0], shapes[0, :, 1], shapes[1, :, 1]))
        return {
            "m": m,
            "k": k,
            "n": n,
            "flops": 2 * m * k * n,
            "dtype": [words[one] for one in dtype.tolist()],
        }

    def _tensor_tables(self, ops: Any) -> dict[str, Table]:
        columns = zip(*self._tensors, strict=True) if self._tensors else ((),) * 5
        name, shape, dtype, nbytes, memory = map(list, columns)
        placed, access = self._placed, self._columns()["access"]
        known = np.isin(access["op"], ops)
        access = {name: column[known] for name, column in access.items()}
        return {
            "Tensor": {
                "number": np.arange(self.tensors),
                "name": name,
                "shape": ["x".join(map(str, one)) for one in shape],
                "dtype": dtype,
                "bytes": np.array(nbytes, np.int64),
                "memory": memory,
            },
            "Placed": {
                "tensor": np.array([tensor for tensor, _ in placed], np.int64),
                "component": [component for _, component in placed],
                "bytes": np.array(list(placed.values()), np.int64),
            },
            "Access": {
                **access,
                "tensor": access["tensor"].astype(np.int64),
                "is_write": access["is_write"] != 0,
            },
        }

    # -- columns ----------------------------------------------------------------------------------------

    def _columns(self) -> dict[str, Columns]:
        """The columns of all rows so far, with those of commands as what they stand for."""
        state = len(self), self.accesses.count
        if self._state != state:
            tables = zip(LAYOUT.items(), self.words(), strict=True)
            rows = {name: words.rows(layout) for (name, layout), words in tables}
            self._found, self._state = expanded(rows, [*self.forms], self.codes), state
            self._ends = {}
        return self._found

    def _span(self, table: str, of: str, row: int) -> range:
        """The rows of table ``of`` that belong to a row of ``table``."""
        counts = self._columns()[table][of]
        if of not in self._ends:
            self._ends[of] = np.cumsum(counts)
        end = int(self._ends[of][row])
        return range(end - int(counts[row]), end)

    def _operand(self, at: int) -> tuple[int, Operand]:
        """An operand, with its position."""
        found, texts = self._columns(), self._texts()
        position, _, handle, address, shape, dtype = (
            column[at].item() for column in found["operand"].values()
        )
        where = self._span("operand", "region", at)
        addr, nbytes = (
            found["region"][name][where.start : where.stop].tolist() for name in ("addr", "bytes")
        )
        regions = tuple(map(Region, addr, nbytes))
        known = [None if number < 0 else number for number in (handle, address)]
        return position, Operand([*self.codes][shape], texts[dtype], known[0], known[1], regions)

    def _of_ops(self, table: str) -> Columns:
        """The columns of a table of rows of operations, with the operation of each."""
        found = self._columns()
        return {"op": np.repeat(found["op"]["id"], found["op"][table]), **found[table]}

    def _words(self, codes: Any) -> list[str]:
        return [*map(self._texts().__getitem__, codes.tolist())]

    def _texts(self) -> list[str]:
        """The text of each code."""
        return [*map(_text, self.codes)]


def _text(key: Any) -> str:
    """What a code stands for in words; an operation in one phrase: ``dot 64x32 32x16 -> 64x16 f16``."""
    if type(key) is str:
        return key
    if not key or type(key[0]) is int:
        return "x".join(map(str, key)) or "scalar"
    name, inputs, output, dtype = key
    words = [name, *map(_text, inputs)]
    if output is not None:
        words += ["->", _text(output), dtype]
    return " ".join(words)
