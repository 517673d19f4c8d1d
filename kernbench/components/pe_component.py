"""The base of a PE's own components, and the tokens that route themselves through them (ADR-0014 D6)."""

from __future__ import annotations

from collections.abc import Callable

from kernbench.components.base import Component
from kernbench.components.system import System
from kernbench.pgraph import Node
from kernbench.program.operations import Op
from kernbench.program.tile_plans import Stage, TilePlan
from kernbench.sim.node import Link

_COMPUTING = ("GEMM", "MATH")


class Token:
    """One tile on its way through the stages of its plan. Owned by exactly one component at a time."""

    def __init__(
        self,
        plan: TilePlan,
        done: Callable[[Token], None],
        parent: Op,
        op: Op | None = None,
        written: Callable[[], None] | None = None,
    ) -> None:
        self.plan = plan
        self.done = done
        """Called exactly once, when the last stage is over."""
        self.parent = parent
        self.op = op
        """The command's own op, for a simple command: its compute stage is recorded as that op."""
        self.written = written
        """Called whenever memory has committed one of its DMA writes."""
        self.index = 0
        self.previous: tuple[int, ...] = ()
        """Ids of the operations of the stage before; none at first."""
        self.fed_by: tuple[int, ...] = ()
        """Ids of the last operations of the tile whose end made room for it; none when there was room."""
        self.launch = parent.launch

    @property
    def stage(self) -> Stage:
        """The stage that it is in."""
        return self.plan.stages[self.index]


class PeComponent(Component):
    """A component inside a PE; its siblings are reached by their part names."""

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.busy_by_direction = [0.0, 0.0]
        """Busy ns of reading and of writing, for parts that do both at once."""
        self._siblings: dict[str, Component] = {}
        self._of_stage: dict[str, PeComponent] = {}
        """The siblings that carry out stages, by the stage's kind."""
        self._ways: dict[tuple[Component, bool], tuple[Link, float]] = {}
        self._own = hasattr(self, "__dict__")  # a class of Python's, which may override anything

    def sibling(self, part: str) -> Component:
        """The component ``part`` of the same PE, for instance ``"pe_mmu"``."""
        found = self._siblings.get(part)
        if found is None:
            found = self.system.component(f"{self.resource.rpartition('.')[0]}.{part}")
            self._siblings[part] = found
        return found

    def count_use(self, write: bool, busy_ns: float) -> None:
        """Count use of a part that works in two directions side by side: the busier one is its use."""
        both = self.busy_by_direction
        both[write] += busy_ns
        first, second = both
        self._busy_ns = first if first > second else second

    def accept(self, token: Token) -> None:
        """Take a token whose stage is this component's."""
        raise TypeError(f"'{self.resource}' has no pipeline stage {token.stage.kind}")

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
        if token.op is not None and kind in _COMPUTING:
            op = token.op
        else:
            parent = token.parent
            op = Op(self.system.next_op_id(), "tile", stage.name or kind.lower())
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
        """The token's stage here is over: on to the next, or done."""
        stages = token.plan.stages
        index = token.index + 1
        token.index = index
        if index == len(stages):
            token.done(token)
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
        """The sibling that carries out ``stage``."""
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
        if fetched.kind == "FETCH" and fetched.nbytes:
            nbytes = fetched.nbytes
            link, gbs = self._ways.get((following, False)) or self._between(following, False)
            across = link.stream(now - nbytes / gbs, nbytes)
        elif stored.kind == "STORE" and stored.nbytes:
            nbytes = stored.nbytes
            link, gbs = self._ways.get((following, True)) or self._between(following, True)
            across = link.stream(now, nbytes) - nbytes / gbs
        else:
            return now
        return across if across > now and link.bw_gbs < gbs else now

    def _between(self, following: Component, write: bool) -> tuple[Link, float]:
        """The link to ``following``, and what the TCM and its link to PE_FETCH_STORE move, GB/s."""
        tcm, unit = self.sibling("pe_tcm"), self.sibling("pe_fetch_store")
        ends = (unit, tcm) if write else (tcm, unit)
        gbs = min(
            tcm.number("write_gbs" if write else "read_gbs"),
            self.system.link(ends[0].resource, ends[1].resource).bw_gbs,
        )
        found = self._ways[following, write] = self.system.link(self.resource, following.resource), gbs
        return found
