"""Interleaved memory: PEs share the HBM of their chiplet or package, whose channels take turns."""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType

import pytest

import kernbench as kb
from kernbench.analysis.routes.zero_load import ZeroLoadModel
from kernbench.engine.machine import transfers
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Region
from kernbench.errors import AddressError, ConfigError
from kernbench.hardware.address import AddressMap
from kernbench.hardware.kinds import Traffic
from kernbench.hardware.routing import router_of
from kernbench.hardware.topology import compile_topology, parse
from kernbench.support.pgraph import PropertyGraph

CHIP = """
name: chip
system: {flit_bytes: 64, ns_per_mm: 0.0}
memory: interleaved
wires:
  noc: {gbs: 128, delay_ns: 1}
  pcie: {gbs: 64, delay_ns: 50, weight: 100}
blocks:
  die:
    level: package
    port: r
    params: {memories: 1, pes: 4}
    parts:
      r: {kind: router, overhead_ns: 2}
      pe: {block: pe, count: "{pes}"}
      hbm: {kind: hbm_ctrl, count: "{memories}", n_channels: 8, channel_gbs: 16, slice_bytes: 1 GiB}
      m_cpu: m_cpu
      io_cpu: io_cpu
    connect:
      - {pair: [r, pe], wire: noc}
      - {pair: [r, hbm], wire: noc}
      - {pair: [r, m_cpu], wire: noc}
      - {pair: [r, io_cpu], wire: noc}
parts:
  host.cpu: host_cpu
  die: {block: die, memories: 1}
connect:
  - {pair: [host.cpu, die], wire: pcie}
"""


def chip(
    memories: int = 1,
    system: Mapping[str, object] = MappingProxyType({}),
    wide: int = 128,
    size: str = "1 GiB",
) -> PropertyGraph:
    text = CHIP.replace("block: die, memories: 1", f"block: die, memories: {memories}")
    text = text.replace("slice_bytes: 1 GiB", f"slice_bytes: {size}")
    text = text.replace("[r, pe], wire: noc", f"[r, pe], wire: {{gbs: {wide}, delay_ns: 1}}")
    return compile_topology(parse(text, "f", {f"system.{key}": one for key, one in system.items()}))


def moved(running: Machine, nbytes: int, *, is_write: bool, at: int = 0) -> float:
    """ns of an idle transfer between PE 0 and the memory that it shares."""
    shared = running.addresses.shared_memory(0, 0)
    assert shared is not None
    source, traffic = transfers.endpoint(running, "die.pe0")
    transfer = transfers.Transfer("die.pe0", "", nbytes, is_write=is_write, t_submit=running.clock.now)
    transfers.start(running, transfer, source, traffic, Region(shared.base + at, nbytes))
    running.wait(transfer)
    return transfer.ns


@pytest.mark.daily("va-3", "la-4", "pa-1")
@pytest.mark.checked
@pytest.mark.parametrize("memories", [1, 3, 4])
@pytest.mark.parametrize("model", ["va", "pa", "la"])
def test_kernels_compute_right_values(memories: int, model: str) -> None:
    graph = chip(memories, system={"address_model": model})
    assert kb.run("gemm-multi-pe", graph, verify=True).verdict == "yes"


def test_without_it_each_pe_needs_a_slice() -> None:
    graph = compile_topology(parse(CHIP.replace("memory: interleaved\n", ""), "f"))
    with pytest.raises(AddressError, match=r"slice 1 has no HBM slice.*, or 'memory: interleaved'"):
        kb.run("gemm-multi-pe", graph)


@pytest.mark.parametrize("is_write", [True, False])
@pytest.mark.parametrize("nbytes", [64, 1000, 4096])
@pytest.mark.parametrize("memories", [1, 4])
def test_what_one_memory_has_takes_what_the_closed_form_says(
    is_write: bool, nbytes: int, memories: int
) -> None:
    graph = chip(memories)
    route = router_of(graph).route("die.pe0.pe_dma", "die.hbm0", Traffic.PE_DMA)
    model = ZeroLoadModel(graph)
    said = (model.write if is_write else model.read)(route, nbytes).ns
    assert moved(Machine(graph, traced=False), nbytes, is_write=is_write) == pytest.approx(said, abs=1e-6)


@pytest.mark.parametrize("is_write", [True, False])
def test_several_memories_are_as_fast_as_together(is_write: bool) -> None:
    """Four links of 128 GB/s at the memories, behind one of 512 at the PE."""
    nbytes = 1 << 20
    one, four = (moved(Machine(chip(n, wide=512), traced=False), nbytes, is_write=is_write) for n in (1, 4))
    assert nbytes / 128 < one < nbytes / 128 + 100
    assert nbytes / 512 < four < nbytes / 512 + 100


