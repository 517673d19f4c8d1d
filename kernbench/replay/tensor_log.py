"""The tensors of a run: the places of their parts, and the operations that read and wrote them, in columns.

An operation that moves bytes itself has the access: a load, a store, the host's write, each DMA transfer of a
composite's tiles. A composite has none beside those of its parts, so bytes add up to what was moved: a tile
that is read again counts again. Reads by the host are no operations, and are not here.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kernbench.program.operations import Op, Region
from kernbench.replay.tensor_names import NamedShard, TensorNames

Table = dict[str, Any]

_BATCH = 1024
"""Accesses that are gathered as rows before the columns are extended."""


class TensorLog:
    """Tensors in the order in which they were made, also those that were freed since; append-only."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {n: [] for n in ("name", "shape", "dtype", "memory")}
        self._bytes = array("q")
        self._placed: dict[tuple[int, str], int] = {}
        self._rows: list[tuple[int, int, bool, int, int]] = []
        """Accesses that are not in the columns yet."""
        self._access = {n: array("q") for n in ("op", "tensor", "is_write", "offset", "bytes")}

    def __len__(self) -> int:
        return len(self._bytes)

    def add(self, name: str, shape: Sequence[int], dtype: str, nbytes: int, memory: str) -> int:
        """A tensor of ``nbytes`` in one copy was made in ``memory``; returns its number, from 0."""
        values = (name, "x".join(map(str, shape)), dtype, memory)
        for column, value in zip(self._texts.values(), values, strict=True):
            column.append(value)
        self._bytes.append(nbytes)
        return len(self._bytes) - 1

    def rename(self, tensor: int, name: str) -> None:
        """A tensor that had a number alone is called ``name``."""
        self._texts["name"][tensor] = name

    def place(self, tensor: int, component: str, nbytes: int) -> None:
        """``nbytes`` of a tensor lie in the memory ``component``."""
        self._placed[tensor, component] = self._placed.get((tensor, component), 0) + nbytes

    def follow(self, op: Op, names: TensorNames) -> None:
        """Add what an operation moves to and from tensors, found by their ``names`` as they are now."""
        if op.kind == "tile":
            if op.moved:
                self._add(op.id, op.moved, names, op.stage == "DMA_WRITE")
        elif op.kind == "memory":
            for operand in op.inputs:
                if operand.regions:
                    self._add(op.id, operand.regions, names, False)
            output = op.output
            if output is not None and output.regions:
                self._add(op.id, output.regions, names, True)

    def _add(self, op: int, regions: Iterable[Region], names: TensorNames, is_write: bool) -> None:
        """A row for each tensor that ``regions`` touch; bytes that belong to none are left out."""
        rows = self._rows
        if len(rows) >= _BATCH:
            self._gather()
        found: dict[int, tuple[int, int]] = {}
        for addr, nbytes in regions:
            for part in names.parts(addr, addr + nbytes):
                shard: NamedShard = part.value
                offset, size = shard.offset + part.start - shard.addr, part.end - part.start
                before = found.get(shard.number)
                found[shard.number] = (
                    (offset, size) if before is None else (min(offset, before[0]), size + before[1])
                )
        for tensor, (offset, size) in found.items():
            rows.append((op, tensor, is_write, offset, size))

    def _gather(self) -> None:
        """Bring rows into the columns."""
        if self._rows:
            for column, values in zip(self._access.values(), zip(*self._rows, strict=True), strict=True):
                column.extend(values)
            self._rows.clear()

    def tables(self, ops: Any) -> dict[str, Table]:
        """The archive's tables ``Tensor``, ``Placed`` and ``Access``.

        ``ops`` are the numbers of the operations in the record: accesses by others, which never ended because
        the run failed, are left out.
        """
        self._gather()
        placed = self._placed
        access = {name: np.array(column, np.int64) for name, column in self._access.items()}
        known = np.isin(access["op"], ops)
        access = {name: column[known] for name, column in access.items()}
        text = self._texts
        return {
            "Tensor": {
                "number": np.arange(len(self)),
                **{name: text[name] for name in ("name", "shape", "dtype")},
                "bytes": np.array(self._bytes, np.int64),
                "memory": text["memory"],
            },
            "Placed": {
                "tensor": np.array([tensor for tensor, _ in placed], np.int64),
                "component": [component for _, component in placed],
                "bytes": np.array(list(placed.values()), np.int64),
            },
            "Access": {**access, "is_write": access["is_write"].astype(bool)},
        }
