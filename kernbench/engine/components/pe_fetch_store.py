"""PE_FETCH_STORE: the only way between TCM and the register file."""

from __future__ import annotations

from functools import partial

from kernbench.engine.components.base import is_users_class
from kernbench.engine.components.pe_component import PeComponent, Token
from kernbench.engine.components.pe_tcm import PeTcm
from kernbench.engine.program.tile_plans import Stage


class PeFetchStore(PeComponent):
    """FETCH reads TCM, STORE writes it; the time is that of TCM's port, none for what is in registers."""

    def wired(self) -> None:
        """Find the TCM."""
        tcm = self.sibling("pe_tcm")
        assert isinstance(tcm, PeTcm)
        self._tcm = tcm
        # An access method of a user's is shown the operation.
        self._own = self._own or is_users_class(type(tcm))

    def accept(self, token: Token) -> None:
        """Pay this component's overhead, move the stage's bytes, pass the token on."""
        self.begin_stage(token)
        ready = self.clock.time
        stage = token.plan.stages[token.index]
        if self.in_registers and stage.nbytes and not self._through_tcm(stage):
            token.id, token.in_row, token.transaction = -1, False, None
            self.end_stage(token, ready, ready, ready)
            self.pass_on(token)
            return
        overhead = self.overhead()
        self.arrive(ready)
        begun = self.occupy(ready, overhead, token)
        token.ready, token.begun, token.overhead = ready, begun, overhead
        token.got = -1.0
        if begun + overhead > ready:
            token.site = None  # its port is asked for later than it came
            token.in_row = False
            self.clock.step_at(begun + overhead, token, 0)
        else:
            token.in_row = token.site is not None
            self.go_on(token)

    def go_on(self, token: Token) -> None:
        """Ask for the TCM's port once the overhead is paid, or finish once the bytes have passed."""
        stage = token.plan.stages[token.index]
        if token.got >= 0.0:
            self._moved(token, stage, token.got)
        elif token.record is None:
            self._tcm.begin(token, self, token.number, self._through_tcm(stage), stage.stores)
        else:
            moved = partial(self._moved, token, stage)
            self._tcm.access(self, token.record, self._through_tcm(stage), stage.stores, moved)

    def _moved(self, token: Token, stage: Stage, start: float) -> None:
        """Called when the bytes have passed the port, which took them from ``start`` on."""
        now = self.clock.time
        overhead = token.overhead
        self.count_use(stage.stores, overhead + now - start)
        self.leave(now, self._through_tcm(stage), 0.0, token.begun - token.ready)
        self.end_stage(token, token.ready, token.begun if overhead > 0.0 else start, now)
        self.pass_on(token)
