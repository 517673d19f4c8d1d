"""From a composite command to its tiles: operands become matrices, the plan generators do the rest."""

from __future__ import annotations

from collections.abc import Iterator

from kernbench.pe.commands import Composite, Epilogue
from kernbench.pe.dtypes import dtype
from kernbench.pe.plans import EpilogueStep, Matrix, TilePlan, gemm_plan, math_plan
from kernbench.sim.ops import Operand


def _matrix(operand: Operand) -> Matrix:
    """An operand as rows and columns: 1-D is one row, leading dimensions fold into rows."""
    cols = operand.shape[-1] if operand.shape else 1
    rows = 1
    for size in operand.shape[:-1]:
        rows *= size
    pinned = operand.handle is not None
    return Matrix(rows, cols, dtype(operand.dtype).itemsize, None if pinned else operand.address)


def _step(step: Epilogue) -> EpilogueStep:
    return EpilogueStep(step.op, step.scope, _matrix(step.operand) if step.operand is not None else None)


def tiles_of(command: Composite, hardware_tile: tuple[int, int, int]) -> Iterator[TilePlan]:
    """The tiles of ``command`` in feed order; ``hardware_tile`` (M, K, N) where it names none."""
    epilogue = [_step(step) for step in command.epilogue]
    out = _matrix(command.out)
    if command.head == "gemm":
        assert command.b is not None
        m, k, n = command.tile or hardware_tile
        return gemm_plan(_matrix(command.a), _matrix(command.b), out, (m, k, n), epilogue)
    rows, cols = command.tile or (hardware_tile[0], hardware_tile[2])
    name = command.op.name.removeprefix("composite_")
    return math_plan(_matrix(command.a), out, (rows, cols), name, command.passes, epilogue)
