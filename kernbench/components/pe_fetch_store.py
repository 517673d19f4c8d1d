"""PE_FETCH_STORE: the only way between TCM and the register file."""

from __future__ import annotations

from kernbench.components.pe_component import PeComponent, Token
from kernbench.components.pe_tcm import PeTcm
from kernbench.program.operations import Op


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
        ready = float(self.clock.now)
        self.arrive(ready)
        begun = self.occupy(ready, self.overhead_ns, op)
        if begun + self.overhead_ns > ready:
            self.clock.call_at(begun + self.overhead_ns, self._move, token, op, ready, begun)
        else:
            self._move(token, op, ready, begun)

    def _move(self, token: Token, op: Op, ready: float, begun: float) -> None:
        write, nbytes = token.stage.kind == "STORE", token.stage.nbytes

        def done(start: float) -> None:
            now = self.clock.now
            self.count_use(write, self.overhead_ns + now - start)
            self.leave(now, nbytes, 0.0, begun - ready)
            self.finish(op, ready, begun if self.overhead_ns > 0.0 else start, now)
            self.pass_on(token)

        self._tcm.access(self, op, nbytes, write=write, done=done)
