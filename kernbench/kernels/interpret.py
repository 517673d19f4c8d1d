"""Kernels without hardware: numpy only, no time, every value there to look at."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kernbench import dtypes
from kernbench.errors import DeadlockError, KernelError, UsageError
from kernbench.hints import shown
from kernbench.kernels.autotune import Autotuned
from kernbench.kernels.binding import argument_names
from kernbench.kernels.interpreted_queues import InterpretedQueues, Parcel
from kernbench.kernels.pointer import Placement, TensorArg
from kernbench.kernels.thread import KernelCall
from kernbench.program.commands import Command, Completion, Composite, Cycles, Load, PeContext, Store, Wait
from kernbench.program.operations import Op, Operand
from kernbench.program.queues import Receive, Send
from kernbench.replay.semantics import DEFAULT_TILE, compute
from kernbench.topology.neighbours import MachineShape, Neighbours

Array = np.ndarray[Any, Any]
PAGE = 4096


def interpret(
    fn: Callable[..., Any],
    *arrays: object,
    grid: tuple[int, int, int] | int = (1, 1, 1),
    out: Array | Sequence[Array] | None = None,
    tile: tuple[int, int, int] = DEFAULT_TILE,
    scratch_bytes: int = 1 << 20,
    queues: str | Sequence[str] | Neighbours = (),
    slots: int = 4,
    slot_bytes: int = 4096,
    machine: MachineShape | None = None,
    **constants: object,
) -> Any:
    """Run ``fn`` for every program id on numpy arrays: each to its end, or until it waits for a queue.

    Every program sees whole arrays as its local shard. Programs that wait for each other's messages go on in
    turn.

    Args:
        fn: The kernel. One with configurations (:func:`kernbench.autotune`) takes the best that is known,
            else its first.
        arrays: Its arguments: arrays become pointers, and the kernel's writes are copied back into them;
            other values are passed as they are.
        grid: (PEs per cube, cubes, SIPs), PEs running fastest.
        out: One or more further arrays, passed last.
        tile: The (M, K, N) of composites that choose none.
        scratch_bytes: TCM scratch of each PE.
        queues: Patterns of neighbours by name, or the neighbours themselves.
        slots: Slots of each receive ring.
        slot_bytes: Size of a slot.
        machine: Shape of the machine that patterns are laid out on; by default the cubes are one row.
        constants: Further arguments by name.

    Returns:
        ``out``.

    Raises:
        KernelError: as on the simulator, or an access outside of every array.
        DeadlockError: all programs that have not ended wait for queues.
    """
    if isinstance(fn, Autotuned):
        tuned = fn
        constants = {**tuned.config_for(tuned.key_of(arrays, constants)), **constants}
        fn = tuned.fn
    counts = (grid, 1, 1) if isinstance(grid, int) else tuple(grid)
    if len(counts) != 3 or any(not isinstance(n, int) or n < 1 for n in counts):
        raise UsageError(f"grid {shown(grid)} must be three positive counts (PEs per cube, cubes, SIPs)")
    pes, cubes, sips = counts
    outputs = [] if out is None else [out] if isinstance(out, np.ndarray) else list(out)
    memory = InterpretedMemory()
    positional = [*arrays, *outputs]
    names = argument_names(fn, len(positional))
    args = [memory.place(name, value) for name, value in zip(names, positional, strict=True)]
    named = {key: memory.place(key, value) for key, value in constants.items()}
    rings = InterpretedQueues((pes, cubes, sips), queues, slots, slot_bytes, machine)
    op_ids = itertools.count()
    programs = []
    for sip, cube, pe in itertools.product(range(sips), range(cubes), range(pes)):
        context = pe_context((pe, cube, sip), (pes, cubes, sips), rings, scratch_bytes, op_ids)
        program = _Program(memory, tile, rings, context)
        program.start(KernelCall(fn, args, named, data=program))
        programs.append(program)
    _run(programs, rings)
    memory.copy_back()
    return out


def pe_context(
    program_id: tuple[int, int, int],
    counts: tuple[int, int, int],
    rings: InterpretedQueues,
    scratch_bytes: int,
    op_ids: Iterator[int],
) -> PeContext:
    """The PE that runs a program (PE, cube, SIP) of a grid of ``counts`` where there is no machine."""
    pe, cube, sip = program_id
    return PeContext(
        sip=sip,
        cube=cube,
        pe=pe,
        name=f"sip{sip}.cube{cube}.pe{pe}",
        program_id=program_id,
        num_programs=counts,
        scratch_base=0,
        scratch_bytes=scratch_bytes,
        now=lambda: 0.0,
        next_op_id=lambda: next(op_ids),
        launch=0,
        queues=rings.of((sip, cube, pe)),
        device_counts=counts,
    )


def _run(programs: Sequence[_Program], rings: InterpretedQueues) -> None:
    """All programs to their ends, in turn."""
    try:
        live = list(programs)
        while live:
            before = rings.moved, [program.steps for program in live]
            for program in live:
                program.advance()
            if before == (rings.moved, [program.steps for program in live]):
                waits = "; ".join(program.waits_for() for program in live)
                raise DeadlockError(f"deadlock: every program that has not ended waits for a queue: {waits}")
            live = [program for program in live if not program.ended]
    finally:
        for program in programs:
            program.close()


class InterpretedMemory:
    """The bytes of all arrays, each at an address of its own with a gap behind it."""

    def __init__(self) -> None:
        self._segments: list[tuple[int, Array, Array]] = []
        self._written: list[bool] = []
        self._names: list[tuple[int, str, int]] = []
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
            self._names.append((base, name, value.nbytes))
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
            raise KernelError(f"{self._named(operand.address, data.size)} cannot be written: read-only")
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
            f"{self._named(operand.address, size)} are not within any array that the kernel was given"
        )

    def _named(self, address: int | None, size: int) -> str:
        """So many bytes at an address, as the kernel's author knows them."""
        at = [(start, name, data) for start, name, data in self._names if start <= (address or 0)]
        if not at:
            return f"{size} bytes at address {address}"
        start, name, nbytes = at[-1]
        return f"{size} bytes at byte {(address or 0) - start} of '{name}', which has {nbytes},"


