"""The base of a PE's own components, and the tokens that route themselves through them (ADR-0014 D6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kernbench.components.base import Component
from kernbench.pe.plans import Stage, TilePlan
from kernbench.pgraph import Node
from kernbench.sim.ops import Op

if TYPE_CHECKING:
    from kernbench.components.board import Board


class Token:
    """One tile on its way through the stages of its plan. Owned by exactly one component at a time."""

    __slots__ = ("done", "fed_by", "index", "launch", "op", "parent", "plan", "previous")

    def __init__(
        self, plan: TilePlan, done: Callable[[Token], None], parent: Op, op: Op | None = None
    ) -> None:
        self.plan = plan
        self.done = done
        """Called exactly once, when the last stage is over."""
        self.parent = parent
        self.op = op
        """The command's own op, for a simple command: its compute stage is recorded as that op."""
        self.index = 0
        self.previous = -1
        """Id of the op of the stage before, -1 at first."""
        self.fed_by = -1
        """Id of the last op of the tile whose end made room for this one; -1 when there was room."""
        self.launch = parent.launch

    @property
    def stage(self) -> Stage:
        """The stage that it is in."""
        return self.plan.stages[self.index]


class PePart(Component):
    """A component inside a PE; its siblings are reached by their part names."""

    def __init__(self, node: Node, machine: Board) -> None:
        super().__init__(node, machine)
        self.busy_by_way = [0.0, 0.0]
        """Busy ns of reading and of writing, for parts that do both at once."""

    def sibling(self, part: str) -> Component:
        """The component ``part`` of the same PE, for instance ``"pe_mmu"``."""
        return self.machine.component(f"{self.resource.rpartition('.')[0]}.{part}")

    def both_ways(self, write: bool, busy_ns: float) -> None:
        """Count use of a part that works in two directions side by side: the busier one is its use."""
        self.busy_by_way[write] += busy_ns
        self.busy_ns = max(self.busy_by_way)

    def accept(self, token: Token) -> None:
        """Take a token whose stage is this component's."""
        raise TypeError(f"'{self.resource}' has no pipeline stage {token.stage.kind}")

    def stage_op(self, token: Token) -> Op:
        """The record for the token's present stage."""
        stage = token.stage
        if token.op is not None and stage.kind in ("GEMM", "MATH"):
            op = token.op
        else:
            op = Op(
                self.machine.next_op_id(),
                "tile",
                stage.name or stage.kind.lower(),
                launch=token.launch,
                parent=token.parent.id,
                nbytes=stage.nbytes,
            )
        op.stage = stage.kind
        if token.previous >= 0:
            op.after.append((token.previous, "stage"))
        elif token.fed_by >= 0:
            op.after.append((token.fed_by, "buffer"))
        token.previous = op.id
        return op

    def pass_on(self, token: Token) -> None:
        """The token's stage here is over: on to the next, or done."""
        token.index += 1
        if token.index == len(token.plan.stages):
            token.done(token)
            return
        following = self.sibling(token.stage.part)
        assert isinstance(following, PePart)
        if following is self:
            self.accept(token)
        else:
            self.hand_over(following, following.accept, token)
