"""The 8 x 8 mesh and torus of the zoo under the traffic that simulators of networks are compared by.

A router, a sender and a receiver stand at each place; a ns is a cycle and a link moves one flit in it.
Messages are not answered. The latency of a packet is from when its sender has it until its last flit is
received.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from statistics import fmean

import numpy as np

from kernbench.engine.components.base import Component
from kernbench.engine.core.transaction import Packet, Path, Transaction
from kernbench.engine.machine.goals import NEVER
from kernbench.engine.machine.machine import Machine
from kernbench.hardware.kinds import Traffic
from kernbench.hardware.topology import compile_topology, load
from kernbench.support.pgraph import PropertyGraph
from kernbench.validation.table_file import Case

FLIT_BYTES = 32
ROUTER_CYCLES = 3
"""Allocation of a virtual channel, allocation of the switch, and the switch itself."""
PERIOD = 400
"""Cycles of a sample of the reference."""
WARM_UP, MEASURED = 3 * PERIOD, 5 * PERIOD
"""Cycles for which packets are sent before those that are measured, and cycles of these."""
LAST = 20 * PERIOD
"""Cycle after which no more packets are sent beside those that are still under way."""
LONGER = 5
"""Times as many cycles decide of a rate in the end: queues of a rate a little too high grow slowly."""
SATURATED = 3.0
"""A network is saturated where packets take this many times as long as without load."""
_UP, _DOWN, _CLOSE = 1.12, 1.25, 1.03
"""Factors between the rates that are tried: beyond one that is carried, below one that is not, at the end."""


class Terminal(Component):
    """Sends packets, and takes those that are for it."""

    def receive(self, packet: Packet) -> None:
        """A packet is there."""
        self.system.end(packet.transaction)


@lru_cache(maxsize=2)
def machine(shape: str, k: int, vcs: int) -> PropertyGraph:
    """The ``mesh`` or ``torus`` of the zoo, with a terminal in place of each source and memory.

    Args:
        shape: ``mesh`` or ``torus``.
        k: routers along a side.
        vcs: virtual channels; 0: buffers without limit, and routers that take the cycles of theirs.
    """
    terminal = f"{__name__}:{Terminal.__name__}"
    changes: dict[str, object] = {
        "parts.tile.shape": {"x": k, "y": k},
        "blocks.tile.parts.src": {"kind": "source", "impl": terminal},
        "blocks.tile.parts.mem": {"kind": "memory", "impl": terminal, "size_bytes": 1 << 20},
    }
    if vcs:
        changes |= {f"wires.{wire}.vcs": vcs for wire in load(f"{shape}-8x8").wires}
    else:
        changes |= {
            "wires.hop": {"gbs": FLIT_BYTES},
            "wires.inject": {"gbs": FLIT_BYTES},
            "blocks.tile.connect.1.wire": {"gbs": FLIT_BYTES, "delay_ns": 1.0},
            "defaults.router.overhead_ns": ROUTER_CYCLES,
        }
    return compile_topology(load(f"{shape}-8x8", changes))


def zero_load(case: Case) -> float:
    """Largest difference from the closed form (6 + 4 H + L - 1 on a mesh) over all pairs, cycles."""
    k, mesh = int(case["k"]), Mesh(case)
    worst = 0.0
    for source in range(k * k):
        for target in range(k * k):
            mesh.send(source, target)
            mesh.machine.advance(NEVER)
            worst = max(worst, abs(mesh.latencies[-1] - _closed_form(case, _hops(case, source, target))))
    return worst


def saturation(case: Case) -> float:
    """Highest rate at which the mean latency is below three times that without load, flits a cycle."""
    limit = SATURATED * _closed_form(case, _mean_hops(case))

    def carries(rate: float, times: int = 1) -> bool:
        return mean_latency(case, rate, limit, times) < limit

    low = high = float(case["saturation_flits_per_node_cycle"])
    if carries(low):
        while carries(high := low * _UP):
            low = high
    else:
        while not carries(low := high / _DOWN):
            high = low
    while high / low > _CLOSE:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if carries(middle) else (low, middle)
    while not carries(low, LONGER):
        low /= _CLOSE
    return low


def saturation_without_limit(case: Case) -> float:
    """As :func:`saturation`, where routers have room for everything."""
    return saturation({**case, "vcs": 0})


def latency_at_half(case: Case) -> float:
    """Mean latency at half the reference's saturation, cycles."""
    return mean_latency(case, float(case["rate_half"]))


def latency_at_85(case: Case) -> float:
    """Mean latency at about 85 % of the reference's saturation, cycles."""
    return mean_latency(case, float(case["rate_85"]))


def latency_at_90(case: Case) -> float:
    """Mean latency at about 90 % of the reference's saturation, cycles."""
    return mean_latency(case, float(case["rate_90"]))


