"""The part of the address space that a topology implements, and the allocators over it."""

from __future__ import annotations

from typing import Any

import pytest

from kernbench.errors import AddressError, AllocationError, ConfigError
from kernbench.hardware.address import (
    WORD_BYTES,
    AddressMap,
    AddressTarget,
    IocpuUnit,
    Kind,
    McpuUnit,
    PeUnit,
    PhysAddr,
    VirtualAllocator,
    memory_of_pe,
)
from kernbench.support.pgraph import Node, PropertyGraph, Value

KIB, MIB = 1 << 10, 1 << 20
SLICE = 6 * MIB


def machine(sips: int = 2, cubes: int = 2, pes: int = 2, **sizes: dict[str, Value]) -> PropertyGraph:
    """A compiled topology by hand: only what the address map looks at."""
    graph = PropertyGraph()

    def add(name: str, kind: str, sip: int, cube: int = -1, pe: int = -1, **more: Value) -> None:
        place: dict[str, Value] = {"kind": kind, "sip": sip, "cube": cube, "pe": pe}
        graph.add_node(Node(name, ("Component",), {**place, **more, **sizes.get(kind, {})}))

    for s in range(sips):
        for io in range(2):
            add(f"sip{s}.io{io}.pcie_ep", "pcie_ep", s)
            add(f"sip{s}.io{io}.io_cpu", "io_cpu", s)
        for c in range(cubes):
            cube = f"sip{s}.cube{c}"
            add(cube, "cube", s, c)
            add(f"{cube}.m_cpu", "m_cpu", s, c)
            add(f"{cube}.sram", "sram", s, c, size_bytes=32 * MIB)
            for p in range(pes):
                pe = f"{cube}.pe{p}"
                add(pe, "pe", s, c, p)
                add(f"{cube}.hbm_ctrl.pe{p}", "hbm_ctrl", s, c, slice=p, slice_bytes=SLICE, burst_bytes=256)
                for kind in ("pe_cpu", "pe_dma", "pe_math", "pe_ipcq", "pe_gemm"):
                    add(f"{pe}.{kind}", kind, s, c, p)
                add(
                    f"{pe}.pe_tcm", "pe_tcm", s, c, p,
                    size_bytes=2 * MIB, scheduler_reserved_bytes=256 * KIB, scratch_bytes=512 * KIB,
                )  # fmt: skip
    return graph


@pytest.fixture
def addresses() -> AddressMap:
    return AddressMap(machine())


@pytest.mark.parametrize(
    ("addr", "target"),
    [
        (PhysAddr(1, 0, Kind.HBM, 0), AddressTarget("sip1.cube0.hbm_ctrl.pe0", 0, "hbm")),
        (PhysAddr(1, 0, Kind.HBM, SLICE - 1), AddressTarget("sip1.cube0.hbm_ctrl.pe0", SLICE - 1, "hbm")),
        (PhysAddr(1, 0, Kind.HBM, SLICE + 5), AddressTarget("sip1.cube0.hbm_ctrl.pe1", 5, "hbm")),
        (PhysAddr(0, 1, Kind.CUBE_SRAM, 7), AddressTarget("sip0.cube1.sram", 7, "sram")),
        (
            PhysAddr(0, 1, Kind.PE_LOCAL, 9, 1, PeUnit.PE_TCM),
            AddressTarget("sip0.cube1.pe1.pe_tcm", 9, "tcm", "PE_TCM"),
        ),
        (
            PhysAddr(0, 0, Kind.PE_LOCAL, 3, 0, PeUnit.PE_CPU_SFR),
            AddressTarget("sip0.cube0.pe0.pe_cpu", 3, "pe", "PE_CPU_SFR"),
        ),
        (
            PhysAddr(0, 0, Kind.PE_LOCAL, 3, 0, PeUnit.MATH_ENGINE_DTCM),
            AddressTarget("sip0.cube0.pe0.pe_math", 3, "pe", "MATH_ENGINE_DTCM"),
        ),
        (
            PhysAddr(0, 0, Kind.PE_LOCAL, 0, 0, PeUnit.IPCQ),
            AddressTarget("sip0.cube0.pe0.pe_ipcq", 0, "pe", "IPCQ"),
        ),
        (
            PhysAddr(0, 0, Kind.PE_LOCAL, 1, 0, PeUnit.DMA_ENGINE_SFR),
            AddressTarget("sip0.cube0.pe0.pe_dma", 1, "pe", "DMA_ENGINE_SFR"),
        ),
        (
            PhysAddr(1, 1, Kind.MCPU_LOCAL, 4, unit=McpuUnit.MCPU_SRAM),
            AddressTarget("sip1.cube1.m_cpu", 4, "mcpu", "MCPU_SRAM"),
        ),
        (
            PhysAddr(1, 17, Kind.IOCPU, 4, unit=IocpuUnit.IO_SRAM),
            AddressTarget("sip1.io1.io_cpu", 4, "iocpu", "IO_SRAM"),
        ),
    ],
)
def test_resolve(addresses: AddressMap, addr: PhysAddr, target: AddressTarget) -> None:
    assert addresses.resolve(addr.encode()) == target


