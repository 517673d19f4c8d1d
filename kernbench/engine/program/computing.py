"""Work on operands in TCM: what is alike for every call of an operation, and the command that a call is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.engine.program.operations import Op
from kernbench.engine.program.tile_plans import TilePlan

if TYPE_CHECKING:
    from kernbench.engine.program.carriers import Interpreter, Pe, Queues, Scheduler
    from kernbench.engine.program.commands import Completion

_NO_RUNS: Sequence[tuple[int, int]] = ()
_NOTHING: Sequence[Completion] = ()


class Command:
    """What a kernel hands to its PE: one ``tl`` call. Each class says who carries it out, and how."""

    runs = _NO_RUNS
    """Of a transfer: (address, bytes) of each run of bytes."""
    dispatched = True
    """Whether handing it on takes the PE time."""
    awaited = _NOTHING
    """What the kernel waits for in it, by name."""

    def check(self, scheduler: Scheduler, queues: Queues) -> None:
        """Refuse what the hardware could not carry out, before any of it has begun."""

    def begin(self, pe: Pe) -> bool:
        """Have ``pe`` carry it out; whether the kernel may go on at once."""
        return pe.block(self, self.op)  # type: ignore[attr-defined]

    def dispatch(self, scheduler: Scheduler, done: Callable[[], None]) -> None:
        """Have the engines of ``scheduler`` carry it out; ``done()`` when a blocking one is over."""
        raise NotImplementedError

    def interpret(self, program: Interpreter) -> bool:
        """Carry it out where there is no machine, as far as it goes; whether the kernel may go on."""
        program.execute(self.op, self.runs)  # type: ignore[attr-defined]
        return True

    def answer(self) -> None:
        """Fill in what the kernel would be told, where nothing is carried out."""


class CallSite:
    """An operation on operands of certain shapes and types: all that its calls have in common.

    Made once, when a kernel makes the first such call; a call fills in operands and its line.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        shape: tuple[int, ...],
        dtype: str,
        params: dict[str, Any],
        out_bytes: int,
        plan: TilePlan,
        knowable: bool = False,
    ) -> None:
        self.kind = kind
        self.name = name
        self.shape = shape
        """Of the result, as is ``dtype``."""
        self.dtype = dtype
        self.params = params
        """Of the operation; the same object for all calls."""
        self.out_bytes = out_bytes
        self.plan = plan
        self.knowable = knowable
        """Whether the result is known where the operands are, as it is index arithmetic."""
        self.nbytes = plan.stages[0].nbytes + plan.stages[2].nbytes
        """What it moves between TCM and registers."""
        self.form, self.form_of = -1, -1
        """What a recorder calls it, and which recorder that was."""

    def command(self, op: Op) -> Compute:
        """The command of the call ``op``."""
        made: Compute = Gemm.__new__(Gemm) if self.kind == "gemm" else Math.__new__(Math)
        made.op = op
        made.plan = self.plan
        made.site = self
        return made


class Compute(Command):
    """A command that works on operands in TCM (blocking): fetch, GEMM or MATH, store, as ``plan`` says."""

    def __init__(self, op: Op, plan: TilePlan) -> None:
        self.op = op
        self.plan = plan
        self.site: CallSite | None = None

    def dispatch(self, scheduler: Scheduler, done: Callable[[], None]) -> None:
        """See :class:`Command`."""
        scheduler.compute(self, done)


class Gemm(Compute):
    """``(m, k) @ (k, n)``."""

    m = property(lambda self: self.plan.stages[1].block[0])
    k = property(lambda self: self.plan.stages[1].block[1])
    n = property(lambda self: self.plan.stages[1].block[2])

    def check(self, scheduler: Scheduler, queues: Queues) -> None:
        """See :class:`Command`."""
        if self.plan.stages[1].precision:
            scheduler.check_precision(self.plan.stages[1].precision)


class Math(Compute):
    """``elements`` elements."""

    @property
    def elements(self) -> int:
        """Elements that PE_MATH works on."""
        return self.plan.stages[1].elements
