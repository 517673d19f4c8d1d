"""The operations of a run in the order of their effects, and their tables for the run archive."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from kernbench.errors import KernBenchError
from kernbench.sim.ops import Op, Operand

Table = dict[str, Any]
"""Columns by name: numpy arrays for numbers, lists for strings, all of one length."""


class OpLog:
    """Finished operations, in report order; append-only.

    ``tile`` operations are kept like all others: they carry the timing of a composite's stages.
    """

    def __init__(self) -> None:
        self._ops: list[Op] = []
        self._at: dict[int, int] = {}
        self._edge_op = array("q")
        self._edge_on = array("q")
        self._edge_hazard: list[str] = []

    def __len__(self) -> int:
        return len(self._ops)

    def __iter__(self) -> Iterator[Op]:
        return iter(self._ops)

    def __getitem__(self, index: int) -> Op:
        """The operation reported at place ``index``."""
        return self._ops[index]

    def append(self, op: Op, dependencies: Iterable[tuple[int, str]] = ()) -> None:
        """Add a finished operation and its ``(op id, hazard)`` dependencies.

        Raises :class:`KernBenchError` when an operation of that id is in the log already.
        """
        if self._at.setdefault(op.id, len(self._ops)) != len(self._ops):
            raise KernBenchError(
                f"op {op.id} ({op.kind}/{op.name} on {op.component}) was reported twice; "
                "a component reports an operation once, when it is done"
            )
        self._ops.append(op)
        for on, hazard in dependencies:
            self._edge_op.append(op.id)
            self._edge_on.append(on)
            self._edge_hazard.append(hazard)

    def find(self, op_id: int) -> Op | None:
        """The operation with that id, if it has been reported."""
        at = self._at.get(op_id)
        return None if at is None else self._ops[at]

    def dependencies(self) -> Iterator[tuple[int, int, str]]:
        """All ``(op, on, hazard)``, in report order of ``op``."""
        return zip(self._edge_op, self._edge_on, self._edge_hazard, strict=True)

    def tables(self) -> dict[str, Table]:
        """The archive's tables ``Op``, ``DependsOn`` and ``Moved``.

        Times in ns, sizes in bytes. A dependency on an operation that never finished (the run failed
        before) has no second end and is left out.
        """
        return {"Op": self._op_table(), "DependsOn": self._depends_on_table(), "Moved": self._moved_table()}

    def _op_table(self) -> Table:
        ops = self._ops
        return {
            "id": np.array([o.id for o in ops], np.int64),
            "kind": [o.kind for o in ops],
            "name": [o.name for o in ops],
            "stage": [o.stage for o in ops],
            "component": [o.component for o in ops],
            "launch": np.array([o.launch for o in ops], np.int64),
            "parent": np.array([o.parent for o in ops], np.int64),
            "bytes": np.array([o.nbytes for o in ops], np.int64),
            "t_ready": np.array([o.t_ready for o in ops], np.float64),
            "t_start": np.array([o.t_start for o in ops], np.float64),
            "t_end": np.array([o.t_end for o in ops], np.float64),
            "label": [label(o) for o in ops],
        }

    def _depends_on_table(self) -> Table:
        op = np.array(self._edge_op, np.int64)
        on = np.array(self._edge_on, np.int64)
        known = np.isin(on, np.array(list(self._at), np.int64))
        hazards = self._edge_hazard
        if not known.all():
            hazards = [h for h, keep in zip(hazards, known, strict=True) if keep]
        return {"op": op[known], "on": on[known], "hazard": list(hazards)}

    def _moved_table(self) -> Table:
        pairs = [(o.id, txn) for o in self._ops for txn in dict.fromkeys(o.transactions)]
        return {
            "op": np.array([p[0] for p in pairs], np.int64),
            "txn": np.array([p[1] for p in pairs], np.int64),
        }


def label(op: Op) -> str:
    """What the operation does, in one phrase: ``dot 64x32 32x16 -> 64x16 f16``."""
    words = [op.name, *(_shape(operand) for operand in op.inputs)]
    if op.output is not None:
        words += ["->", _shape(op.output), op.output.dtype]
    return " ".join(words)


def _shape(operand: Operand) -> str:
    return "x".join(map(str, operand.shape)) or "scalar"
