"""Pass 2: compute the values of logged operations, in an order that dependencies allow.

Operations wait in a queue until :meth:`Executor.run`, or until it is long. They are then taken in windows
of report order, and within a window in waves: an operation is in the first wave after all those it depends
on. Operations of one wave have no hazard between them, so equal-shaped products among them become one
batched ``matmul``. Only data hazards count here; what waited for a stage or a slot in time may well be
computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.errors import KernBenchError
from kernbench.support import dtypes
from kernbench.values.dependencies import DATA_HAZARDS, Dependency
from kernbench.values.memory_store import SimulatedMemory
from kernbench.values.races import RaceDetector
from kernbench.values.semantics import compute, pieces_of, stack_of, stacked_dot
from kernbench.values.verification import describe

Array = np.ndarray[Any, Any]

WINDOW = 4096
"""Operations whose waves are formed together: bounds how many loaded tiles are held at once."""

QUEUE = 1 << 16
"""Operations that wait at most; then they are run, so that a long run does not hold all it has ever done."""

STACK_BYTES = 1 << 25
"""Operand bytes of one batched product; larger batches only cost memory."""


class Executor:
    """Replays operations on ``memory``, which nothing else writes.

    ``window`` is the number of operations whose waves are formed together. ``order`` may permute the
    operations of a wave (tests use it to show that the order within a wave does not matter). At most
    ``queue`` operations wait. ``check`` sees each operation with its inputs and its value; ``races`` are told
    what a write that nothing orders changes.
    """

    def __init__(
        self,
        memory: SimulatedMemory,
        window: int = WINDOW,
        order: Callable[[list[Op]], list[Op]] | None = None,
        queue: int = QUEUE,
        check: Callable[[Op, Sequence[Array], Array], None] | None = None,
        races: RaceDetector | None = None,
    ) -> None:
        self._check = check
        self._races = races
        self.memory = memory
        self._window = window
        self._order = order
        self._most = queue
        self._queue: list[tuple[Op, list[int]]] = []
        self._values: dict[int, Array] = {}
        self._uses: dict[int, int] = {}
        self._retired: set[int] = set()
        self._failure: KernBenchError | None = None

    def add(self, op: Op, dependencies: Iterable[Dependency]) -> None:
        """Queue ``op``, reported after all operations added before; ``tile`` operations have no value."""
        if op.kind == "tile" or self._failure is not None:
            return
        if len(self._queue) >= self._most:
            with suppress(KernBenchError):  # the next run raises it again
                self.run()
        self._queue.append((op, [on for on, hazard in dependencies if hazard in DATA_HAZARDS]))
        for handle in _handles(op.inputs):
            self._uses[handle] = self._uses.get(handle, 0) + 1

    def retire(self, handle: int) -> None:
        """No operation added from now on uses ``handle``: drop its value after its last queued use."""
        if handle in self._uses:
            self._retired.add(handle)
        elif self._values.pop(handle, None) is None:
            self._retired.add(handle)  # not made yet

    def carry_out(self, op: Op) -> None:
        """Run ``op`` now, which waits for nothing that is queued.

        Raises:
            KernBenchError: Its value cannot be computed.
        """
        for handle in _handles(op.inputs):
            self._uses[handle] = self._uses.get(handle, 0) + 1
        self._run_one(op)

    def value(self, handle: int) -> Array | None:
        """The value of a handle, if it has one now."""
        return self._values.get(handle)

    def write(self, operand: Operand, value: Array) -> None:
        """From now on an operand is ``value``, which nobody changes."""
        if operand.handle is None:
            self.memory.scatter(operand.regions, value)
        else:
            self._values[operand.handle] = freeze(value)

    def run(self) -> None:
        """Run everything queued. Memory and handles then hold what the machine would hold.

        Raises :class:`KernBenchError`, naming the operation, when a value cannot be computed; every later
        call raises it again, as nothing after that operation can be trusted.
        """
        if self._failure is not None:
            raise self._failure
        queue, self._queue = self._queue, []
        try:
            for start in range(0, len(queue), self._window):
                for wave in _waves(queue[start : start + self._window]):
                    self._run_wave(wave if self._order is None else self._order(wave))
        except KernBenchError as error:
            self._failure = error
            raise

    def _run_wave(self, wave: Sequence[Op]) -> None:
        stacks: dict[object, list[Op]] = {}
        for op in wave:
            if (op.kind, op.name) == ("gemm", "dot"):
                stacks.setdefault(stack_of(op), []).append(op)
            else:
                self._run_one(op)
        for ops in stacks.values():
            step = max(1, STACK_BYTES // max(1, sum(operand.nbytes for operand in ops[0].inputs)))
            for start in range(0, len(ops), step):
                self._run_stack(ops[start : start + step])

    def _run_one(self, op: Op) -> None:
        try:
            inputs = self._inputs(op)
            value = freeze(compute(op, inputs))
        except FAILURES as error:
            raise named(op, error) from error
        if self._check is not None:
            self._check(op, inputs, value)
        self._finish(op, value)

    def _run_stack(self, ops: list[Op]) -> None:
        if len(ops) == 1:
            self._run_one(ops[0])
            return
        try:
            inputs = [self._inputs(op) for op in ops]
            values = stacked_dot(ops, inputs)
        except FAILURES as error:
            raise named(ops[0], error) from error
        for op, own, value in zip(ops, inputs, values, strict=True):
            if self._check is not None:
                self._check(op, own, value)
            # A copy: a value that is kept must not keep the whole stack.
            self._finish(op, freeze(value.copy()))

    def _inputs(self, op: Op) -> list[Array]:
        return [self.read(operand) for operand in op.inputs]

    def read(self, operand: Operand) -> Array:
        """The array that an operand is."""
        if operand.handle is None:
            return self.memory.gather(operand.regions, operand.shape, dtypes.dtype(operand.dtype).numpy)
        value = self._values.get(operand.handle)
        if value is None:
            raise KernBenchError(
                f"handle {operand.handle} was released before this operation was reported; "
                "release a handle, or end its launch, only when all of its operations are done"
            )
        return value

    def _finish(self, op: Op, value: Array) -> None:
        output = op.output
        if output is not None and output.regions:
            raced = () if self._races is None else self._races.rewrites.get(op.id, ())
            before = [self._bytes(region) for _, region in raced]
            try:
                if len(op.inputs) > 1 and op.name == "dma_write":
                    mask = pieces_of(op, self._inputs(op)[1])
                    self.memory.scatter_where(output.regions, value, mask != 0)
                else:
                    self.memory.scatter(output.regions, value)
            except FAILURES as error:
                raise named(op, error) from error
            if raced and self._races is not None:
                pairs = zip(before, raced, strict=True)
                changed = [not np.array_equal(old, self._bytes(region)) for old, (_, region) in pairs]
                self._races.rewritten(op.id, changed)
        if output is not None and output.handle is not None:
            if output.handle in self._retired and output.handle not in self._uses:
                self._retired.discard(output.handle)
            else:
                self._values[output.handle] = value
        for handle in _handles(op.inputs):
            self._uses[handle] -= 1
            if not self._uses[handle]:
                del self._uses[handle]
                if handle in self._retired:
                    self._retired.discard(handle)
                    del self._values[handle]
        op.params.pop("data", None)  # what the host wrote is in memory now

    def _bytes(self, region: Region) -> Array:
        return self.memory.gather([region], (region.nbytes,), np.uint8)


def _waves(window: Sequence[tuple[Op, list[int]]]) -> list[list[Op]]:
    """Group by the longest chain of dependencies inside the window; in report order within a wave."""
    level: dict[int, int] = {}
    waves: list[list[Op]] = []
    for op, dependencies in window:
        mine = max((level.get(on, -1) for on in dependencies), default=-1) + 1
        level[op.id] = mine
        if mine == len(waves):
            waves.append([])
        waves[mine].append(op)
    return waves


FAILURES = (KernBenchError, ArithmeticError, LookupError, TypeError, ValueError)
"""Errors that may come up where a value is computed."""


def named(op: Op, error: Exception) -> KernBenchError:
    """One of :data:`FAILURES` as an error that names ``op``."""
    if isinstance(error, KernBenchError):
        return type(error)(f"{describe(op)}: {error}")
    return KernBenchError(f"{describe(op)} has no value: {error}")


def freeze(array: Array) -> Array:
    """``array``, read-only along with the arrays it is a view of, so that a store may keep it as it is."""
    base: object = array
    while isinstance(base, np.ndarray):
        base.flags.writeable = False
        base = base.base
    return array


def _handles(operands: Sequence[Operand]) -> list[int]:
    return [operand.handle for operand in operands if operand.handle is not None]
