"""Counts of the trace at places: use of pseudo-channels, busy times, waits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernbench.engine.components.dma import Job
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.core.server import Server
from kernbench.engine.core.trace import TraceRecorder
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Op
from kernbench.support.pgraph import PropertyGraph
from tests.compiled import compiled

SLICE = "sip0.cube0.hbm_ctrl.pe0"
SMALL: dict[str, object] = {"system.sips": 1, "sip.cube_mesh": {"w": 1, "h": 1}}
ONE_TO_ONE: dict[str, object] = {"system.address_model": "la", "cube.hbm.mapping": "one_to_one"}


def graph_of(extra: dict[str, object]) -> PropertyGraph:
    return compiled(None, SMALL | extra)


def play(graph: PropertyGraph, *flows: tuple[str, int, int, bool]) -> tuple[Machine, dict[str, Any]]:
    """Transfers (PE or host, offset, bytes, write?) with slice 0, all at once; the machine and the trace."""
    recorder = TraceRecorder()
    machine = Machine(graph, [recorder], check=True)
    machine.wait(*[machine.flow(src, SLICE, at, n, is_write=write) for src, at, n, write in flows])
    machine.settle()
    return machine, recorder.tables(machine.resources, machine.clock.now)


def use(tables: dict[str, Any], what: str) -> dict[str, Any]:
    """A column of Used by resource."""
    return dict(zip(tables["Use"]["resource"].tolist(), tables["Use"][what].tolist(), strict=True))


def channels(tables: dict[str, Any], what: str) -> dict[int, Any]:
    """A column of Used by pseudo-channel of slice 0."""
    found = use(tables, what).items()
    return {int(name.rpartition(".pc")[2]): v for name, v in found if name.startswith(f"{SLICE}.pc")}


@pytest.mark.parametrize("extra", [{}, ONE_TO_ONE], ids=["n_to_one", "one_to_one"])
@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
def test_each_channel_counts_its_bursts(extra: dict[str, object], write: bool) -> None:
    _, tables = play(graph_of(extra), ("sip0.cube0.pe3", 256 * 6, 256 * 11 + 100, write))
    # Bursts 6, 7, then 0 to 7 again, then 0, and 100 bytes of burst 1.
    bursts = {0: 2, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 2, 7: 2}
    assert channels(tables, "bytes") == {c: 256 * n for c, n in bursts.items()} | {1: 356}
    assert channels(tables, "busy_ns") == {c: 8.0 * n for c, n in (bursts | {1: 2}).items()}
    assert channels(tables, "transactions") == dict.fromkeys(range(8), 1)
    assert channels(tables, "max_queue") == dict.fromkeys(range(8), 1)
    assert set(channels(tables, "kind").values()) == {"pseudo_channel"}
    assert use(tables, "busy_ns")[SLICE] == pytest.approx(12.0)


def test_channels_that_are_not_used_have_no_row() -> None:
    _, tables = play(graph_of({}), ("sip0.cube0.pe0", 256 * 5, 512, True))
    assert set(channels(tables, "bytes")) == {5, 6}


def test_an_unaligned_flit_counts_at_the_channel_of_its_first_byte() -> None:
    _, tables = play(graph_of({}), ("sip0.cube0.pe0", 128, 512, True))
    assert channels(tables, "bytes") == {0: 256, 1: 256}


def test_waits_at_a_channel_name_it_and_add_up_there() -> None:
    stride = 256 * 8
    flows = [(f"sip0.cube0.pe{pe}", 3 * 256 + pe * stride, 256, False) for pe in range(8)]
    _, tables = play(graph_of({}), *flows)
    waits = tables["WaitedFor"]
    at: dict[str, float] = {}
    for resource, ns in zip(waits["resource"].to_pylist(), waits["ns"].tolist(), strict=True):
        at[resource] = at.get(resource, 0.0) + ns
    assert at[f"{SLICE}.pc3"] > 8
    assert SLICE not in at
    assert use(tables, "wait_ns")[f"{SLICE}.pc3"] == pytest.approx(at[f"{SLICE}.pc3"])
    assert use(tables, "wait_ns")[SLICE] == pytest.approx(at[f"{SLICE}.pc3"])
    assert 1 < channels(tables, "max_queue")[3] <= 8


@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
def test_nothing_is_busy_for_longer_than_the_run(write: bool) -> None:
    """Single bursts from all sides: the slice's entry is full, its channels are not."""
    extra: dict[str, object] = {"cube.hbm.overhead_ns": 3.0, "cube.hbm.switch_penalty_ns": 5.0}
    flows = [(f"sip0.cube0.pe{n % 8}", 256 * n, 256, write or n % 5 == 0) for n in range(200)]
    _, tables = play(graph_of(extra), *flows)
    assert use(tables, "busy_ns")[SLICE] == 600.0
    assert np.asarray(tables["Use"]["utilisation"]).max() <= 1.0
    slice_share = sum(channels(tables, "busy_ns").values()) / 8
    assert 0 < slice_share < 600.0


