"""Generated cases: a machine, and transfers that meet on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum
from pathlib import Path

import pytest
from hypothesis import strategies as st

from kernbench.engine.components.dma import Job
from kernbench.engine.components.m_cpu import MCpu
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.pe_tcm import PeTcm
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.occupancy import NAMED as HOLDERS_NAMED
from kernbench.engine.core.records import Wait
from kernbench.engine.core.transaction import Transaction
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.hardware.address import AddressMap
from kernbench.hardware.routing import Router, Traffic
from kernbench.support.pgraph import PropertyGraph
from tests import names
from tests.compiled import compiled
from tests.exact.reference.simulator import Piece, Simulator

OBLONG = str(Path(__file__).parents[1] / "oblong.yaml")
_SMALL_CUBE = {"system.sips": 1, "cube.pes.count": 4, "cube.hbm.pseudo_channels": 16}
_ONE_TO_ONE = {"system.address_model": "la", "cube.hbm.mapping": "one_to_one"}
_PENALTIES = {
    "cube.hbm.switch_penalty_ns": 7.0,
    "cube.hbm.overhead_ns": 3.0,
    "pe.pe_dma.overhead_ns": 9.5,
    "pe.pe_tcm.overhead_ns": 2.0,
    "pe.pe_mmu.tlb_overhead_ns": 4.0,
    "system.host.overhead_ns": 1.0,
}

_LATENCIES = {
    "cube.router.issue_ns": 1.5,
    "cube.ucie.issue_ns": 0.25,
    "cube.hbm.access_ns": 11.0,
    "cube.sram.access_ns": 2.5,
    "pe.pe_tcm.access_ns": 1.25,
}
_PIPELINED: Mapping[str, tuple[str | None, Mapping[str, object]]] = {
    "minimal": ("minimal", {}),
    "oblong": (OBLONG, {}),
    "two cubes": (None, {**_SMALL_CUBE, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1}),
    "four cubes": (None, {**_SMALL_CUBE, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 2}),
    "two SIPs": (None, {**_SMALL_CUBE, "system.sips": 2, "sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1}),
    "penalties": (None, {**_SMALL_CUBE, **_PENALTIES, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1}),
    "penalties, two PEs": (
        "minimal",
        {**_PENALTIES, "cube.pes.count": 2, "cube.hbm.pseudo_channels": 16, "cube.pes.corners": ["NW", "SE"]},
    ),
    "two engines": ("minimal", {"pe.pe_dma.read_engines": 2, "pe.pe_dma.write_engines": 3}),
    "serial engines": ("minimal", {"pe.pe_dma.outstanding": 1, "cube.m_cpu.outstanding": 1}),
    "deep engines": (
        "minimal",
        {"pe.pe_dma.outstanding": 5, "cube.m_cpu.outstanding": 3, "pe.pe_mmu.tlb_overhead_ns": 3.0,
         "pe.pe_dma.read_engines": 2},
    ),
    "one to one": (None, {**_SMALL_CUBE, **_ONE_TO_ONE, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1}),
    "one to one, penalties": (
        None,
        {**_SMALL_CUBE, **_ONE_TO_ONE, **_PENALTIES, "cube.channel_router.overhead_ns": 1.5,
         "pe.pe_baaw.lookup_ns": 4.0, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1},
    ),
    "one to one, two SIPs": (
        None,
        {**_SMALL_CUBE, **_ONE_TO_ONE, "system.sips": 2, "sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1,
         "sip.io_chiplets": [{"name": "io0", "pcie_ep": {"cut_through": True}}]},
    ),
    "arbiters": (
        None,
        {**_SMALL_CUBE, **_PENALTIES, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1, "links": {
            "router_mesh": {"arbiter": "round_robin"}, "router_to_hbm": {"arbiter": "oldest_first"},
            "pe_to_router": {"arbiter": "round_robin"}, "router_to_sram": {"arbiter": "round_robin"},
            "ucie_to_router": {"arbiter": "oldest_first"}, "ucie_internal": {"arbiter": "round_robin"},
            "pe_internal": {"arbiter": "round_robin"}, "pcie": {"arbiter": "oldest_first"},
            "command": {"arbiter": "round_robin"}}},
    ),
    "arbiters, one to one": (
        None,
        {**_SMALL_CUBE, **_ONE_TO_ONE, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1,
         "cube.channel_router.overhead_ns": 1.5, "system.ns_per_mm": 0.0, "links": {
             "router_mesh": {"arbiter": "oldest_first"}, "router_to_channel": {"arbiter": "round_robin"},
             "pe_to_router": {"arbiter": "oldest_first"}, "ucie_mesh": {"arbiter": "round_robin"},
             "channel_to_hbm": {"arbiter": "round_robin"}, "io_internal": {"arbiter": "round_robin"},
             "sip0.cube0.r0c0->sip0.cube0.r0c1": {"arbiter": "fifo"}}},
    ),
    "latencies": (
        None,
        {**_SMALL_CUBE, **_LATENCIES, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 2,
         "cube.ucie.worker": "serial"},
    ),
    "latencies, two SIPs": (
        None,
        {**_SMALL_CUBE, **_LATENCIES, "system.sips": 2, "sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1,
         "sip.io_chiplets": [{"name": "io0", "pcie_ep": {"cut_through": True, "issue_ns": 3.0}}]},
    ),
    "latencies, one to one": (
        None,
        {**_SMALL_CUBE, **_ONE_TO_ONE, **_LATENCIES, "cube.channel_router.overhead_ns": 1.5,
         "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1},
    ),
    "latencies, arbiters": (
        None,
        {**_SMALL_CUBE, **_PENALTIES, **_LATENCIES, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1, "links": {
            "router_mesh": {"arbiter": "round_robin"}, "router_to_hbm": {"arbiter": "oldest_first"},
            "ucie_to_router": {"arbiter": "oldest_first"}, "pcie": {"arbiter": "oldest_first"}}},
    ),
    "buffers, pipelined": (
        None,
        {**_SMALL_CUBE, **_PENALTIES, **_LATENCIES, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1,
         "system.worker": "pipelined", "links": {
             "router_mesh": {"buffer_flits": 4, "vcs": 2, "arbiter": "round_robin"},
             "pe_to_router": {"buffer_flits": 3}, "ucie_mesh": {"buffer_flits": 8, "vcs": 3},
             "ucie_to_router": {"buffer_flits": 2, "allocation_ns": 0.5}}},
    ),
    "a chain with credits": ("minimal", {"links": {"router_mesh": {"buffer_flits": 2}}}),
    "buffers": (
        None,
        {**_SMALL_CUBE, **_PENALTIES, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1, "links": {
            "router_mesh": {"buffer_flits": 3, "credit_ns": 1.5}, "router_to_hbm": {"buffer_flits": 1},
            "pe_to_router": {"buffer_flits": 4}, "ucie_mesh": {"buffer_flits": 8},
            "ucie_internal": {"buffer_flits": 2}, "ucie_to_router": {"buffer_flits": 2}}},
    ),
    "virtual channels": (
        None,
        {**_SMALL_CUBE, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1, "cube.router.overhead_ns": 1.0, "links": {
            "router_mesh": {"buffer_flits": 2, "vcs": 3, "allocation_ns": 0.75, "arbiter": "round_robin"},
            "pe_to_router": {"buffer_flits": 5, "vcs": 2, "arbiter": "oldest_first"},
            "router_to_hbm": {"arbiter": "priority"}, "router_to_sram": {"buffer_flits": 2, "credit_ns": 0.0},
            "ucie_mesh": {"buffer_flits": 8, "vcs": 4}, "ucie_to_router": {"buffer_flits": 4, "vcs": 2},
            "sip0.cube0.r0c0->sip0.cube0.r0c1": {"vcs": 1, "buffer_flits": 1}}},
    ),
    "buffers, one to one": (
        None,
        {**_SMALL_CUBE, **_ONE_TO_ONE, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1,
         "cube.channel_router.overhead_ns": 1.5, "links": {
             "router_mesh": {"buffer_flits": 4, "vcs": 2}, "router_to_channel": {"buffer_flits": 2},
             "channel_to_hbm": {"buffer_flits": 2}, "pcie": {"buffer_flits": 3}}},
    ),
    "no distance": (
        None,
        {**_SMALL_CUBE, "system.ns_per_mm": 0.0, "cube.router.overhead_ns": 0.0, "sip.cube_mesh.w": 2,
         "sip.cube_mesh.h": 1, "sip.io_chiplets": [{"name": "io0", "pcie_ep": {"overhead_ns": 0.0}}]},
    ),
}  # fmt: skip
_SERIAL = ("two cubes", "two SIPs", "penalties", "one to one, penalties", "arbiters", "no distance")
TOPOLOGIES = {
    **_PIPELINED,
    **{
        f"{name}, serial": (_PIPELINED[name][0], {**_PIPELINED[name][1], "system.worker": "serial"})
        for name in _SERIAL
    },
}
"""Name, file and overrides of the machines that cases run on."""


@dataclass(frozen=True)
class Flow:
    """A transfer. Numbers are taken modulo what the machine has.

    ``source``: a PE; -1 is the host, below that are M_CPUs. ``memory``: ``hbm``, ``sram``, ``tcm``, or
    ``port`` for an access of the PE's fetch-and-store unit to its own TCM. ``start`` in ns.
    """

    source: int
    memory: str
    target: int
    offset: int
    nbytes: int
    writing: bool
    start: float


Case = list[Flow]
HOST = -1


class Bench:
    """One compiled machine with its routes and addresses; runs cases on the engine and on the reference."""

    def __init__(self, name: str) -> None:
        file, overrides = TOPOLOGIES[name]
        self.graph: PropertyGraph = compiled(file, overrides)
        self.router = Router(self.graph)
        self.addresses = AddressMap(self.graph)
        places = [n.properties for n in self.graph.nodes() if n.properties["kind"] == "pe_dma"]
        self.pes = [(int(p["sip"]), int(p["cube"]), int(p["pe"])) for p in places]
        self.cubes = sorted({(s, c) for s, c, _ in self.pes})
        self._machine: Machine | None = None

    def address(self, flow: Flow) -> tuple[int, int]:
        """(physical address, SIP) of a flow's target; an HBM flow may cross into the next slice."""
        if flow.memory == "sram":
            sip, cube = self.cubes[flow.target % len(self.cubes)]
            return self.addresses.sram(sip, cube, flow.offset), sip
        sip, cube, pe = self.pes[flow.target % len(self.pes)]
        if flow.memory == "tcm":
            return self.addresses.tcm(sip, cube, pe, flow.offset), sip
        window = self.addresses.hbm_window(sip, cube, pe)
        last = max(p for s, c, p in self.pes if (s, c) == (sip, cube)) == pe
        crosses = flow.offset % 5 == 4 and not last
        return window.base + (window.nbytes - flow.offset if crosses else flow.offset), sip

    def pe(self, flow: Flow) -> tuple[int, int, int]:
        return self.pes[flow.source % len(self.pes)]

    def dma(self, flow: Flow) -> tuple[str, Traffic]:
        """The component whose DMA engines carry the flow, and its traffic."""
        if flow.source < HOST:
            return names.m_cpu(*self.cubes[-flow.source % len(self.cubes)]), Traffic.MCPU_DMA
        return names.pe_part(*self.pe(flow), "pe_dma"), Traffic.PE_DMA

    def pieces(self, flow: Flow, source: str, traffic: Traffic) -> list[Piece]:
        address, _ = self.address(flow)
        return self.pieces_at(address, flow.nbytes, source, traffic)

    def pieces_at(self, address: int, length: int, source: str, traffic: Traffic) -> list[Piece]:
        """The messages that ``source`` sends for ``length`` bytes at a physical address."""
        found = []
        for pa, nbytes in self.addresses.split(address, length):
            target = self.addresses.resolve(pa)
            if f"{target.component.replace('.hbm_ctrl', '')}.ch_r0" in self.graph:
                found += self._by_channel(source, target.component, target.offset, nbytes, traffic)
                continue
            route = self.router.route(source, target.component, traffic)
            found.append(Piece(target.component, target.offset, nbytes, route.nodes))
        return found

    def _by_channel(
        self, source: str, slice_: str, offset: int, nbytes: int, traffic: Traffic
    ) -> list[Piece]:
        """One piece for each channel, in order of first bytes: counted burst by burst."""
        properties = self.graph.node(slice_).properties
        burst, channels = int(properties["burst_bytes"]), int(properties["n_channels"])
        shares: dict[int, tuple[int, int]] = {}
        at, end = offset, offset + nbytes
        while at < end:
            stop = min(end, (at // burst + 1) * burst)
            begin, share = shares.get(at // burst % channels, (at, 0))
            shares[at // burst % channels] = begin, share + stop - at
            at = stop
        place, found = names.parse(slice_), []
        for channel, (begin, share) in shares.items():
            via = names.channel_router(place.sip, place.cube, place.pe, channel)
            way = self.router.route(source, slice_, traffic, via).nodes
            found.append(Piece(slice_, begin, share, way, channel, begin == offset))
        return found

    def expected(self, case: Case) -> Simulator:
        """The case as the reference has it."""
        simulator = self.expected_before(case)
        simulator.run()
        return simulator

    def expected_before(self, case: Case) -> Simulator:
        """The reference with the case's transfers still to come."""
        simulator = Simulator(self.graph)
        for flow in case:
            if flow.source == HOST:
                pieces = self.pieces(flow, names.HOST_CPU, Traffic.HOST_MEMORY)
                simulator.host(flow.start, pieces, writing=flow.writing)
                continue
            if flow.memory == "port":
                pe = self.pe(flow)
                unit, tcm = (names.pe_part(*pe, part) for part in ("pe_fetch_store", "pe_tcm"))
                simulator.port(flow.start, unit, tcm, flow.nbytes, writing=flow.writing)
            else:
                dma, traffic = self.dma(flow)
                simulator.dma(flow.start, dma, self.pieces(flow, dma, traffic), writing=flow.writing)
        return simulator

    def measured(
        self, case: Case, check: bool | None, also: Sequence[tuple[float, Callable[..., object], object]] = ()
    ) -> tuple[Machine, list[Transaction]]:
        """The case as the engine has it: its transactions by number. ``check``: as of the machine.

        ``also``: calls with the machine, and when.
        """
        seen = Ends()
        machine = self.started(seen, check)
        for flow in case:
            machine.clock.call_at(flow.start, self._start, machine, flow)
        for start, act, what in also:
            machine.clock.call_at(start, act, machine, what)
        while machine.clock.entries:
            machine.clock.step()
        machine.settle()
        assert not machine.in_flight
        return machine, sorted(seen.transactions, key=lambda t: t.id)

    def started(self, seen: Ends, check: bool | None) -> Machine:
        """The machine as a run begins. It is kept: to wire one takes three times as long as a case."""
        if self._machine is None:
            self._machine = Machine(self.graph, [seen], check=check)
            self._machine.router = self.router
        else:
            self._machine.reset()
            self._machine.start_run([seen], check=check)
        return self._machine

    def _start(self, machine: Machine, flow: Flow) -> None:
        if flow.source == HOST:
            address, sip = self.address(flow)
            transfer = machine.host_write if flow.writing else machine.host_read
            transfer(sip, [Region(address, flow.nbytes)])
            return
        op = Op(machine.next_op_id(), "memory", "dma_write" if flow.writing else "dma_read")
        if flow.memory == "port":
            pe = self.pe(flow)
            tcm = machine.component(names.pe_part(*pe, "pe_tcm"))
            assert isinstance(tcm, PeTcm)
            unit = machine.component(names.pe_part(*pe, "pe_fetch_store"))
            tcm.access(unit, op, flow.nbytes, write=flow.writing, done=lambda _: None)
            return
        address, _ = self.address(flow)
        operand = Operand((flow.nbytes,), "i8", address=address)
        value = Operand((flow.nbytes,), "i8", handle=0)
        op.inputs, op.output = ((value,), operand) if flow.writing else ((operand,), value)
        dma = machine.component(self.dma(flow)[0])
        assert isinstance(dma, PeDma | MCpu)
        dma.submit(Job(op, op.name, ((address, flow.nbytes),), lambda: None))


class Ends(Instrument):
    """Keeps the transactions that have ended."""

    def __init__(self) -> None:
        self.transactions: list[Transaction] = []

    def transaction_done(self, transaction: Transaction) -> None:
        self.transactions.append(transaction)


@cache
def bench(name: str) -> Bench:
    """The machine called ``name``; compiled once."""
    return Bench(name)


@dataclass
class Agreement:
    """How much has been compared."""

    cases: int = 0
    transactions: int = 0
    crossings: int = 0
    waited: int = 0
    """Transactions that stood behind another one."""
    largest: tuple[int, int] = (0, 0)
    """(transactions, flit crossings) of the case with the most crossings."""
    worst_ns: float = 0.0
    decided: int = 0
    """Waits where an arbiter decided."""

    def compare(self, name: str, case: Case, *, check: bool | None = None) -> None:
        """Run a case on both; every transaction must be the same and end at the same time."""
        reference = bench(name).expected(case)
        machine, ended = bench(name).measured(case, check)
        assert len(ended) == len(reference.txns)
        for got, wanted in zip(ended, reference.txns, strict=True):
            assert (got.id, got.dst, got.nbytes, got.t_submit) == (
                wanted.number, wanted.piece.target, wanted.piece.nbytes, wanted.submitted,
            )  # fmt: skip
            off = abs(got.t_done - wanted.done)
            assert off < 1e-9, (
                f"transaction {got.id} ({got.kind}, {got.src} to {got.dst}, {got.nbytes} bytes) ends at "
                f"{got.t_done!r} ns in the engine and at {wanted.done!r} ns in the reference"
            )
            self.worst_ns = max(self.worst_ns, off)
        assert machine.fabric.flit_crossings == reference.crossings
        self._compare_waits(machine, ended, reference)
        self.cases += 1
        self.transactions += len(ended)
        self.crossings += reference.crossings
        self.waited += sum(t.wait_ns > 0 for t in ended)
        self.largest = max(self.largest, (len(ended), reference.crossings), key=lambda size: size[1])

    def _compare_waits(self, machine: Machine, ended: Sequence[Transaction], reference: Simulator) -> None:
        """Where arbiters decide, every transaction waited for the same others, for as long."""
        numbers = {link.resource: link.index for link in machine.links.values()}
        stood: defaultdict[int, defaultdict[int, list[Wait]]] = defaultdict(lambda: defaultdict(list))
        for transaction in ended:
            for wait in transaction.waits:
                stood[wait.resource][transaction.id].append(wait)
        for name, wire in reference.contested.items():
            wanted, there = wire.waits(), stood[numbers[name]]
            for transaction_id in wanted.keys() | there.keys():
                waits = there[transaction_id]
                found = {wait.holder: wait.ns for wait in waits}
                expected = wanted.get(transaction_id, {})
                if len(waits) == HOLDERS_NAMED:  # the last entry has what is older of the others, too
                    assert sum(wait.holders for wait in waits) == len(expected)
                    found, expected = {-1: fsum(found.values())}, {-1: fsum(expected.values())}
                assert found == pytest.approx(expected, abs=1e-9), (name, transaction_id)
                self.decided += len(waits)

    def __str__(self) -> str:
        transactions, crossings = self.largest
        return (
            f"{self.cases} cases, {self.transactions} transactions ({self.waited} waited), {self.crossings} "
            f"flit crossings agree within {self.worst_ns:.1e} ns; the largest has "
            f"{transactions} transactions and {crossings} crossings"
        )


@st.composite
def cases(draw: st.DrawFn, most_flows: int = 14) -> Case:
    """Transfers of few sources to few targets, often at one time, so that they meet."""
    place = st.integers(0, 23)
    sources = draw(st.lists(st.integers(-4, 23), min_size=1, max_size=5))
    memories = st.sampled_from(["hbm", "hbm", "hbm", "tcm", "sram", "port"])
    targets = draw(st.lists(st.tuples(memories, place), min_size=1, max_size=4))
    step = draw(st.sampled_from([0.25, 1.0, 4.0, 16.0]))
    nbytes = st.one_of(st.integers(1, 20).map(lambda n: 256 * n), st.integers(1, 6000))
    offsets = st.one_of(
        st.integers(0, 40).map(lambda n: 256 * n), st.integers(0, 6000), st.sampled_from([4, 1024, 2304])
    )
    flows = []
    for _ in range(draw(st.integers(1, most_flows))):
        source = draw(st.sampled_from(sources))
        memory, target = draw(st.sampled_from(targets))
        if source < 0 and memory in ("tcm", "port"):
            memory = "hbm"  # host and M_CPU reach neither
        start = step * draw(st.integers(0, 12))
        flows.append(Flow(source, memory, target, draw(offsets), draw(nbytes), draw(st.booleans()), start))
    return flows
