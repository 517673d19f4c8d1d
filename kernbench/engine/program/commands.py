"""Commands that a kernel hands to its PE: one ``tl`` call is one command.

The kernel side (``tl``) fills in everything that the hardware needs to know: addresses, bytes, shapes
of the work. The PE answers a blocking command when its work is done, a :class:`Composite` at once with
a :class:`Completion`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from kernbench.engine.program.carriers import Interpreter, Pe, Queues, Scheduler
from kernbench.engine.program.computing import Command as Command
from kernbench.engine.program.computing import Compute as Compute
from kernbench.engine.program.computing import Gemm as Gemm
from kernbench.engine.program.computing import Math as Math
from kernbench.engine.program.operations import Op
from kernbench.engine.program.queues import Receive as Receive
from kernbench.engine.program.queues import RingEntry
from kernbench.engine.program.queues import Send as Send
from kernbench.hardware.address.runs import Runs


class Completion:
    """The end of asynchronous work, for which ``tl.wait`` waits."""

    __slots__ = ("_callbacks", "done", "label", "op")

    def __init__(self, label: str = "", op: int = -1) -> None:
        self.done = False
        self.label = label
        self.op = op
        """Id of the operation whose end it is; -1 when of none."""
        self._callbacks: list[Callable[[], None]] = []

    def then(self, callback: Callable[[], None]) -> None:
        """Call back when done; at once if it is already."""
        if self.done:
            callback()
        else:
            self._callbacks.append(callback)

    def complete(self) -> None:
        """Mark done and call all callbacks back. A second call is a bug and raises ``RuntimeError``."""
        if self.done:
            raise RuntimeError(f"completion '{self.label}' was completed twice")
        self.done = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


@dataclass(slots=True)
class Transfer(Command):
    """Move bytes between the PE and ``runs`` of ``(address, bytes)`` in memory (blocking)."""

    op: Op
    runs: Sequence[tuple[int, int]]
    fresh: bool = True
    """Of a load: it is the first of its kernel or block, or of a turn of a loop."""
    kind: ClassVar[str]

    def check(self, scheduler: Scheduler, queues: Queues) -> None:
        """See :class:`Command`."""
        scheduler.check_runs(self.runs)

    def dispatch(self, scheduler: Scheduler, done: Callable[[], None]) -> None:
        """See :class:`Command`."""
        scheduler.transfer(self.op, self.kind, self.runs, done)


class Load(Transfer):
    """Read them. ``op`` is a ``dma_read``."""

    __slots__ = ()
    kind = "dma_read"


class Store(Transfer):
    """Write them; acknowledged.

    ``op`` says what they do to memory: a ``dma_write``, or an ``atomic_add``. Its output is the target; what
    reads the target as well has that very operand among its inputs.
    """

    __slots__ = ()
    kind = "dma_write"


@dataclass(slots=True)
class Define(Command):
    """A handle made without an engine (``arange``, ``zeros``, ``full``, ``trans``): no time passes."""

    op: Op
    dispatched = False

    def begin(self, pe: Pe) -> bool:
        """See :class:`Command`."""
        return pe.define(self.op)


@dataclass(slots=True)
class Cycles(Command):
    """The kernel itself computes for ``count`` cycles of the PE's clock."""

    count: float

    def begin(self, pe: Pe) -> bool:
        """See :class:`Command`."""
        return pe.work(self.count)

    def interpret(self, program: Interpreter) -> bool:
        """See :class:`Command`."""
        program.receive_open()
        return True


@dataclass(slots=True)
class Composite(Command):
    """An asynchronous tiled pipeline ``DMA_READ - FETCH - GEMM|MATH - STORE - DMA_WRITE``.

    ``op`` is of kind ``"gemm"`` (inputs (M, K) and (K, N), output (M, N)) or ``"math"`` (input and output of
    one shape, 1-D is (1, N)); operands of its epilogue come behind the inputs. An operand with a handle is
    pinned: it is in TCM already and its DMA reads are skipped. Parameter ``tile`` is (M, K, N) for gemm,
    (M, N) for math; ``None`` is the hardware's tile. Steps of its epilogue are parameters as well
    (:func:`kernbench.values.epilogues.apply`).
    """

    op: Op
    completion: Completion = field(default_factory=Completion)

    def check(self, scheduler: Scheduler, queues: Queues) -> None:
        """See :class:`Command`."""
        scheduler.check_tiles(self)

    def begin(self, pe: Pe) -> bool:
        """See :class:`Command`."""
        return pe.start(self)

    def dispatch(self, scheduler: Scheduler, done: Callable[[], None]) -> None:
        """See :class:`Command`."""
        scheduler.feed(self)

    def interpret(self, program: Interpreter) -> bool:
        """See :class:`Command`."""
        if self.op.kind == "gemm" and self.op.params["tile"] is None:
            self.op.params["tile"] = program.tile
        program.execute(self.op, ())
        self.completion.complete()
        return True


