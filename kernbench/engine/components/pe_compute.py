"""PE_GEMM, the MAC array, and PE_MATH, the vector unit: one compute slot or two, first come first served."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kernbench.engine.components.pe_component import PeComponent, Token, held_by
from kernbench.engine.components.system import System
from kernbench.engine.core.server import Server
from kernbench.engine.core.times import wrong_answer
from kernbench.engine.program.dataflows import MatrixEngine
from kernbench.engine.program.math_rates import MathRates, Rate, passes_of
from kernbench.engine.program.tile_plans import Stage
from kernbench.support.pgraph import Node

_INFINITY = float("inf")


class ComputeEngine(PeComponent):
    """An engine that works in the PE's compute slot. Subclasses say how long a stage takes."""

    filled_in = ("duration_ns",)
    """Methods that a subclass must define."""

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.slot = Server(f"{node.id}#slot")
        """The compute slot; if there is only one, MATH shares GEMM's."""
        self.parts = [self.slot]

    def servers(self) -> Iterator[Server]:
        """See :meth:`Component.servers`."""
        return iter(dict.fromkeys([self.slot, *PeComponent.servers(self)]))

    def duration_ns(self, stage: Stage) -> float:
        """Time in the slot for ``stage``, ns."""
        raise NotImplementedError

    def latency_ns(self, stage: Stage) -> float:
        """Latency from the time the slot is free until the result is available, ns."""
        return 0.0

    def accept(self, token: Token) -> None:
        """Wait for the slot, work, pass the token on."""
        self.begin_stage(token)
        now = self.clock.time
        slot = self.slot
        stage = token.plan.stages[token.index]
        duration = self.duration_ns(stage)
        if not 0.0 <= duration < _INFINITY:
            raise wrong_answer(self, "duration_ns", duration)
        duration += self.overhead()
        if slot.free > now and (before := held_by(slot)) >= 0:
            if token.record is None:
                token.slot = before
            else:
                token.record.after.append((before, "slot"))
        start = slot.occupy(now, duration, token)
        end = start + duration + self.latency_ns(stage)
        self.arrive(now)
        self.leave(end, 0, duration, start - now)
        token.ready, token.begun = now, start
        self.clock.step_at(end, token, 0)

    def go_on(self, token: Token) -> None:
        """Called when its time in the slot and its latency are over."""
        self.end_stage(token, token.ready, token.begun, self.clock.time)
        self.pass_on(token)


class PeGemm(ComputeEngine):
    """The MAC array: computes whole hardware tiles or folds; a partial one takes the full time.

    One tile takes ``tile_m * tile_k * tile_n / macs_per_cycle`` cycles: 16 for 32 x 64 x 32 at 4096. The rate
    may depend on the type (:mod:`kernbench.engine.program.dataflows`).
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.engine = MatrixEngine.of(node.properties)
        self.tile = self.engine.tile
        self._cycles = lru_cache(1024)(self.engine.cycles)
        self._clock_ghz = self.number("clock_ghz")
        ghz, loaded = (float(self.of_pe.get(f"clock_{key}", 1.0)) for key in ("ghz", "loaded_ghz"))
        self._slowdown = ghz / loaded
        staging = float(node.properties.get("staging_bytes_per_cycle", 0.0))
        self._staging_ns = 1.0 / staging / self._clock_ghz if staging > 0.0 else 0.0
        PeGemm.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        ComputeEngine.reset(self)
        self.begin_launch(False)

    def begin_launch(self, on_all: bool) -> None:
        """Called when the PE begins a launch, which may have work for all PEs of its package."""
        self._on_all = on_all
        self.slowed = 1.0
        """Factor by which the engines' cycles are longer; the clock falls with the first product."""
        self.multiplied = False
        """Whether the PE has begun a product in this launch."""

    def duration_ns(self, stage: Stage) -> float:
        """See :meth:`ComputeEngine.duration_ns`."""
        self.multiplied = True
        if self._on_all:
            self.slowed = self._slowdown
        cycles = self._cycles(stage.block, stage.partial, stage.dtype, stage.precision)
        return cycles / self._clock_ghz * self.slowed

    def latency_ns(self, stage: Stage) -> float:
        """See :meth:`ComputeEngine.latency_ns`: operands that are staged do not hold the array meanwhile."""
        return stage.staged * self._staging_ns * self.slowed


class PeMath(ComputeEngine):
    """The vector unit: ``(ceil(elements / lanes) + latency_cycles) * passes / clock_ghz`` ns.

    The topology has a table of passes by operation; an operation without entry takes one. Operations in its
    tables of cycles take those instead (:mod:`kernbench.engine.program.math_rates`).
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self._lanes = self.integer("lanes")
        self._passes = passes_of(node.properties)
        self._rates = MathRates.of(node.properties)
        self._latency_cycles = self.number("latency_cycles")
        self._cycle_ns = 1.0 / self.number("clock_ghz")

    def wired(self) -> None:
        """Find the PE's GEMM, and share its compute slot where the PE has only one."""
        gemm = self.sibling("pe_gemm")
        assert isinstance(gemm, PeGemm)
        self._gemm = gemm
        if int(self.sibling("pe_scheduler").node.properties["compute_slots"]) == 1:
            self.slot = gemm.slot

    def duration_ns(self, stage: Stage) -> float:
        """See :meth:`ComputeEngine.duration_ns`."""
        rate = self._rate(stage)
        if rate is not None:
            return stage.elements / rate[1] * self._cycle_ns * self._gemm.slowed
        rows = (stage.elements + self._lanes - 1) // self._lanes
        passes = self._passes.get(stage.name, 1)
        return (rows + self._latency_cycles) * passes * self._cycle_ns * self._gemm.slowed

    def latency_ns(self, stage: Stage) -> float:
        """See :meth:`ComputeEngine.latency_ns`."""
        rate = self._rate(stage)
        return 0.0 if rate is None else rate[0] * self._cycle_ns * self._gemm.slowed

    def _rate(self, stage: Stage) -> Rate | None:
        return None if self._rates is None else self._rates.find(stage.name, stage.elements, stage.reduced)