def mean_latency(case: Case, rate: float, limit: float = math.inf, times: int = 1) -> float:
    """Mean latency of the packets sent in the measured cycles, at ``rate`` flits a place and cycle.

    It is infinite as soon as it is sure not to be below ``limit``. ``times`` as many cycles are simulated.
    """
    begin, end, last = times * WARM_UP, times * (WARM_UP + MEASURED), times * LAST
    mesh = Mesh(case)
    k = int(case["k"])
    chance = np.random.default_rng(1)
    cycle = 0
    # Packets go on being sent until all that are measured have been received, as in the reference.
    while cycle < end or (mesh.under_way and cycle < last):
        sent = chance.random((PERIOD, k * k)) < rate / int(case["packet_flits"]) * case.get("shares", 1.0)
        cycles, sources = np.nonzero(sent)
        if case["traffic"] == "transpose":
            targets = sources % k * k + sources // k
        elif "partners" in case:
            targets = case["partners"][sources]
        elif case["traffic"] == "others":
            targets = (sources + chance.integers(1, k * k, sent.shape)[sent]) % (k * k)
        else:
            targets = chance.integers(0, k * k, sent.shape)[sent]
        measured = begin <= cycle < end
        mesh.plan((cycles + float(cycle)).tolist(), sources.tolist(), targets.tolist(), measured)
        cycle += PERIOD
        mesh.advance(float(cycle))
        if cycle >= end and mesh.least_mean() >= limit:
            return math.inf
    mesh.machine.advance(NEVER)
    return fmean(mesh.latencies) if mesh.latencies else 0.0


class Mesh:
    """The machine of a case, and how long its packets were under way."""

    def __init__(self, case: Case) -> None:
        self._k = int(case["k"])
        graph = case.get("graph") or machine(str(case.get("shape", "mesh")), self._k, int(case.get("vcs", 0)))
        self.machine = Machine(graph, traced=False, check=False)
        self._flits = int(case["packet_flits"])
        self._paths: dict[tuple[int, int], Path] = {}
        self.latencies: list[float] = []
        self.under_way: dict[int, float] = {}
        """When the packets that are measured and have not been received were sent, by their number."""
        self.done = False
        self._planned: Iterator[tuple[float, int, int]] = iter(())
        self._measured = False

    def advance(self, cycle: float) -> None:
        """Let time run until ``cycle``."""
        self.done = False
        self.machine.clock.call_at(cycle, self._stop)
        self.machine.clock.advance(self)

    def _stop(self) -> None:
        self.done = True

    def plan(self, times: list[float], sources: list[int], targets: list[int], measured: bool) -> None:
        """Send packets at ``times``, which ascend. One event at a time: long queues of events are slow."""
        self._planned = zip(times, sources, targets, strict=True)
        self._measured = measured
        self._send_due(next(self._planned, None))

    def _send_due(self, packet: tuple[float, int, int] | None) -> None:
        now = self.machine.clock.now
        while packet is not None and packet[0] == now:
            self.send(packet[1], packet[2], self._measured)
            packet = next(self._planned, None)
        if packet is not None:
            self.machine.clock.call_at(packet[0], self._send_due, packet)

    def send(self, source: int, target: int, measured: bool = True) -> None:
        """Send a packet now."""
        machine, nbytes = self.machine, self._flits * FLIT_BYTES
        path = self._paths.get((source, target))
        if path is None:
            ends = f"{_place(source, self._k)}.src", f"{_place(target, self._k)}.mem"
            path = self._paths[source, target] = machine.path(*ends, Traffic.PE_DMA)
        sent = machine.open("packet", path, nbytes, machine.clock.now, -1, True)
        if measured:
            self.under_way[sent.id] = machine.clock.now
            sent.on_done = self._over
        machine.fabric.send(Packet(sent, path, nbytes, FLIT_BYTES))

    def _over(self, sent: Transaction) -> None:
        del self.under_way[sent.id]
        self.latencies.append(sent.t_done - sent.t_submit)

    def least_mean(self) -> float:
        """What the mean latency is at least, with those that are still under way."""
        now = self.machine.clock.now
        so_far = [now - since for since in self.under_way.values()]
        return fmean([*self.latencies, *so_far])


def _place(number: int, k: int) -> str:
    return f"tile{number % k}_{number // k}"


def _hops(case: Case, source: int, target: int) -> int:
    k = int(case["k"])
    along = abs(source % k - target % k), abs(source // k - target // k)
    return sum(min(way, k - way) if case.get("shape") == "torus" else way for way in along)


def _mean_hops(case: Case) -> float:
    """Links between routers that a packet of this traffic crosses on average."""
    k = int(case["k"])
    places = range(k * k)
    if case["traffic"] == "transpose":
        return fmean(_hops(case, i, i % k * k + i // k) for i in places)
    return fmean(_hops(case, i, j) for i in places for j in places)


def _closed_form(case: Case, hops: float) -> float:
    """Cycles without load; a link between routers of the torus takes a cycle more."""
    return 6 + (5 if case.get("shape") == "torus" else 4) * hops + int(case["packet_flits"]) - 1