def test_each_memory_serves_as_many_bytes() -> None:
    running = Machine(chip(4), traced=False)
    moved(running, 1 << 18, is_write=False)
    assert {running.component(f"die.hbm{i}").bytes for i in range(4)} == {1 << 16}


def test_what_cannot_be_interleaved_says_why() -> None:
    with pytest.raises(ConfigError, match="as many, a multiple of granule_bytes 4096"):
        Machine(chip(2, size="1000000"))
    keys = {"memory": "interleaved", "cube.hbm.mapping": "one_to_one", "system.address_model": "la"}
    with pytest.raises(ConfigError, match="HBM channels have routers of their own; use one of them"):
        Machine(kb.load_topology("default", keys))
    with pytest.raises(ConfigError, match=r"memory\.interleave: .*expected '', 'chiplet' or 'package'"):
        kb.load_topology("minimal", {"memory.interleave": "tray"})


@pytest.mark.slow
def test_the_default_machine_can_have_it() -> None:
    graph = kb.load_topology("default", {"memory.interleave": "chiplet", "memory.granule_bytes": 1024})
    assert kb.run("gemm-multi-pe", graph, verify=True).verdict == "yes"
    with pytest.raises(ConfigError, match=r"memory\.granule_bytes: is set without interleave"):
        kb.load_topology("default", {"memory.granule_bytes": 1024})


@pytest.mark.parametrize("memories", [1, 2, 3, 5])
def test_every_byte_is_in_one_place(memories: int) -> None:
    addresses, rnd = AddressMap(chip(memories)), random.Random(memories)
    shared = addresses.shared_memory(0, 0)
    assert shared is not None
    assert shared.nbytes == memories << 30
    for _ in range(200):
        start, nbytes = rnd.randrange(1 << 26), rnd.choice((1, 63, 4096, 5000, 100_000))
        found = addresses.requests(shared.base + start, nbytes)
        assert sum(request.nbytes for request in found) == nbytes
        assert len(found) <= memories
        of_runs = {}
        for request in found:
            offset = request.offset
            for pa, length in request.runs():
                for at in (pa, pa + length - 1):
                    target = addresses.resolve(at)
                    assert (target.component, target.offset) == (request.component, offset + at - pa)
                offset += length
                of_runs[pa] = length
        at = shared.base + start
        for pa in sorted(of_runs):
            assert pa == at
            at += of_runs[pa]
        assert at == shared.base + start + nbytes


DIES = """
name: dies
memory: {interleave: package, cache: {capacity: 7 MiB, gbs: 1000}}
wires: {noc: {gbs: 128}}
defaults: {hbm_ctrl: {slice_bytes: 1 GiB, n_channels: 8, channel_gbs: 16}}
blocks:
  compute:
    level: chiplet
    port: r
    parts: {r: router, pe: {block: pe, count: 2}, m_cpu: m_cpu}
    connect: [{all: [r, pe], wire: noc}, {pair: [r, m_cpu], wire: noc}]
  die:
    port: r
    parts: {r: router, compute: compute, hbm: {kind: hbm_ctrl, count: 2}}
    connect: [{all: [r, hbm], wire: noc}, {pair: [r, compute], wire: noc}]
  package:
    level: package
    port: "die[0].r"
    parts: {die: {block: die, count: 3}, near: hbm_ctrl, io_cpu: io_cpu}
    connect:
      - {ring: die, wire: noc}
      - {pair: ["die[0].r", near], wire: noc}
      - {pair: ["die[0].r", io_cpu], wire: noc}
parts: {host.cpu: host_cpu, package: {block: package, count: 2}}
connect: [{ring: package, wire: noc}, {all: [host.cpu, package], wire: noc}]
"""


def test_memories_beside_chiplets_are_all_a_part_of_it() -> None:
    """Dies under compute chiplets have memories that are in no chiplet: each has a number of its own."""
    graph = compile_topology(parse(DIES, "f"))
    for sip in (0, 1):
        shared = AddressMap(graph).shared_memory(sip, 0)
        assert shared is not None
        assert shared.nbytes == 7 << 30
        assert {one.component for one in shared.members} == {
            node.id for node in graph.nodes("HbmCtrl") if node.properties["sip"] == sip
        }
    assert kb.run("gemm-multi-pe", graph, verify=True).verdict == "yes"
