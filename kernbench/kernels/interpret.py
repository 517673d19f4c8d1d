"""Kernels without hardware: numpy only, no time, every value there to look at."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernbench.errors import KernelError, UsageError
from kernbench.kernels.args import Placement, TensorArg
from kernbench.kernels.call import KernelCall
from kernbench.pe import dtypes
from kernbench.pe.commands import Composite, Cycles, PeContext, Wait
from kernbench.replay.semantics import DEFAULT_TILE, compute
from kernbench.sim.ops import Op, Operand

Array = np.ndarray[Any, Any]
PAGE = 4096


def interpret(
    fn: Callable[..., Any],
    *arrays: object,
    grid: tuple[int, int, int] | int = (1, 1, 1),
    out: Array | Sequence[Array] | None = None,
    tile: tuple[int, int, int] = DEFAULT_TILE,
    scratch_bytes: int = 1 << 20,
    **constants: object,
) -> Any:
    """Run ``fn`` for every program id, one after another, on numpy arrays.

    Arrays among ``arrays`` become pointers, other values are passed as they are, ``constants`` by name.
    ``out`` gives one or more further arrays, passed last, and is returned. What the kernel writes is
    copied back into the arrays. ``grid`` is (PEs per cube, cubes, SIPs), PEs running fastest; every
    program sees whole arrays as its local shard. ``tile`` is the (M, K, N) of composites that choose none;
    ``scratch_bytes`` the TCM scratch per PE. Errors are those of the simulator; an access outside of every
    array is a :class:`KernelError`.
    """
    counts = (grid, 1, 1) if isinstance(grid, int) else tuple(grid)
    if len(counts) != 3 or any(not isinstance(n, int) or n < 1 for n in counts):
        raise UsageError(f"grid {grid!r} must be three positive counts (PEs per cube, cubes, SIPs)")
    outputs = [] if out is None else [out] if isinstance(out, np.ndarray) else list(out)
    memory = _Memory()
    args = [memory.place(f"arg{i}", value) for i, value in enumerate([*arrays, *outputs])]
    named = {key: memory.place(key, value) for key, value in constants.items()}
    op_ids = itertools.count()
    for sip, cube, pe in itertools.product(range(counts[2]), range(counts[1]), range(counts[0])):
        program = _Program(memory, tile)
        context = PeContext(
            sip=sip,
            cube=cube,
            pe=pe,
            name=f"sip{sip}.cube{cube}.pe{pe}",
            program_id=(pe, cube, sip),
            num_programs=(counts[0], counts[1], counts[2]),
            scratch_base=0,
            scratch_bytes=scratch_bytes,
            now=lambda: 0.0,
            next_op_id=lambda: next(op_ids),
            launch=0,
        )
        program.run(KernelCall(fn, args, named, data=program), context)
    memory.copy_back()
    return out


class _Memory:
    """The bytes of all arrays, each at an address of its own with a gap behind it."""

    def __init__(self) -> None:
        self._segments: list[tuple[int, Array, Array]] = []
        self._written: list[bool] = []
        self._end = PAGE

    def place(self, name: str, value: object) -> object:
        """A tensor argument for an array; anything else as it is. The same array is placed once."""
        if not isinstance(value, np.ndarray):
            return value
        dtype = dtypes.of_numpy(value.dtype).name
        base = next((start for start, array, _ in self._segments if array is value), None)
        if base is None:
            base = self._end
            self._segments.append((base, value, _raw(value).copy()))
            self._written.append(False)
            self._end += (value.nbytes // PAGE + 2) * PAGE
        return TensorArg(name, value.shape, dtype, default=Placement(base, base, value.shape))

    def read(self, operand: Operand) -> Array:
        """A copy of the operand's bytes as they are now."""
        data, _ = self._bytes(operand)
        return data.copy().view(dtypes.dtype(operand.dtype).numpy).reshape(operand.shape)

    def write(self, operand: Operand, value: Array) -> None:
        """Replace the operand's bytes."""
        data, index = self._bytes(operand)
        if not self._segments[index][1].flags.writeable:
            raise KernelError(f"{data.size} bytes at {operand.address:#x} are in an array that is read-only")
        data[:] = _raw(value)
        self._written[index] = True

    def copy_back(self) -> None:
        """Give the arrays that were written their new values."""
        for (_, array, data), written in zip(self._segments, self._written, strict=True):
            if written:
                array[...] = data.view(array.dtype).reshape(array.shape)

    def _bytes(self, operand: Operand) -> tuple[Array, int]:
        assert operand.address is not None
        size = int(np.prod(operand.shape)) * dtypes.dtype(operand.dtype).itemsize
        for index, (start, _, data) in enumerate(self._segments):
            offset = operand.address - start
            if offset >= 0 and offset + size <= data.size:
                return data[offset : offset + size], index
        raise KernelError(
            f"{size} bytes at {operand.address:#x} are not within any array that the kernel was given"
        )


def _raw(array: Array) -> Array:
    """The bytes of an array in row-major order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class _Program:
    """Stands in for a PE: carries out commands at once and knows every value."""

    def __init__(self, memory: _Memory, tile: tuple[int, int, int]) -> None:
        self._memory = memory
        self._tile = tile
        self._values: dict[int, Array] = {}

    def value(self, handle: int) -> Array | None:
        """The value of a handle: always known here."""
        return self._values.get(handle)

    def release(self, handle: int) -> None:
        """Nobody asks for this handle any more."""
        self._values.pop(handle, None)

    def run(self, call: KernelCall, pe: PeContext) -> None:
        """Run the kernel to its end; what it raises says which program it was."""
        thread = call.start(pe)
        try:
            while (command := thread.resume()) is not None:
                if isinstance(command, Cycles | Wait):
                    continue
                if isinstance(command, Composite) and command.tile is None and command.head == "gemm":
                    command.op.params["tile"] = self._tile
                self._execute(command.op)
                if isinstance(command, Composite):
                    command.completion.complete()
        except Exception as problem:
            problem.add_note(f"in kernel '{call.name}' on {pe.name}, program_id {pe.program_id}")
            raise
        finally:
            thread.close()

    def _execute(self, op: Op) -> None:
        inputs = [
            self._memory.read(operand) if operand.handle is None else self._values[operand.handle]
            for operand in op.inputs
        ]
        assert op.output is not None
        value = compute(op, inputs)
        if op.output.handle is None:
            self._memory.write(op.output, value)
        else:
            self._values[op.output.handle] = value
