"""What GEMM and MATH share: one compute slot a PE, first come first served."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kernbench.pe.part import PePart, Token
from kernbench.pe.plans import Stage
from kernbench.sim.ops import Op
from kernbench.sim.server import Server


class ComputeEngine(PePart, ABC):
    """An engine that works in the PE's compute slot. Subclasses say how long a stage takes."""

    slot: Server
    """The slot; GEMM makes it, MATH shares it."""

    @abstractmethod
    def duration_ns(self, stage: Stage) -> float:
        """Time in the slot for ``stage``, ns."""

    def accept(self, token: Token) -> None:
        """Wait for the slot, work, pass the token on."""
        op = self.stage_op(token)
        now = self.clock.now
        duration = self.overhead_ns + self.duration_ns(token.stage)
        if self.slot.free > now and isinstance(self.slot.holder, Op):
            op.after.append((self.slot.holder.id, "slot"))
        start = self.slot.occupy(now, duration, op)
        self.arrive(now)
        self.leave(start + duration, 0, duration, start - now)
        self.clock.call_at(start + duration, self._over, token, op, now, start)

    def _over(self, token: Token, op: Op, ready: float, start: float) -> None:
        self.finish(op, ready, start, self.clock.now)
        self.pass_on(token)
