"""The ``one_to_one`` mapping: lone accesses equal a closed form to 1e-9 ns; channels can be seen to fill."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np
import pytest

import kernbench as kb
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.trace import TraceRecorder
from kernbench.engine.core.transaction import Transaction
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Region
from kernbench.hardware.routing import Traffic
from kernbench.support.pgraph import PropertyGraph
from tests import names
from tests.compiled import compiled
from tests.exact.max_plus_channels import ChannelMaxPlus

OBLONG = str(Path(__file__).with_name("oblong.yaml"))
LA: dict[str, object] = {"system.address_model": "la"}
ONE_TO_ONE = LA | {"cube.hbm.mapping": "one_to_one"}
MACHINES: dict[str, tuple[str | None, dict[str, object]]] = {
    "default": (None, {"system.sips": 1, "sip.cube_mesh": {"w": 2, "h": 2}}),
    "oblong": (OBLONG, {"cube.channel_router.overhead_ns": 1.5}),
    "minimal": ("minimal", {}),
}
SIZES = (65_536, 1, 255, 256, 257, 1000, 2048, 2049, 4096, 10_000)
OFFSETS = (0, 1, 255, 256 * 5 + 3)
MEGABYTE = 1 << 20


def graph_of(name: str, extra: dict[str, object]) -> PropertyGraph:
    file, overrides = MACHINES[name]
    return compiled(file, overrides | extra)


@pytest.fixture(scope="module")
def graphs() -> dict[str, PropertyGraph]:
    return {name: graph_of(name, ONE_TO_ONE) for name in MACHINES}


def lone_ns(machine: Machine, src: str, dst: str, offset: int, nbytes: int, *, write: bool) -> float:
    transfer = machine.flow(src, dst, offset, nbytes, is_write=write)
    machine.wait(transfer)
    machine.settle()
    return transfer.ns


TRANSFERS = [
    ("default", "sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe0"),
    ("default", "sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe7"),
    ("default", "sip0.cube0.pe0", "sip0.cube3.hbm_ctrl.pe5"),
    ("default", "sip0.cube2.m_cpu", "sip0.cube2.hbm_ctrl.pe3"),
    ("default", "host", "sip0.cube3.hbm_ctrl.pe2"),
    ("oblong", "sip0.cube0.pe1", "sip0.cube0.hbm_ctrl.pe1"),
    ("oblong", "sip0.cube4.pe5", "sip1.cube2.hbm_ctrl.pe0"),
    ("oblong", "host", "sip1.cube5.hbm_ctrl.pe4"),
    ("minimal", "sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe0"),
]


@pytest.mark.daily("minimal-*", "oblong-sip0.cube4.pe5-*")
@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
@pytest.mark.parametrize(("name", "src", "dst"), TRANSFERS)
def test_a_lone_access_takes_what_the_closed_form_says(
    graphs: dict[str, PropertyGraph], name: str, src: str, dst: str, write: bool
) -> None:
    graph = graphs[name]
    reference, machine = ChannelMaxPlus(graph), Machine(graph, check=True)
    kind = {"host": Traffic.HOST_MEMORY, "m_cpu": Traffic.MCPU_DMA}.get(src.rpartition(".")[2])
    source = {"host": "host.cpu"}.get(src, src if kind else f"{src}.pe_dma")
    place = names.parse(dst)
    for turn, nbytes in enumerate(SIZES):
        offset = OFFSETS[turn % len(OFFSETS)]
        shares = reference.shares(dst, offset, nbytes)
        ways = [
            machine.router.route(
                source, dst, kind or Traffic.PE_DMA,
                names.channel_router(place.sip, place.cube, place.pe, channel),
            ).nodes
            for channel, _ in shares
        ]  # fmt: skip
        expected = reference.access_ns(ways, [n for _, n in shares], write=write)
        took = lone_ns(machine, src, dst, offset, nbytes, write=write)
        assert took == pytest.approx(expected, abs=1e-9, rel=0), (nbytes, offset)


@pytest.mark.daily("*-sip0.cube0.hbm_ctrl.pe7-*")
@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
@pytest.mark.parametrize(
    ("name", "src", "dst"),
    [
        pytest.param(*t, marks=[pytest.mark.slow] if "cube3" in t[2] else [])
        for t in TRANSFERS
        if t[0] == "default"
    ],
)
def test_both_mappings_have_one_bandwidth(
    graphs: dict[str, PropertyGraph], name: str, src: str, dst: str, write: bool
) -> None:
    machines = [Machine(graph, traced=False) for graph in (graphs[name], graph_of(name, LA))]
    for nbytes in (4096, MEGABYTE):
        one, n = (lone_ns(machine, src, dst, 0, nbytes, write=write) for machine in machines)
        # A burst crosses one wire more, 1 ns at 256 GB/s, beside those of other channels. Whatever the size.
        assert abs(one - n) <= 1 + 1e-9


@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
def test_efficiency_counts_alike_in_both_mappings(write: bool) -> None:
    half = {"cube.hbm.efficiency": 0.5}
    src, dst = "sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe0"
    one, n = (
        lone_ns(Machine(compiled("minimal", half | more)), src, dst, 0, MEGABYTE, write=write)
        for more in (ONE_TO_ONE, LA)
    )
    assert n > MEGABYTE / 128
    assert one == pytest.approx(n, abs=16)  # a burst of a channel at half its rate


BENCHES = (
    "ccl-allreduce", "flash-attention", "gemm-multi-pe", "gemm-single-pe", "gpt3-qkv", "ipcq-allreduce",
    "llama-layer", "matmul-composite", "pe2pe", "qkv-gemm", "qkv-gemm-multi-pe", "softmax", "tp-mlp",
    "va-offset-verify",
)  # fmt: skip
DAILY = ("matmul-composite", "qkv-gemm-multi-pe")
PACKED = {"pe.pe_scheduler.tile_transfers": "packed"}
"""Tiles as the record has them: short runs of rows make up to 6 % of a kernel differ between the mappings."""
ONE_SIZE: dict[str, dict[str, object]] = {"pe2pe": {"nbytes": 65_536}}
"""It moves messages of ten sizes one after another; the largest takes longer than all others together."""


@pytest.mark.daily("qkv-gemm-multi-pe")
@pytest.mark.parametrize(
    "bench", [pytest.param(b, marks=[] if b in DAILY else [pytest.mark.slow]) for b in BENCHES]
)
def test_shipped_kernels_take_as_long_in_both_mappings(bench: str) -> None:
    params = ONE_SIZE.get(bench)
    one, n = (
        kb.run(bench, compiled(None, {**more, **PACKED}), params=params, trace=False).latency_ns
        for more in (ONE_TO_ONE, LA)
    )
    assert one == pytest.approx(n, rel=0.05)  # ADR-0017 D8


def play(graph: PropertyGraph, offsets: list[int]) -> tuple[Machine, dict[str, object], float]:
    """PEs 0, 1 ... each write one burst to slice 0, at these offsets; the mean time of a write."""
    recorder = TraceRecorder()
    machine = Machine(graph, [recorder], check=True)
    transfers = [
        machine.flow(f"sip0.cube0.pe{pe}", "sip0.cube0.hbm_ctrl.pe0", offset, 256, is_write=True)
        for pe, offset in enumerate(offsets)
    ]
    machine.wait(*transfers)
    machine.settle()
    mean = statistics.mean(transfer.ns for transfer in transfers)
    return machine, dict(recorder.tables(machine.resources, machine.clock.now)), mean


def test_pes_on_one_channel_queue_there_and_on_several_they_do_not(
    graphs: dict[str, PropertyGraph],
) -> None:
    burst, stride = 256, 256 * 8
    _, same, together = play(graphs["default"], [3 * burst + pe * stride for pe in range(8)])
    _, other, apart = play(graphs["default"], [pe * burst for pe in range(8)])
    assert together > apart + 8

    def at_channels(tables: dict[str, object]) -> dict[str, float]:
        waits = tables["WaitedFor"]
        found: dict[str, float] = {}
        for resource, ns in zip(waits["resource"].to_pylist(), np.asarray(waits["ns"]), strict=True):  # type: ignore[index]
            if resource.startswith("sip0.cube0.hbm_ctrl.pe0.") or ".ch_r" in resource:
                found[resource] = found.get(resource, 0.0) + float(ns)
        return found

    channel = names.pseudo_channel(names.hbm(0, 0, 0), 3)
    waited = at_channels(same)
    assert set(waited) == {channel}
    assert waited[channel] > 8
    assert at_channels(other) == {}


def test_a_busy_channel_holds_up_the_requests_that_need_it_and_no_others(
    graphs: dict[str, PropertyGraph],
) -> None:
    graph = graphs["default"]
    recorder = TraceRecorder()
    machine = Machine(graph, [recorder], check=True)
    stride = 256 * 8
    # PEs 1 to 7 keep channel 2 busy; PE 0 then reads 2 KiB of all channels.
    dst = "sip0.cube0.hbm_ctrl.pe0"
    busy = [
        machine.flow(f"sip0.cube0.pe{pe}", dst, 2 * 256 + pe * stride, 256, is_write=False)
        for pe in range(1, 8)
    ]
    late = machine.flow("sip0.cube0.pe0", dst, 0, stride, is_write=False, start_ns=30.0)
    machine.wait(*busy, late)
    transactions = recorder.tables(machine.resources, machine.clock.now)["Transaction"]
    src = np.array(transactions["src"].to_pylist())  # type: ignore[attr-defined]
    took = (np.asarray(transactions["t_done"]) - np.asarray(transactions["t_submit"]))[
        src == "sip0.cube0.pe0.pe_dma"
    ]
    assert len(took) == 8, "one request a channel"
    assert np.argmax(took) == 2
    assert took[2] > np.delete(took, 2).max() + 8


def test_host_and_pe_take_the_channel_routers(graphs: dict[str, PropertyGraph]) -> None:
    recorder = TraceRecorder()
    machine = Machine(graphs["default"], [recorder], check=True)
    pa = machine.addresses.hbm(0, 3, 2, 0)
    machine.wait(machine.host_write(0, [Region(pa, 4096)]))
    machine.wait(machine.flow("sip0.cube3.pe2", "sip0.cube3.hbm_ctrl.pe2", 0, 4096, is_write=False))
    used = recorder.tables(machine.resources, machine.clock.now)["Use"]
    passed = {str(r): int(b) for r, b in zip(used["resource"], used["bytes"], strict=True)}  # type: ignore[call-overload]
    routers = [names.channel_router(0, 3, 2, channel) for channel in range(8)]
    assert [passed[f"{router}->sip0.cube3.hbm_ctrl.pe2"] for router in routers] == [512] * 8
    assert [passed[f"sip0.cube3.hbm_ctrl.pe2->{router}"] for router in routers] == [512] * 8
    assert [passed[router] for router in routers] == [1024] * 8


class Accesses(Instrument):
    """How many requests each access had, by the first of them, and the overheads that were paid."""

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}

    def transaction_done(self, transaction: Transaction) -> None:
        if transaction.access is not None:
            self.sizes[transaction.access.first] = transaction.access.size


@pytest.mark.parametrize("gap", [0, 65_536], ids=["behind each other", "apart"])
def test_two_pieces_of_one_slice_are_two_accesses(graphs: dict[str, PropertyGraph], gap: int) -> None:
    """As they would be two requests where an access is one: each pays its overheads."""
    seen = Accesses()
    machine = Machine(graphs["default"], [seen], check=True)
    pa = machine.addresses.hbm(0, 3, 2, 0)
    machine.wait(machine.host_write(0, [Region(pa, 2048), Region(pa + 2048 + gap, 512), Region(pa, 1024)]))
    assert seen.sizes == {0: 8, 8: 2, 10: 4}
    plain = Machine(graph_of("default", LA))
    plain.wait(plain.host_write(0, [Region(pa, 2048), Region(pa + 2048 + gap, 512), Region(pa, 1024)]))
    assert abs(machine.clock.now - plain.clock.now) <= 2 + 1e-9  # each access has a burst on a wire more
