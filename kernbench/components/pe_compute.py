"""PE_GEMM, the MAC array, and PE_MATH, the vector unit: one compute slot, first come first served."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from kernbench.components.pe_component import PeComponent, Token
from kernbench.components.system import System
from kernbench.pgraph import Node
from kernbench.program.operations import Op
from kernbench.program.tile_plans import Stage
from kernbench.sim.clock import Step
from kernbench.sim.server import Server


class ComputeEngine(PeComponent):
    """An engine that works in the PE's compute slot. Subclasses say how long a stage takes."""

    filled_in = ("duration_ns",)
    """Methods that a subclass has to define."""

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.slot = Server(f"{node.id}#slot")
        """The slot; MATH shares GEMM's."""

    def servers(self) -> Iterator[Server]:
        """See :meth:`Component.servers`."""
        return iter(dict.fromkeys([self.slot, *PeComponent.servers(self)]))

    def duration_ns(self, stage: Stage) -> float:
        """Time in the slot for ``stage``, ns."""
        raise NotImplementedError

    def accept(self, token: Token) -> None:
        """Wait for the slot, work, pass the token on."""
        op = self.stage_op(token)
        now = self.clock.time
        slot = self.slot
        duration = self.overhead() + self.duration_ns(token.plan.stages[token.index])
        if slot.free > now and isinstance(slot.holder, Op):
            op.after.append((slot.holder.id, "slot"))
        start = slot.occupy(now, duration, op)
        end = start + duration
        self.arrive(now)
        self.leave(end, 0, duration, start - now)
        self.clock.step_at(end, Working(self, token, op, now, start), 0)


class Working(Step):
    """A stage of a tile in the compute slot."""

    def __init__(self, engine: ComputeEngine, token: Token, op: Op, ready: float, start: float) -> None:
        self.engine = engine
        self.token = token
        self.op = op
        self.ready = ready
        self.start = start

    def go(self, number: int) -> None:
        """It is over."""
        engine = self.engine
        engine.finish(self.op, self.ready, self.start, engine.clock.time)
        engine.pass_on(self.token)


class PeGemm(ComputeEngine):
    """Works in whole hardware tiles: a block that does not fill its last tile pays for all of it.

    One tile takes ``tile_m * tile_k * tile_n / macs_per_cycle`` cycles: 16 for 32 x 64 x 32 at 4096.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.tile = (self.integer("tile_m"), self.integer("tile_k"), self.integer("tile_n"))
        tile_m, tile_k, tile_n = self.tile
        self._pass_ns = tile_m * tile_k * tile_n / (self.number("macs_per_cycle") * self.number("clock_ghz"))

    def duration_ns(self, stage: Stage) -> float:
        """See :meth:`ComputeEngine.duration_ns`."""
        passes = 1
        for size, tile in zip(stage.block, self.tile, strict=True):
            passes *= ceil(size / tile)
        return passes * self._pass_ns


class PeMath(ComputeEngine):
    """``lanes`` elements a cycle and pass: ``ceil(elements / lanes) * passes / clock_ghz`` ns.

    The topology has a table of passes by operation; an operation that it does not name takes one.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self._lanes = self.integer("lanes")
        entries = (entry.split("=") for entry in str(node.properties["passes"]).split())
        self._passes = {name: int(passes) for name, passes in entries}
        self._cycle_ns = 1.0 / self.number("clock_ghz")

    def wired(self) -> None:
        """Share the compute slot of the PE's GEMM."""
        gemm = self.sibling("pe_gemm")
        assert isinstance(gemm, PeGemm)
        self.slot = gemm.slot

    def duration_ns(self, stage: Stage) -> float:
        """See :meth:`ComputeEngine.duration_ns`."""
        return ceil(stage.elements / self._lanes) * self._passes.get(stage.name, 1) * self._cycle_ns