def test_a_turn_keeps_its_channel_busy() -> None:
    _, tables = play(
        graph_of({"cube.hbm.switch_penalty_ns": 5.0}),
        *((f"sip0.cube0.pe{n}", 0, 256, n % 2 == 0) for n in range(4)),
    )
    turns = (channels(tables, "busy_ns")[0] - 4 * 8.0) / 5.0
    assert turns in (1.0, 2.0, 3.0)
    assert use(tables, "busy_ns")[SLICE] == pytest.approx(channels(tables, "busy_ns")[0] / 8)


def test_a_channel_router_is_busy_for_every_request_that_passes() -> None:
    graph = graph_of(ONE_TO_ONE | {"cube.channel_router.overhead_ns": 1.5})
    _, tables = play(graph, ("sip0.cube0.pe0", 0, 4096, True))
    busy = use(tables, "busy_ns")
    # Each of the eight requests, and each acknowledgement.
    assert [busy[f"sip0.cube0.pe0.ch_r{channel}"] for channel in range(8)] == [3.0] * 8


def test_a_command_without_bytes_is_use_and_a_flit() -> None:
    """A read of 1000 bytes from the own slice: a command of one flit out, four flits back."""
    machine, tables = play(graph_of({}), ("sip0.cube0.pe0", 0, 1000, False))
    links = {name: nbytes for name, nbytes in use(tables, "bytes").items() if "->" in name}
    assert links.pop("sip0.cube0.pe0.pe_dma->sip0.cube0.pe0.pe_tcm") == 1000  # beside the fabric
    out = {name for name, nbytes in links.items() if nbytes == 0}
    assert out == {"sip0.cube0.pe0.pe_dma->sip0.cube0.r0c0", f"sip0.cube0.r0c0->{SLICE}"}
    assert {nbytes for name, nbytes in links.items() if name not in out} == {1000}
    assert {use(tables, "transactions")[name] for name in links} == {1}
    assert machine.fabric.flit_crossings == len(out) + 4 * (len(links) - len(out)) == 10


def test_a_message_in_flight_is_no_longer_at_its_link() -> None:
    machine = Machine(graph_of({}), check=True)
    wire = machine.link("host.cpu", "fabric.switch0")
    assert wire.delay_ns == 0.5
    first = machine.flow("host", SLICE, 0, 16, is_write=True)
    # 16 bytes take 0.125 ns at 128 GB/s; the second message comes while the first one is in flight.
    machine.clock.call_at(0.25, lambda: started.append(machine.flow("host", SLICE, 64, 16, is_write=True)))
    started = [first]
    machine.settle()
    assert [transfer.done for transfer in started] == [True, True]
    assert (wire.transactions, wire.max_queue) == (2, 1)


def test_a_server_that_never_rests_forgets_what_is_over() -> None:
    server = Server("s")
    for turn in range(10_000):
        server.occupy(float(turn), 1.0 if turn else 3.0, turn)
    assert server.log.runs.count < 10
    assert server.log.answer(server.blockers("new", 9999.0, 10_002.0)) == [
        (turn, 1.0, turn + 2.0, turn + 3.0, 1) for turn in (9997, 9998, 9999)
    ]


def test_engines_side_by_side_share_their_time() -> None:
    """A read on one of two engines keeps the DMA half busy."""
    busy = {
        engines: use(
            play(graph_of({"pe.pe_dma.read_engines": engines}), ("sip0.cube0.pe0", 0, 4096, False))[1],
            "busy_ns",
        )["sip0.cube0.pe0.pe_dma"]
        for engines in (1, 2)
    }
    assert busy[1] > 0
    assert busy[2] == pytest.approx(busy[1] / 2)


def test_a_transfer_waits_as_long_as_the_request_that_waits_longest() -> None:
    """Its last request is answered last and waits for none; its first one stands behind another PE's."""
    graph = graph_of({})
    machine = Machine(graph, [recorder := TraceRecorder()], check=True)
    last = int(graph.node(SLICE).properties["slice_bytes"]) - 256
    before = [
        machine.flow(f"sip0.cube0.pe{pe}", SLICE, last + 256 - 8192, 8192, is_write=False) for pe in (1, 2, 3)
    ]
    dma = machine.component("sip0.cube0.pe0.pe_dma")
    assert isinstance(dma, PeDma)
    op = Op(machine.next_op_id(), "memory", "dma_read", (), None)
    address = machine.addresses.hbm(0, 0, 0, last)
    across = Job(op, "dma_read", ((address, 256 + 65536),), lambda: None)
    machine.clock.call_at(machine.clock.now + 30.0, dma.submit, across)
    machine.wait(*before)
    machine.settle()
    table = recorder.tables(machine.resources, machine.clock.now)["Transaction"]
    from_pe0 = [src == "sip0.cube0.pe0.pe_dma" for src in table["src"].to_pylist()]
    ends, waits = (np.asarray(table[name])[from_pe0] for name in ("t_done", "wait_ns"))
    assert len(waits) == 2
    assert waits[np.argmax(ends)] < waits.max()
    assert across.wait_ns == waits.max()