def test_encoders_are_the_inverse_of_resolve(addresses: AddressMap) -> None:
    assert addresses.hbm(1, 0, 1, 5) == PhysAddr(1, 0, Kind.HBM, SLICE + 5).encode()
    assert addresses.sram(1, 1, 5) == PhysAddr(1, 1, Kind.CUBE_SRAM, 5).encode()
    assert addresses.tcm(1, 1, 0, 5) == PhysAddr(1, 1, Kind.PE_LOCAL, 5, 0, PeUnit.PE_TCM).encode()


@pytest.mark.parametrize(
    ("addr", "message"),
    [
        (PhysAddr(2, 0, Kind.HBM, 0), "sip_id 2 is not in this topology"),
        (PhysAddr(0, 2, Kind.HBM, 0), "die_id 2 is not in this topology"),
        (PhysAddr(0, 18, Kind.IOCPU, 0, unit=IocpuUnit.IPCQ), "die_id 18 is not in this topology"),
        (PhysAddr(0, 16, Kind.UAL, 2 << 30), "kind UAL is not in this topology"),
        (PhysAddr(0, 0, Kind.PE_LOCAL, 0, 2, PeUnit.IPCQ), "pe_id 2 is not in this topology"),
        (PhysAddr(0, 0, Kind.HBM, 2 * SLICE), "offset 0xc00000 is past the 0xc00000 bytes of HBM"),
    ],
)
def test_resolving_what_is_not_there_names_the_field(
    addresses: AddressMap, addr: PhysAddr, message: str
) -> None:
    with pytest.raises(AddressError, match=message):
        addresses.resolve(addr.encode())


def test_resolve_reports_layout_errors(addresses: AddressMap) -> None:
    with pytest.raises(AddressError, match=r"mbz\[41:38\]"):
        addresses.resolve(addresses.hbm(0, 0, 0, 0) | 1 << 38)
    with pytest.raises(AddressError, match="51 bits"):
        addresses.resolve(-1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: a.hbm(2, 0, 0, 0), r"sip 2 has no HBM slice in this topology; use 0\.\.1"),
        (lambda a: a.hbm(0, 5, 0, 0), r"cube 5 has no HBM slice"),
        (lambda a: a.hbm(0, 0, 2, 0), r"slice 2 has no HBM slice"),
        (lambda a: a.hbm(0, 0, 1, SLICE), "hbm offset 0x600000 is outside"),
        (lambda a: a.sram(0, 0, -1), "sram offset"),
        (lambda a: a.sram(0, 3, 0), "cube 3 has no shared SRAM"),
        (lambda a: a.tcm(0, 0, 4, 0), "pe 4 has no TCM"),
        (lambda a: a.tcm(0, 0, 0, 2 * MIB), "tcm offset"),
        (lambda a: a.scratch(0, 0, 4), "pe 4 has no TCM"),
        (lambda a: a.split(0, -1), "nbytes -1"),
    ],
)
def test_asking_for_what_is_not_there_names_the_field(
    addresses: AddressMap, call: object, message: str
) -> None:
    with pytest.raises(AddressError, match=message):
        call(addresses)  # type: ignore[operator]