def _raw(array: Array) -> Array:
    """The bytes of an array in row-major order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class _Program:
    """Stands in for a PE: carries out commands at once and knows every value."""

    def __init__(
        self, memory: InterpretedMemory, tile: tuple[int, int, int], queues: InterpretedQueues, pe: PeContext
    ) -> None:
        self.ended = False
        self.steps = 0
        """Commands begun so far."""
        self._memory = memory
        self._tile = tile
        self._queues = queues
        self._pe = pe
        self._location = (pe.sip, pe.cube, pe.pe)
        self._values: dict[int, Array] = {}
        self._runs: tuple[tuple[int, int], ...] | None = None
        """The bytes in memory of the load or store being carried out."""
        self._waiting: Command | None = None
        self._sending: Parcel | None = None
        self._receives: list[Receive] = []

    follows_computed = True

    def value(self, handle: int) -> Array | None:
        """The value of a handle: always known here."""
        return self._values.get(handle)

    def release(self, handle: int) -> None:
        """No operation asks for this handle any more."""
        self._values.pop(handle, None)

    def start(self, call: KernelCall) -> None:
        """Make the program's thread; nothing runs yet."""
        self._name = call.name
        self._thread = call.start(self._pe)

    def close(self) -> None:
        """Stop the kernel where it stands."""
        self._thread.close()

    def advance(self) -> None:
        """Run until the kernel has ended or waits for a queue; what it raises says which program it was."""
        try:
            while not self.ended:
                if self._waiting is None:
                    self._waiting = self._thread.resume()
                    self.steps += 1
                if self._waiting is None:
                    self.ended = True
                elif self._carry_out(self._waiting):
                    self._waiting = None
                else:
                    return
        except Exception as problem:
            problem.add_note(f"in kernel '{self._name}' on {self._pe.name}, program_id {self._pe.program_id}")
            raise

    def waits_for(self) -> str:
        """The queue that the program waits for, for the report of a deadlock."""
        full = [f" (the peer's {ring})" for ring in self._queues.filled_by(self._location) if ring.waiting]
        return f"{self._thread.describe()}{''.join(full)}"

    def _carry_out(self, command: Command) -> bool:
        """Carry a command out as far as it goes; True when the kernel may go on."""
        if isinstance(command, Send):
            return self._send(command)
        if isinstance(command, Receive):
            self._receives += [] if command in self._receives else [command]
            self._receive()
            return command.completion is not None or command not in self._receives
        self._receive()
        if isinstance(command, Wait):
            return all(completion.done for completion in command.completions)
        if isinstance(command, Cycles):
            return True
        if isinstance(command, Composite) and command.tile is None and command.head == "gemm":
            command.op.params["tile"] = self._tile
        self._runs = command.runs if isinstance(command, Load | Store) else None
        self._execute(command.op)
        if isinstance(command, Composite):
            command.completion.complete()
        return True

    def _send(self, command: Send) -> bool:
        message = command.message
        ring = self._queues.peer_ring(self._location, command.direction)
        if self._sending is None:
            data = np.empty(0, np.uint8)
            if message.nbytes:
                source = next(iter(command.op.inputs), None)
                operand = source or Operand(message.shape, message.dtype, address=command.address)
                data = _raw(self._read(operand)).copy()
            self._sending = Parcel(message, data, Completion(command.label, command.op.id))
            ring.put(self._sending)
        posted = self._sending.posted
        if not posted.done:
            if command.address is not None or ring.waiting > ring.entry.slots:
                return False
            command.completion = posted
        self._sending = None
        return True

    def _receive(self) -> None:
        """Let the open receives, oldest first, take what has arrived."""
        for command in list(self._receives):
            parcel = self._queues.take(self._location, command)
            if parcel is None:
                continue
            self._receives.remove(command)
            message = command.message = parcel.message
            if command.nbytes in (None, message.nbytes) and message.nbytes:
                operand = command.op.output or Operand(message.shape, message.dtype, handle=command.op.id)
                if command.address is not None:
                    operand = Operand((message.nbytes,), "i8", address=command.address)
                value = parcel.data.view(dtypes.dtype(operand.dtype).numpy).reshape(operand.shape)
                self._write(operand, value)
            if command.completion is not None:
                command.completion.complete()

    def _read(self, operand: Operand) -> Array:
        if operand.handle is not None:
            return self._values[operand.handle]
        if not math.prod(operand.shape):
            return np.empty(0, dtypes.dtype(operand.dtype).numpy)
        if self._runs is None:
            return self._memory.read(operand)
        parts = [
            _raw(self._memory.read(Operand((nbytes,), "i8", address=address)))
            for address, nbytes in self._runs
        ]
        return np.concatenate(parts).view(dtypes.dtype(operand.dtype).numpy).reshape(operand.shape)

    def _write(self, operand: Operand, value: Array) -> None:
        if operand.handle is None and self._runs is not None:
            data, position = _raw(value), 0
            for address, nbytes in self._runs:
                part = data[position : position + nbytes].view(np.int8)
                self._memory.write(Operand((nbytes,), "i8", address=address), part)
                position += nbytes
        elif operand.handle is None and value.size:
            self._memory.write(operand, value)
        elif operand.handle is not None:
            self._values[operand.handle] = value

    def _execute(self, op: Op) -> None:
        assert op.output is not None
        try:
            value = compute(op, [self._read(operand) for operand in op.inputs])
        except ZeroDivisionError as problem:
            raise KernelError(f"tl.{op.name}: {problem} ({op.source})") from None
        self._write(op.output, value)
