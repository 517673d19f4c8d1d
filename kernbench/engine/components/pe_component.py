"""The base of a PE's own components, and the tokens that route themselves through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernbench.engine.components.base import Component, is_users_class
from kernbench.engine.components.pe_tcm import THROUGH, PortAccess
from kernbench.engine.components.system import System
from kernbench.engine.core.node import Link
from kernbench.engine.core.server import Server
from kernbench.engine.program.computing import CallSite
from kernbench.engine.program.operations import Op
from kernbench.engine.program.tile_plans import Stage, TilePlan
from kernbench.support.pgraph import Node


class Token(PortAccess):
    """A tile, or a command that is one tile, on its way through the stages of its plan.

    At any time exactly one component owns it, and its fields are those of its stage there.
    """

    def __init__(
        self,
        plan: TilePlan,
        parent: Op,
        op: Op | None = None,
        done: Callable[[], None] | None = None,
    ) -> None:
        PortAccess.__init__(self)
        self.plan = plan
        self.parent = parent
        self.op = op
        """The command's own op, for a simple command: its compute stage is recorded as that op."""
        self.done = done
        """Of a simple command: called exactly once, when the last stage is over."""
        self.site: CallSite | None = None
        """Of a simple command whose stages are recorded together: its call site."""
        self.row = -1
        """Where they are."""
        self.pipeline: Any = None
        """The composite that it is a tile of (of the scheduler's class)."""
        self.index = 0
        self.previous: tuple[int, ...] = ()
        """Ids of the operations of the previous stage; none at first."""
        self.fed_by: tuple[int, ...] = ()
        """Ids of the last operations of the tile whose end made room for it; none if there was room."""
        self.launch = parent.launch
        self.at: PeComponent | None = None
        """The component that executes its stage."""
        self.record: Op | None = None
        """The operation of its stage; None if no instrument looks at it and it is only a row."""
        self.number = -1
        """Its number."""
        self.after: tuple[int, ...] = ()
        """Operations that it waited for, if it is only a row."""
        self.slot = -1
        """The operation that held the compute slot before it; -1 for none."""
        self.ready = self.begun = self.overhead = 0.0
        """When it arrived, when its service began, and how long that took, ns."""

    @property
    def stage(self) -> Stage:
        """Its current stage."""
        return self.plan.stages[self.index]

    def go(self, number: int) -> None:
        """Carry out a step of its stage that is due."""
        if number == THROUGH:
            PortAccess.go(self, number)
        else:
            assert self.at is not None
            self.at.go_on(self)

    def through(self) -> None:
        """See :class:`PortAccess`."""
        assert self.at is not None
        self.at.go_on(self)


def held_by(slot: Server) -> int:
    """The last operation in a compute slot; -1 for none."""
    holder = slot.holder
    if isinstance(holder, Token):
        return holder.number
    return holder.id if isinstance(holder, Op) else -1