def test_split_cuts_at_slice_borders_only(addresses: AddressMap) -> None:
    border = addresses.hbm(0, 1, 1, 0)
    assert addresses.split(border - 4, 10) == [(border - 4, 4), (border, 6)]
    assert addresses.split(border, 10) == [(border, 10)]
    assert addresses.split(border - 10, 10) == [(border - 10, 10)]
    assert addresses.split(border, 0) == []
    with pytest.raises(AddressError, match="offset 0xc00000 is past"):
        addresses.split(border, SLICE + 1)
    with pytest.raises(AddressError, match="sub_offset"):
        addresses.split(addresses.tcm(0, 0, 0, 2 * MIB - 1), 2)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (lambda: machine(pe_tcm={"size_bytes": 4 * MIB}), "pe_tcm' does not fit the address layout: sub_off"),
        (lambda: machine(pe_tcm={"scratch_bytes": 2 * MIB}), "scratch_bytes 2097152 do not fit"),
        (lambda: machine(sram={"size_bytes": 33 * MIB}), "sram_offset"),
        (lambda: machine(sram={"size_bytes": 0}), "positive size"),
        (lambda: machine(hbm_ctrl={"slice_bytes": 65 << 30}), "hbm_offset"),
        (lambda: machine(hbm_ctrl={"slice": 0}), "share address"),
        (lambda: machine(hbm_ctrl={"slice_bytes": "6 GB"}), "slice_bytes is '6 GB'"),
        (lambda: machine(hbm_ctrl={"slice_bytes": 0.5}), "slice_bytes is 0.5"),
        (lambda: machine(sips=17, cubes=1, pes=1), "sip_id 16"),
        (lambda: machine(sips=1, cubes=17, pes=1), "die_id 16"),
        (lambda: machine(sips=1, cubes=1, pes=17), "pe_id 16"),
    ],
)
def test_a_topology_that_the_layout_cannot_hold(graph: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        AddressMap(graph())  # type: ignore[operator]


def test_slices_of_one_cube_are_equal() -> None:
    graph = machine(sips=1, cubes=1)
    graph.node("sip0.cube0.hbm_ctrl.pe1").properties["slice_bytes"] = 2 * SLICE
    with pytest.raises(ConfigError, match="the slices of a cube are equal"):
        AddressMap(graph)


def test_a_full_machine_fits() -> None:
    graph = machine(sips=2, cubes=16, pes=16, hbm_ctrl={"slice_bytes": 8 << 30})
    addresses = AddressMap(graph)
    top = addresses.hbm(1, 15, 15, (8 << 30) - 1)
    assert addresses.resolve(top).component == "sip1.cube15.hbm_ctrl.pe15"


def test_tcm_is_reserved_then_scratch_then_allocatable(addresses: AddressMap) -> None:
    base = addresses.tcm(1, 1, 1, 0)
    assert addresses.scratch(1, 1, 1) == (base + 256 * KIB, 512 * KIB)
    assert addresses.allocatable_tcm(1, 1, 1) == (base + 768 * KIB, 2 * MIB - 768 * KIB)


def test_a_pe_has_its_slice_and_its_allocatable_tcm(addresses: AddressMap) -> None:
    hbm, tcm = (memory_of_pe(addresses, memory, (0, 1, 1)) for memory in ("hbm", "tcm"))
    first, second = hbm.alloc(100, 256), hbm.alloc(SLICE - 256, 256)
    assert first == addresses.hbm(0, 1, 1, 0)
    assert second == first + 256  # the next burst
    with pytest.raises(AllocationError, match=r"HBM slice of sip0\.cube1\.pe1 is full: 257 bytes wanted"):
        hbm.alloc(257, 256)
    hbm.free(second, SLICE - 256)
    hbm.free(first, 100)
    assert hbm.blocks == ((first, SLICE),)
    all_of_it = tcm.alloc(2 * MIB - 768 * KIB, WORD_BYTES)
    assert all_of_it == addresses.tcm(0, 1, 1, 768 * KIB)
    with pytest.raises(AllocationError, match="TCM of sip0"):
        tcm.alloc(1)
    tcm.free(all_of_it, 2 * MIB - 768 * KIB)
    assert tcm.free_bytes == tcm.capacity


def test_a_pe_has_the_sram_of_its_cube(addresses: AddressMap) -> None:
    sram = memory_of_pe(addresses, "sram", (1, 0, 0))
    first, second = sram.alloc(17, WORD_BYTES), sram.alloc(16, WORD_BYTES)
    assert (first, second) == (addresses.sram(1, 0, 0), addresses.sram(1, 0, 32))
    sram.free(first, 17)
    with pytest.raises(AddressError, match=r"SRAM of sip1\.cube0"):
        sram.free(first, 17)
    with pytest.raises(AllocationError, match=r"SRAM of sip1\.cube0"):
        sram.alloc(32 * MIB)


def test_virtual_allocator_defaults_and_pages() -> None:
    space = VirtualAllocator()
    first, second = space.alloc(1), space.alloc(4097)
    assert (first, second) == (1 << 51, (1 << 51) + 0x1000)
    assert space.alloc(4096) == (1 << 51) + 0x3000
    space.free(second, 4097)
    with pytest.raises(AddressError, match="freed before"):
        space.free(second, 4097)
    with pytest.raises(AllocationError, match="virtual address space is full"):
        space.alloc(64 << 30)


@pytest.mark.parametrize(
    "arguments", [{"page_bytes": 0}, {"page_bytes": 3000}, {"va_base": 5}, {"va_bytes": 4097}]
)
def test_virtual_allocator_refuses_odd_pages(arguments: dict[str, Any]) -> None:
    with pytest.raises(AddressError, match="page"):
        VirtualAllocator(**arguments)
