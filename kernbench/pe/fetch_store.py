"""PE_FETCH_STORE: the only way between TCM and the register file."""

from __future__ import annotations

from kernbench.pe.part import PePart, Token
from kernbench.pe.tcm import PeTcm
from kernbench.sim.ops import Op


class PeFetchStore(PePart):
    """FETCH reads TCM, STORE writes it; the time is that of TCM's port."""

    def wired(self) -> None:
        """Find the TCM."""
        tcm = self.sibling("pe_tcm")
        assert isinstance(tcm, PeTcm)
        self._tcm = tcm

    def accept(self, token: Token) -> None:
        """Pay this component's overhead, move the stage's bytes, pass the token on."""
        op = self.stage_op(token)
        ready = float(self.clock.now)
        self.transactions += 1
        self.bytes += token.stage.nbytes
        if self.overhead_ns > 0.0:
            begun = self.occupy(ready, self.overhead_ns, op)
            self.clock.call_at(begun + self.overhead_ns, self._move, token, op, ready)
        else:
            self._move(token, op, ready)

    def _move(self, token: Token, op: Op, ready: float) -> None:
        write = token.stage.kind == "STORE"

        def done(start: float) -> None:
            now = self.clock.now
            self.both_ways(write, now - start)
            self.finish(op, ready, start, now)
            self.pass_on(token)

        self._tcm.access(self, op, token.stage.nbytes, write=write, done=done)
