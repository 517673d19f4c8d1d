"""Work on operands in TCM: what is alike for every call of an operation, and the command that a call is."""

from __future__ import annotations

from typing import Any

from kernbench.program.operations import Op
from kernbench.program.tile_plans import TilePlan, gemm, math


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


class Compute:
    """A command that works on operands in TCM (blocking): fetch, GEMM or MATH, store, as ``plan`` says."""

    def __init__(self, op: Op, plan: TilePlan) -> None:
        self.op = op
        self.plan = plan
        self.site: CallSite | None = None

    @property
    def in_bytes(self) -> int:
        """Bytes of the operands."""
        return self.plan.stages[0].nbytes

    @property
    def out_bytes(self) -> int:
        """Bytes of the result."""
        return self.plan.stages[2].nbytes


class Gemm(Compute):
    """``(m, k) @ (k, n)``."""

    def __init__(self, op: Op, m: int, k: int, n: int, in_bytes: int, out_bytes: int) -> None:
        Compute.__init__(self, op, gemm(m, k, n, in_bytes, out_bytes))

    m = property(lambda self: self.plan.stages[1].block[0])
    k = property(lambda self: self.plan.stages[1].block[1])
    n = property(lambda self: self.plan.stages[1].block[2])


class Math(Compute):
    """``elements`` elements."""

    def __init__(self, op: Op, elements: int, in_bytes: int, out_bytes: int) -> None:
        Compute.__init__(self, op, math(op.name, elements, in_bytes, out_bytes))

    @property
    def elements(self) -> int:
        """Elements that PE_MATH works on."""
        return self.plan.stages[1].elements
