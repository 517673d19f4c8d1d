"""Kernels without hardware: numpy only, no time, every value there to look at."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kernbench.engine.program.commands import Command, Completion, PeContext
from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.engine.program.queues import Receive, Send
from kernbench.errors import DeadlockError, EmptyGridError, KernBenchError, KernelError, UsageError
from kernbench.hardware.topology.neighbours import MachineShape, Neighbours
from kernbench.language.autotune import chosen
from kernbench.language.binding import argument_names
from kernbench.language.interpreted_queues import InterpretedQueues, Parcel
from kernbench.language.pointer import Placement, TensorArg
from kernbench.language.thread import KernelCall
from kernbench.support import dtypes
from kernbench.support.hints import shown
from kernbench.values.executor import Executor
from kernbench.values.memory_store import SimulatedMemory
from kernbench.values.semantics import DEFAULT_TILE

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
    counts = (grid, 1, 1) if isinstance(grid, int) else tuple(grid)
    if len(counts) != 3 or any(not isinstance(n, int) or n < 1 for n in counts):
        raise UsageError(f"grid {shown(grid)} must be three positive counts (PEs per cube, cubes, SIPs)")
    pes, cubes, sips = counts
    memory = InterpretedMemory()
    try:
        fn, args, named = memory.place_all(fn, arrays, out, constants)
    except EmptyGridError:
        return out
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


class InterpretedMemory(SimulatedMemory):
    """The bytes of all arrays, each at an address of its own with a gap behind it."""

    def __init__(self) -> None:
        super().__init__()
        self._segments: list[tuple[int, str, Array]] = []
        self._written: set[int] = set()
        self._end = PAGE

    def place_all(
        self,
        fn: Callable[..., Any],
        args: Sequence[object],
        out: Array | Sequence[Array] | None,
        constants: Mapping[str, object],
    ) -> tuple[Callable[..., Any], list[object], dict[str, object]]:
        """What a call of ``fn`` runs, and its arguments as the kernel gets them, those of ``out`` last."""
        outputs = [] if out is None else [out] if isinstance(out, np.ndarray) else list(out)
        positional = [*args, *outputs]
        fn, given = chosen(fn, positional, constants)
        names = argument_names(fn, len(positional))
        placed = [self.place(name, value) for name, value in zip(names, positional, strict=True)]
        return fn, placed, {key: self.place(key, value) for key, value in given.items()}

    def place(self, name: str, value: object) -> object:
        """A tensor argument for an array; anything else as it is. The same array is placed once."""
        if not isinstance(value, np.ndarray):
            return value
        dtype = dtypes.of_numpy(value.dtype).name
        base = next((start for start, _, array in self._segments if array is value), None)
        if base is None:
            base = self._end
            self._segments.append((base, name, value))
            self.write(base, np.array(value, order="C"), owned=True)
            self._end += (value.nbytes // PAGE + 2) * PAGE
        return TensorArg(name, value.shape, dtype, default=Placement(base, base, value.shape))

    def check(self, region: Region, write: bool) -> Region:
        """``region``, if it is within an array, which can be written if it is to be."""
        address, size = region
        before = [segment for segment in self._segments if segment[0] <= address]
        if not before or address + size > before[-1][0] + before[-1][2].nbytes:
            raise KernelError(f"{_named(region, before)} are not within any array that the kernel was given")
        if write:
            if not before[-1][2].flags.writeable:
                raise KernelError(f"{_named(region, before)} cannot be written: read-only")
            self._written.add(before[-1][0])
        return region

    def copy_back(self) -> None:
        """Give the arrays that were written their new values."""
        for start, _, array in self._segments:
            if start in self._written:
                array[...] = self.read(start, array.shape, array.dtype)


def _named(region: Region, before: Sequence[tuple[int, str, Array]]) -> str:
    """So many bytes at an address, as the kernel's author knows them; ``before``: the arrays up to there."""
    if not before:
        return f"{region.nbytes} bytes at address {region.addr}"
    start, name, array = before[-1]
    return f"{region.nbytes} bytes at byte {region.addr - start} of '{name}', which has {array.nbytes},"


class _Program:
    """Stands in for a PE: carries out commands at once and knows every value."""

    def __init__(
        self, memory: InterpretedMemory, tile: tuple[int, int, int], queues: InterpretedQueues, pe: PeContext
    ) -> None:
        self.ended = False
        self.tile = tile
        self.steps = 0
        """Commands begun so far."""
        self._memory = memory
        self._replay = Executor(memory)
        self._queues = queues
        self._pe = pe
        self._location = (pe.sip, pe.cube, pe.pe)
        self._waiting: Command | None = None
        self._sending: Parcel | None = None
        self._receives: list[Receive] = []

    follows_computed = True

    def known(self, handle: int) -> Array | None:
        """The value of a handle: always known here."""
        return self._replay.value(handle)

    replayed = known

    def release(self, handle: int) -> None:
        """No operation asks for this handle any more."""
        self._replay.retire(handle)

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
                elif self._waiting.interpret(self):
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

    # -- how commands are carried out: see :class:`~kernbench.engine.program.carriers.Interpreter` -----------

    def execute(self, op: Op, runs: Sequence[tuple[int, int]]) -> None:
        """Compute ``op``; ``runs`` are the bytes that a load or store moves."""
        self.receive_open()
        old = op.params.get("old")  # of an atomic access: what reads what memory held
        if old is not None:
            self._locate(old.inputs[0], False, runs)
            self._replay.carry_out(old)
        for operand, write in (*((one, False) for one in op.inputs), (op.output, True)):
            if operand is not None and operand.handle is None:
                assert operand.address is not None or not runs
                self._locate(operand, write, runs)
        try:
            self._replay.carry_out(op)
        except KernBenchError as problem:
            if isinstance(problem.__cause__, ZeroDivisionError):
                raise KernelError(f"tl.{op.name}: {problem.__cause__} ({op.source})") from None
            raise

    def _locate(self, operand: Operand, write: bool, runs: Sequence[tuple[int, int]] = ()) -> None:
        """Where an operand's bytes lie: in ``runs``, or else all from its address on."""
        if not runs and operand.address is not None and operand.nbytes:
            runs = ((operand.address, operand.nbytes),)
        operand.regions = tuple(self._memory.check(Region(*run), write) for run in runs)

    def send(self, command: Send) -> bool:
        """Put the message into the peer's ring, as far as it has room."""
        message = command.message
        ring = self._queues.peer_ring(self._location, command.direction)
        if self._sending is None:
            source = next(iter(command.op.inputs), None)
            operand = source or Operand(message.shape, message.dtype, address=command.address)
            if operand.handle is None:
                self._locate(operand, False)
            data = np.ascontiguousarray(self._replay.read(operand)).reshape(-1).view(np.uint8)
            self._sending = Parcel(message, data.copy(), Completion(command.label, command.op.id))
            ring.put(self._sending)
        posted = self._sending.posted
        if not posted.done:
            if command.address is not None or ring.waiting > ring.entry.slots:
                return False
            command.completion = posted
        self._sending = None
        return True

    def receive(self, command: Receive) -> bool:
        """Receive, after those that are open."""
        self._receives += [] if command in self._receives else [command]
        self.receive_open()
        return command.completion is not None or command not in self._receives

    def receive_open(self) -> None:
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
                    self._locate(operand, True)
                value = parcel.data.view(dtypes.dtype(operand.dtype).numpy).reshape(operand.shape)
                self._replay.write(operand, value)
            if command.completion is not None:
                command.completion.complete()
