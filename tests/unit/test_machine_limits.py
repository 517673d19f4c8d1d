"""Limits that a machine refuses to pass, and the end of kernels that are left suspended."""

from __future__ import annotations

from typing import Any

import pytest

import kernbench as kb
from kernbench.engine.components.dma import Job
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.core.node import FabricNode, path_over
from kernbench.engine.core.transaction import FLIT_BITS, HOP_BITS, Packet
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Op, Region
from kernbench.errors import AddressError, DeadlockError, RoutingError, UsageError
from kernbench.language import KernelCall
from tests import names
from tests.compiled import compiled

PE = (0, 0, 0)


def test_a_host_transfer_of_no_bytes_is_refused_by_name() -> None:
    machine = Machine(compiled("minimal"))
    for regions in ([], [Region(machine.addresses.hbm(*PE, 0), 0)]):
        with pytest.raises(UsageError, match="host write to sip0: it names no bytes"):
            machine.host_write(0, regions)
        with pytest.raises(UsageError, match="host read from sip0: it names no bytes"):
            machine.host_read(0, regions)


@pytest.mark.parametrize("runs", [(), ((4096, 0),)])
def test_a_dma_job_of_no_bytes_is_refused_by_name(runs: tuple[tuple[int, int], ...]) -> None:
    machine = Machine(compiled("minimal"))
    dma = machine.component(names.pe_part(*PE, "pe_dma"))
    assert isinstance(dma, PeDma)
    op = Op(machine.next_op_id(), "memory", "dma_read")
    with pytest.raises(AddressError, match=r"sip0\.cube0\.pe0\.pe_dma': a transfer of 0 bytes"):
        dma.submit(Job(op, "dma_read", runs, lambda: None))
    assert not machine.clock.entries


def test_more_flits_than_a_key_can_number_are_refused() -> None:
    machine = Machine(compiled("minimal"))
    path = path_over([FabricNode("a", 0.0), FabricNode("b", 0.0)], [])
    most = machine.flit_bytes << FLIT_BITS
    transaction = machine.begin("host_write", path, most + 1, 0.0)
    assert Packet(transaction, path, most, machine.flit_bytes).last == (1 << FLIT_BITS) - 1
    with pytest.raises(UsageError, match=r"host_write of \d+ bytes from a to b: that is 4294967297 flits"):
        Packet(transaction, path, most + 1, machine.flit_bytes)


def test_a_longer_route_than_a_key_can_number_is_refused() -> None:
    nodes = [FabricNode(f"n{i}", 0.0) for i in range(1 << HOP_BITS)]
    assert len(path_over(nodes[:-1], []).nodes) == (1 << HOP_BITS) - 1
    with pytest.raises(RoutingError, match="from 'n0' to 'n4095' passes 4096 components"):
        path_over(nodes, [])


def test_kernels_that_a_deadlock_leaves_suspended_are_ended_with_the_run() -> None:
    ended: list[str] = []

    def waits_for_ever(x: Any, tl: Any) -> None:
        try:
            tl.recv("E", shape=(8,), dtype="f16")
        finally:
            ended.append("finally")

    def bench(torch: Any) -> None:
        torch.install_ipcq({PE: {"E": (0, 0, 1)}, (0, 0, 1): {"W": PE}})
        x = torch.zeros((8, 8))
        torch.launch("waits", waits_for_ever, x).wait()

    with pytest.raises(DeadlockError):
        kb.run(bench, kb.load_topology("minimal", {"cube.pes.count": 2, "cube.pes.corners": ["NW", "SE"]}),
               trace=False)  # fmt: skip
    assert ended == ["finally"]


def test_a_closed_machine_has_no_suspended_kernel() -> None:
    machine = Machine(compiled("minimal"))
    seen: list[str] = []

    def kernel(tl: Any) -> None:
        try:
            tl.cycles(100)
        finally:
            seen.append("closed")

    machine.launch(KernelCall(kernel, ()), [PE])
    cpu = machine.component(names.pe_part(*PE, "pe_cpu"))
    while not any("runs kernel" in line for line in cpu.waiting()):
        machine.clock.step()
    machine.close()
    assert seen == ["closed"]
    assert cpu.waiting() == []