class PeComponent(Component):
    """A component inside a PE; its siblings are reached by their part names."""

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self._siblings: dict[str, Component] = {}
        self._of_stage: dict[str, PeComponent] = {}
        """The siblings that carry out stages, by the stage's kind."""
        self._feeder: PeComponent | None = None
        """The scheduler."""
        self._inward: dict[Component, tuple[Link, float]] = {}
        self._outward: dict[Component, tuple[Link, float]] = {}
        """See :meth:`_between`."""
        self._own = is_users_class(type(self))
        graph, pe = system.graph, node.id.rpartition(".")[0]
        self.of_pe = graph.node(pe).properties if pe in graph else {}
        """Properties of its PE as a whole."""
        self.in_registers = self.of_pe.get("operands") == "registers"
        """Whether operands are in registers, so that only those of products pass the TCM."""

    def sibling(self, part: str) -> Component:
        """The component ``part`` of the same PE, for instance ``"pe_mmu"``."""
        found = self._siblings.get(part)
        if found is None:
            found = self.system.component(f"{self.resource.rpartition('.')[0]}.{part}")
            self._siblings[part] = found
        return found

    def accept(self, token: Token) -> None:
        """Take a token whose stage is this component's."""
        raise TypeError(f"'{self.resource}' has no pipeline stage {token.stage.kind}")

    def go_on(self, token: Token) -> None:
        """Continue with a token that waited here for a time, or for the TCM."""
        raise NotImplementedError

    def token_over(self, token: Token) -> None:
        """Called on the component that started a token when the token's last stage is over."""
        raise NotImplementedError

    def begin_stage(self, token: Token) -> None:
        """Begin a token's stage: number its operation, and make its record if an instrument looks at it."""
        stage = token.plan.stages[token.index]
        token.at = self
        token.slot = -1
        site, own = token.site, token.op if stage.computes else None
        if self._own or self.system.stages_seen or (own is not None and site is None):
            token.site = None
            token.record = op = self.stage_op(token)
            token.number = op.id
            return
        token.record = None
        token.number = number = self.system.next_op_id() if own is None else own.id
        token.after = token.previous
        token.previous = (number,)

    def end_stage(self, token: Token, t_ready: float, t_start: float, t_end: float) -> None:
        """End a token's stage: note it."""
        op = token.record
        if op is not None:
            self.finish(op, t_ready, t_start, t_end)
            return
        system = self.system
        stage = token.plan.stages[token.index]
        moves = not stage.computes
        if not moves:
            system.note_work(token.launch, self.resource, t_start, t_end)
        rows = system.stage_rows
        site = token.site
        if site is not None:
            own = token.op
            assert own is not None
            assert rows is not None
            access = token.in_row + system.traced if token.in_row and token.transaction is None else 0
            token.row = rows.add_part(
                token.row, token.index, own, site, self.resource, token.number,
                token.id if moves else token.slot, access if moves else 0, t_ready, t_start, t_end,
            )  # fmt: skip
        elif rows is not None:
            after = token.after
            rows.add_stage(
                token.number, token.parent, stage.kind, stage.label, self.resource, stage.nbytes,
                token.id if moves else -1, t_ready, t_start, t_end, after or token.fed_by,
                "stage" if after else "buffer", token.slot,
            )  # fmt: skip

    def stage_op(self, token: Token) -> Op:
        """The record for the token's present stage."""
        op = self._record(token)
        token.previous = (op.id,)
        return op

    def stage_ops(self, token: Token, count: int) -> list[Op]:
        """The ``count`` records for the token's present stage; none of them waits for another."""
        ops = [self._record(token) for _ in range(count)]
        token.previous = tuple(op.id for op in ops)
        return ops

    def _record(self, token: Token) -> Op:
        stage = token.plan.stages[token.index]
        kind = stage.kind
        if token.op is not None and stage.computes:
            op = token.op
        else:
            parent = token.parent
            op = Op(self.system.next_op_id(), "tile", stage.label)
            op.launch = token.launch
            op.parent = parent.id
            op.source = parent.source
            op.nbytes = stage.nbytes
        op.stage = kind
        if token.previous:
            for number in token.previous:
                op.after.append((number, "stage"))
        else:
            for number in token.fed_by:
                op.after.append((number, "buffer"))
        return op

    def pass_on(self, token: Token) -> None:
        """Pass the token on to its next stage, or finish it."""
        stages = token.plan.stages
        index = token.index + 1
        token.index = index
        if index == len(stages):
            if self._feeder is None:
                feeder = self.sibling("pe_scheduler")
                assert isinstance(feeder, PeComponent)
                self._feeder = feeder
            self._feeder.token_over(token)
            return
        stage = stages[index]
        following = self.part_of(stage)
        if following is self:
            self.accept(token)
            return
        over = self._data_across(stages[index - 1], stage, following)
        if over > self.clock.time:
            self.clock.call_at(over, self.forward, following, following.accept, token)
        else:
            self.hand(following, token)

    def part_of(self, stage: Stage) -> PeComponent:
        """The sibling that executes ``stage``."""
        found = self._of_stage.get(stage.kind)
        if found is None:
            part = self.sibling(stage.part)
            if not isinstance(part, PeComponent):
                raise TypeError(f"'{part.resource}' has no pipeline stage {stage.kind}")
            found = self._of_stage[stage.kind] = part
        return found

    def hand(self, following: PeComponent, token: Token) -> None:
        """:meth:`forward` a token to the component of its stage."""
        if self._own:
            self.forward(following, following.accept, token)
            return
        delay = self.crossed(following)
        if delay > 0.0:
            self.clock.call_at(self.clock.time + delay, following.accept, token)
        else:
            following.accept(token)

    def _data_across(self, fetched: Stage, stored: Stage, following: Component) -> float:
        """When ``following`` may begin with a token's data, which cross the link to it, ns.

        Data that FETCH reads go on to the engine as they come; those of STORE come from the engine as the
        TCM takes them. Both cut through, so a link as fast as the TCM's port adds no time.
        """
        now = self.clock.time
        if fetched.fetches and self._through_tcm(fetched):
            nbytes = self._through_tcm(fetched)
            link, gbs = self._inward.get(following) or self._between(following, False)
            across = link.stream(now - nbytes / gbs, nbytes)
        elif stored.stores and self._through_tcm(stored):
            nbytes = self._through_tcm(stored)
            link, gbs = self._outward.get(following) or self._between(following, True)
            across = link.stream(now, nbytes) - nbytes / gbs
        else:
            return now
        return across if across > now and link.bw_gbs < gbs else now

    def _through_tcm(self, stage: Stage) -> int:
        """Bytes of a FETCH or STORE that pass through the TCM."""
        return stage.nbytes - stage.registers if self.in_registers else stage.nbytes

    def _between(self, following: Component, write: bool) -> tuple[Link, float]:
        """The link to ``following``, and what the TCM and its link to PE_FETCH_STORE move, GB/s."""
        tcm, unit = self.sibling("pe_tcm"), self.sibling("pe_fetch_store")
        ends = (unit, tcm) if write else (tcm, unit)
        gbs = min(
            tcm.number("write_gbs" if write else "read_gbs"),
            self.system.link(ends[0].resource, ends[1].resource).bw_gbs,
        )
        found = self.system.link(self.resource, following.resource), gbs
        (self._outward if write else self._inward)[following] = found
        return found
