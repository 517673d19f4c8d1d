"""An 8 x 8 mesh of routers under the traffic that simulators of networks are compared by.

A router, a sender and a receiver stand at each place; a ns is a cycle and a link moves one flit in it. The
latency of a packet is from when its sender has it until its last flit is received; the acknowledgements that
our writes are answered with carry no bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from statistics import fmean

import numpy as np

from kernbench.machine.machine import Machine
from kernbench.pgraph import PropertyGraph
from kernbench.sim.clock import Clock
from kernbench.sim.instrument import Instrument
from kernbench.sim.server import Server
from kernbench.sim.transaction import Transaction
from kernbench.topology.parts import Topology
from kernbench.validation.table_file import Case

FLIT_BYTES = 32
ROUTER_CYCLES = 3
"""Allocation of a virtual channel, allocation of the switch, and the switch itself."""
RECEIVER_CYCLES = 1
"""The cycle in which the reference takes a flit off the network, here the flight of the last link."""
IN_FLIGHT = 64
"""Packets of a sender that are under way; further ones wait at the sender."""
WARM_UP, MEASURED = 400, 800
"""Cycles for which packets are sent before those that are measured, and cycles of these."""
SATURATED = 3.0
"""A network is saturated where packets take so many times as long as without load."""
_UP, _DOWN, _CLOSE = 1.25, 2.0, 1.02
"""Factors between the rates that are tried: beyond one that is carried, below one that is not, at the end."""


@lru_cache(maxsize=1)
def machine(k: int) -> PropertyGraph:
    """``k`` x ``k`` routers; each is a package of its own, so that there is a sender and a memory at each."""
    made = Topology(f"mesh-{k}x{k}", flit_bytes=FLIT_BYTES, ns_per_mm=0.0)
    routers = [made.add(f"sip{i}.cube0.r0c0", overhead_ns=ROUTER_CYCLES) for i in range(k * k)]
    for i, router in enumerate(routers):
        made.add(_sender(i), overhead_ns=0.0, outstanding=IN_FLIGHT)
        made.add(_receiver(i), overhead_ns=0.0, size_bytes=1 << 20)
        made.link(_sender(i), router, "command", gbs=FLIT_BYTES, weight_mm=1.0)
        made.link(
            router, _receiver(i), "router_to_sram", gbs=FLIT_BYTES, delay_ns=RECEIVER_CYCLES, weight_mm=1.0
        )
    for i, router in enumerate(routers):
        if (i + 1) % k:
            made.link(router, routers[i + 1], "router_mesh", gbs=FLIT_BYTES, weight_mm=1.0)
        if i + k < k * k:
            made.link(router, routers[i + k], "router_mesh", gbs=FLIT_BYTES, weight_mm=1.0)
    return made.compile()


def zero_load(case: Case) -> float:
    """Largest difference from the closed form 6 + 4 H + L - 1 over all pairs of places, cycles."""
    k, flits = int(case["k"]), int(case["packet_flits"])
    mesh, latencies = _watched(k)
    worst = 0.0
    for source in range(k * k):
        for target in range(k * k):
            packet = mesh.flow(_sender(source), _receiver(target), 0, flits * FLIT_BYTES, is_write=True)
            mesh.wait(packet)
            worst = max(worst, abs(latencies.last - _closed_form(_hops(k, source, target), flits)))
    return worst


def saturation(case: Case) -> float:
    """Highest rate at which the mean latency is below three times that without load, flits a cycle."""
    limit = SATURATED * _closed_form(_mean_hops(case), int(case["packet_flits"]))

    def carries(rate: float) -> bool:
        return mean_latency(case, rate) < limit

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
    return low


def latency_at_half(case: Case) -> float:
    """Mean latency at half the reference's saturation, cycles."""
    return mean_latency(case, float(case["rate_half"]))


def mean_latency(case: Case, rate: float) -> float:
    """Mean latency of the packets sent in the measured cycles, at ``rate`` flits a place and cycle."""
    k, flits = int(case["k"]), int(case["packet_flits"])
    mesh, latencies = _watched(k)
    latencies.since = WARM_UP
    sent = [
        mesh.flow(_sender(source), _receiver(target), 0, flits * FLIT_BYTES, is_write=True, start_ns=cycle)
        for cycle, source, target in _packets(case, rate)
    ]
    mesh.wait(*sent)
    return fmean(latencies.all) if latencies.all else 0.0


def _packets(case: Case, rate: float) -> Iterator[tuple[float, int, int]]:
    """(cycle, source, target) of each packet: sent by chance, each place and cycle alike.

    The packets of a rate are among those of every higher one, so that latencies grow with the rate.
    """
    k = int(case["k"])
    chance = np.random.default_rng(1)
    sent = chance.random((WARM_UP + MEASURED, k * k)) < rate / int(case["packet_flits"])
    cycles, sources = np.nonzero(sent)
    if case["traffic"] == "transpose":
        targets = sources % k * k + sources // k
    else:
        targets = chance.integers(0, k * k, sent.shape)[sent]
    return zip(cycles.astype(float).tolist(), sources.tolist(), targets.tolist(), strict=True)


class _Latencies(Instrument):
    """Keeps how long packets were under way, those sent from cycle ``since`` on."""

    def __init__(self) -> None:
        self.since = 0.0
        self.all: list[float] = []

    @property
    def last(self) -> float:
        """That of the packet that was received last."""
        return self.all[-1]

    def started(self, resources: Sequence[Server], clock: Clock) -> None:
        self._names = [server.resource for server in resources]

    def transaction_done(self, transaction: Transaction) -> None:
        if transaction.t_submit >= self.since:
            received = next(hop for hop in transaction.hops if self._names[hop[0]] == transaction.dst)
            self.all.append(received[3] - transaction.t_submit)


def _watched(k: int) -> tuple[Machine, _Latencies]:
    latencies = _Latencies()
    return Machine(machine(k), [latencies], check=False), latencies


def _sender(place: int) -> str:
    return f"sip{place}.cube0.m_cpu"


def _receiver(place: int) -> str:
    return f"sip{place}.cube0.sram"


def _hops(k: int, source: int, target: int) -> int:
    return abs(source % k - target % k) + abs(source // k - target // k)


def _mean_hops(case: Case) -> float:
    """Links between routers that a packet of this traffic crosses on average."""
    k = int(case["k"])
    places = range(k * k)
    if case["traffic"] == "transpose":
        return fmean(_hops(k, i, i % k * k + i // k) for i in places)
    return fmean(_hops(k, i, j) for i in places for j in places)


def _closed_form(hops: float, flits: int) -> float:
    return 6 + 4 * hops + flits - 1
