"""PE_FETCH_STORE: the only way between TCM and the register file."""

from __future__ import annotations

from kernbench.components.pe_component import PeComponent, Token
from kernbench.components.pe_tcm import PeTcm
from kernbench.program.operations import Op
from kernbench.sim.clock import QueuedStep


class PeFetchStore(PeComponent):
    """FETCH reads TCM, STORE writes it; the time is that of TCM's port."""

    def wired(self) -> None:
        """Find the TCM."""
        tcm = self.sibling("pe_tcm")
        assert isinstance(tcm, PeTcm)
        self._tcm = tcm

    def accept(self, token: Token) -> None:
        """Pay this component's overhead, move the stage's bytes, pass the token on."""
        op = self.stage_op(token)
        ready = self.clock.time
        overhead = self.overhead()
        self.arrive(ready)
        begun = self.occupy(ready, overhead, op)
        moving = Moving(self, token, op, ready, begun, overhead)
        if begun + overhead > ready:
            self.clock.step_at(begun + overhead, moving, 0)
        else:
            moving.move()


class Moving(QueuedStep):
    """A stage of a tile that moves data between TCM and registers."""

    def __init__(
        self, unit: PeFetchStore, token: Token, op: Op, ready: float, begun: float, overhead: float
    ) -> None:
        self.unit = unit
        self.token = token
        self.op = op
        self.ready = ready
        self.begun = begun
        self.overhead = overhead
        stage = token.plan.stages[token.index]
        self.write = stage.kind == "STORE"
        self.nbytes = stage.nbytes

    def go(self, number: int) -> None:
        """The overhead is paid."""
        self.move()

    def move(self) -> None:
        """Ask for the TCM's port."""
        unit = self.unit
        unit._tcm.access(unit, self.op, self.nbytes, self.write, self.moved)

    def moved(self, start: float) -> None:
        """The bytes are through; the port had them from ``start`` on."""
        unit = self.unit
        now = unit.clock.time
        unit.count_use(self.write, self.overhead + now - start)
        unit.leave(now, self.nbytes, 0.0, self.begun - self.ready)
        unit.finish(self.op, self.ready, self.begun if self.overhead > 0.0 else start, now)
        unit.pass_on(self.token)