@dataclass(slots=True)
class Wait(Command):
    """Block until all of ``completions`` are done."""

    completions: list[Completion]

    @property
    def awaited(self) -> Sequence[Completion]:  # type: ignore[override]
        """See :class:`Command`."""
        return self.completions

    def begin(self, pe: Pe) -> bool:
        """See :class:`Command`."""
        return pe.wait(self.completions)

    def interpret(self, program: Interpreter) -> bool:
        """See :class:`Command`."""
        program.receive_open()
        return all(completion.done for completion in self.completions)

    def answer(self) -> None:
        """See :class:`Command`."""
        for completion in self.completions:
            if not completion.done:
                completion.complete()


@dataclass(slots=True)
class Ahead(Command):
    """A command that its kernel does not wait for.

    It is issued in order of its kind (loads, stores, compute) when all of ``after`` are done. A definition is
    in no queue.
    """

    command: Load | Store | Compute | Define
    completion: Completion
    after: tuple[Completion, ...] = ()
    thread: int = 0
    """Which of the threads of its PE has given it; each has queues of its own."""

    @property
    def op(self) -> Op:
        """The command's operation."""
        return self.command.op

    @property
    def runs(self) -> Sequence[tuple[int, int]]:  # type: ignore[override]
        """See :class:`Command`."""
        return self.command.runs

    @property
    def dispatched(self) -> bool:  # type: ignore[override]
        """See :class:`Command`."""
        return self.command.dispatched

    def check(self, scheduler: Scheduler, queues: Queues) -> None:
        """See :class:`Command`. Many runs lie in one tensor: what is between them is as they are."""
        runs = self.command.runs
        if isinstance(runs, Runs):
            first, end = runs.span
            scheduler.check_runs(((first, end - first),))
        else:
            self.command.check(scheduler, queues)

    def begin(self, pe: Pe) -> bool:
        """See :class:`Command`."""
        return pe.queue(self)

    def interpret(self, program: Interpreter) -> bool:
        """See :class:`Command`."""
        self.command.interpret(program)
        self.completion.complete()
        return True

    def answer(self) -> None:
        """See :class:`Command`."""
        self.completion.complete()


@dataclass(frozen=True, slots=True)
class PeContext:
    """The PE that a kernel runs on, as the kernel may see it."""

    sip: int
    cube: int
    pe: int
    name: str
    """The PE's name, ``sip0.cube0.pe0``."""
    program_id: tuple[int, int, int]
    """Index of this PE within the launch: (PE in its cube, cube, SIP)."""
    num_programs: tuple[int, int, int]
    scratch_base: int
    """Physical address of the TCM scratch region that kernel results live in."""
    scratch_bytes: int
    now: Callable[[], float]
    """Simulated time in ns."""
    next_op_id: Callable[[], int]
    launch: int
    queues: Mapping[str, RingEntry] = field(default_factory=dict)
    """The PE's queues by direction."""
    device_counts: tuple[int, int, int] = (1, 1, 1)
    """PEs in a cube, cubes in a SIP and SIPs of the machine."""
    run_ahead: bool = False
    """Whether kernels of `kernbench.tl` go on while their commands are carried out; those of Triton do."""
    warps: int = 0
    """Warps of blocks that the PE has room for; 0: launches say how many blocks."""
    staging: bool = False
    """Whether it takes time that operands of products pass through registers in loops of one stage."""


class RunningKernel(Protocol):
    """A kernel suspended between two commands (implemented by ``kernbench.language``)."""

    def resume(self) -> Command | None:
        """Run the kernel to its next command; ``None`` when it has returned. Raises what it raised."""

    def close(self) -> None:
        """Stop a kernel that will not be resumed any more."""

    def describe(self) -> str:
        """The kernel's state for a deadlock report: its name and the call it is in."""

    def nearest_tensor(self, address: int) -> str:
        """The tensor argument next to an address that is in none, for an error; empty without one."""


class BoundKernel(Protocol):
    """A kernel and its arguments, ready to start on any PE of a launch."""

    name: str

    def start(self, pe: PeContext) -> RunningKernel:
        """A new thread of the kernel on that PE; nothing runs before the first ``resume``."""
